# SPDX-License-Identifier: MIT
"""``cffpy db``: look up registers, of Intel, too; check editions, compare them, import one."""

from __future__ import annotations

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
from cffpy.findings import ERROR
from cffpy.frame.description import (
    DescribedArray,
    DescribedBitset,
    DescribedDomain,
    DescribedEnum,
    DescribedGroup,
    DescribedRegister,
    RegisterSummary,
)
from cffpy.views import database as view
from cffpy.views.plain_text import Styled, columns

if TYPE_CHECKING:
    from cffpy.findings import Finding
    from cffpy.frame.description import (
        DescribedField,
        DescribedName,
        DescribedType,
        DescribedValue,
        Description,
    )
    from cffpy.frame.device import DeviceId, KnownDevice
    from cffpy.regdb.catalog import Catalog
    from cffpy.regdb.compare import EditionChange

_MAX_VALUES = 16  # longer enums are only named inside a register
_WIDE_FORMS = ("enum", "bitset")


def description_lines(descriptions: Sequence[Description]) -> Iterator[str]:
    """What descriptions say, with an empty line between two of them."""
    for number, description in enumerate(descriptions):
        if number:
            yield ""
        first, *rest = _description_lines(description)
        yield Styled(first)
        yield from rest


def _description_lines(description: Description) -> list[str]:
    """One description, with its contents indented under its first line."""
    chips = " ".join(description.generations or ())
    head = f"{description.name}  {description.kind}  in {chips}"
    match description:
        case DescribedDomain():
            lines = [head]
            for register in description.registers:
                lines.extend(f"  {line}" for line in _register_lines(register, ""))
            return lines
        case DescribedEnum():
            return [head, *_value_lines(description.values)]
        case DescribedBitset():
            return [head, *_field_lines(description.fields)]
        case DescribedGroup():
            return [_group_head(description, chips), *_group_field_lines(description.fields)]
        case _:
            return _register_lines(description, chips)


def name_lines(names: Sequence[DescribedName]) -> list[str]:
    """A table of names: kind, name, number, what the name belongs to, generations."""
    return columns(
        [
            (known.kind, known.name, _number(known), known.where, " ".join(known.generations))
            for known in names
        ]
    )


def edition_lines(editions: Sequence[view.Edition]) -> list[str]:
    """A table of editions: short name, full name, generations."""
    return columns([(known.name, known.edition, " ".join(known.generations)) for known in editions])


def device_lines(answer: view.DeviceDocument) -> Iterator[str]:
    """A table of parts: a column for each, rows by what they are about."""
    parts = answer.devices
    heading = ("", *(part.name for part in parts))
    about = [
        ("known as", *(", ".join(dict.fromkeys(each.name for each in part.ids)) for part in parts)),
        ("ids", *(" ".join(map(_device_id, part.ids)) for part in parts)),
        ("generation", *(_generation_text(part) for part in parts)),
        ("edition", *(part.edition for part in parts)),
    ]
    rows = []
    kind = None
    for row in answer.properties:
        if row.kind != kind:
            kind = row.kind
            rows.append((_KIND_TITLES[kind], *("" for _ in parts)))
        rows.append((f"  {row.name}", *map(_property_text, row.values)))
    first, *lines = columns([heading, *about, *rows])
    yield Styled(first)
    titles = set(_KIND_TITLES.values())
    for line in lines:
        yield Styled(line) if line in titles else line
    if answer.same:
        yield ""
        yield f"{answer.same} properties are the same (--all shows them)"


_KIND_TITLES = {
    "tiling": "tiling",
    "caches": "caches",
    "memory": "memory",
    "shaders": "shaders",
    "limits": "limits",
    "feature": "features",
    "quirk": "quirks",
    "magic": "magic registers",
}


def _device_id(identity: DeviceId) -> str:
    if identity.chip_id is None:
        return str(identity.gpu_id)
    return f"{identity.chip_id:#x}"


def _generation_text(part: KnownDevice) -> str:
    text = f"a{part.generation}xx"
    return text if part.sub_generation is None else f"{text} gen{part.sub_generation}"


def _property_text(value: int | str | None) -> str:
    if value is None:
        return "-"
    return f"{value:,}" if isinstance(value, int) else value


