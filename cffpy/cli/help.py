# SPDX-License-Identifier: MIT
"""``cffpy help``: topics that are no command."""

from __future__ import annotations

import click

from cffpy.cli.output import EXIT_OK
from cffpy.cli.text_options import text_options, write_lines

_EPILOG = """\b
Examples:
  cffpy help facts
  cffpy help facts tile
  cffpy help facts pass.bin_size
"""


@click.command(name="help", epilog=_EPILOG)
@click.argument("topic", metavar="[TOPIC]", required=False)
@click.argument("name", metavar="[NAME]", required=False)
@text_options
@click.help_option("-h", "--help")
def help_command(topic: str | None, name: str | None) -> int:
    """Explain a topic. facts: the facts of all objects of a capture, or of the one called NAME.

    Facts have the same names in JSON, CSV, SQL, filters and in Python. NAME is an object, such as
    pass or tile, or a fact, such as pass.bin_size. For commands: cffpy COMMAND --help.
    """
    if topic is None:
        write_lines(["topics: facts (the names in JSON, CSV, SQL, filters, Python)"])
        return EXIT_OK
    if topic != "facts":
        raise click.UsageError(f"there is no topic {topic}; topics: facts")
    from cffpy.views import facts

    if name is None:
        write_lines(facts.table())
        return EXIT_OK
    found = facts.named(name)
    if not found:
        from difflib import get_close_matches

        words = {one.word for one in facts.models()}
        near = get_close_matches(name, sorted(words), n=3) or sorted(words)
        raise click.UsageError(f"there are no facts {name}; there are: {', '.join(near)}")
    is_object = name.lower() in {
        word for one in found for word in (one.word, one.of.__name__.lower())
    }
    only = "" if is_object else name.lower().rpartition(".")[2]
    write_lines(line for one in found for line in facts.lines(one, only))
    return EXIT_OK
