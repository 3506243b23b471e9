# SPDX-License-Identifier: MIT
"""``crashdec --annotate``: notes at their packets, and without them the output of crashdec."""

from __future__ import annotations

import gzip

import pytest

from cffpy.container.open import open_bytes
from cffpy.views.crashdec.annotate import AnnotatedCrashDump
from cffpy.views.crashdec.dump import CrashDump
from cffpy.views.crashdec.options import CrashdecOptions
from tests.builders import type7
from tests.crash_dumps import CP_NOP, IB1, IB2, call, hang
from tests.golden.test_crash import FOLDER
from tests.selection import first_always
from tools.crash_sample import CRASH

DRAW = type7(0x38, 0x184, 1, 3)

RECORDED = ("a635-vk-cube-wrap", "a650-vk-tess-late", "a530-gl-tri-a5xx", "a740-gl-cube-mid")


def printed(data: bytes, options: CrashdecOptions, annotated: bool) -> bytes:
    found: list[bytes] = []
    content = open_bytes(data)
    given = options, found.append, lambda line: None
    dump = AnnotatedCrashDump(content, *given) if annotated else CrashDump(*given)
    dump.file(content)
    return b"".join(found)


def check_only_lines_are_added(data: bytes, options: CrashdecOptions) -> list[bytes]:
    """The annotations, without the prefix."""
    lines = printed(data, options, annotated=True).splitlines(keepends=True)
    prefix = lines[0].partition(b"annotations: ")[0]
    assert prefix.startswith(b"#cffpy")
    rest = b"".join(line for line in lines if not line.startswith(prefix))
    assert rest == printed(data, options, annotated=False)
    return [line[len(prefix) : -1] for line in lines[1:] if line.startswith(prefix)]


@pytest.mark.parametrize("summary", [False, True])
@pytest.mark.parametrize("verbose", first_always([False, True]))
def test_sample(summary: bool, verbose: bool) -> None:
    options = CrashdecOptions(summary=summary, verbose=verbose)
    notes = check_only_lines_are_added(CRASH.read_bytes(), options)
    assert any(line.startswith(b"pass 0 begins: ") for line in notes)


@pytest.mark.slow
@pytest.mark.parametrize("name", first_always(RECORDED))
def test_recorded_dumps(name: str) -> None:
    path = FOLDER / f"{name}.devcore.gz"
    if not path.exists():
        pytest.skip("no recorded dumps (CFFPY_SHARED)")
    notes = check_only_lines_are_added(gzip.decompress(path.read_bytes()), CrashdecOptions())
    assert any(b" begins: " in line for line in notes)


def test_notes_stand_at_their_packets() -> None:
    """An IB2 is annotated after the packet that calls it, the position before its packet."""
    ib2 = type7(CP_NOP, 1) + DRAW + type7(CP_NOP, 2)
    text = printed(hang(call(IB2, len(ib2)), 0, ib2, 2), CrashdecOptions(), annotated=True)
    lines = [line.strip() for line in text.decode().splitlines()]
    called = next(n for n, line in enumerate(lines) if f"ibaddr:{IB2:016x}" in line)
    drawn = next(n for n, line in enumerate(lines) if line.startswith("#cffpy draw 0 of pass 0"))
    stands = lines.index("#cffpy the CP is here: CP_NOP, 2 dwords of IB2 left")
    assert called < drawn < stands
    assert "opcode: CP_NOP" in lines[stands + 1]
    assert f"{IB1:016x}" in lines[called - 1] or "#cffpy IB: 1 draw of pass 0" in lines[:called]


def test_prefix_is_not_in_the_dump() -> None:
    data = hang(type7(CP_NOP, 1) * 2, 2).replace(b"comm: test", b"comm: x\n#cffpy y")
    assert printed(data, CrashdecOptions(), annotated=True).startswith(b"#cffpy2 annotations")
    check_only_lines_are_added(data, CrashdecOptions())


@pytest.mark.parametrize("end", [10, 60, 200, 400])
def test_cut_dumps(end: int) -> None:
    check_only_lines_are_added(hang(DRAW, 0)[:end], CrashdecOptions())


def test_a_gpu_that_is_not_known() -> None:
    check_only_lines_are_added(hang(DRAW, 0, revision="1 (99.9.9.9)"), CrashdecOptions())
