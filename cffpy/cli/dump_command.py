# SPDX-License-Identifier: MIT
"""``cffpy dump`` as click sees it: for the list of commands, help and shell completion."""

from __future__ import annotations

import click

from cffpy.cli.dump_options import OPTIONS

_EXAMPLES = """\b
Examples:
  cffpy dump capture.rd.gz                 everything
  cffpy dump -s --once capture.rd.gz       registers at each draw, each IB once
  cffpy dump -F 2 -D 17 capture.rd.gz      one draw of one submit
  cffpy dump -q 'RB_MRT[0].CONTROL' --query-delta capture.rd.gz
  cffpy dump --annotate capture.rd.gz      with passes, tiles, draws, conditions
  ssh device cat /tmp/x.rd | cffpy dump --unit-test - > x.txt
"""


class _DumpCommand(click.Command):
    """Leaves its command line to cffpy.cli.dump."""

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        context.args = list(arguments)
        return context.args

    def invoke(self, context: click.Context) -> int:
        from cffpy.cli.dump import run

        return run(context.args)


def _parameter(row_index: int) -> click.Option:
    row = OPTIONS[row_index]
    names = [f"-{row.short}"] if row.short else []
    return click.Option(
        [*names, f"--{row.long}", f"option_{row_index}"],
        is_flag=not row.metavar,
        metavar=row.metavar or None,
        multiple=row.repeats,
        help=row.help,
    )


dump = _DumpCommand(
    "dump",
    params=[
        click.Argument(["files"], nargs=-1, metavar="FILE..."),
        *[_parameter(index) for index in range(len(OPTIONS))],
    ],
    add_help_option=False,
    help=(
        "Decode captures (.rd, maybe compressed; - is standard input) as Mesa's cffdump prints"
        " them.\n\nThe output is that of cffdump of Mesa 25.0.7, byte for byte, with the same"
        " options."
    ),
    epilog=_EXAMPLES,
)
