# SPDX-License-Identifier: MIT
"""The command ``cffpy``: the tables of its commands, each imported when it is run.

The tables carry every command's name and one line of help, so that ``cffpy --help`` imports none
of them. A new command is a row here and a file in this folder.
"""

from __future__ import annotations

import io
import os
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from cffpy._version import __version__
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_on_standard_error

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint


class _Row(NamedTuple):
    """Where a command is, and the line that describes it."""

    module: str
    attribute: str
    help: str


#: The commands, in the groups that ``cffpy --help`` shows.
GROUPS = {
    "Decode": {
        "dump": _Row(
            "cffpy.cli.getopt_commands", "dump", "Decode captures as Mesa's cffdump prints them."
        ),
        "crashdec": _Row(
            "cffpy.cli.getopt_commands",
            "crashdec",
            "Decode a GPU crash dump as Mesa's crashdec does.",
        ),
        "aubinator": _Row(
            "cffpy.cli.getopt_commands", "aubinator", "Decode an AUB file as Mesa's aubinator does."
        ),
        "aubinator-error-decode": _Row(
            "cffpy.cli.getopt_commands",
            "aubinator_error_decode",
            "Decode an Intel error state as Mesa's tool does.",
        ),
        "lines": _Row(
            "cffpy.cli.lines", "lines", "Print a line for each register write, for grep."
        ),
    },
    "Look": {
        "info": _Row(
            "cffpy.cli.info", "info", "Summarise a capture: GPU, submits, buffers, damage."
        ),
        "passes": _Row("cffpy.cli.passes", "passes", "List render passes: modes, targets, draws."),
        "draws": _Row("cffpy.cli.draws", "draws", "List draws, dispatches and blits."),
        "tiles": _Row("cffpy.cli.passes", "tiles", "List the tiles of a pass; density maps; SVG."),
        "state": _Row("cffpy.cli.state", "state", "Show registers at a draw and what wrote them."),
        "shaders": _Row(
            "cffpy.cli.shaders", "shaders", "List the shaders of a capture, and their code."
        ),
        "image": _Row("cffpy.cli.image", "image", "Write a texture or a target as a PNG file."),
        "report": _Row("cffpy.cli.report", "report", "Write one HTML page that shows a capture."),
        "tui": _Row("cffpy.cli.tui", "tui", "Browse a capture, or two, in the terminal."),
    },
    "Explain": {
        "check": _Row(
            "cffpy.cli.check_command",
            "check",
            "Check captures for errors, waste, suspicious state.",
        ),
        "lrz": _Row("cffpy.cli.passes", "lrz", "Show which draws use LRZ, and why others do not."),
        "vsc": _Row("cffpy.cli.vsc", "vsc", "Decode visibility streams of a6xx and a7xx."),
        "crash": _Row(
            "cffpy.cli.crash", "crash", "Report on a GPU crash dump: what hangs, and why."
        ),
    },
    "Compare": {
        "diff": _Row("cffpy.cli.diff", "diff", "Show what differs between two captures."),
        "bisect": _Row("cffpy.cli.bisect", "bisect", "Find the draw with which a problem appears."),
    },
    "Many captures": {
        "find": _Row("cffpy.cli.find", "find", "Find draws in many captures by an expression."),
        "sql": _Row("cffpy.cli.sql", "sql", "Query captures in SQL."),
        "export": _Row(
            "cffpy.cli.sql", "export", "Write captures as tables: Parquet, DuckDB, CSV."
        ),
        "index": _Row("cffpy.cli.index", "index", "Build an index of many captures, and ask it."),
    },
    "Change": {
        "edit": _Row("cffpy.cli.change", "edit", "Change a capture: drop draws, set registers."),
        "decompile": _Row(
            "cffpy.cli.change", "decompile_command", "Write a capture as editable text."
        ),
        "compile": _Row("cffpy.cli.change", "compile_command", "Build a capture from text."),
        "repair": _Row("cffpy.cli.change", "repair", "Remove damage from a capture."),
    },
    "Reference": {
        "db": _Row("cffpy.cli.db", "db", "Look up registers; check or import an edition."),
        "layout": _Row("cffpy.cli.layout", "layout", "Layouts of images, LRZ and tiles."),
        "asm": _Row("cffpy.cli.asm", "asm", "Assemble shader instructions from text."),
        "disasm": _Row("cffpy.cli.asm", "disasm", "Disassemble a shader binary."),
        "afuc": _Row("cffpy.cli.asm", "afuc", "Disassemble, assemble microcode of the SQE."),
        "schema": _Row(
            "cffpy.cli.reference", "schema_command", "Print the JSON Schema of a document."
        ),
        "help": _Row("cffpy.cli.help", "help_command", "Show the guide and the reference."),
        "completion": _Row("cffpy.cli.reference", "completion", "Print a shell completion script."),
    },
}

COMMANDS = {name: row for group in GROUPS.values() for name, row in group.items()}

