# SPDX-License-Identifier: MIT
"""RegisterValues: the distinct values of registers of a partition, counted as rows are written.

Workers count them here and not with DuckDB: without it a worker starts in half the time and needs
60 MB less.
"""

from __future__ import annotations

from array import array
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from cffpy.index.tables import EXPORTED, VALUES

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    Row = tuple[Any, ...]

REGISTERS = EXPORTED["registers"]
_COLUMNS = ("capture", "register", "register_offset", "value", "decoded", "first_draw", "last_draw")
_MEMBERS = itemgetter(*([one.name for one in REGISTERS.columns].index(name) for name in _COLUMNS))


class _Values:
    """The distinct values of one register, a row for each: columns, which need less memory."""

    __slots__ = ("captures", "decoded", "draws", "first_capture", "last_capture", "rows")

    def __init__(self) -> None:
        #: Value -> its row.
        self.rows: dict[int | None, int] = {}
        self.decoded: list[str] = []
        self.captures, self.draws = array("q"), array("q")
        #: Numbers of captures.
        self.first_capture, self.last_capture = array("i"), array("i")


class RegisterValues:
    """Counts the values in rows of REGISTERS. The rows of a capture have to follow each other."""

    def __init__(self) -> None:
        #: Generation, name and offset -> values.
        self._values: dict[tuple[int | None, str, int], _Values] = {}
        #: The captures by number, and the numbers by name.
        self._captures: list[str] = []
        self._numbers: dict[str, int] = {}

    def counted(self, rows: Iterable[Row], generations: Mapping[str, int | None]) -> Iterator[Row]:
        """The rows as they are, each counted when it is taken; ``generations`` as below."""
        for row in rows:
            capture, register, offset, value, decoded, first, last = _MEMBERS(row)
            key = generations[capture], register, offset
            self._add(capture, key, value, decoded, last - first + 1)
            yield row

    def add_batch(self, batch: Any, generations: Mapping[str, int | None]) -> None:  # noqa: ANN401
        """Count stored rows. ``generations``: of each capture by its name."""
        columns = [batch[name].to_pylist() for name in _COLUMNS]
        for capture, register, offset, value, decoded, first, last in zip(*columns, strict=True):
            key = generations.get(capture), register, offset
            self._add(capture, key, value, decoded, last - first + 1)

    def _add(
        self,
        capture: str,
        key: tuple[int | None, str, int],
        value: int | None,
        decoded: str,
        draws: int,
    ) -> None:
        if key[2] is None:
            return  # an instruction, whose value is no number
        number = self._numbers.get(capture)
        if number is None:
            number = self._numbers[capture] = len(self._captures)
            self._captures.append(capture)
        found = self._values.get(key)
        if found is None:
            found = self._values[key] = _Values()
        row = found.rows.get(value)
        if row is None:
            found.rows[value] = len(found.rows)
            found.decoded.append(decoded)
            found.captures.append(1)
            found.draws.append(draws)
            found.first_capture.append(number)
            found.last_capture.append(number)
            return
        found.draws[row] += draws
        if number != found.last_capture[row]:
            found.last_capture[row] = number
            found.captures[row] += 1
            if capture < self._captures[found.first_capture[row]]:
                found.first_capture[row] = number

    def rows(self) -> Iterator[Row]:
        """Rows of VALUES, sorted by generation, name, offset and value."""
        for key in sorted(self._values, key=_order):
            found = self._values[key]
            for value in sorted(found.rows, key=_known_first):
                row = found.rows[value]
                first = self._captures[found.first_capture[row]]
                counts = found.captures[row], found.draws[row]
                yield (*key, value, found.decoded[row], *counts, first)


assert [one.name for one in VALUES.columns][4:] == ["decoded", "captures", "draws", "first_capture"]


def _order(key: tuple[int | None, str, int]) -> tuple[int, str, int]:
    generation, register, offset = key
    return generation or 0, register, offset


def _known_first(value: int | None) -> int:
    """What only the GPU knows comes last."""
    return 1 << 64 if value is None else value
