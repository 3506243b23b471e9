# SPDX-License-Identifier: MIT
"""The click command of ``cffpy crashdec``, used for help and shell completion only."""

from __future__ import annotations

import click

from cffpy.cli.crashdec import OPTIONS
from cffpy.cli.getopt_command import GetoptCommand, parameters
from cffpy.cli.output import EXIT_OK

_EXAMPLES = """\b
Examples:
  cffpy crashdec crash.devcore.gz         all sections; commands near the read pointer
  cffpy crashdec -s -v crash.devcore      registers at draws; all data, the whole ring
  ssh device cat /sys/class/devcoredump/devcd1/data | cffpy crashdec -s > crash.txt
"""


class _CrashdecCommand(GetoptCommand):
    """Runs cffpy.cli.crashdec."""

    def invoke(self, context: click.Context) -> int:
        from cffpy.cli.crashdec import run

        return run(context.args, show_help)


crashdec = _CrashdecCommand(
    "crashdec",
    params=[
        click.Argument(["file"], required=False, metavar="[FILE]"),
        *parameters(OPTIONS),
    ],
    add_help_option=False,
    help=(
        "Decode a GPU crash dump (devcoredump of the msm driver, optionally compressed; without"
        " FILE or with - from standard input) as Mesa's crashdec does.\n\n"
        "The output is identical, byte for byte, to crashdec of Mesa 25.0.7 with the same"
        " options. The line 'ESTIMATED CRASH LOCATION!' precedes the packet that the GPU executed."
    ),
    epilog=_EXAMPLES,
)


def show_help() -> int:
    """Print the help of crashdec; the exit code."""
    click.echo(crashdec.get_help(click.Context(crashdec, info_name="cffpy crashdec")))
    return EXIT_OK