_EXAMPLES = """\b
Examples:
  cffpy help                          the guide and the reference
  cffpy info capture.rd.gz            a summary of the file
  cffpy dump capture.rd.gz            decode everything
  cffpy dump --once -s capture.rd     registers at draws only
  zstd -dc capture.rd.zst | cffpy dump -
"""


class LazyGroup(click.Group):
    """A group whose commands are rows of a table; a command's module is imported to run it."""

    def __init__(
        self,
        *args: Any,  # noqa: ANN401
        groups: dict[str, dict[str, _Row]],
        plugins: str = "",
        **kwargs: Any,  # noqa: ANN401
    ) -> None:
        """``groups``: tables of commands by the headings of the help.

        ``plugins``: the group of entry points in which installed packages name more commands.
        """
        super().__init__(*args, **kwargs)
        self._groups = groups
        self._plugins = plugins

    @property
    def _rows(self) -> dict[str, _Row]:
        return {name: row for group in self._groups.values() for name, row in group.items()}

    def list_commands(self, context: click.Context) -> list[str]:
        """All names, in the order of the table."""
        return list(self._rows)

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        """Import the command called ``name``."""
        row = self._rows.get(name)
        if row is None:
            point = self._plugin_points().get(name)
            return None if point is None else _plugin(point)
        from importlib import import_module

        command = getattr(import_module(row.module), row.attribute)
        assert isinstance(command, click.Command)
        return command

    def _plugin_points(self) -> dict[str, EntryPoint]:
        """Entry points by name. A plugin cannot replace a command of cffpy."""
        if not self._plugins:
            return {}
        from cffpy.entry_points import entry_points

        points = sorted(entry_points(self._plugins), key=lambda point: point.name)
        return {point.name: point for point in points if point.name not in self._rows}

    def resolve_command(
        self, context: click.Context, arguments: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does, but suggest similar names for an unknown command."""
        if arguments and self._is_unknown(arguments[0]):
            from difflib import get_close_matches

            name = arguments[0]
            message = f"no such command {name!r}."
            near = get_close_matches(name, self._rows, n=3, cutoff=0.6)
            if near:
                message += f" Did you mean {' or '.join(repr(match) for match in near)}?"
            elif os.path.exists(name):
                message += f" To decode a file: cffpy dump {name}"
            context.fail(message)
        return super().resolve_command(context, arguments)

    def _is_unknown(self, name: str) -> bool:
        return not (name.startswith("-") or name in self._rows or name in self._plugin_points())

    def format_commands(self, context: click.Context, formatter: click.HelpFormatter) -> None:
        """The tables of commands, without importing any."""
        width = max(map(len, self._rows)) + 2
        for title, rows in self._groups.items():
            with formatter.section(title):
                formatter.write_dl(
                    [(f"{name:<{width - 2}}", row.help) for name, row in rows.items()]
                )
        plugins = self._plugin_points()
        if plugins:
            with formatter.section("Commands of plugins"):
                formatter.write_dl([(name, _package(point)) for name, point in plugins.items()])


def _package(point: EntryPoint) -> str:
    """What is shown of a plugin, which is not imported for it."""
    return point.value if point.dist is None else f"from the package {point.dist.name}"


def _plugin(point: EntryPoint) -> click.Command:
    """The command of a plugin. Raises ClickException where it cannot be imported."""
    try:
        command = point.load()
    except Exception as problem:
        message = f"plugin {point.name} ({point.value}): {type(problem).__name__}: {problem}"
        raise click.ClickException(message) from None
    if not isinstance(command, click.Command):
        raise click.ClickException(f"plugin {point.name} ({point.value}) is not a click command")
    return command


@click.command(
    cls=LazyGroup,
    groups=GROUPS,
    plugins="cffpy.commands",
    epilog=_EXAMPLES,
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.version_option(__version__, prog_name="cffpy", message="%(prog)s %(version)s")
@click.option("--debug", is_flag=True, help="Show a traceback on errors.")
def cli(debug: bool) -> None:
    """Decode captures of GPU command streams: Adreno (.rd) and Intel (AUB), also compressed."""


def run(arguments: list[str]) -> int:
    """Run the command line; the exit code.

    ``cli.main`` would handle interrupts and broken pipes its own way, so it is only used for shell
    completion.
    """
    if "_CFFPY_COMPLETE" in os.environ:
        cli.main(args=arguments, prog_name="cffpy")
    try:
        with cli.make_context("cffpy", list(arguments)) as context:
            result = cli.invoke(context)
    except click.exceptions.Exit as problem:
        return problem.exit_code
    except click.exceptions.Abort:
        return EXIT_FAILURE
    except click.ClickException as problem:
        said = io.StringIO()
        problem.show(said)
        print_on_standard_error(said.getvalue())
        return problem.exit_code
    return result if isinstance(result, int) else EXIT_OK
