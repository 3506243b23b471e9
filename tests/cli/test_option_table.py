# SPDX-License-Identifier: MIT
"""The options of all commands as a table: a name has one meaning in all commands."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import click
import pytest

from cffpy.cli.main import COMMANDS, cli

#: Options that several commands have: their meaning. Others belong to one command.
MEANINGS = {
    "--all": "nothing is left out that is left out otherwise; of disasm: all shaders of a capture",
    "--allregs": "at draws, all registers written so far",
    "--annotate": "marks passes, tiles, draws and conditions",
    "--bank-bit": "highest bank bit of tiled memory",
    "--bank-levels": "mask of swizzled levels of tiled memory",
    "--batch": "questions in JSON lines from a file",
    "--color": "colour, or not",
    "--compare": "another capture, which the page or the findings are compared with",
    "--csv": "CSV",
    "--at": "a place of the capture",
    "--draw": "draw N of the pass, or a place; of dump, which is cffdump's: a number of the dump",
    "--columns": "what is shown of each row",
    "--dump-kernels": "write kernels to files",
    "--edition": "the name of an edition",
    "--follow-stores": "commands that store data are executed",
    "--format": "of layout: format of texels; of asm, disasm: form of programs",
    "--gpu": "decode, assemble or calculate for this GPU",
    "--headers": "only the first line of each command",
    "--help": "help",
    "--html": "write a page for a browser",
    "--inherited": "values from earlier submits",
    "--jobs": "worker processes",
    "--json": "one JSON document",
    "--jsonl": "a JSON object a line",
    "--kernel-names": "size and digest of kernels",
    "--layers": "array layers",
    "--limit": "a limit of the decoder",
    "--list": "only names: of rules, of shaders",
    "--no-color": "no colour",
    "--no-offsets": "0 for addresses of commands",
    "--no-pager": "no pager",
    "--only": "only rows of these kinds",
    "--output": "the output file or directory",
    "--markdown": "a summary in Markdown",
    "--memory-channels": "memory channels of the GPU",
    "--pager": "a pager, or not",
    "--pass": "a pass by its number",
    "--tile": "tile N of the pass, or a place",
    "--pitch": "bytes of a row",
    "--plot": "a drawing of characters",
    "--raw": "of afuc: microcode without header and table",
    "--register-db": "another edition of the descriptions",
    "--samples": "samples per pixel",
    "--size": "of layout: width and height; of repair: dwords of a command stream",
    "--submit": "only this submit",
    "--summary": "registers at draws, not at each write",
    "--svg": "write an SVG drawing to this file",
    "--verbose": "more text; of dump, which is cffdump's: nothing",
    "--where": "only rows for which an expression holds",
    "--wide": "lines are not folded to the width of the terminal",
    "--xml": "descriptions from XML",
}

#: Short names, each with its only long name.
SHORT = {
    "-a": "--allregs",
    "-c": "--color",
    "-D": "--draw",
    "-e": "--exe",
    "-E": "--end",
    "-f": "--file",
    "-F": "--frame",
    "-h": "--help",
    "-l": "--look-back",
    "-L": "--script",
    "-m": "--markers",
    "-o": "--output",
    "-q": "--query",
    "-s": "--summary",
    "-S": "--start",
    "-v": "--verbose",
}

#: Commands that print text for people: each has --color, --pager and --wide.
TEXT = {
    "help",
    "image",
    "index shader",
    "index compare",
    "index sql",
    "index stats",
    "index values",
    "afuc disasm",
    "layout check",
    "info",
    "passes",
    "tiles",
    "draws",
    "state",
    "diff",
    "disasm",
    "vsc",
    "layout image",
    "layout lrz",
    "layout tiles",
    "layout tile",
    "db show",
    "db search",
    "db check",
    "db editions",
    "find",
    "bisect",
    "crash",
    "lrz",
    "db diff",
    "check",
    "sql",
}

#: Commands whose options are those of Mesa's tools of these names.
GETOPT = {"dump", "crashdec", "aubinator", "aubinator-error-decode"}

#: Those of them that have neither --no-color nor --pager.
INTEL = {"aubinator", "aubinator-error-decode"}

#: Options whose help text is the same wherever they are, but where getopt parses.
SAME_HELP = (
    *("--color", "--pager", "--wide", "--limit", "--register-db", "--help"),
    *("--submit", "--pass", "--tile", "--draw"),
)


def commands() -> Iterator[tuple[str, click.Command]]:
    """All commands except groups, by name."""
    context = click.Context(cli)

    def within(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        if not isinstance(command, click.Group):
            yield name, command
            return
        for inner in command.list_commands(context):
            found = command.get_command(context, inner)
            assert found is not None
            yield from within(f"{name} {inner}", found)

    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        yield from within(name, command)


def options() -> Iterator[tuple[str, click.Option]]:
    for name, command in commands():
        for one in command.params:
            if isinstance(one, click.Option):
                yield name, one


def test_an_option_of_several_commands_has_a_meaning() -> None:
    having: dict[str, set[str]] = defaultdict(set)
    for command, option in options():
        for name in (*option.opts, *option.secondary_opts):
            if name.startswith("--"):
                having[name].add(command)
    assert {name for name, found in having.items() if len(found) > 1} - MEANINGS.keys() == set()
    assert MEANINGS.keys() - having.keys() == set()


def test_an_option_takes_an_argument_everywhere_or_nowhere() -> None:
    flags: dict[str, set[bool]] = defaultdict(set)
    for command, option in options():
        if command in INTEL and "--color" in option.opts:
            continue  # of Mesa's tool: --color[=WHEN]
        for name in (*option.opts, *option.secondary_opts):
            flags[name].add(option.is_flag)
    assert [name for name, found in flags.items() if len(found) > 1] == []


def test_a_short_name_stands_for_one_long_name() -> None:
    for command, option in options():
        for name in option.opts:
            if not name.startswith("--"):
                assert SHORT[name] in option.opts, (command, name)


@pytest.mark.parametrize("name", SAME_HELP)
def test_shared_options_are_described_alike(name: str) -> None:
    texts = {
        option.help
        for command, option in options()
        if name in option.opts and command not in GETOPT
    }
    assert len(texts) == 1


def test_commands_that_print_text_have_its_options() -> None:
    having: dict[str, set[str]] = defaultdict(set)
    for command, option in options():
        having[command].update((*option.opts, *option.secondary_opts))
    wanted = {"--color", "--no-color", "--pager", "--no-pager"}
    assert {name for name, found in having.items() if wanted <= found} == {*TEXT, *GETOPT} - INTEL
    assert {name for name, found in having.items() if "--wide" in found} == TEXT


#: Commands that take a place, and the other options that name its parts.
PLACES = {
    *("check", "disasm", "draws", "image", "layout check", "lines", "lrz", "passes", "state"),
    *("tiles", "vsc"),
}
#: Commands that take a place of few kinds.
SOME_PLACES = {"diff", "edit", "report", "tui"}


def test_commands_that_take_a_place_have_its_options() -> None:
    having: dict[str, set[str]] = defaultdict(set)
    for command, option in options():
        having[command].update(option.opts)
    wanted = {"--at", "--submit", "--pass", "--tile", "--draw"}
    assert {name for name, found in having.items() if wanted <= found} == PLACES
    assert {name for name, found in having.items() if "--at" in found} == PLACES | SOME_PLACES
    others = {name for name, found in having.items() if wanted & found and name not in GETOPT}
    assert others - PLACES - SOME_PLACES == {"decompile"}