def change_lines(changes: Mapping[str, Sequence[EditionChange]]) -> Iterator[str]:
    """A table of changes for each generation that has any."""
    for chip, of_chip in changes.items():
        if of_chip:
            yield Styled(f"{chip}: {_counts(of_chip)}")
            yield from columns(
                [
                    (f"  {each.change}", each.kind, each.place, each.within, each.old, each.new)
                    for each in of_chip
                ]
            )


def _counts(changes: Sequence[EditionChange]) -> str:
    counted = Counter(each.change for each in changes)
    return ", ".join(f"{count} {change}" for change, count in counted.items())


def _number(known: DescribedName) -> str:
    if known.number is None:
        return ""
    return f"bit {known.number}" if known.kind == "field" else f"{known.number:#x}"


def _register_lines(
    register: DescribedRegister | DescribedArray | RegisterSummary, chips: str
) -> list[str]:
    width = "array"
    if not isinstance(register, DescribedArray) and register.width is not None:
        width = f"{register.width} bits"
    head = [register.name, f"{register.offset:#06x}", width]
    if isinstance(register, RegisterSummary):
        return ["  ".join([*head, register.type] if register.type is not None else head)]
    if chips:
        head.append(f"domain {register.domain}  in {chips}")
    lines = ["  ".join(head)]
    for level in register.arrays:
        starts = [level.start] if level.starts is None else level.starts
        listed = ", ".join(f"{start:#x}" for start in starts)
        length = level.length or ""
        lines.append(f"  array {level.name}[{length}] at {listed}, stride {level.stride}")
    lines.extend(_condition_lines(register.condition))
    if isinstance(register, DescribedArray):
        for inner in register.registers:
            lines.extend(f"  {line}" for line in _register_lines(inner, ""))
        return lines
    if register.usage:
        lines.append(f"  usage {', '.join(register.usage)}")
    lines.extend(_port_lines(register))
    lines.extend(_type_lines(register.type, register.condition))
    return lines


def _port_lines(register: DescribedRegister) -> Iterator[str]:
    port = register.port
    if port is not None:
        last = f"{register.name}[{port.elements - 1}]"
        yield f"  port: each write is the next of {register.name}[0] to {last}"
        yield f"  {port.pointer} says which"
    if register.pointer_of is not None:
        yield f"  says which element {register.pointer_of} writes next"


_Condition = Mapping[str, Sequence[str]] | None


def _type_lines(kind: DescribedType, around: _Condition) -> list[str]:
    lines = []
    if kind.name != "bitfield":
        bits = f"bits {kind.low}..{kind.high}"
        lines.append(f"  type {_type_text(kind)}, {bits}")
    lines.extend(_field_lines(kind.fields or (), around))
    lines.extend(_value_lines(kind.values or ()))
    return lines


# ``around``: the condition that is shown already, which every field inside has too.
def _field_lines(fields: Sequence[DescribedField], around: _Condition = None) -> list[str]:
    table = []
    for field in fields:
        own = None if field.condition == around else field.condition
        condition = " ".join(line.strip() for line in _condition_lines(own))
        table.append((_bits(field.type), field.name, _type_text(field.type), condition))
    lines = []
    for field, line in zip(fields, columns(table), strict=True):
        lines.append(f"  {line}")
        values = field.type.values or ()
        if len(values) <= _MAX_VALUES:
            lines.extend(f"      {value}" for value in _value_lines(values))
        lines.extend(f"      {line}" for line in _field_lines(field.type.fields or ()))
    return lines


def _bits(kind: DescribedType) -> str:
    return f"{kind.low}" if kind.low == kind.high else f"{kind.low}..{kind.high}"


def _type_text(kind: DescribedType) -> str:
    parts = [kind.name]
    if kind.form in _WIDE_FORMS and kind.name not in ("enum", "bitfield"):
        parts.append(f"({kind.form})")
    if kind.shr is not None:
        parts.append(f"shr {kind.shr}")
    if kind.radix is not None:
        parts.append(f"radix {kind.radix}")
    if kind.selects_variant:
        parts.append("selects the variant")
    return " ".join(parts)


def _value_lines(values: Sequence[DescribedValue]) -> list[str]:
    table = [
        (
            "-" if value.number is None else f"{value.number:#x}",
            value.name,
            " ".join(line.strip() for line in _condition_lines(value.condition)),
        )
        for value in values
    ]
    return [f"  {line}" for line in columns(table)]


