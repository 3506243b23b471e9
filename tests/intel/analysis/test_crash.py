# SPDX-License-Identifier: MIT
"""Reports on error states and devcoredumps."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from cffpy.errors import CaptureError
from tests.intel import aub_files, frames
from tests.intel.opening import open_intel
from tests.selection import first_always

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def _error_state(acthd: int, fault: bool = True, bases: bytes = frames.bases()) -> bytes:
    """An error state with a batch of two draws at 0x100000, whose position is ``acthd``."""
    batch = bases + frames.draw(3) + frames.draw(6) + aub_files.END
    registers = f"  ACTHD: 0x{acthd >> 32:08x} {acthd & 0xFFFFFFFF:08x}\n"
    if fault:
        registers += "  FAULT_REG: 0x00000001\n  FAULT_TLB_DATA: 0x0000000e 0x00010000\n"
    head = "GPU HANG: ecode 9\nPCI ID: 0x1912\nrcs0 command stream:\n  INSTDONE: 0xfffffffe\n"
    text = f"{head}{registers}rcs0 --- batch = 0x00000000 00100000\n~"
    return text.encode() + aub_files.base85(batch) + b"\n"


_FIRST = 0x100000 + len(frames.bases())


@pytest.mark.parametrize(
    ("acthd", "in_flight", "following"),
    [(_FIRST, 3, 6), (_FIRST + 28, 6, None), (0x100000, None, 3), (0x200000, None, None)],
)
def test_the_action_in_flight(acthd: int, in_flight: int | None, following: int | None) -> None:
    report = open_intel(_error_state(acthd)).crash
    found = [None if one is None else one.vertices for one in (report.in_flight, report.next)]
    assert found == [in_flight, following]
    assert (report.position is None) == (acthd == 0x200000)
    assert (report.state is None) == (in_flight is None)


def test_the_fault() -> None:
    fault = open_intel(_error_state(_FIRST)).crash.fault
    assert fault is not None
    assert (fault.address, fault.is_global, fault.line) == (0xE00010000000, False, 7)
    assert (fault.is_captured, fault.uses) == (False, [])
    assert open_intel(_error_state(_FIRST, fault=False)).crash.fault is None


def test_an_aub_file_is_no_dump() -> None:
    with pytest.raises(CaptureError, match="not a GPU crash dump, but an AUB file"):
        _ = open_intel(frames.frame()).crash


def test_the_command(tmp_path: Path, run_cffpy: Run) -> None:
    path = tmp_path / "error"
    path.write_bytes(_error_state(_FIRST + 28))
    done = run_cffpy("crash", path)
    assert done.returncode == 0
    lines = done.stdout.decode().splitlines()
    assert f"  rcs0 ACTHD {_FIRST + 28:#x}  [line 5]" in lines
    document = json.loads(run_cffpy("crash", "--json", path).stdout)
    assert document["schema"] == "cffpy.intel-crash/1"
    assert document["in_flight"]["vertices"] == 6
    assert run_cffpy("crash", "--extract", tmp_path / "o.rd", path).returncode == 2


@pytest.mark.parametrize(
    ("bases", "is_unknown"), first_always([(frames.bases(), False), (b"", True)], names=2)
)
def test_bases_that_no_command_sets(
    bases: bytes, is_unknown: bool, tmp_path: Path, run_cffpy: Run
) -> None:
    path = tmp_path / "error"
    path.write_bytes(_error_state(0x100000 + len(bases), bases=bases))
    shown = run_cffpy("crash", path).stdout, run_cffpy("state", "--at", "#0", path).stdout
    assert [b"no STATE_BASE_ADDRESS comes before" in one for one in shown] == 2 * [is_unknown]
    for arguments in (("crash",), ("state", "--at", "#0")):
        document = json.loads(run_cffpy(*arguments, "--json", path).stdout)
        assert document["uses"]["has_bases"] is not is_unknown


def test_control_characters_are_escaped(tmp_path: Path, run_cffpy: Run) -> None:
    path = tmp_path / "hang.i915"
    path.write_bytes(
        frames.hang().replace(b"in test", b"in \x0b\x1b[31m").replace(b"rcs0", b"r\x07cs0")
    )
    shown = run_cffpy("crash", path).stdout
    assert b"in \\x0b\\x1b[31m" in shown
    assert not set(shown) & {0x07, 0x0B, 0x1B}


def test_dumps_of_drivers(shared: Path) -> None:
    folder = shared / "intel" / "captures"
    report = open_intel(str(folder / "icl-vk-passes-error.i915.gz")).crash
    assert report.position is not None
    assert (report.position.name, report.position.address) == (
        "3DPRIMITIVE_EXTENDED",
        0xEFFEFFFF9844,
    )
    assert report.in_flight is not None
    assert report.in_flight.vertices == 384
    report = open_intel(str(folder / "tgl-vk-tri-error.i915.gz")).crash
    assert report.fault is not None
    assert (report.fault.address, report.fault.is_global) == (0x12345000, True)
    assert report.busy["INSTDONE"] == ["HS", "GAM", "CS"]
    report = open_intel(str(folder / "lnl-vk-cube-xe-devcoredump.xe.gz")).crash
    assert report.reason.startswith("Reason: Timedout job")
    assert report.in_flight is not None
    assert report.in_flight.role == "fast clear"
