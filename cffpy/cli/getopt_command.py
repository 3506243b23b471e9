# SPDX-License-Identifier: MIT
"""Click commands whose arguments getopt reads: for help and shell completion only."""

from __future__ import annotations

import click

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cli.dump_options import Option


class GetoptCommand(click.Command):
    """Passes its arguments on unparsed: ``invoke`` finds them in ``context.args``."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Keep the arguments as they are."""
        context.args = list(arguments)
        return context.args


def parameters(options: tuple[Option, ...]) -> list[click.Parameter]:
    """The options of a table as click has them."""
    return [_parameter(row, index) for index, row in enumerate(options)]


def _parameter(row: Option, index: int) -> click.Option:
    names = [f"-{row.short}"] if row.short else []
    return click.Option(
        [*names, f"--{row.long}", f"option_{index}"],
        is_flag=not row.metavar,
        metavar=row.metavar or None,
        multiple=row.repeats,
        help=row.help,
    )
