# SPDX-License-Identifier: MIT
"""``cffpy schema``: the JSON Schemas of documents; ``cffpy completion``: scripts for shells."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cffpy.cli.completion import beginning
from cffpy.cli.forms import write_output
from cffpy.cli.output import EXIT_OK

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

_SCHEMA_EPILOG = """\b
Examples:
  cffpy schema
  cffpy schema passes > passes.json
"""
_COMPLETION_EPILOG = """\b
Examples:
  cffpy completion bash >> ~/.bashrc
  cffpy completion zsh >> ~/.zshrc
  cffpy completion fish > ~/.config/fish/completions/cffpy.fish
"""


class _Document(NamedTuple):
    """``declared``: where its TypedDict is; ``A|B`` for one of two.

    ``member``: of a JSON line, the list of the document that it is an object of; "." for a line
    that is declared itself.
    """

    version: int
    declared: str
    member: str = ""


#: Name -> declaration.
_DOCUMENTS = {
    "bisect": _Document(1, "cffpy.views.bisect:BisectDocument"),
    "check": _Document(1, "cffpy.views.check:CheckDocument"),
    "check.line": _Document(1, "cffpy.views.check:CheckDocument", "files.findings"),
    "columns": _Document(1, "cffpy.cli.forms:ColumnsDocument"),
    "columns.line": _Document(1, "cffpy.cli.forms:ColumnsDocument", "rows"),
    "crash": _Document(1, "cffpy.analysis.crash.model:CrashReport"),
    "db-check": _Document(1, "cffpy.views.database:DbCheckDocument"),
    "db-device": _Document(1, "cffpy.views.database:DeviceDocument"),
    "db-diff": _Document(1, "cffpy.views.database:EditionDiffDocument"),
    "db-editions": _Document(1, "cffpy.views.database:EditionsDocument"),
    "db-search": _Document(1, "cffpy.views.database:SearchDocument"),
    "db-show": _Document(1, "cffpy.views.database:ShowDocument"),
    "diff": _Document(1, "cffpy.views.diff:DiffDocument"),
    "draws": _Document(1, "cffpy.views.draws:DrawsDocument"),
    "draws.line": _Document(1, "cffpy.views.draws:DrawsDocument", "draws"),
    "draws.stream-out": _Document(1, "cffpy.views.stream_out:StreamOutDocument"),
    "draws.stream-out.line": _Document(1, "cffpy.views.stream_out:StreamOutDocument", "draws"),
    "files": _Document(1, "cffpy.cli.forms:FilesDocument"),
    "find": _Document(1, "cffpy.api.find:FindDocument"),
    "find.line": _Document(1, "cffpy.api.find:FoundDrawLine", "."),
    "image": _Document(1, "cffpy.views.image:ImageDocument"),
    "index-build": _Document(1, "cffpy.index.build:BuildReport"),
    "index-compare": _Document(1, "cffpy.index.compare:IndexComparison"),
    "index-shader": _Document(1, "cffpy.cli.index:ProgramsDocument"),
    "index-stats": _Document(1, "cffpy.index.stats:IndexStats"),
    "index-values": _Document(1, "cffpy.cli.index:ValuesDocument"),
    "index-values.line": _Document(1, "cffpy.index.tables:RegisterValueCount", "."),
    "inherited": _Document(1, "cffpy.views.state:InheritedDocument"),
    "info": _Document(1, "cffpy.views.model_documents:InfoDocument"),
    "intel-crash": _Document(1, "cffpy.intel.views.crash:CrashDocument"),
    "intel-report": _Document(1, "cffpy.reports.intel:IntelReportDocument"),
    "layout-check": _Document(1, "cffpy.views.layout_check:LayoutCheckDocument"),
    "layout.formats": _Document(1, "cffpy.views.formats:FormatsDocument"),
    "layout.image": _Document(1, "cffpy.views.layout:ImageLayoutDocument"),
    "layout.lrz": _Document(1, "cffpy.views.layout:LrzLayoutDocument"),
    "layout.texels": _Document(1, "cffpy.views.layout:TexelsDocument"),
    "layout.tiles": _Document(1, "cffpy.views.layout:TilesLayoutDocument"),
    "lines": _Document(1, "cffpy.cli.lines:Line", "."),
    "lrz": _Document(1, "cffpy.views.lrz:LrzDocument"),
    "lrz.line": _Document(1, "cffpy.views.lrz:LrzDocument", "passes"),
    "microcode": _Document(1, "cffpy.views.microcode:MicrocodeDocument"),
    "passes": _Document(1, "cffpy.views.model_documents:PassesDocument"),
    "passes.barriers": _Document(1, "cffpy.views.barriers:BarriersDocument"),
    "passes.barriers.line": _Document(1, "cffpy.views.barriers:BarriersDocument", "barriers"),
    "passes.cost": _Document(1, "cffpy.views.pass_cost:CostDocument"),
    "passes.cost.line": _Document(1, "cffpy.views.pass_cost:CostDocument", "passes"),
    "passes.line": _Document(1, "cffpy.views.model_documents:PassesDocument", "passes"),
    "passes.queries": _Document(1, "cffpy.views.gpu_queries:QueriesDocument"),
    "passes.queries.line": _Document(1, "cffpy.views.gpu_queries:QueriesDocument", "queries"),
    "passes.why": _Document(1, "cffpy.views.render_mode:WhyDocument"),
    "passes.why.line": _Document(1, "cffpy.views.render_mode:WhyDocument", "passes"),
    "report": _Document(1, "cffpy.reports.documents:ReportDocument"),
    "shaders": _Document(1, "cffpy.views.model_documents:ShadersDocument"),
    "shaders.line": _Document(1, "cffpy.views.model_documents:ShadersDocument", "shaders"),
    "sql": _Document(1, "cffpy.api.export:SqlDocument"),
    "state": _Document(1, "cffpy.views.state:ShownState"),
    "state.line": _Document(1, "cffpy.views.state:ShownState", "registers"),
    "states": _Document(1, "cffpy.views.state:StatesDocument"),
    "tiles": _Document(1, "cffpy.views.model_documents:TilesDocument"),
    "tiles.line": _Document(1, "cffpy.views.model_documents:TilesDocument", "tiles"),
    "vsc": _Document(1, "cffpy.views.visibility:VscDocument"),
    "vsc-hex": _Document(1, "cffpy.views.visibility:PrimitiveStream|DrawStream"),
}


def schema_names() -> list[str]:
    """The documents that have a schema."""
    return sorted(_DOCUMENTS)


def schema_of(name: str) -> dict[str, Any]:
    """The schema of a document: "passes", "cffpy.passes" or "cffpy.passes/1".

    Raises UsageError where there is none.
    """
    wanted = name.removeprefix("cffpy.").partition("/")[0]
    document = _DOCUMENTS.get(wanted)
    if document is None:
        names = ", ".join(schema_names())
        raise click.UsageError(f"there is no schema {name}; there are: {names}")
    return _rendered(f"cffpy.{wanted}/{document.version}", document)


def _rendered(identity: str, document: _Document) -> dict[str, Any]:
    from cffpy.frame.documents import class_at, document_schema, line_schema, object_schema

    module, _, names = document.declared.partition(":")
    declared = [class_at(f"{module}:{name}") for name in names.split("|")]
    if document.member == ".":
        return object_schema(identity, declared[0])
    if document.member:
        return line_schema(identity, declared[0], document.member)
    return document_schema(identity, *declared)


def _schemas(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    return beginning(incomplete, schema_names())


@click.command(name="schema", epilog=_SCHEMA_EPILOG)
@click.argument("name", metavar="[NAME]", required=False, shell_complete=_schemas)
@click.help_option("-h", "--help")
def schema_command(name: str | None) -> int:
    """Print the JSON Schema of a document, or list the documents that have one.

    NAME is the name in a document's first member, without the version: passes for cffpy.passes/1.
    """
    if name is None:
        text = "".join(f"{one}\n" for one in schema_names())
    else:
        text = json.dumps(schema_of(name), indent=1) + "\n"
    write_output("-", [text.encode()], ())
    return EXIT_OK


@click.command(epilog=_COMPLETION_EPILOG)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.help_option("-h", "--help")
def completion(shell: str) -> int:
    """Print a completion script for SHELL: bash (4.4 or newer), zsh or fish."""
    from click.shell_completion import get_completion_class

    from cffpy.cli.main import cli

    script = get_completion_class(shell)
    assert script is not None, shell
    write_output("-", [script(cli, {}, "cffpy", "_CFFPY_COMPLETE").source().encode()], ())
    return EXIT_OK
