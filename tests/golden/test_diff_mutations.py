# SPDX-License-Identifier: MIT
"""Any bit of the state that a draw uses: if it differs between two captures, it is reported.

A difference may be folded under another one, but not hidden. The bits are flipped
in the bytes of recorded captures, each alone. A few of each generation run always, many with
CFFPY_EXHAUSTIVE=1.
"""

from __future__ import annotations

import os
import re
from functools import cache
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cffpy.analysis.diff.compare import compare
from cffpy.analysis.diff.model import Comparison
from cffpy.analysis.diff.recording import Recording, record
from cffpy.analysis.diff.rules import RULES, is_used
from cffpy.analysis.diff.state import CaptureState
from cffpy.analysis.inputs.descriptor_sets import set_of_base
from cffpy.analysis.inputs.vertex_buffers import COUNTS
from cffpy.c_numbers import odd_parity
from cffpy.container.open import open_bytes
from cffpy.frame.register_write import RegisterWrite
from tests.golden.diff_edits import (
    NotHere,
    Subject,
    file_offset,
    go_on,
    register_offset,
    subject,
)
from tests.selection import first_always

EXAMPLES = 60 if os.environ.get("CFFPY_EXHAUSTIVE") == "1" else 4

#: Bits of addresses that are flipped: the size of descriptors, small and large distances.
FLIPPED = (0, 1, 2, 3, 4, 5, 7, 12, 20, 31)

CAPTURES = (
    "a220-gl-cube",
    "a306-gl-cube-gmem",
    "a430-gl-scene60-sysmem",
    "a530-gl-inst-mrt",
    "a635-vk-cube-gmem-full",
    "a740-vk-cube-sysmem",
)


def captured(shared: Path, name: str) -> Path:
    """A capture of the shared folder; skips the test where it is not there."""
    path = shared / "captures" / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    return path


def check_flips(where: Subject, dwords: tuple[tuple[str, int], ...]) -> None:
    """Any bit that changes in one of the dwords (what it is, and its offset) is reported."""

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        derandomize=True,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.sampled_from(dwords), st.integers(0, 31))
    def flipped(dword: tuple[str, int], bit: int) -> None:
        assert differs(where, dword[1], bit), (dword, bit)

    flipped()


@cache
def loaded(path: Path) -> tuple[Subject, tuple[tuple[str, int], ...]]:
    """A capture, and where the values lie that its draw uses: register, file offset."""
    where = subject(path)
    found = []
    for name in sorted(where.state.writes):
        about = where.state.about.subject(name)
        is_left_out = "scratch" in about.roles or name.partition("[")[0] in COUNTS
        # of others, what lies at an address is compared, not the address
        if is_left_out or where.state.about.is_address(name) or not is_used(about, "draw"):
            continue
        try:
            found.append((name, register_offset(where, name)))
        except NotHere:
            continue
    return where, tuple(found)


def compared(where: Subject, offset: int, bit: int) -> Comparison:
    """The comparison with a capture in which one bit of the dword at a file offset is flipped."""
    data = bytearray(where.content.data)
    data[offset + bit // 8] ^= 1 << bit % 8
    bad = record(open_bytes(bytes(data)), lambda line: None)
    return compare(where.recording, bad, frozenset(RULES))


def differs(where: Subject, offset: int, bit: int) -> bool:
    """Whether the capture with one bit of the dword at a file offset flipped is another."""
    return compared(where, offset, bit).differs


def named_sets(where: Subject) -> set[int]:
    """The descriptor sets that listings of the capture's shaders name: ``base2``."""
    listings = where.recording.listings.values()
    named = {int(number) for one in listings for number in re.findall(r"\bbase(\d)\b", one)}
    records = where.recording.records.values()
    return named | {number for record in records for number, _ in record.prefetched}


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CAPTURES if not name.startswith("a2")])
def test_no_bit_of_addresses_of_programs_and_descriptor_sets_is_hidden(
    shared: Path, name: str
) -> None:
    """A set that no shader names cannot be observed: its base is counted as unused."""
    where = subject(captured(shared, name))
    named = named_sets(where)
    programs = [one for one in where.state.writes if one in where.state.about.program_registers]
    bases = {one: set_of_base(one) for one in where.state.writes if "BINDLESS_BASE" in one}
    assert programs
    for one in (*programs, *bases):
        offset = register_offset(where, one)
        results = {bit: compared(where, offset, bit) for bit in FLIPPED}
        hidden = [bit for bit, found in results.items() if not found.differs]
        if one in programs or bases[one] in named:
            assert hidden == [], one
        else:
            assert [bit for bit in hidden if one not in results[bit].hidden["unused"]] == [], one


