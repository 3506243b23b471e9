# SPDX-License-Identifier: MIT
"""The data of a capture that filters need, as rows: draws with their properties, registers."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.frame.places import name_of
from cffpy.index.tables import PROPERTY_NAMES
from cffpy.query.properties import PROPERTIES, Subject, markers, program_address
from cffpy.query.search import subjects

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.register_store.draws import DrawRegisters

    Row = tuple[Any, ...]

#: The low bits of a key are the row; those above are the number of the partition.
ROW_BITS = 32


def _reader(name: str) -> Callable[[Subject], object]:
    if name == "markers":
        return lambda subject: list(markers(subject))
    known = PROPERTIES.get(name)
    return (known or program_address(name.rpartition(".")[2])).get


_READERS = tuple(_reader(name) for name in PROPERTY_NAMES)


class Drawn(NamedTuple):
    """The draws of a capture. ``key``: of the first one. ``keys``: ``Action.order`` -> key.

    ``orders``: ``Action.order`` of each.
    """

    key: int
    rows: int
    keys: dict[int, int]
    orders: list[int]


def draw_rows(
    finder: PassFinder, name: str, generation: int, key: int, drawn: list[Drawn]
) -> Iterator[Row]:
    """Rows of ``tables.DRAWS`` for the program's draws; then appends to ``drawn``.

    ``name``: of the capture. ``key``: of its first draw.
    """
    passes = finder.found.passes
    actions = (draw for one in passes for draw in one.draws)
    keys: dict[int, int] = {}
    orders: list[int] = []
    next_key, before = key, None
    for subject in subjects(actions, passes):
        action = subject.action
        assert action is not None
        shown = name_of(action)
        yield (
            next_key,
            before,
            subject.order >= 0,
            name,
            generation,
            action.place.submit.submit,
            action.pass_index,
            None if shown is None else str(shown),
            action.dump_draw,
            action.tile_number,
            *(_text(read(subject)) for read in _READERS),
        )
        if subject.order >= 0:
            keys[subject.order] = before = next_key
        orders.append(action.order)
        next_key += 1
    drawn.append(Drawn(key, next_key - key, keys, orders))


def _text(value: object) -> str | None:
    return None if value is None else json.dumps(value)


def state_rows(registers: DrawRegisters, drawn: Drawn) -> Iterator[Row]:
    """Rows of ``tables.STATES``."""
    end = drawn.key + drawn.rows - 1
    for register in sorted(registers.all_registers()):
        first, last = -1, 0
        for order, value in zip(*registers.changes(register), strict=True):
            key = drawn.keys.get(order)
            if key is None or (first >= 0 and value == last):
                continue
            if first >= 0:
                yield register, first, key - 1, last
            first, last = key, value
        if first >= 0:
            yield register, first, end, last


def write_rows(registers: DrawRegisters, drawn: Drawn) -> Iterator[Row]:
    """Rows of ``tables.WRITES``: a run goes on where the next draw that is executed has a write."""
    following = dict(zip(drawn.keys.values(), list(drawn.keys.values())[1:], strict=False))
    for register in sorted(registers.all_registers()):
        first = last = -1
        for order in registers.changes(register)[0]:
            key = drawn.keys.get(order)
            if key is None:
                continue
            if first >= 0 and following.get(last) == key:
                last = key
                continue
            if first >= 0:
                yield register, first, last
            first = last = key
        if first >= 0:
            yield register, first, last
