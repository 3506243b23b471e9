# SPDX-License-Identifier: MIT
"""``cffpy db``: look up registers, of Intel, too; check editions, compare them, import one."""

from __future__ import annotations

import os
import sys
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import click

from cffpy.capture.gpu import parse_gpu
from cffpy.cli import completion
from cffpy.cli.forms import Forms, Result, write_result
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error, print_note, print_warning
from cffpy.cli.parameters import edition_option, output_option
from cffpy.cli.question import Question, asks_no_capture
from cffpy.errors import RegisterDbError, UnsupportedGpu
from cffpy.findings import ERROR, Finding
from cffpy.intel.decoder import lookup
from cffpy.views import database as view
from cffpy.views.plain_text import Styled, columns

if TYPE_CHECKING:
    from cffpy.regdb.catalog import Catalog
    from cffpy.regdb.compare import Change
    from cffpy.regdb.explain import Document
    from cffpy.regdb.search import Hit

_MAX_VALUES = 16  # longer enums are only named inside a register
_WIDE_FORMS = ("enum", "bitset")


def documents_lines(documents: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """The documents of explain.py, with an empty line between them."""
    for number, document in enumerate(documents):
        if number:
            yield ""
        first, *rest = _document_lines(document)
        yield Styled(first)
        yield from rest


def _document_lines(document: Mapping[str, Any]) -> list[str]:
    """One document, with its contents indented under its first line."""
    chips = " ".join(document["generations"])
    match document["kind"]:
        case "domain":
            lines = [f"{document['name']}  domain  in {chips}"]
            for register in document["registers"]:
                lines.extend(f"  {line}" for line in _register_lines(register, ""))
        case "enum":
            lines = [f"{document['name']}  enum  in {chips}"]
            lines.extend(_value_lines(document["values"]))
        case "bitset":
            lines = [f"{document['name']}  bitset  in {chips}"]
            lines.extend(_field_lines(document["fields"]))
        case _:
            lines = _register_lines(document, chips)
    return lines


def hit_lines(hits: Mapping[Hit, Sequence[str]]) -> list[str]:
    """A table of hits: kind, name, number, what it belongs to, generations."""
    table = [
        (hit.kind, hit.name, "" if hit.number is None else _number(hit), hit.where, " ".join(chips))
        for hit, chips in hits.items()
    ]
    return columns(table)


def edition_lines(rows: Sequence[tuple[str, str, Sequence[str]]]) -> list[str]:
    """A table of editions: short name, full name, generations."""
    return columns([(name, full, " ".join(chips)) for name, full, chips in rows])


def change_lines(changes: Mapping[str, Sequence[Change]]) -> Iterator[str]:
    """A table of changes for each generation that has any."""
    for chip, found in changes.items():
        if found:
            yield Styled(f"{chip}: {_counts(found)}")
            yield from columns(
                [
                    (f"  {one.change}", one.kind, one.place, one.within, one.old, one.new)
                    for one in found
                ]
            )


def _counts(changes: Sequence[Change]) -> str:
    counted = Counter(one.change for one in changes)
    return ", ".join(f"{count} {change}" for change, count in counted.items())


def _number(hit: Hit) -> str:
    return f"bit {hit.number}" if hit.kind == "field" else f"{hit.number:#x}"


def _register_lines(document: Mapping[str, Any], chips: str) -> list[str]:
    width = f"{document['width']} bits" if "width" in document else "array"
    head = [document["name"], f"{document['offset']:#06x}", width]
    if chips:
        head.append(f"domain {document['domain']}  in {chips}")
    lines = ["  ".join(head)]
    for array in document.get("arrays", ()):
        length = array["length"] or ""
        start = array["start"]
        starts = start if isinstance(start, (tuple, list)) else [start]
        listed = ", ".join(f"{each:#x}" for each in starts)
        lines.append(f"  array {array['name']}[{length}] at {listed}, stride {array['stride']}")
    lines.extend(_condition_lines(document.get("condition")))
    if document.get("usage"):
        lines.append(f"  usage {', '.join(document['usage'])}")
    lines.extend(_port_lines(document))
    kind = document.get("type")
    if isinstance(kind, str):
        lines[0] += f"  {kind}"
    elif kind is not None:
        lines.extend(_type_lines(kind, document["condition"]))
    for register in document.get("registers", ()):
        lines.extend(f"  {line}" for line in _register_lines(register, ""))
    return lines


def _port_lines(document: Mapping[str, Any]) -> Iterator[str]:
    port = document.get("port")
    if port is not None:
        last = f"{document['name']}[{port['elements'] - 1}]"
        yield f"  port: each write is the next of {document['name']}[0] to {last}"
        yield f"  {port['pointer']} says which"
    if "pointer_of" in document:
        yield f"  says which element {document['pointer_of']} writes next"


def _type_lines(kind: Mapping[str, Any], around: Mapping[str, Any] | None) -> list[str]:
    lines = []
    if kind["name"] != "bitfield":
        bits = f"bits {kind['low']}..{kind['high']}"
        lines.append(f"  type {_type_text(kind)}, {bits}")
    lines.extend(_field_lines(kind.get("fields", ()), around))
    lines.extend(_value_lines(kind.get("values", ())))
    return lines


# ``around``: the condition that is shown already, which every field inside has too.
def _field_lines(
    fields: Sequence[Mapping[str, Any]], around: Mapping[str, Any] | None = None
) -> list[str]:
    table = []
    for field in fields:
        kind = field["type"]
        low, high = kind["low"], kind["high"]
        bits = f"{low}" if low == high else f"{low}..{high}"
        own = None if field["condition"] == around else field["condition"]
        condition = " ".join(line.strip() for line in _condition_lines(own))
        table.append((bits, field["name"], _type_text(kind), condition))
    lines = []
    for field, line in zip(fields, columns(table), strict=True):
        lines.append(f"  {line}")
        values = field["type"].get("values", ())
        if len(values) <= _MAX_VALUES:
            lines.extend(f"      {value}" for value in _value_lines(values))
        lines.extend(f"      {line}" for line in _field_lines(field["type"].get("fields", ())))
    return lines


def _type_text(kind: Mapping[str, Any]) -> str:
    parts = [kind["name"]]
    if kind["form"] in _WIDE_FORMS and kind["name"] not in ("enum", "bitfield"):
        parts.append(f"({kind['form']})")
    parts.extend(f"{name} {kind[name]}" for name in ("shr", "radix") if name in kind)
    if kind.get("selects_variant"):
        parts.append("selects the variant")
    return " ".join(parts)


def _value_lines(values: Sequence[Mapping[str, Any]]) -> list[str]:
    table = [
        (
            "-" if value["number"] is None else f"{value['number']:#x}",
            value["name"],
            " ".join(line.strip() for line in _condition_lines(value.get("condition"))),
        )
        for value in values
    ]
    return [f"  {line}" for line in columns(table)]


def _condition_lines(condition: Mapping[str, Sequence[str]] | None) -> list[str]:
    return [f"  when {varset} {', '.join(names)}" for varset, names in (condition or {}).items()]


_SHOW_SCHEMA = "cffpy.intel-db-show/1"
_SEARCH_SCHEMA = "cffpy.intel-db-search/1"

_PREFIX = "intel "


def parse_any_chip(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> str | None:
    """The generation of a GPU of either vendor: ``A6XX``, or ``intel 90`` for skl, gfx9, gen9."""
    if text is None:
        return None
    try:
        return parse_gpu(text).chip
    except UnsupportedGpu as problem:
        from cffpy.intel.descriptions.store import parse_gpu as parse_intel

        try:
            return f"{_PREFIX}{parse_intel(text)}"
        except UnsupportedGpu:
            raise click.BadParameter(f"{problem}; Intel: skl, gfx9, gfx125, ...") from None


def intel_generation(chip: str | None) -> int | None:
    """The generation that ``parse_any_chip`` has found, 125 for 12.5; None for Adreno's."""
    return int(chip.removeprefix(_PREFIX)) if chip and chip.startswith(_PREFIX) else None


def has_intel(name: str, register_db: str | None) -> bool:
    """Whether any of Intel's generations has an instruction, struct or register of this name."""
    return bool(lookup.explain(lookup.databases(None, register_db), name))


def show_intel(question: Question, name: str, verx10: int | None) -> bool:
    """Write what an instruction, struct or register is; whether there is any of this name."""
    documents = lookup.explain(lookup.databases(verx10, question.register_db), name)
    result = Result(
        _SHOW_SCHEMA,
        lambda: {"name": name, "found": documents},
        lambda: _intel_documents_lines(documents),
    )
    write_result(result, question)
    return bool(documents)


def search_intel(question: Question, text: str, verx10: int | None) -> bool:
    """Write the names that contain a text; whether there are any."""
    hits = lookup.search(lookup.databases(verx10, question.register_db), text)
    found = [{**hit._asdict(), "generations": names} for hit, names in hits.items()]
    table = [(hit.kind, hit.name, hit.where, " ".join(names)) for hit, names in hits.items()]
    result = Result(_SEARCH_SCHEMA, lambda: {"text": text, "found": found}, lambda: columns(table))
    write_result(result, question)
    return bool(hits)


def _intel_documents_lines(documents: list[dict[str, Any]]) -> Iterator[str]:
    for number, document in enumerate(documents):
        if number:
            yield ""
        parts = [document["name"], document["kind"]]
        if document["length"] is not None:
            parts.append(f"{document['length']} dwords")
        if "opcode" in document:
            parts.append(f"opcode {document['opcode']}")
            parts.append(" ".join(document["engines"]))
        if document.get("offset") is not None:
            parts.append(f"at {document['offset']:#06x}")
        yield Styled(f"{'  '.join(parts)}  in {' '.join(document['generations'])}")
        yield from _intel_field_lines(document["fields"])


def _intel_field_lines(fields: list[dict[str, Any]]) -> Iterator[str]:
    table = [(_bits(field), field["name"], field["type"]) for field in fields]
    for field, line in zip(fields, columns(table), strict=True):
        yield f"  {line}"
        for value in field["values"]:
            yield f"      {value['number']:#x} {value['name']}"


def _bits(field: dict[str, Any]) -> str:
    low, high = field["low"], field["high"]
    return f"{low}" if low == high else f"{low}..{high}"


_EPILOG = """\b
Examples:
  cffpy db show RB_MRT[2].CONTROL --gpu 630
  cffpy db search LRZ
  cffpy db check my-edition
  cffpy db import ~/src/mesa -o my-edition
"""
#: Names of registers that one message lists.
_LISTED = 20

_SHOW_EPILOG = """\b
Examples:
  cffpy db show RB_MRT[2].CONTROL --gpu 630
  cffpy db show 0x8830 --gpu a6xx             by offset
  cffpy db show CP_SET_DRAW_STATE             a packet
  cffpy db show a6xx_tile_mode --json
  cffpy db show 3DSTATE_PS --gpu skl          an instruction of Intel
"""
_SEARCH_EPILOG = """\b
Examples:
  cffpy db search LRZ --gpu 630
  cffpy db search tile6_linear                also enum values
  cffpy db search LRZ --json | jq '.found[].name'
  cffpy db search HiZ --gpu gfx125            Intel
"""
_CHECK_EPILOG = """\b
Examples:
  cffpy db check                              the bundled edition
  cffpy db check my-edition --errors-only
"""
_EDITIONS_EPILOG = """\b
Examples:
  cffpy db editions
  cffpy dump --edition mesa-25.3 capture.rd.gz
"""
_DIFF_EPILOG = """\b
Examples:
  cffpy db diff mesa-25.0 mesa-25.3 --gpu a7xx
  cffpy db diff mesa-25.0 mesa-25.3 --only renamed --json
"""
_IMPORT_EPILOG = """\b
Examples:
  cffpy db import ~/src/mesa -o my-edition && cffpy db check my-edition
  cffpy dump --edition my-edition capture.rd.gz
  cffpy db import --genxml ~/src/mesa -o my-edition
"""


def parse_chip(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    """The database's name for the generation of a GPU (630, a6xx): ``A6XX``."""
    if text is None:
        return None
    try:
        return parse_gpu(text).chip
    except UnsupportedGpu as problem:
        raise click.BadParameter(str(problem)) from None


_any_gpu = click.option(
    "--gpu",
    "chip",
    metavar="GPU",
    callback=parse_any_chip,
    help="Only this GPU (630, skl) or generation (a6xx, gfx125).",
)
_adreno_gpu = click.option(
    "--gpu",
    "chip",
    metavar="GPU",
    callback=parse_chip,
    help="Only this GPU (630) or generation (a6xx).",
)


def _look_up(schema: str) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """The options of commands that look up a name."""
    return asks_no_capture(forms=Forms(json=schema), gpu=_any_gpu, edition=edition_option)


@click.group(epilog=_EPILOG)
@click.help_option("-h", "--help")
def db() -> None:
    """Look up registers and packets; check or import an edition of the descriptions."""


@db.command(short_help="Explain a register, packet or enum.", epilog=_SHOW_EPILOG)
@click.argument("name", metavar="NAME|OFFSET", shell_complete=completion.descriptions)
@_look_up("cffpy.db-show/1, of Intel cffpy.intel-db-show/1")
def show(question: Question, name: str, chip: str | None) -> int:
    """Explain a register, array, packet, bitset or enum, by name or by register offset.

    With an Intel GPU, or a name that only Intel's descriptions have: an instruction, struct or
    register of Intel.

    If nothing has this name, similar names are suggested and the exit code is 1.
    """
    from cffpy.regdb.explain import explain, nearest

    verx10 = intel_generation(chip)
    if verx10 is not None:
        return _intel(show_intel(question, name, verx10), name)
    catalogs = _catalogs(chip, question.register_db)
    documents = explain(catalogs, name) or _explain_alias(catalogs, name)
    if not documents and chip is None and has_intel(name, question.register_db):
        return _intel(show_intel(question, name, None), name)
    result = Result(
        view.SHOW_SCHEMA,
        lambda: view.show_document(name, documents),
        lambda: documents_lines(documents),
    )
    if documents or question.form == "json":
        write_result(result, question)
    if documents:
        return EXIT_OK
    similar = nearest(catalogs, name)
    hint = f"; similar: {', '.join(similar)}" if similar else ""
    print_error(f"'{name}' not found in {_generations(catalogs)}{hint}")
    return _failed()


@db.command(short_help="Find names of registers, fields, values.", epilog=_SEARCH_EPILOG)
@click.argument("text")
@_look_up("cffpy.db-search/1, of Intel cffpy.intel-db-search/1")
def search(question: Question, text: str, chip: str | None) -> int:
    """Find TEXT in names of registers, fields, enum values and packets.

    With an Intel GPU in names of instructions, structs, registers, fields and values of Intel.

    The exit code is 1 if nothing is found.
    """
    from cffpy.regdb.search import search as search_catalogs

    verx10 = intel_generation(chip)
    if verx10 is not None:
        return _intel(search_intel(question, text, verx10), text)
    catalogs = _catalogs(chip, question.register_db)
    hits = search_catalogs(catalogs, text)
    result = Result(
        view.SEARCH_SCHEMA, lambda: view.search_document(text, hits), lambda: hit_lines(hits)
    )
    write_result(result, question)
    if hits:
        return EXIT_OK
    print_error(f"'{text}' not found in any name of {_generations(catalogs)}")
    return _failed()


@db.command(short_help="Check an edition.", epilog=_CHECK_EPILOG)
@click.argument("directory", metavar="[DIR]", required=False)
@click.option("--errors-only", is_flag=True, help="Do not print notices.")
@asks_no_capture(forms=Forms(json=view.CHECK_SCHEMA))
def check(question: Question, directory: str | None, errors_only: bool) -> int:
    """Check the registers and instruction sets of an edition (default: the bundled one).

    The exit code is 1 if there are errors. Notices, such as overlapping registers or instructions,
    are not errors: Mesa's descriptions have them, too.
    """
    parts = check_edition(directory)
    result = Result(
        view.CHECK_SCHEMA,
        lambda: view.check_document(parts, errors_only),
        lambda: as_lines(parts, errors_only),
    )
    write_result(result, question)
    return _failed() if any(map(count_errors, parts.values())) else EXIT_OK


@db.command(short_help="List the editions.", epilog=_EDITIONS_EPILOG)
@asks_no_capture(forms=Forms(json=view.EDITIONS_SCHEMA))
def editions(question: Question) -> int:
    """List the editions of the descriptions that --edition knows, and their generations.

    The first is used where neither --edition nor the variable CFFPY_EDITION names another.
    """
    from cffpy.editions.folders import edition_name
    from cffpy.editions.folders import editions as installed
    from cffpy.regdb import store

    rows = [
        (name, edition_name(directory), store.chips(directory))
        for name, directory in installed().items()
    ]
    result = Result(
        view.EDITIONS_SCHEMA, lambda: view.editions_document(rows), lambda: edition_lines(rows)
    )
    return write_result(result, question)


@db.command(short_help="Compare two editions.", epilog=_DIFF_EPILOG)
@click.argument("old", metavar="OLD")
@click.argument("new", metavar="NEW")
@click.option(
    "--only",
    multiple=True,
    type=click.Choice(["renamed", "moved", "added", "removed"]),
    help="Only this kind; may be given several times.",
)
@asks_no_capture(forms=Forms(json=view.DIFF_SCHEMA), gpu=_adreno_gpu)
def diff(question: Question, old: str, new: str, chip: str | None, only: tuple[str, ...]) -> int:
    """Show what the edition NEW renames, moves, adds and removes, by generation.

    Registers are the same where their offsets are, fields where their bits are, enum values where
    their numbers are. Exit codes: 0 no differences, 1 differences, 2 errors.
    """
    from cffpy.editions.folders import resolve_edition
    from cffpy.regdb.compare import compare_editions

    found = compare_editions(resolve_edition(old), resolve_edition(new))
    changes = {
        name: [one for one in rows if not only or one.change in only]
        for name, rows in found.items()
        if chip in (None, name)
    }
    result = Result(
        view.DIFF_SCHEMA,
        lambda: view.edition_diff_document(old, new, changes),
        lambda: change_lines(changes),
    )
    write_result(result, question)
    return _failed() if any(changes.values()) else EXIT_OK


@db.command("import", short_help="Write an edition from Mesa's XML.", epilog=_IMPORT_EPILOG)
@click.argument("directory", metavar="DIR")
@click.option("--name", metavar="NAME", help="Its name. Default: VERSION of the Mesa tree.")
@click.option(
    "--based-on",
    metavar="NAME",
    help="Share the files that this edition has with equal content, and write aliases.tsv: what the"
    " new edition calls otherwise.",
)
@click.option("--genxml", "is_genxml", is_flag=True, help="Import Intel's XML: OUT/intel/*.gen.")
@output_option(
    "OUT",
    "The directory to write: OUT/adreno/*.regs, OUT/isa/*.isa.",
    required=True,
)
@click.help_option("-h", "--help")
def import_(
    directory: str, output: str, name: str | None, based_on: str | None, is_genxml: bool
) -> int:
    """Write an edition from Mesa's XML of registers (rules-ng) and instruction sets (isaspec).

    DIR is a Mesa tree, its src/freedreno, a directory with such XML files, or one with the
    subdirectories rnndb and isaspec. Files of the same names in OUT are overwritten, others are
    kept. What registers are for (about, role, engine) is taken over from the edition in OUT, or
    from the bundled one, by name or by offset. The a2xx instruction set is added, since Mesa has no
    XML for it.

    With --genxml, DIR is a Mesa tree or a directory with Intel's gen*.xml, and only the
    descriptions of Intel GPUs are written. PCI ids, names of surface formats, and which of two
    commands with the same opcode is found, come from tables.json and lookup.json beside the XML,
    where they exist.
    """
    from cffpy.cli.db_import import import_edition

    if is_genxml:
        return _import_genxml(directory, output)
    try:
        done = import_edition(directory, output, name, based_on)
    except OSError as problem:
        print_error(f"{problem.filename or output}: {problem.strerror}")
        return _failed()
    for path in done.passed_over:
        print_warning(f"{path}: neither rules-ng nor isaspec; ignored")
    for part, paths in (("registers", done.registers), ("instruction sets", done.instructions)):
        if not paths:
            print_warning(f"{directory}: no {part} found")
    if done.without_subject:
        count = len(done.without_subject)
        listed = ", ".join(done.without_subject[:_LISTED])
        more = f" and {count - _LISTED} more" if count > _LISTED else ""
        print_warning(
            f"{count} registers are new and have no 'about'"
            f" (cffpy help descriptions): {listed}{more}"
        )
    own = " and a2xx.isa" if done.has_own_isa else ""
    named = "without a name (--name)" if done.edition is None else f"'{done.edition}'"
    print_note(
        f"{len(done.registers)} files of registers, {len(done.instructions)} of instructions{own}"
        f" in {output}, edition {named}"
    )
    return EXIT_OK


def _import_genxml(directory: str, output: str) -> int:
    from cffpy.intel.descriptions.edition import write_genxml

    try:
        paths = write_genxml(directory, output)
    except OSError as problem:
        print_error(f"{problem.filename or output}: {problem.strerror}")
        return _failed()
    print_note(f"{len(paths)} files of Intel's descriptions in {output}")
    return EXIT_OK


def _intel(is_found: bool, name: str) -> int:
    """The exit code of a look-up in Intel's descriptions."""
    if is_found:
        return EXIT_OK
    print_error(f"'{name}' not found in the descriptions of Intel GPUs")
    return _failed()


def _catalogs(chip: str | None, register_db: str | None) -> list[Catalog]:
    from cffpy.regdb import store
    from cffpy.regdb.catalog import catalogs

    if register_db is None and chip is not None and chip not in store.chips(None):
        register_db = store.describing(chip)
    return catalogs(register_db, None if chip is None else [chip])


def _explain_alias(catalogs: Sequence[Catalog], name: str) -> list[Document]:
    """What has this name in another edition."""
    from cffpy.regdb.aliases import Aliases
    from cffpy.regdb.explain import explain

    for other in Aliases.installed().any(name):
        documents = explain(catalogs, other)
        if documents:
            print_warning(f"'{name}' is called {other} in this edition")
            return documents
    return []


def _generations(catalogs: Sequence[Catalog]) -> str:
    return ", ".join(catalog.chip for catalog in catalogs)


# Ends the command with exit code 1, also when click runs it directly.
def _failed() -> int:
    sys.stdout.flush()
    click.get_current_context().exit(EXIT_FAILURE)


REGISTERS, INSTRUCTIONS = "registers", "instruction sets"
_WITHOUT = {
    REGISTERS: "none found (adreno/*.regs); an edition needs them",
    INSTRUCTIONS: "none found (isa/*.isa); the bundled ones are used",
}


#: A part's findings; None where the edition lacks the part.
Findings = dict[str, Sequence[Finding] | None]


def check_edition(name_or_path: str | None) -> Findings:
    """The findings by part. Raises RegisterDbError if the directory is not an edition."""
    from cffpy.editions.folders import resolve_edition
    from cffpy.isa.check import check_directory as check_instructions
    from cffpy.regdb.check import check_directory as check_registers

    parts: Findings = {REGISTERS: None, INSTRUCTIONS: None}
    try:
        directory = resolve_edition(name_or_path)
    except RegisterDbError:
        if name_or_path is None or not _has_instructions(name_or_path):
            raise
        directory = name_or_path
    else:
        parts[REGISTERS] = check_registers(directory)
    if _has_instructions(directory):
        parts[INSTRUCTIONS] = check_instructions(directory)
    return parts


def count_errors(findings: Sequence[Finding] | None) -> int:
    """How many of the findings are errors."""
    return sum(finding.severity == ERROR for finding in findings or ())


def as_lines(parts: Findings, errors_only: bool) -> list[str]:
    """One line for each finding, then one for each part."""
    lines = [
        str(finding) for findings in parts.values() for finding in _shown(findings, errors_only)
    ]
    lines += [_summary(part, findings) for part, findings in parts.items()]
    return lines


def _summary(part: str, findings: Sequence[Finding] | None) -> str:
    if findings is None:
        return f"{part}: {_WITHOUT[part]}"
    errors = count_errors(findings)
    counts = Counter((finding.severity, finding.kind) for finding in findings)
    kinds = ", ".join(f"{count} {kind}" for (_severity, kind), count in sorted(counts.items()))
    summary = f"{part}: {errors} errors, {len(findings) - errors} notices"
    return f"{summary} ({kinds})" if kinds else summary


def _shown(findings: Sequence[Finding] | None, errors_only: bool) -> list[Finding]:
    return [finding for finding in findings or () if finding.severity == ERROR or not errors_only]


def _has_instructions(directory: str) -> bool:
    try:
        return any(name.endswith(".isa") for name in os.listdir(os.path.join(directory, "isa")))
    except OSError:
        return False
