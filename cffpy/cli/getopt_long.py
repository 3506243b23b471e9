# SPDX-License-Identifier: MIT
"""Splits a command line as C's getopt_long does, for compatibility with the reference.

Long options may be abbreviated if unambiguous, short ones may be bundled (``-sa``, ``-D3``), and
options may follow files. The standard library's getopt does the same, but imports gettext
and re, which cost a tenth of decoding a small capture.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator


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