@pytest.mark.slow
@pytest.mark.parametrize("name", first_always(CAPTURES))
def test_no_bit_of_a_draws_state_is_hidden(shared: Path, name: str) -> None:
    check_flips(*loaded(captured(shared, name)))


@cache
def facts(path: Path) -> tuple[Subject, tuple[tuple[str, int], ...]]:
    """A capture, and each dword of constants, descriptors and data of its draw: what, offset."""
    where = subject(path)
    found = []
    for key, fact in where.state.facts.items():
        if fact.data is None or key[0] == "shader":
            continue
        try:
            start = file_offset(where.content, fact.data)
        except NotHere:
            continue
        found += [(str(key), start + at) for at in range(0, fact.data.nbytes // 4 * 4, 4)]
    return where, tuple(found)


@pytest.mark.slow
@pytest.mark.parametrize("name", CAPTURES)
def test_no_bit_of_what_a_draw_reads_is_hidden(shared: Path, name: str) -> None:
    check_flips(*facts(captured(shared, name)))


def dropped(where: Subject, write: RegisterWrite) -> bytes:
    """The capture without the packet of a write: a CP_NOP of its size. Raises NotHere."""
    words, index = write.place._words, write.place._index
    header = words.get(index)
    if header >> 30 == 0:
        nop = 0xC0000000 | header & 0x3FFF0000 | 0x10 << 8
    elif header >> 28 == 4:
        count = header & 0x7F
        nop = 0x70000000 | 0x10 << 16 | odd_parity(0x10) << 23 | odd_parity(count) << 15 | count
    elif header >> 30 == 3:
        nop = header & ~0xFF00 | 0x10 << 8
    else:
        raise NotHere
    data = bytearray(where.content.data)
    offset = words.file_offset + 4 * index
    data[offset : offset + 4] = nop.to_bytes(4, "little")
    return bytes(data)


def used_state(recording: Recording) -> list[dict[str, int]]:
    """The registers that each of the program's draws uses, without scratch registers."""
    state = CaptureState(recording)
    found = []
    for one in recording.passes.passes:
        for item in recording.of(one):
            at = go_on(state, item)
            kind = item.action.kind
            found.append(
                {
                    name: value
                    for name, value in at.registers.items()
                    if is_used(at.about.subject(name), kind)
                    and "scratch" not in at.about.subject(name).roles
                    and name.partition("[")[0] not in COUNTS
                }
            )
    return found


@pytest.mark.slow
@pytest.mark.parametrize("name", [name for name in CAPTURES if name[1] in "2345"])
def test_no_dropped_write_of_a_draws_state_is_hidden(shared: Path, name: str) -> None:
    """Each packet that gave the draw a value is left out, alone."""
    where = subject(captured(shared, name))
    packets = {write.place.file_offset: write for write in where.state.writes.values()}
    chosen = sorted(packets) if EXAMPLES > 4 else sorted(packets)[::6]
    before = used_state(where.recording)
    tried = reported = 0
    for offset in chosen:
        try:
            data = dropped(where, packets[offset])
        except NotHere:
            continue
        bad = record(open_bytes(data), lambda line: None)
        result = compare(where.recording, bad, frozenset(RULES))
        tried += 1
        reported += result.differs
        if not result.differs:
            assert used_state(bad) == before, (packets[offset].place, result.hidden)
    assert tried > 4
    assert reported > 1  # most repeat values that are in force