def _condition_lines(condition: _Condition) -> list[str]:
    return [f"  when {varset} {', '.join(names)}" for varset, names in (condition or {}).items()]


def _group_head(group: DescribedGroup, chips: str) -> str:
    parts = [group.name, group.kind]
    if group.length is not None:
        parts.append(f"{group.length} dwords")
    if group.opcode is not None:
        parts.append(f"opcode {group.opcode:#010x}")
        parts.append(" ".join(group.engines or ()))
    if group.offset is not None:
        parts.append(f"at {group.offset:#06x}")
    return f"{'  '.join(parts)}  in {chips}"


def _group_field_lines(fields: Sequence[DescribedField]) -> Iterator[str]:
    table = [(_bits(field.type), field.name, field.type.name) for field in fields]
    for field, line in zip(fields, columns(table), strict=True):
        yield f"  {line}"
        for value in field.type.values or ():
            yield f"      {value.number:#x} {value.name}"


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
    from cffpy.intel.decoder import lookup

    return bool(lookup.explain(lookup.databases(None, register_db), name))


def show_intel(question: Question, name: str, verx10: int | None) -> bool:
    """Write what an instruction, struct or register is; whether there is any of this name."""
    from cffpy.intel.decoder import lookup

    descriptions = lookup.explain(lookup.databases(verx10, question.register_db), name)
    _write_descriptions(question, name, descriptions)
    return bool(descriptions)


def search_intel(question: Question, text: str, verx10: int | None) -> bool:
    """Write the names that contain a text; whether there are any."""
    from cffpy.intel.decoder import lookup

    names = lookup.search(lookup.databases(verx10, question.register_db), text)
    _write_names(question, text, names)
    return bool(names)


def _document(answer: object) -> dict[str, Any]:
    from cffpy.frame.faces import facts_document  # lazily: text does without

    return facts_document(answer)


def _write_descriptions(question: Question, name: str, descriptions: Sequence[Description]) -> None:
    result = Result(
        view.SHOW_SCHEMA,
        lambda: _document(view.ShowDocument(name, list(descriptions))),
        lambda: description_lines(descriptions),
    )
    write_result(result, question)


