# SPDX-License-Identifier: MIT
"""What draws are recognised by when two captures are aligned, besides what is their own.

Draws of one mesh may differ in nothing but state: in a viewport, a base vertex, an address of
uniform data that was not captured. Where all of it is the same on both sides, such a draw is found
again even amid others like it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.noise import register_class
from cffpy.regdb.register_text import RegisterText

if TYPE_CHECKING:
    from cffpy.analysis.diff.record import Recording


def note_states(recording: Recording) -> None:
    """Set ``state`` of each record: equal where all state is, but for what is noise."""
    if recording.database is None:
        return
    text = RegisterText(recording.database)
    is_noise: dict[int, bool] = {}
    values: dict[object, int] = {}
    total = 0

    def put(key: object, value: object) -> None:
        nonlocal total
        new = hash((key, value))
        total ^= values.get(key, 0) ^ new
        values[key] = new

    for order in sorted(recording.records):
        record = recording.records[order]
        for register, (value, _) in record.registers.items():
            noise = is_noise.get(register)
            if noise is None:
                name = text.name(register)
                found = register_class(name, record.action.kind, recording.generation)
                noise = is_noise[register] = found is not None
            if not noise:
                put(register, value)
        for key, fact in record.facts.items():
            put(key, None if fact is None else (fact.digest, fact.address))
        put("sets", tuple((number, base) for number, (_, base) in sorted(record.sets.items())))
        record.state = total
