# SPDX-License-Identifier: MIT
"""The click command of ``cffpy dump``, used for help and shell completion only."""

from __future__ import annotations

import click

from cffpy.cli.dump_options import OPTIONS
from cffpy.cli.getopt_command import GetoptCommand, parameters
from cffpy.cli.output import EXIT_OK

_EXAMPLES = """\b
Examples:
  cffpy dump capture.rd.gz                 decode everything
  cffpy dump -s --once capture.rd.gz       registers at draws, each IB once
  cffpy dump -F 2 -D 17 capture.rd.gz      one draw of one submit
  cffpy dump -q 'RB_MRT[0].CONTROL' --query-delta capture.rd.gz
  cffpy dump --annotate capture.rd.gz      mark passes, tiles, draws
  ssh device cat /tmp/x.rd | cffpy dump --unit-test - > x.txt
"""


class _DumpCommand(GetoptCommand):
    """Runs cffpy.cli.dump."""

    def invoke(self, context: click.Context) -> int:
        from cffpy.cli.dump import run

        return run(context.args, show_help)


dump = _DumpCommand(
    "dump",
    params=[
        click.Argument(["files"], nargs=-1, metavar="FILE..."),
        *parameters(OPTIONS),
    ],
    add_help_option=False,
    help=(
        "Decode captures (.rd, optionally compressed; - is standard input) as Mesa's cffdump does."
        "\n\nThe output is identical, byte for byte, to cffdump of Mesa 25.0.7 with the same"
        " options."
    ),
    epilog=_EXAMPLES,
)


def show_help() -> int:
    """Print the help of dump; the exit code."""
    click.echo(dump.get_help(click.Context(dump, info_name="cffpy dump")))
    return EXIT_OK
