# SPDX-License-Identifier: MIT
"""The options of all commands as a table: one name has one form, one short name one long name."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator

import click

from cffpy.cli.main import COMMANDS, cli

#: Options of dump are cffdump's; where another command has the same name for something else,
#: it is listed here with the reason.
OTHER_FORMS = {
    ("dump", "--draw"): "cffdump's: a number of the dump; elsewhere also pP:N",
    ("dump", "--limit"): "parsed by getopt",
}


def options() -> Iterator[tuple[str, str, str, bool]]:
    """Command, long name, short name or "", whether it is a flag."""
    context = click.Context(cli)

    def of(name: str, command: click.Command) -> Iterator[tuple[str, str, str, bool]]:
        for one in command.params:
            if isinstance(one, click.Option):
                names = [*one.opts, *one.secondary_opts]
                shorts = [text for text in names if not text.startswith("--")]
                for text in names:
                    if text.startswith("--"):
                        yield name, text, shorts[0] if shorts else "", one.is_flag
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                found = command.get_command(context, inner)
                assert found is not None
                yield from of(f"{name} {inner}", found)

    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        yield from of(name, command)


def test_a_long_name_has_one_form_in_all_commands() -> None:
    forms: dict[str, dict[tuple[str, bool], list[str]]] = defaultdict(lambda: defaultdict(list))
    for command, long, short, is_flag in options():
        if (command, long) not in OTHER_FORMS:
            forms[long][short, is_flag].append(command)
    assert {long: dict(found) for long, found in forms.items() if len(found) > 1} == {}


def test_a_short_name_means_one_thing_outside_of_dump() -> None:
    meanings: dict[str, set[str]] = defaultdict(set)
    for command, long, short, _ in options():
        if short and command != "dump":
            meanings[short].add(long)
    assert {short: longs for short, longs in meanings.items() if len(longs) > 1} == {}
