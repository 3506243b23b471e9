# SPDX-License-Identifier: MIT
"""The options of all commands as a table: a name has one type, one text and one place in all."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import NamedTuple

import click
import pytest

from cffpy.cli.main import COMMANDS, cli

#: Commands that stand for programs of Mesa: their options are those of the programs.
GETOPT = {"dump", "crashdec", "aubinator", "aubinator-error-decode"}

#: Those of them that have neither --no-color nor --pager.
INTEL = {"aubinator", "aubinator-error-decode"}

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

#: Options whose text names what the command shows: everything else in it is the same.
TEMPLATES = {
    "--at": r"(Only|Begin at) this: .*\.",
    "--submit": r"(Only|Begin at) this submit, by its number in 'cffpy info'\.",
    "--pass": r"(Only|Begin at) this pass\.",
    "--tile": r"(Only|Begin at) tile N of the pass; also a PLACE\.",
    "--draw": r"(Only|Begin at) draw N of the pass, or N-M; also a PLACE\.",
    "--columns": r"Show the values of these names \([^)]+\)\.",
    "--json": r"Print one JSON document \(cffpy\.[^)]+\)\.",
    "--jsonl": r"Print an object for each [a-z]+ \([^)]+\)\.",
    "--csv": r"Print CSV with a row for each [a-z]+\.",
    "--plot": r"Draw [a-z ]+ with characters\.",
    "--svg": r"Draw [a-z ]+ to this SVG file \('-': standard output\)\.",
}

#: Options that differ between commands, and why.
EXCEPTIONS = {
    "--all": "shows what the command leaves out otherwise, and says what that is",
    "--gpu": "of a capture: how it is decoded; db has a filter, layout needs one that it knows",
    "--layers": "of an image, or of a framebuffer, which has fewer",
    "--only": "its choices are kinds of lines, or of changes",
    "--output": "its metavar and text name the kind of file",
    "--size": "of an image or memory in texels, of a framebuffer in pixels",
}

#: In this order, after the options of the command alone.
ORDER = (
    *("--output", "--at", "--submit", "--pass", "--tile", "--draw", "--where", "--columns"),
    *("--plot", "--json", "--jsonl", "--csv", "--svg", "--html"),
    *("--color", "--pager", "--wide", "--gpu", "--edition", "--limit", "--help"),
)

PLACES = ("--at", "--submit", "--pass", "--tile", "--draw", "--where")

#: Commands about one capture or several, and which of PLACES they have.
EVERY = set(PLACES)
HAVING = {
    "bisect": set[str](),
    "check": EVERY,
    "crash": set(),
    "decompile": {"--at", "--submit"},
    "diff": EVERY,
    "draws": EVERY,
    "edit": {"--at", "--pass", "--draw"},
    "export": set(),
    "find": {"--where"},
    "image": EVERY - {"--where"},
    "index build": set(),
    "info": set(),
    "layout check": EVERY,
    "lines": EVERY,
    "lrz": EVERY,
    "passes": EVERY,
    "repair": set(),
    "report": EVERY - {"--where"},
    "shaders": EVERY,
    "sql": set(),
    "state": EVERY,
    "tiles": EVERY,
    "tui": EVERY - {"--where"},
    "vsc": EVERY,
}

#: Why a command about captures lacks some of them.
WHY_NOT = {
    "bisect": "the search finds the place",
    "crash": "the dump says where the GPU was",
    "decompile": "the text is of whole submits, since state and buffers are shared within one",
    "edit": "--set changes the write that is in effect at one draw",
    "export": "a table has all of a capture; rows are chosen in SQL",
    "find": "numbers of places differ between captures; its expression names them, as pass.pass",
    "image": "an image is of one draw, or of memory",
    "index build": "an index answers for whole captures",
    "info": "what the file has; nothing is decoded",
    "report": "the page shows all, and has a search of its own",
    "repair": "it is about sections of the file",
    "sql": "the statement says which rows",
    "tui": "it shows all, and has a search of its own",
}

#: Commands that are about no capture.
WITHOUT_CAPTURE = {
    *("afuc asm", "afuc disasm", "asm", "compile", "completion", "disasm", "help", "schema"),
    *("db check", "db device", "db diff", "db editions", "db import", "db search"),
    "db show",
    *("index compare", "index shader", "index sql", "index stats", "index values"),
    *("layout formats", "layout image", "layout lrz", "layout tile", "layout tiles"),
}

#: Commands that print no text for people, which have no --color, --pager and --wide.
WITHOUT_TEXT = {
    *("afuc asm", "asm", "compile", "completion", "db import", "decompile", "edit", "export"),
    *("index build", "lines", "repair", "report", "schema", "tui"),
}


class Described(NamedTuple):
    """What is to be the same of an option wherever it is."""

    kind: str
    metavar: str | None
    multiple: bool
    text: str | None


def described(option: click.Option, name: str) -> Described:
    kind = repr(option.type)
    if not isinstance(option.type, click.Choice | click.IntRange):
        kind = type(option.type).__name__
    text = option.help or ""
    template = TEMPLATES.get(name)
    if template is not None and re.fullmatch(template, text):
        text = template
    return Described(kind, option.metavar, option.multiple, text)


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


def long_names(option: click.Option) -> list[str]:
    return [name for name in (*option.opts, *option.secondary_opts) if name.startswith("--")]


def names_by_command() -> dict[str, set[str]]:
    having: dict[str, set[str]] = {name: set() for name, _ in commands()}
    for command, option in options():
        having[command].update(long_names(option))
    return having


def descriptions() -> dict[str, dict[Described, list[str]]]:
    """By option: each way it is described, and the commands where it is."""
    ways: dict[str, dict[Described, list[str]]] = defaultdict(lambda: defaultdict(list))
    for command, option in options():
        if command not in GETOPT:
            for name in long_names(option):
                ways[name][described(option, name)].append(command)
    return ways


def test_an_option_is_described_alike_wherever_it_is() -> None:
    several = {name: dict(ways) for name, ways in descriptions().items() if len(ways) > 1}
    assert {name: ways for name, ways in several.items() if name not in EXCEPTIONS} == {}
    assert EXCEPTIONS.keys() - several.keys() == set()  # none is out of date


@pytest.mark.parametrize("name", TEMPLATES)
def test_what_names_its_command_differs_in_nothing_else(name: str) -> None:
    (found,) = descriptions()[name]
    assert found.text == TEMPLATES[name]


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


def test_shared_options_have_one_order() -> None:
    """Those of the command alone come first."""
    rank = {name: index for index, name in enumerate(ORDER)}
    for name, command in commands():
        if name in GETOPT:
            continue
        ranks = [
            rank.get(long_names(one)[0], -1)
            for one in command.params
            if isinstance(one, click.Option)
        ]
        assert ranks == sorted(ranks), (name, command.params)


def test_commands_that_print_text_have_its_options() -> None:
    having = names_by_command()
    wanted = {"--color", "--no-color", "--pager", "--no-pager"}
    text = having.keys() - WITHOUT_TEXT - GETOPT
    assert {name for name, found in having.items() if wanted <= found} == text | (GETOPT - INTEL)
    assert {name for name, found in having.items() if "--wide" in found} == text


def test_commands_about_captures_take_places() -> None:
    having = names_by_command()
    of_captures = having.keys() - GETOPT - WITHOUT_CAPTURE
    assert {name: having[name] & EVERY for name in of_captures} == HAVING
    assert {name for name, found in HAVING.items() if found != EVERY} == WHY_NOT.keys()
    for name in WITHOUT_CAPTURE:
        assert having[name] & EVERY == set()
