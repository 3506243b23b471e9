# SPDX-License-Identifier: MIT
"""A plugin: ``cffpy vertices FILE`` prints how many vertices each pass draws."""

from __future__ import annotations

import click

import cffpy


@click.command()
@click.argument("path", metavar="FILE")
@click.option("--where", default="draw.kind == draw", help="Only these draws.")
def vertices(path: str, where: str) -> int:
    """Print the vertices that the program's draws of each pass have."""
    with cffpy.open(path) as capture:
        for one in capture.passes:
            total = sum(draw.vertices or 0 for draw in one.draws.where(where))
            click.echo(f"pass {one.index}: {total}")
        return 1 if capture.problems else 0
