# SPDX-License-Identifier: MIT
"""``cffpy schema``: the JSON Schemas of documents; ``cffpy completion``: scripts for shells."""

from __future__ import annotations

import os

import click

from cffpy._data import data_path
from cffpy.cli.output import EXIT_OK, PagedOutput, write_all

_SCHEMA_EPILOG = """\b
Examples:
  cffpy schema
  cffpy schema passes > passes.json
"""
_COMPLETION_EPILOG = """\b
Examples:
  cffpy completion bash >> ~/.bashrc
  cffpy completion zsh >> ~/.zshrc
  cffpy completion fish > ~/.config/fish/completions/cffpy.fish
"""


def schema_names() -> list[str]:
    """The documents that have a schema."""
    files = os.listdir(data_path("schemas"))
    return sorted(name.removesuffix(".json") for name in files if name.endswith(".json"))


def schema_text(name: str) -> bytes:
    """The schema of a document: "passes", "cffpy.passes" or "cffpy.passes/1".

    Raises UsageError where there is none.
    """
    names = schema_names()
    wanted = name.removeprefix("cffpy.").partition("/")[0]
    if wanted not in names:
        raise click.UsageError(f"there is no schema {name}; there are: {', '.join(names)}")
    with open(data_path("schemas", f"{wanted}.json"), "rb") as file:
        return file.read()


@click.command(name="schema", epilog=_SCHEMA_EPILOG)
@click.argument("name", metavar="[NAME]", required=False)
@click.help_option("-h", "--help")
def schema_command(name: str | None) -> int:
    """Print the JSON Schema of a document, or list the documents that have one.

    NAME is the name in a document's first member, without the version: passes for cffpy.passes/1.
    """
    if name is None:
        text = "".join(f"{one}\n" for one in schema_names()).encode()
    else:
        text = schema_text(name)
    with PagedOutput(pager=False) as stream:
        write_all(stream, text)
    return EXIT_OK


@click.command(epilog=_COMPLETION_EPILOG)
@click.argument("shell", type=click.Choice(("bash", "zsh", "fish")))
@click.help_option("-h", "--help")
def completion(shell: str) -> None:
    """Print a completion script for SHELL: bash (4.4 or newer), zsh or fish."""
    from click.shell_completion import get_completion_class

    from cffpy.cli.main import cli

    script = get_completion_class(shell)
    assert script is not None, shell
    click.echo(script(cli, {}, "cffpy", "_CFFPY_COMPLETE").source(), nl=False)
