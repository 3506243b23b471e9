# SPDX-License-Identifier: MIT
"""The commands of cffpy as data: usage, description, options, examples. Read from click."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from dataclasses import dataclass

import click

from cffpy.cli.main import COMMANDS, cli

#: What click puts in front of a paragraph that is not to be wrapped.
_VERBATIM = "\b"


@dataclass(frozen=True)
class CommandHelp:
    """One command that can be run; ``name`` is without ``cffpy``, such as ``db show``."""

    name: str
    summary: str
    arguments: str
    #: Paragraphs, each on one line.
    description: tuple[str, ...]
    #: Names with their metavar (``-o, --output OUT``), and the help text.
    options: tuple[tuple[str, str], ...]
    #: Command lines.
    examples: tuple[str, ...]

    @property
    def usage(self) -> str:
        """The synopsis, such as ``cffpy passes [OPTIONS] FILE``."""
        return f"cffpy {self.name} [OPTIONS] {self.arguments}".rstrip()


def commands() -> Iterator[CommandHelp]:
    """All commands in the order of ``cffpy --help``; those of a group one by one."""
    context = click.Context(cli, info_name="cffpy")
    for name, row in COMMANDS.items():
        command = cli.get_command(context, name)
        assert command is not None, name
        if not isinstance(command, click.Group):
            yield _command_help(name, row.help, command)
            continue
        inner = click.Context(command, info_name=name, parent=context)
        for member in command.list_commands(inner):
            found = command.get_command(inner, member)
            assert found is not None, member
            yield _command_help(f"{name} {member}", found.get_short_help_str(100), found)


def _command_help(name: str, summary: str, command: click.Command) -> CommandHelp:
    arguments = [
        parameter.metavar or parameter.name or ""
        for parameter in command.params
        if isinstance(parameter, click.Argument)
    ]
    options = [
        (_names(parameter), parameter.help or "")
        for parameter in command.params
        if isinstance(parameter, click.Option) and not parameter.hidden
    ]
    if not any("--help" in names for names, _ in options):
        options.append(("--help", "Show this message and exit."))
    return CommandHelp(
        name,
        summary,
        " ".join(argument.upper() if argument.islower() else argument for argument in arguments),
        tuple(_paragraphs(command.help or "")),
        tuple(options),
        tuple(_examples(command.epilog or "")),
    )


def _names(option: click.Option) -> str:
    names = ", ".join(sorted(option.opts, key=len))
    if option.secondary_opts:
        names += f" / {', '.join(option.secondary_opts)}"
    if option.is_flag:
        return names
    if option.metavar:
        return f"{names} {option.metavar}"
    if isinstance(option.type, click.Choice):
        return f"{names} [{'|'.join(map(str, option.type.choices))}]"
    kind = option.type.name
    return f"{names} {'N' if kind.startswith(('integer', 'number')) else kind.upper()}"


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        yield " ".join(paragraph.split())


def _examples(epilog: str) -> Iterator[str]:
    for line in epilog.splitlines():
        if line.startswith("  "):
            yield line.strip()
