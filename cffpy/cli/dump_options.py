# SPDX-License-Identifier: MIT
"""The options of ``cffpy dump``: one table, read as C's getopt_long does, and by click's help.

Command lines work as those of the reference: long options may be abbreviated if unambiguous, short
ones may be bundled (``-sa``, ``-D3``), and options may follow files. click's parser would take
longer than decoding a small capture. The standard library's getopt does the same, but imports
gettext and re, which cost a tenth of decoding a small capture.
"""

from __future__ import annotations

import os

from cffpy.c_numbers import whole_number
from cffpy.limits import HELP as LIMIT_HELP
from cffpy.limits import Limits, chosen_limits, parse_options
from cffpy.views.cffdump.options import QUERY_ALL, QUERY_DELTA, QUERY_WRITTEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import Any


class UsageProblem(Exception):
    """The command line is wrong; the message says why."""


def split(
    arguments: list[str],
    shorts: dict[str, bool],
    longs: dict[str, bool | str],
    added: frozenset[str] = frozenset(),
) -> tuple[list[tuple[str, str]], list[str]]:
    """The options (``-x`` or ``--long``, argument) in order, and the other arguments.

    ``shorts`` and ``longs`` map each name to whether it takes an argument; a long one may also map
    to what an argument that is left out means. An abbreviation means one of the long names in
    ``added`` only if it fits no other. Raises UsageProblem.
    """
    options: list[tuple[str, str]] = []
    others: list[str] = []
    rest = iter(arguments)
    for argument in rest:
        if argument == "--":
            others.extend(rest)
        elif argument.startswith("--"):
            name, equals, value = argument[2:].partition("=")
            name = _long_name(name, longs, added)
            takes = longs[name]
            if isinstance(takes, str):
                value = value if equals else takes
            elif takes and not equals:
                value = _next(rest, f"--{name}")
            elif equals and not takes:
                raise UsageProblem(f"option --{name} takes no argument.")
            options.append((f"--{name}", value))
        elif argument.startswith("-") and argument != "-":
            options.extend(_bundle(argument[1:], shorts, rest))
        else:
            others.append(argument)
    return options, others


def _long_name(given: str, longs: dict[str, bool | str], added: frozenset[str]) -> str:
    if given in longs:
        return given
    fitting = [name for name in longs if name.startswith(given)]
    fitting = [name for name in fitting if name not in added] or fitting
    if not fitting:
        raise UsageProblem(f"no such option: --{given}")
    if len(fitting) > 1:
        raise UsageProblem(f"option --{given} is ambiguous: {', '.join(fitting)}")
    return fitting[0]


def _bundle(letters: str, shorts: dict[str, bool], rest: Iterator[str]) -> list[tuple[str, str]]:
    options = []
    while letters:
        letter, letters = letters[0], letters[1:]
        if letter not in shorts:
            raise UsageProblem(f"no such option: -{letter}")
        if shorts[letter]:
            options.append((f"-{letter}", letters or _next(rest, f"-{letter}")))
            break
        options.append((f"-{letter}", ""))
    return options


def _next(rest: Iterator[str], option: str) -> str:
    argument = next(rest, None)
    if argument is None:
        raise UsageProblem(f"option {option} needs an argument.")
    return argument


class Option:
    """An option: ``--long``, optionally ``-short``; with ``metavar`` it takes an argument.

    It sets the settings ``names`` to ``value``, or to the argument converted by ``convert``. With
    ``repeats`` the values are collected in a list. ``default`` is the argument of an option whose
    argument may be left out.
    """

    __slots__ = (
        "convert",
        "default",
        "help",
        "long",
        "metavar",
        "names",
        "repeats",
        "short",
        "value",
    )

    def __init__(
        self,
        long: str,
        text: str,
        *,
        short: str = "",
        names: tuple[str, ...] = (),
        value: object = True,
        metavar: str = "",
        convert: Callable[[str], object] = str,
        repeats: bool = False,
        default: str | None = None,
    ) -> None:
        self.long = long
        self.help = text
        self.short = short
        self.names = names or (long.replace("-", "_"),)
        self.value = value
        self.metavar = metavar
        self.convert = convert
        self.repeats = repeats
        self.default = default


def _number(text: str) -> int:
    try:
        return whole_number(text)
    except ValueError:
        raise UsageProblem(f"{text!r} is not a valid integer.") from None


def _gpu(text: str) -> object:
    from cffpy.capture.gpu import parse_gpu
    from cffpy.errors import UnsupportedGpu

    try:
        return parse_gpu(text)
    except UnsupportedGpu as problem:
        raise UsageProblem(f"{problem}.") from None


#: Which descriptions of registers, packets and instructions are used.
EDITION_OPTION = Option(
    "edition",
    "Use another edition of the descriptions: a name (cffpy db editions) or a directory.",
    metavar="NAME",
    names=("register_db",),
)

