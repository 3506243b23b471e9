# SPDX-License-Identifier: MIT
"""The options of ``cffpy dump``: one table, for getopt_long and for click's help.

The command line is the reference's: getopt_long with its abbreviations and options behind files.
click's own parser would cost more than decoding a small capture does.
"""

from __future__ import annotations

from cffpy.cli.getopt_long import UsageProblem, split
from cffpy.limits import HELP as LIMIT_HELP
from cffpy.views.cffdump.options import QUERY_ALL, QUERY_DELTA, QUERY_WRITTEN

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any


class Option:
    """An option: ``--long``, maybe ``-short``; with ``metavar`` it takes an argument.

    It sets the settings called ``names`` to ``value``, or to what ``convert`` makes of the
    argument; ``repeats``: it adds to a list.
    """

    __slots__ = ("convert", "help", "long", "metavar", "names", "repeats", "short", "value")

    def __init__(
        self,
        long: str,
        text: str,
        *,
        short: str = "",
        names: tuple[str, ...] = (),
        value: object = True,
        metavar: str = "",
        convert: Callable[[str], object] = str,
        repeats: bool = False,
    ) -> None:
        self.long = long
        self.help = text
        self.short = short
        self.names = names or (long.replace("-", "_"),)
        self.value = value
        self.metavar = metavar
        self.convert = convert
        self.repeats = repeats


def _number(text: str) -> int:
    try:
        return int(text)
    except ValueError:
        raise UsageProblem(f"{text!r} is not a valid integer.") from None


def _no_script(text: str) -> object:
    raise UsageProblem(
        "scripts (-L) are not supported yet; `cffpy dump -q REG` answers register queries."
    )


def _gpu(text: str) -> object:
    from cffpy.capture.gpu import LAST_GENERATION, parse_gpu
    from cffpy.errors import UnsupportedGpu

    try:
        gpu = parse_gpu(text)
    except UnsupportedGpu as problem:
        raise UsageProblem(f"{problem}.") from None
    if gpu.generation > LAST_GENERATION:
        raise UsageProblem(f"captures of {gpu.chip.lower()} cannot be decoded.")
    return gpu


OPTIONS = (
    Option("verbose", "Accepted as by cffdump; changes nothing.", short="v"),
    Option("dump-shaders", "Write each shader that is printed to a file: 0000.vo3, ..."),
    Option("color", "Colour (default: on a terminal)."),
    Option("no-color", "No colour.", names=("color",), value=False),
    Option("pager", "Page the output (default: on a terminal)."),
    Option("no-pager", "No pager.", names=("pager",), value=False),
    Option("summary", "Registers at draws only, not each write.", short="s"),
    Option("allregs", "At draws, show all registers ever written.", short="a"),
    Option("start", "First submit to decode.", short="S", metavar="N", convert=_number),
    Option("end", "Last submit to decode.", short="E", metavar="N", convert=_number),
    Option(
        "frame",
        "Decode only submit N.",
        short="F",
        metavar="N",
        convert=_number,
        names=("start", "end"),
    ),
    Option("draw", "Print only draw N.", short="D", metavar="N", convert=_number),
    Option("exe", "Only submits of processes whose name starts so.", short="e", metavar="NAME"),
    Option("textures", "Show what texture descriptors point at."),
    Option("bindless", "Show bindless descriptors at draws."),
    Option("show-compositor", "Do not pass over the submits of compositors."),
    Option("script", "Refused: no scripts yet.", short="L", metavar="LUA", convert=_no_script),
    Option(
        "query", "Print only this register, at each draw.", short="q", metavar="REG", repeats=True
    ),
    Option("query-all", "Queries at every draw (default).", names=("query_mode",), value=QUERY_ALL),
    Option(
        "query-written",
        "Queries at draws before which a queried register was written.",
        names=("query_mode",),
        value=QUERY_WRITTEN,
    ),
    Option(
        "query-delta",
        "Queries at draws before which a queried register changed.",
        names=("query_mode",),
        value=QUERY_DELTA,
    ),
    Option("query-compare", "Queries: values for binning against values for drawing."),
    Option("once", "Decode each IB only once in each render mode."),
    Option("not-once", "Decode each IB each time (default).", names=("once",), value=False),
    Option("annotate", "Lines of cffpy's own between: passes, tiles, draws, conditions."),
    Option("unit-test", "Leave out what names the file."),
    Option("register-db", "Another edition of the register database.", metavar="DIR"),
    Option("gpu", "Decode as this GPU: 630, or any of a6xx.", metavar="GPU", convert=_gpu),
    Option("limit", LIMIT_HELP, metavar="NAME=N", repeats=True, names=("limits",)),
    Option("help", "Show this message and exit.", short="h"),
)


def parse(arguments: list[str]) -> tuple[dict[str, Any], list[str]]:
    """The settings that were given, and the files. Raises UsageProblem."""
    shorts = {row.short: bool(row.metavar) for row in OPTIONS if row.short}
    longs = {row.long: bool(row.metavar) for row in OPTIONS}
    given, files = split(arguments, shorts, longs)
    rows = {f"--{row.long}": row for row in OPTIONS}
    rows.update({f"-{row.short}": row for row in OPTIONS if row.short})
    settings: dict[str, Any] = {}
    for name, argument in given:
        row = rows[name]
        value = row.convert(argument) if row.metavar else row.value
        for setting in row.names:
            settings[setting] = [*settings.get(setting, ()), value] if row.repeats else value
    return settings, files
