# SPDX-License-Identifier: MIT
"""Recording and replaying segments does not change the output.

A fixed choice of recorded captures and of options always runs. All captures with all options run
where ``CFFPY_EXHAUSTIVE`` is set; that takes some minutes a core (``-n auto``).
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import os
import random
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cffpy.capture.gpu import guess
from cffpy.container.open import open_bytes, open_capture
from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.cp.machine import Machine
from cffpy.regdb.database import Database
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import QUERY_DELTA, DumpOptions
from tests.golden.runner import CHECKOUT, difference
from tests.selection import first_always
from tests.views import conftest as pm4

CAPTURES = (
    "a220-gl-tri",
    pytest.param("a320-gl-tri", marks=pytest.mark.slow),
    pytest.param("a420-gl-tri", marks=pytest.mark.slow),
    pytest.param("a530-gl-tri", marks=pytest.mark.slow),
    pytest.param("a530-gl-var-nosbin", marks=pytest.mark.slow),
    pytest.param("a630-gl-indirect", marks=pytest.mark.slow),
    pytest.param("a660-vk-passes-gmem", marks=pytest.mark.slow),
    pytest.param("a660-vk-events-cond-gmem", marks=pytest.mark.slow),
    pytest.param("a740-vk-geom-gmem", marks=pytest.mark.slow),
    "a740-vk-tri-auto",
    pytest.param("edge-two-processes-concat", marks=pytest.mark.slow),
    pytest.param("fd-clouds", marks=pytest.mark.slow),
    pytest.param("shadow", marks=pytest.mark.slow),
)

#: Command line -> options.
OPTIONS: dict[str, dict[str, Any]] = {
    "": {},
    "-s": {"summary": True},
    "-a --color": {"allregs": True, "color": True},
    "-q": {"query": ("RB_CNTL", "RB_MRT[0].CONTROL", "0x2104")},
    "-q --query-delta": {"query": ("RB_DEPTH_CNTL", "RB_CNTL"), "query_mode": QUERY_DELTA},
    "-q --query-compare": {"query": ("RB_DEPTH_CNTL",), "query_compare": True},
    "-D 2": {"draw": 2},
    "--once": {"once": True},
    "-s --once": {"summary": True, "once": True},
    "--bindless": {"bindless": True},
    "--bindless --once": {"bindless": True, "once": True},
    "--textures": {"textures": True},
}

#: Several files in one call, of other generations and of the same.
TOGETHER = (
    ("a220-gl-tri", "a320-gl-tri", "a420-gl-tri", "a530-gl-tri"),
    ("a630-gl-indirect", "a740-vk-tri-auto", "a630-gl-indirect"),
    ("a740-vk-geom-gmem", "a740-vk-geom-gmem"),
    ("fd-clouds", "shadow"),
)

#: Captures with repeated tiles or objects: replayed segments for one that is recorded, at least.
REPLAYS = {
    "a320-gl-scene150-720p": 3,
    "a430-gl-scene150-720p": 1,
    "a530-gl-scene-msaa4": 12,
    "a610-vk-frame-720p": 9,
    "a630-gl-scene150-gmem": 4,
    "a740-vk-frame-msaa4-1080p": 8,
}

FOLDER = Path(os.environ.get("CFFPY_SHARED") or CHECKOUT.parent / "shared") / "captures"
ALL = sorted(path.name.removesuffix(".rd.gz") for path in FOLDER.glob("*.rd.gz"))
if not os.environ.get("CFFPY_EXHAUSTIVE"):
    ALL = []

#: Bytes of one output that are compared: descriptors (--bindless) can fill gigabytes.
ENOUGH = (256 if ALL else 8) << 20

Run = Callable[..., Machine]
Write = Callable[[bytes], object]


class Enough(Exception):
    """Enough was printed; the rest is not compared."""


class Digest:
    """Of the first bytes of an output."""

    def __init__(self) -> None:
        self._digest = hashlib.sha256()
        self._left = ENOUGH

    def write(self, piece: bytes) -> None:
        self._digest.update(piece[: max(self._left, 0)])
        self._left -= len(piece)
        if self._left < 0:
            raise Enough

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Digest) and self._digest.digest() == other._digest.digest()

    __hash__ = None  # type: ignore[assignment]


@pytest.fixture
def run(shared: Path) -> Run:
    """``run(names, options, segments, write)``: dumps captures in one call; gives the machine."""

    def run_dump(
        names: Sequence[str],
        options: dict[str, Any],
        segments: bool,
        write: Write,
    ) -> Machine:
        dump = Dump(DumpOptions(**options), write, lambda line: None, segments=segments)
        try:
            for name in names:
                dump.begin(name)
                dump.file(open_capture(str(shared / "captures" / f"{name}.rd.gz")))
        except Enough:
            pass
        return dump.machine

    return run_dump


def check(run: Run, names: Sequence[str], arguments: str) -> Machine:
    """Compares the output with and without segments; the machine that replayed some."""
    options = OPTIONS[arguments]
    fast, plain = Digest(), Digest()
    machine = run(names, options, True, fast.write)
    without = run(names, options, False, plain.write)
    assert (without.segments.recorded, without.segments.replayed) == (0, 0)
    if fast != plain:
        outputs: list[list[bytes]] = [[], []]
        for pieces, segments in zip(outputs, (False, True), strict=True):
            run(names, options, segments, pieces.append)
        expected, got = map(b"".join, outputs)
        report = difference(expected, got)
        pytest.fail(f"{' '.join(names)} {arguments}: {report}", pytrace=False)
    return machine


@pytest.mark.slow
@pytest.mark.parametrize("name", first_always(CAPTURES))
def test_output_is_the_same(name: str, run: Run) -> None:
    for arguments in OPTIONS:
        check(run, (name,), arguments)


@pytest.mark.parametrize("names", first_always(TOGETHER), ids=" ".join)
@pytest.mark.parametrize("arguments", first_always(["", "-s", "-a --color", "--once"]))
def test_several_files_in_one_call(names: tuple[str, ...], arguments: str, run: Run) -> None:
    check(run, names, arguments)


@pytest.mark.parametrize("name", first_always(REPLAYS))
def test_replays_are_frequent(name: str, run: Run) -> None:
    machine = run((name,), {}, True, len)
    assert machine.segments.replayed > REPLAYS[name] * machine.segments.recorded


@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize("arguments", OPTIONS)
def test_all_captures(name: str, arguments: str, run: Run) -> None:
    check(run, (name,), arguments)


@pytest.mark.parametrize("names", list(itertools.pairwise(ALL)), ids=" ".join)
def test_all_captures_in_pairs(names: tuple[str, ...], run: Run) -> None:
    check(run, names, "")
    check(run, names, "-s")


# -- random streams --------------------------------------------------------------------------------

COMMANDS, DATA = 0x100000, 0x400000
CALLED = (0x200000, 0x210000, 0x220000)
GROUPS = (0x300000, 0x300100, 0x300200)
MESSAGE, BEGIN, END = 0x4D455347, 0x4245474E, 0x454E4400

#: GPU -> registers whose text needs more than their value, and some that are plain.
REGISTERS = {
    220: ("CP_SCRATCH_REG4", "CP_SCRATCH_REG6", "RB_COLOR_MASK", "PA_CL_VPORT_XSCALE"),
    320: ("CP_SCRATCH_REG4", "CP_SCRATCH_REG7", "SP_VS_OBJ_START_REG", "VSC_SIZE_ADDRESS",
          "RB_MODE_CONTROL", "RB_MRT[0].CONTROL"),
    430: ("CP_SCRATCH[0x4].REG", "CP_SCRATCH[0x7].REG", "SP_VS_OBJ_START", "SP_VS_PVT_MEM_ADDR",
          "RB_MODE_CONTROL", "RB_MRT[0].CONTROL"),
    530: ("CP_SCRATCH[0x4].REG", "CP_SCRATCH[0x7].REG", "SP_VS_OBJ_START_LO", "SP_VS_OBJ_START_HI",
          "TPL1_VS_TEX_CONST_LO", "TPL1_VS_TEX_CONST_HI", "TPL1_VS_TEX_COUNT",
          "TPL1_TP_BORDER_COLOR_BASE_ADDR_LO", "TPL1_TP_BORDER_COLOR_BASE_ADDR_HI",
          "RB_MRT[0].BASE_LO", "RB_MRT[0].BASE_HI", "RB_DEPTH_CNTL"),
    630: ("CP_SCRATCH[0x4].REG", "SP_VS_TEX_CONST", "SP_VS_TEX_SAMP", "SP_VS_OBJ_START",
          "SP_BINDLESS_BASE[0].DESCRIPTOR", "HLSQ_BINDLESS_BASE[0].DESCRIPTOR",
          "RB_MRT[0].BASE", "RB_DEPTH_CNTL", "GRAS_SC_WINDOW_SCISSOR_TL"),
    740: ("SP_VS_OBJ_START", "SP_BINDLESS_BASE[0].DESCRIPTOR", "SP_VS_TEX_CONST",
          "RB_MRT[0].BASE", "RB_DEPTH_CNTL", "GRAS_SC_WINDOW_SCISSOR_TL"),
}  # fmt: skip

#: GPU -> CP_WIDE_REG_WRITE, CP_REG_WRITE, CP_CONTEXT_REG_BUNCH and _BUNCH2, where it has them.
STORING = {430: (0x74,), 530: (0x74,), 630: (0x6D, 0x5C), 740: (0x6D, 0x5C, 0x5D)}

#: GPU -> CP_SET_MARKER, CP_THREAD_CONTROL, CP_SKIP_IB2_ENABLE_GLOBAL and _LOCAL,
#: CP_SET_RENDER_MODE, each with the number of its values; others have CP_EVENT_WRITE.
MODES = {
    530: ((0x6C, 4), (0x1D, 2), (0x23, 2)),
    630: ((0x65, 9), (0x1D, 2), (0x23, 2)),
    740: ((0x65, 9), (0x17, 4)),
}

RANDOM_OPTIONS = [*OPTIONS.values(), {"draw": 0}, {"query": ("0x8871",), "once": True}]


@functools.cache
def offsets(gpu: int) -> list[int]:
    """Offsets of the registers above that the database has, and their neighbours."""
    found = guess(gpu)
    assert found is not None
    database = Database.open(found.chip)
    known = [database.register_offset(name) for name in REGISTERS[gpu]]
    return [offset for offset in known if offset] + [0x2010, 0x2104]


@functools.cache
def halves(gpu: int) -> list[tuple[int, bool]]:
    """Those of the registers that are halves of a5xx addresses; whether it is the upper one."""
    names = [name for name in REGISTERS[gpu] if name.endswith(("_HI", "_LO"))]
    database = Database.open("A5XX")
    return [(database.register_offset(name), name.endswith("_HI")) for name in names]


class Streams:
    """Random packets for one GPU, with few values: guards of segments both hold and fail."""

    def __init__(self, rng: random.Random, gpu: int) -> None:
        self.rng = rng
        self.is_64bit = gpu >= 500
        self.registers = offsets(gpu)
        self.halves = halves(gpu)
        self.storing = STORING.get(gpu)
        self.modes = MODES.get(gpu, ((0x46, 64),))
        self.opcode = pm4.type7 if self.is_64bit else pm4.type3
        self.writes = pm4.type4 if self.is_64bit else pm4.type0
        self.packets: list[Callable[[], list[int]]] = [
            self.write, self.write, self.scratch, self.mode, self.mode, self.nop, self.draw,
            self.draw, self.rmw, self.sum, self.wait, self.memory_write, self.state, self.variant,
            self.draw_state, self.other_writes, self.reg_to_mem, self.load_state, self.half,
            self.half,
        ]  # fmt: skip

    def value(self) -> int:
        choices = (0, 0, 1, 2, 3, DATA, DATA + 64, GROUPS[0], 0x3F800000, 0xFFFFFFFF)
        return self.rng.choice(choices)

    def values(self, most: int) -> list[int]:
        return [self.value() for _ in range(self.rng.randint(1, most))]

    def address(self, address: int) -> list[int]:
        return [address, 0] if self.is_64bit else [address]

    def write(self) -> list[int]:
        return self.writes(self.rng.choice(self.registers), *self.values(4))

    def half(self) -> list[int]:
        """A half of an a5xx address, so that the whole is that of a buffer."""
        if not self.halves:
            return self.write()
        register, is_upper = self.rng.choice(self.halves)
        return self.writes(register, 0 if is_upper else self.rng.choice((DATA, GROUPS[0])))

    def scratch(self) -> list[int]:
        return self.writes(self.registers[0], self.rng.randrange(3))

    def mode(self) -> list[int]:
        """Packets that set modes, each of the generations that have it."""
        opcode, limit = self.rng.choice(self.modes)
        return self.opcode(opcode, self.rng.randrange(limit))

    def nop(self) -> list[int]:
        marker = self.rng.choice((MESSAGE, BEGIN, END, 0))
        return self.opcode(0x10, marker, 0x636261)

    def draw(self) -> list[int]:
        kind = self.rng.choice((0x22, 0x38, 0x38, 0x33, 0x28, 0x46))
        if kind == 0x22:
            return self.opcode(kind, 0, 4 | 2 << 6, self.rng.randrange(2))
        if kind == 0x46:
            return self.opcode(kind, 0x1E)
        return self.opcode(kind, 4 | 2 << 6, self.rng.randrange(1, 3), self.rng.randrange(4))

    def rmw(self) -> list[int]:
        return self.opcode(0x21, self.rng.choice(self.registers), self.value(), self.value())

    def sum(self) -> list[int]:
        kind = self.rng.choice((4 << 16, 4 << 16 | 1 << 31, 1 << 16))
        return self.opcode(0x2D, kind | self.rng.randrange(2), self.registers[0], self.value())

    def wait(self) -> list[int]:
        return self.opcode(0x26, 0)

    def memory_write(self) -> list[int]:
        inner = self.write() if self.rng.random() < 0.7 else self.values(3)
        return self.opcode(0x3D, *self.address(DATA), *inner)

    def state(self) -> list[int]:
        return self.opcode(0x4C, self.rng.randrange(3), 0, self.rng.randrange(2) << 16)

    def variant(self) -> list[int]:
        """Packets whose first fields choose how later ones are read."""
        opcode = self.rng.choice((0x1D, 0x2A, 0x3E, 0x42, 0x45, 0x52, 0x55, 0x6E, 0x73))
        values = [self.rng.randrange(8), *self.address(DATA), 0, self.rng.randrange(2)]
        return self.opcode(opcode, *values)

    def draw_state(self) -> list[int]:
        entries: list[int] = []
        for _ in range(self.rng.randint(1, 3)):
            flags = self.rng.choice((0, 0, 0, 1, 2, 4, 8))
            word = 12 | flags << 16 | self.rng.choice((7, 7, 1, 4)) << 20
            word |= self.rng.randrange(3) << 24
            entries += [word, *self.address(self.rng.choice(GROUPS))]
        return self.opcode(0x43, *entries)

    def other_writes(self) -> list[int]:
        """Packets that store registers without running the machine."""
        register, value = self.rng.choice(self.registers), self.rng.randrange(4)
        kind = self.rng.choice(self.storing or (0x26,))
        head = {0x5D: [0, 0], 0x6D: [0]}.get(kind, [])
        return self.opcode(kind, *head, register, value)

    def reg_to_mem(self) -> list[int]:
        return self.opcode(0x3E, self.registers[0] | 1 << 19, *self.address(DATA))

    def load_state(self) -> list[int]:
        word = (
            self.rng.randrange(4) << 14 | self.rng.randrange(3) << 16 | self.rng.randrange(16) << 18
        )
        source = self.rng.choice(((0, 0), (DATA, 0), (0x10000001, 0)))
        opcode = self.rng.choice((0x30, 0x32, 0x34, 0x36))
        return self.opcode(opcode, word | 1 << 22, *source, *self.values(4))

    def stream(self, packets: int, callable_from: int) -> list[int]:
        """Packets, among them calls of the buffers from ``CALLED[callable_from]`` on."""
        stream: list[int] = []
        for _ in range(packets):
            if callable_from < len(CALLED) and self.rng.random() < (0.2 if callable_from else 0.5):
                called = self.rng.choice(CALLED[callable_from:])
                dwords = self.rng.choice((24, 24, 9))
                stream += self.opcode(0x3F, *self.address(called), dwords)
            else:
                stream += self.rng.choice(self.packets)()
        return stream


def random_capture(rng: random.Random, gpu: int) -> bytes:
    """Streams that run repeatedly; some buffers change between submits."""
    streams = Streams(rng, gpu)
    sections = [gpu_id_section(gpu)]
    for _ in range(rng.randint(1, 2)):
        contents = {COMMANDS: streams.stream(rng.randint(3, 12), 0)}
        for number, address in enumerate(CALLED):
            contents[address] = (streams.stream(9, number + 1) + [0] * 24)[:40]
        group = streams.stream(20, len(CALLED))
        for number, address in enumerate(GROUPS):
            contents[address] = group[number * 12 : number * 12 + 16]
        contents[DATA] = [rng.choice((0, 1, 0x3F800000)) for _ in range(64)]
        for address in rng.sample(sorted(contents), rng.randint(5, len(contents))):
            sections += buffer_sections(address, dwords_bytes(contents[address]))
        submit = command_stream_section(COMMANDS, len(contents[COMMANDS]))
        sections += [submit] * rng.randint(2, 3)
        if rng.random() < 0.6:  # other contents, while what was recorded stays
            address = rng.choice((*CALLED, *GROUPS, DATA, DATA))
            sections += [*buffer_sections(address, dwords_bytes(streams.stream(9, 3))), submit]
    return capture_bytes(sections)


def dumped(data: bytes, options: dict[str, Any], segments: bool) -> tuple[bytes, Machine]:
    """The output for a capture that is given twice in one call."""
    pieces: list[bytes] = []
    chosen = DumpOptions(unit_test=True, **options)
    dump = Dump(chosen, pieces.append, lambda line: None, segments=segments)
    machine = dump.machine
    for _ in range(2):
        dump.begin("random")
        dump.file(open_bytes(data))
    return b"".join(pieces), machine


@pytest.mark.slow
@pytest.mark.parametrize("gpu", first_always(sorted(REGISTERS, reverse=True)))
def test_random_streams_print_the_same(gpu: int) -> None:
    replayed = recorded = 0
    streams = 2000 if ALL else settings().max_examples

    @settings(
        max_examples=streams,
        database=None,
        derandomize=not ALL,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.integers(0, 1 << 32), st.sampled_from(RANDOM_OPTIONS))
    def compare(seed: int, options: dict[str, Any]) -> None:
        nonlocal replayed, recorded
        data = random_capture(random.Random(seed), gpu)
        fast, machine = dumped(data, options, True)
        plain, _ = dumped(data, options, False)
        replayed += machine.segments.replayed
        recorded += machine.segments.recorded
        report = difference(plain, fast)
        assert not report, report

    compare()
    assert recorded > 8 * streams
    assert replayed > 8 * streams