OPTIONS = (
    Option("verbose", "Accepted for compatibility; has no effect.", short="v"),
    Option("dump-shaders", "Also write each shader to a file: 0000.vo3, ..."),
    Option("color", "Use colour (default: on a terminal)."),
    Option("no-color", "Do not use colour.", names=("color",), value=False),
    Option("pager", "Use a pager (default: on a terminal)."),
    Option("no-pager", "Do not use a pager.", names=("pager",), value=False),
    Option("summary", "Print registers at draws, not at each write.", short="s"),
    Option("allregs", "At draws, print all registers written so far.", short="a"),
    Option(
        "start",
        "First command stream to decode, as cmdstream[N] of the output.",
        short="S",
        metavar="N",
        convert=_number,
    ),
    Option("end", "Last command stream to decode.", short="E", metavar="N", convert=_number),
    Option(
        "frame",
        "Decode only command stream N, counted as cffdump does: not a submit of other commands.",
        short="F",
        metavar="N",
        convert=_number,
        names=("start", "end"),
    ),
    Option("draw", "Print only draw N.", short="D", metavar="N", convert=_number),
    Option("exe", "Only submits of processes with this name prefix.", short="e", metavar="NAME"),
    Option("textures", "Print the memory that texture descriptors point to."),
    Option("bindless", "Print bindless descriptors at draws."),
    Option("show-compositor", "Include the submits of compositors."),
    Option(
        "script",
        "Run this Lua script over the capture. A script can do all that you can: run only those"
        " that you trust.",
        short="L",
        metavar="LUA",
    ),
    Option("query", "Print only this register, at draws.", short="q", metavar="REG", repeats=True),
    Option("query-all", "Query at every draw (default).", names=("query_mode",), value=QUERY_ALL),
    Option(
        "query-written",
        "Query at draws where a queried register was written.",
        names=("query_mode",),
        value=QUERY_WRITTEN,
    ),
    Option(
        "query-delta",
        "Query at draws where a queried register changed.",
        names=("query_mode",),
        value=QUERY_DELTA,
    ),
    Option("query-compare", "Query: compare binning with drawing values."),
    Option("once", "Decode each IB once per render mode."),
    Option("not-once", "Decode each IB every time (default).", names=("once",), value=False),
    Option("annotate", "Add lines that mark passes, tiles, draws, conditions."),
    Option("unit-test", "Do not print the name of the file."),
    EDITION_OPTION,
    Option("gpu", "Decode as this GPU (630) or generation (a6xx).", metavar="GPU", convert=_gpu),
    Option("limit", LIMIT_HELP, metavar="NAME=N", repeats=True, names=("limits",)),
    Option("help", "Show this message and exit.", short="h"),
)


#: Options that the reference does not have: its abbreviations keep their meaning.
_ADDED = frozenset(("annotate", "edition", "gpu", "limit"))


def edition_directory(name: str | None, knows_auto: bool = False) -> str | None:
    """The directory of the edition that the option or the environment names; None: the bundled one.

    ``knows_auto``: "auto" may be named, and is returned. Raises RegisterDbError if there is no such
    edition.
    """
    if name is None and not os.environ.get("CFFPY_EDITION"):
        return None
    from cffpy.editions.folders import chosen_edition

    return chosen_edition(name, os.environ, knows_auto)


def parse(
    arguments: list[str],
    options: tuple[Option, ...] = OPTIONS,
    added: frozenset[str] = _ADDED,
) -> tuple[dict[str, Any], list[str]]:
    """The settings that were given, and the files. Raises UsageProblem.

    ``added``: names of ``options`` that the reference does not have.
    """
    shorts = {row.short: bool(row.metavar) for row in options if row.short}
    longs: dict[str, bool | str] = {
        row.long: bool(row.metavar) if row.default is None else row.default for row in options
    }
    given, files = split(arguments, shorts, longs, added)
    rows = {f"--{row.long}": row for row in options}
    rows.update({f"-{row.short}": row for row in options if row.short})
    settings: dict[str, Any] = {}
    for name, argument in given:
        row = rows[name]
        value = row.convert(argument) if row.metavar else row.value
        for setting in row.names:
            settings[setting] = [*settings.get(setting, ()), value] if row.repeats else value
    return settings, files


def limits_of(texts: list[str]) -> Limits:
    """The limits that ``--limit`` and the environment set. Raises UsageProblem."""
    try:
        options = parse_options(texts)
    except ValueError as problem:
        raise UsageProblem(f"--limit: {problem}.") from None
    try:
        return chosen_limits(options, os.environ)
    except ValueError as problem:
        raise UsageProblem(f"{problem}.") from None
