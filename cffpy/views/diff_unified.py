# SPDX-License-Identifier: MIT
"""A comparison as a text diff: the dump's registers of each draw beside those of its counterpart.

The text is that of ``dump -s``, of an Intel GPU that of ``state``, cut at its draws and put in the
order of the alignment, so that a missing draw shifts nothing. Noise is not hidden: addresses show.
"""

from __future__ import annotations

import re
from difflib import unified_diff
from typing import TYPE_CHECKING

from cffpy.frame.places import DrawName
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence, Set

    from cffpy.analysis.diff.model import Comparison, PassPair
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.capture.gpu import Gpu
    from cffpy.container.open import Content

#: The line that begins the registers of a draw.
_DRAW = re.compile(rb"\t*draw\[(\d+)\] register values\n")

#: A register: two marks, its value, its name.
_REGISTER = re.compile(rb"[! ][+ ]\t[0-9a-f]{8}\t")

#: Text of one draw that is compared at most, in lines.
_MAX_LINES = 20_000


def unified(
    result: Comparison, good: Callable[[int], Sequence[str]], bad: Callable[[int], Sequence[str]]
) -> Iterator[str]:
    """The lines of the diff; none where the texts are the same.

    ``good``, ``bad``: the registers of a draw of the dump in lines.
    """
    begun = False
    for pair in result.pairs:
        for mine, theirs, heading in _pairs(pair):
            left, right = _lines(mine, good), _lines(theirs, bad)
            lines = list(unified_diff(left, right, lineterm="", n=2))[2:]
            if not lines:
                continue
            if not begun:
                begun = True
                yield f"--- {visible(result.good.name)}"
                yield f"+++ {visible(result.bad.name)}"
            for line in lines:
                yield f"{line} {heading}" if line.startswith("@@") else line


def _pairs(pair: PassPair) -> Iterator[tuple[DrawInputs | None, DrawInputs | None, str]]:
    index = pair.good.index if pair.good is not None else pair.bad.index if pair.bad else 0
    for mine, theirs in pair.draws:
        record = mine or theirs
        assert record is not None
        yield mine, theirs, f"draw {DrawName(record.action.number or 0, index)}"


def _lines(record: DrawInputs | None, lines_of: Callable[[int], Sequence[str]]) -> Sequence[str]:
    if record is None or record.action.dump_draw is None:
        return []
    return lines_of(record.action.dump_draw)[:_MAX_LINES]


def dumped_lines(
    content: Content, wanted: Set[int], register_db: str | None, gpu: Gpu | None
) -> dict[int, list[str]]:
    """Draw of the dump -> its registers' lines, without the marks of what was written."""
    collector = _Collector(wanted)
    options = DumpOptions(summary=True, unit_test=True)
    dump = Dump(options, collector.write, lambda _line: None, register_db, gpu)
    dump.begin(content.name)
    dump.file(content)
    collector.write(b"", is_last=True)
    return collector.texts


class _Collector:
    """Takes the dump's bytes as they come, and keeps the lines of wanted draws."""

    def __init__(self, wanted: Set[int]) -> None:
        self.texts: dict[int, list[str]] = {}
        self._wanted = wanted
        self._rest = b""
        self._current: list[str] | None = None

    def write(self, data: bytes, is_last: bool = False) -> int:
        """The next bytes of the dump."""
        lines = (self._rest + data).split(b"\n")
        self._rest = b"" if is_last else lines.pop()
        for line in lines:
            started = _DRAW.fullmatch(line + b"\n")
            if started is not None:
                number = int(started[1])
                self._current = [] if number in self._wanted else None
                if self._current is not None:
                    self.texts[number] = self._current
            elif self._current is not None and _REGISTER.match(line):
                self._current.append(line[3:].decode("latin-1").replace("\t", " "))
        return len(data)
