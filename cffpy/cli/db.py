# SPDX-License-Identifier: MIT
"""``cffpy db``: look up registers, check an edition, import one from Mesa."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import click

from cffpy.capture.gpu import parse_gpu
from cffpy.cli.db_text import change_lines, documents_lines, edition_lines, hit_lines
from cffpy.cli.forms import Result, write_result
from cffpy.cli.intel_db import has_intel, intel_generation, parse_any_chip
from cffpy.cli.intel_db import search as search_intel
from cffpy.cli.intel_db import show as show_intel
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error, print_warning
from cffpy.cli.parameters import edition_option, output_option
from cffpy.cli.question import Forms, Question, asks_no_capture
from cffpy.errors import UnsupportedGpu
from cffpy.views import database as view

if TYPE_CHECKING:
    from cffpy.regdb.catalog import Catalog
    from cffpy.regdb.explain import Document

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
@click.argument("name", metavar="NAME|OFFSET")
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
        write_result(result, question.form)
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
    write_result(result, question.form)
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
    from cffpy.cli.db_check import as_lines, check_edition, count_errors

    parts = check_edition(directory)
    result = Result(
        view.CHECK_SCHEMA,
        lambda: view.check_document(parts, errors_only),
        lambda: as_lines(parts, errors_only),
    )
    write_result(result, question.form)
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
    return write_result(result, question.form)


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
    their numbers are. The exit code is 1 if the editions differ.
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
    write_result(result, question.form)
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
    "Directory to write: OUT/adreno/*.regs, OUT/isa/*.isa. Default: register_db.",
    default="register_db",
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
    print(
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
    print(f"{len(paths)} files of Intel's descriptions in {output}")
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
