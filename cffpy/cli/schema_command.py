# SPDX-License-Identifier: MIT
"""``cffpy schema``: the JSON Schemas of the documents that commands write."""

from __future__ import annotations

import os

import click

from cffpy._data import data_path
from cffpy.cli.output import EXIT_OK, PagedOutput, write_all

_EPILOG = """\b
Examples:
  cffpy schema
  cffpy schema passes > passes.json
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


@click.command(name="schema", epilog=_EPILOG)
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
