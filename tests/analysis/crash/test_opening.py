# SPDX-License-Identifier: MIT
"""Crash dumps where a capture is expected: by content, compressed, cut anywhere."""

from __future__ import annotations

import bz2
import gzip
import subprocess
from collections.abc import Callable

import pytest

import cffpy
from cffpy.analysis.crash.opening import check_capture
from cffpy.analysis.queries import find_passes
from cffpy.container.open import open_bytes
from tests.builders import type7
from tests.crash_dumps import CP_NOP, IB2, call, hang
from tests.selection import first_always

Run = Callable[..., subprocess.CompletedProcess[bytes]]

#: CP_DRAW_INDX_OFFSET of three vertices.
DRAW = type7(0x38, 0x184, 1, 3)
#: IB1 calls IB2 twice and draws after it; the CP is in the second call.
IB1_COMMANDS = [*DRAW, *call(IB2, 8), *call(IB2, 8), *DRAW]
DUMP = hang(IB1_COMMANDS, 4, [*DRAW, *type7(CP_NOP, 1), *type7(CP_NOP, 2)], 2)


@pytest.mark.parametrize("packed", [bytes, gzip.compress, bz2.compress])
def test_the_submit_ends_at_the_crash(packed: Callable[[bytes], bytes]) -> None:
    with cffpy.open(packed(DUMP)) as capture:
        assert capture.gpu is not None
        assert capture.gpu.name == "FD630"
        assert [len(submit.streams) for submit in capture.submits] == [1]
        # of IB1 and twice of IB2: the draw after the second call was not reached
        assert [action.kind for action in capture.actions] == ["draw"] * 3


def test_a_compositors_streams_are_not_skipped() -> None:
    with cffpy.open(DUMP.replace(b"comm: test", b"comm: chrome")) as capture:
        assert len(capture.actions) == 3


@pytest.mark.slow
@pytest.mark.parametrize("command", first_always(["dump", "info", "passes", "draws", "decompile"]))
def test_commands(command: str, run_cffpy: Run) -> None:
    done = run_cffpy(command, "-", input=gzip.compress(DUMP))
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout


@pytest.mark.slow
def test_any_part_is_opened() -> None:
    """A dump that ends anywhere, even within a line."""
    found = set()
    for end in range(40, len(DUMP), 19):
        content = check_capture(open_bytes(DUMP[:end]))
        finder, _ = (None, None) if end < 90 else find_passes(content, lambda _: None)
        found.add(0 if finder is None else len(finder.actions))
    assert found <= {0, 1, 2, 3, 4}
    assert {0, 2, 3} <= found  # of IB1 alone, without IB2 in the dump; up to the crash


def test_skipped_lines_are_damage() -> None:
    content = check_capture(open_bytes(DUMP.replace(b"wptr: 4", b"wptr: x")))
    assert [one.message for one in content.faults] == [
        "line 13 is not of the form '    wptr: %u': skipped"
    ]
