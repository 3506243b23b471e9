# SPDX-License-Identifier: MIT
"""What draws are recognised by when two captures are aligned, besides what is their own.

Draws of one mesh may differ in nothing but state: in a viewport, a base vertex, an address of
uniform data that was not captured. Where all of it is the same on both sides, such a draw is found
again even amid others like it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.diff.rules import is_program_state
from cffpy.regdb.subjects import Subjects

if TYPE_CHECKING:
    from cffpy.analysis.diff.model import Recording


def note_states(recording: Recording) -> None:
    """Set ``state`` of each record: equal where all state is, but for what is noise."""
    if recording.database is None:
        return
    subjects = Subjects.open(recording.database)
    is_state: dict[tuple[int, str], bool] = {}
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
            key = register, record.action.kind
            if key not in is_state:
                is_state[key] = is_program_state(subjects.register(register), key[1])
            if is_state[key]:
                put(register, value)
        for fact_key, fact in record.facts.items():
            put(fact_key, None if fact is None else (fact.digest, fact.address))
        put("sets", tuple((number, base) for number, (_, base) in sorted(record.sets.items())))
        record.state = total
