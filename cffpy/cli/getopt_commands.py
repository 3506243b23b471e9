# SPDX-License-Identifier: MIT
"""``dump``, ``crashdec`` and the Intel tools as click commands, for help and completion only.

Their arguments are read by cffpy.cli.dump_options, as the reference's are.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from cffpy.cli import aubinator as aubinator_module
from cffpy.cli import crashdec as crashdec_module
from cffpy.cli import dump as dump_module
from cffpy.cli.dump_options import OPTIONS
from cffpy.cli.output import EXIT_OK

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cffpy.cli.dump_options import Option

    _Run = Callable[[list[str], Callable[[], int]], int]

_DUMP_EXAMPLES = """\b
Examples:
  cffpy dump capture.rd.gz                 decode everything
  cffpy dump -s --once capture.rd.gz       registers at draws, each IB once
  cffpy dump -F 2 -D 17 capture.rd.gz      one draw of one command stream
  cffpy dump -q 'RB_MRT[0].CONTROL' --query-delta capture.rd.gz
  cffpy dump --annotate capture.rd.gz      mark passes, tiles, draws
  ssh device cat /tmp/x.rd | cffpy dump --unit-test - > x.txt
"""

_CRASHDEC_EXAMPLES = """\b
Examples:
  cffpy crashdec crash.devcore.gz         all sections; commands near the read pointer
  cffpy crashdec -s -v crash.devcore      registers at draws; all data, the whole ring
  cffpy crashdec --annotate crash.devcore mark passes, draws, and where the CP is
  ssh device cat /sys/class/devcoredump/devcd1/data | cffpy crashdec -s > crash.txt
"""


_AUB_EXAMPLES = """\b
Examples:
  cffpy aubinator capture.aub.gz
  cffpy aubinator --headers --no-pager capture.aub
  INTEL_DECODE=+surfaces,+vb-data cffpy aubinator capture.aub > capture.txt
"""
_ERROR_EXAMPLES = """\b
Examples:
  cffpy aubinator-error-decode /sys/class/drm/card0/error
  cffpy aubinator-error-decode --headers i915_error_state.gz
  cffpy aubinator-error-decode --dump-kernels kernels devcoredump.txt
"""
_ENVIRONMENT = (
    "INTEL_DECODE changes what is printed: a list of color, full, offsets, floats, surfaces,"
    " accumulate, vb-data, each with + or -, or all. INTEL_DECODE_FILTERS is a list of the"
    " commands that are printed.\n\n"
    "The output is identical, byte for byte, to that of Mesa 25.0.7, but kernels are not"
    " disassembled."
)


class GetoptCommand(click.Command):
    """Passes its arguments on unparsed, to ``run``."""

    def __init__(
        self,
        name: str,
        run: _Run,
        files: click.Argument,
        options: Sequence[Option],
        text: str,
        examples: str,
    ) -> None:
        parameters = [_parameter(row, index) for index, row in enumerate(options)]
        super().__init__(
            name, params=[files, *parameters], add_help_option=False, help=text, epilog=examples
        )
        self._run = run

    def parse_args(self, context: click.Context, arguments: list[str]) -> list[str]:
        """Keep the arguments as they are."""
        context.args = list(arguments)
        return context.args

    def invoke(self, context: click.Context) -> int:
        """Run the command."""
        return self._run(context.args, self.show_help)

    def show_help(self) -> int:
        """Print the help; the exit code."""
        click.echo(self.get_help(click.Context(self, info_name=f"cffpy {self.name}")))
        return EXIT_OK


def _parameter(row: Option, index: int) -> click.Option:
    names = [f"-{row.short}"] if row.short else []
    return click.Option(
        [*names, f"--{row.long}", f"option_{index}"],
        is_flag=not row.metavar,
        metavar=row.metavar or None,
        multiple=row.repeats,
        help=row.help,
    )


dump = GetoptCommand(
    "dump",
    dump_module.run,
    click.Argument(["files"], nargs=-1, metavar="FILE..."),
    OPTIONS,
    "Decode captures (.rd, optionally compressed; - is standard input; of a folder those in it) as"
    " Mesa's cffdump does."
    "\n\nThe output is identical, byte for byte, to cffdump of Mesa 25.0.7 with the same options.",
    _DUMP_EXAMPLES,
)

crashdec = GetoptCommand(
    "crashdec",
    crashdec_module.run,
    click.Argument(["file"], required=False, metavar="[FILE]"),
    crashdec_module.OPTIONS,
    "Decode a GPU crash dump (devcoredump of the msm driver, optionally compressed; without FILE"
    " or with - from standard input) as Mesa's crashdec does.\n\n"
    "The output is identical, byte for byte, to crashdec of Mesa 25.0.7 with the same options."
    " The line 'ESTIMATED CRASH LOCATION!' precedes the packet that the GPU executed.",
    _CRASHDEC_EXAMPLES,
)

aubinator = GetoptCommand(
    "aubinator",
    aubinator_module.run,
    click.Argument(["file"], required=False, metavar="FILE"),
    aubinator_module.AUB_OPTIONS,
    "Decode an AUB file of Intel commands, optionally compressed, as Mesa's aubinator does.\n\n"
    + _ENVIRONMENT,
    _AUB_EXAMPLES,
)

aubinator_error_decode = GetoptCommand(
    "aubinator-error-decode",
    aubinator_module.run_error_decode,
    click.Argument(["file"], required=False, metavar="[FILE]"),
    aubinator_module.ERROR_OPTIONS,
    "Decode an i915 error state or an Xe devcoredump, optionally compressed, as Mesa's"
    " aubinator_error_decode does. Without FILE, or with -, it is read from standard input.\n\n"
    + _ENVIRONMENT,
    _ERROR_EXAMPLES,
)
