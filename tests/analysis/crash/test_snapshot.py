# SPDX-License-Identifier: MIT
"""Snapshots of the KGSL driver as crash dumps: the position, the report, the capture."""

from __future__ import annotations

import gzip
import io
from collections.abc import Callable
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis.crash.context import CrashContext, read_dump
from cffpy.analysis.crash.position import find_position
from cffpy.container.crash_dump import SNAPSHOT_SECTIONS
from cffpy.container.kgsl_snapshot import read_snapshot
from cffpy.container.kinds import kind_of
from tests.builders import type7
from tests.crash_dumps import CP_NOP, IB1, IB2, RING
from tests.kgsl_snapshots import (
    call,
    fence,
    gpu_object,
    hang,
    header,
    ib,
    os_section,
    pairs,
    registers,
    ring,
    snapshot,
)

NOPS = type7(CP_NOP, 1) + type7(CP_NOP, 2)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "snapshot.bpmd"
    path.write_bytes(hang([*call(IB2, 4), *NOPS], 4, NOPS, 2))
    return path


def test_position() -> None:
    cp = find_position(CrashContext(read_dump(hang([*call(IB2, 4), *NOPS], 4, NOPS, 2))))
    assert [(one.name, one.gpuaddr, one.left) for one in cp.levels] == [
        ("IB1", IB1, 4),
        ("IB2", IB2, 2),
    ]
    assert cp.packet is not None
    assert (cp.packet.gpuaddr, cp.packet.name) == (IB2 + 8, "CP_NOP")


def test_commands_behind_fences_of_several_timelines() -> None:
    """A fence of a context may be lower than the ring's: the call that hangs stays pending."""
    other = IB1 + 0x1000
    commands = [*call(other, 4), *fence(1), *call(IB1, 4), *fence(1, 0x6000), *fence(2)]
    data = snapshot(
        os_section(), pairs(registers(2)), ring(commands), ib(IB1, NOPS), ib(other, NOPS)
    )
    context = CrashContext(read_dump(data))
    assert [one.gpuaddr for one in context.pending_calls()] == [IB1]


def test_report(file: Path) -> None:
    crash = cffpy.open_crash(file)
    assert crash.gpu is not None
    assert crash.gpu.name == "FD630"
    assert crash.packet is not None
    assert (crash.packet.name, crash.packet.gpuaddr) == ("CP_NOP", IB2 + 8)
    text = "\n".join(crash.lines())
    assert "module: kgsl" in text
    assert "1 x side debug bus (0x1801), 28 bytes  [file 0x288]" in text
    assert "1 x GPU object v2 (0x0b02)" in text
    document = crash.to_dict()
    assert document["sections"]["sections"][0] == {
        "type": "0x101",
        "name": "OS",
        "offset": "0xc",
        "size": 136,
    }
    assert not crash.problems
    there = {one["name"].removesuffix(" v2") for one in document["sections"]["sections"]}
    assert document["lacks"]["missing"] == [one for one in SNAPSHOT_SECTIONS if one not in there]
    assert "no section debug bus" in text


def test_capture(file: Path) -> None:
    capture = cffpy.open(file)
    assert capture.summary.compression == "crash dump"
    assert capture.gpu is not None
    assert capture.gpu.name == "FD630"
    (stream,) = capture.summary.streams
    assert (stream.gpuaddr, stream.dwords, stream.process) == (IB1, 4, "test")
    assert {one.gpuaddr for one in capture.summary.submits[0].buffers} == {IB1, IB2, RING}
    packed = cffpy.open(io.BytesIO(gzip.compress(file.read_bytes())))
    assert packed.summary.compression == "gzip+crash dump"


def test_commands(file: Path, run_cffpy: Callable) -> None:
    shown = run_cffpy("info", file)
    assert shown.returncode == 0
    assert b"snapshot: GPU object v2" in shown.stdout
    assert b"snapshot: side debug bus" in shown.stdout
    assert b"CP_NOP" in run_cffpy("dump", file).stdout
    assert b"CP is at CP_NOP" in run_cffpy("crash", file).stdout
    assert b"CP_NOP" in run_cffpy("decompile", file).stdout
    file.write_bytes(file.read_bytes()[:-30])
    cut = run_cffpy("crash", file)
    assert cut.returncode == 1
    assert b"the file ends" in cut.stderr
    assert b"CP is at CP_NOP" in cut.stdout


def test_an_unknown_gpu_is_said(tmp_path: Path) -> None:
    data = header(gpu_id=0x0003_0000, chip_id=0) + hang(NOPS, 2)[12:]
    dump = read_snapshot(data)
    assert dump.revision == (0, 0, 0, 0, 0)
    crash = cffpy.open_crash(data)
    assert crash.gpu is None
    assert "the GPU is unknown" in "\n".join(crash.lines())
    assert cffpy.open_crash(data, gpu="630").packet is not None


def test_kind_of_a_snapshot() -> None:
    assert kind_of(hang(NOPS, 2)) == "a GPU snapshot of the KGSL driver (see cffpy crash)"


def test_draws_up_to_the_hang() -> None:
    draw = type7(0x38, 4 | 2 << 6, 1, 3)
    ib1 = [*type7(0x65, 1), *draw, *type7(CP_NOP, 1), *draw]
    data = snapshot(
        os_section(),
        pairs(registers(len(draw))),
        ring(call(IB1, len(ib1))),
        gpu_object(IB1, ib1),
    )
    assert len(cffpy.open(data).draws) == 2