def _write_names(question: Question, text: str, names: Sequence[DescribedName]) -> None:
    result = Result(
        view.SEARCH_SCHEMA,
        lambda: _document(view.SearchDocument(text, list(names))),
        lambda: name_lines(names),
    )
    write_result(result, question)


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
_DEVICE_EPILOG = """\b
Examples:
  cffpy db device 618                         a part, with its magic registers
  cffpy db device 635 618                     what distinguishes two parts
  cffpy db device 0x43050a01 750 --all        a chip id; also what they have in common
  cffpy db device 840 --edition mesa-25.3 --csv
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
@_look_up(view.SHOW_SCHEMA)
def show(question: Question, name: str, chip: str | None) -> int:
    """Explain a register, array, packet, bitset or enum, by name or by register offset.

    With an Intel GPU, or a name that only Intel's descriptions have: an instruction, struct or
    register of Intel.

    If nothing has this name, similar names are suggested and the exit code is 1.
    """
    from cffpy.regdb.lookup import explain, nearest

    verx10 = intel_generation(chip)
    if verx10 is not None:
        return _intel(show_intel(question, name, verx10), name)
    catalogs = _catalogs(chip, question.register_db)
    descriptions = explain(catalogs, name) or _explain_alias(catalogs, name)
    if not descriptions and chip is None and has_intel(name, question.register_db):
        return _intel(show_intel(question, name, None), name)
    if descriptions or question.form == "json":
        _write_descriptions(question, name, descriptions)
    if descriptions:
        return EXIT_OK
    similar = nearest(catalogs, name)
    hint = f"; similar: {', '.join(similar)}" if similar else ""
    print_error(f"'{name}' not found in {_generations(catalogs)}{hint}")
    return _failed()


@db.command(short_help="Find names of registers, fields, values.", epilog=_SEARCH_EPILOG)
@click.argument("text")
@_look_up(view.SEARCH_SCHEMA)
def search(question: Question, text: str, chip: str | None) -> int:
    """Find TEXT in names of registers, fields, enum values and packets.

    With an Intel GPU in names of instructions, structs, registers, fields and values of Intel.

    The exit code is 1 if nothing is found.
    """
    from cffpy.regdb.lookup import search as search_catalogs

    verx10 = intel_generation(chip)
    if verx10 is not None:
        return _intel(search_intel(question, text, verx10), text)
    catalogs = _catalogs(chip, question.register_db)
    names = search_catalogs(catalogs, text)
    _write_names(question, text, names)
    if names:
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
        lambda: _document(view.check_document(parts, errors_only)),
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

    known = [
        view.Edition(name, edition_name(directory), list(store.chips(directory)))
        for name, directory in installed().items()
    ]
    result = Result(
        view.EDITIONS_SCHEMA,
        lambda: _document(view.EditionsDocument(known)),
        lambda: edition_lines(known),
    )
    return write_result(result, question)


@db.command(short_help="Show what distinguishes GPUs.", epilog=_DEVICE_EPILOG)
@click.argument("names", metavar="GPU...", nargs=-1, required=True)
@click.option("--all", "shows_all", is_flag=True, help="Also show what the GPUs have in common.")
@asks_no_capture(
    forms=Forms(item="property", json=view.DEVICE_SCHEMA, csv=True), edition=edition_option
)
def device(question: Question, names: tuple[str, ...], shows_all: bool) -> int:
    """Show what Mesa's drivers know of GPUs: tiling, caches, features, quirks, magic registers.

    GPU is a name (618, x1-85) or a chip id (0x06030500). Of several GPUs, the properties that
    differ are shown. Properties have the names of Mesa's table of devices; gmem_size (of the
    kernel) and gmem_ccu_offset (where the colour cache lies in GMEM rendering) are added. A magic
    register is one whose bits are not documented: drivers write what the vendor's driver writes.

    A GPU that the edition does not know is looked up in the others.
    """
    answer, parts = view.device_document(names, question.register_db, shows_all)
    result = Result(
        view.DEVICE_SCHEMA,
        lambda: _document(answer),
        lambda: device_lines(answer),
        columns=lambda: ("kind", "name", *parts),
        rows=lambda: ((row.kind, row.name, *row.values) for row in answer.properties),
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

    of_chips = compare_editions(resolve_edition(old), resolve_edition(new))
    changes = {
        name: [each for each in of_chip if not only or each.change in only]
        for name, of_chip in of_chips.items()
        if chip in (None, name)
    }
    result = Result(
        view.DIFF_SCHEMA,
        lambda: _document(view.EditionDiffDocument(old, new, changes)),
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
    subdirectories rnndb and isaspec. Of a Mesa tree, freedreno_devices.py becomes OUT/devices.txt,
    the table of GPUs (cffpy db device); it is not executed. Files of the same names in OUT are
    overwritten, others are kept. What registers are for (about, role, engine) is taken over from
    the edition in OUT, or from the bundled one, by name or by offset. The a2xx instruction set is
    added, since Mesa has no XML for it.

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
        if not paths and done.devices is None:
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
        f"{', the table of devices' if done.devices is not None else ''}"
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


def _explain_alias(catalogs: Sequence[Catalog], name: str) -> list[Description]:
    """What has this name in another edition."""
    from cffpy.regdb.aliases import Aliases
    from cffpy.regdb.lookup import explain

    for other in Aliases.installed().any(name):
        descriptions = explain(catalogs, other)
        if descriptions:
            print_warning(f"'{name}' is called {other} in this edition")
            return descriptions
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
Findings = dict[str, "Sequence[Finding] | None"]


def check_edition(name_or_path: str | None) -> Findings:
    """The findings by part. Raises RegisterDbError if the directory is not an edition."""
    from cffpy.editions.folders import instruction_files, resolve_edition
    from cffpy.isa.check import check_directory as check_instructions
    from cffpy.regdb.check import check_directory as check_registers

    parts: Findings = {REGISTERS: None, INSTRUCTIONS: None}
    try:
        directory = resolve_edition(name_or_path)
    except RegisterDbError:
        if name_or_path is None or not instruction_files(name_or_path):
            raise
        directory = name_or_path
    else:
        parts[REGISTERS] = check_registers(directory)
    if instruction_files(directory):
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
