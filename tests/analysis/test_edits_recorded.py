# SPDX-License-Identifier: MIT
"""Edits of recorded captures of every generation: the dump shows the change and nothing else."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from cffpy.analysis.edits import NopDraw, TruncateAfterDraw, edited
from cffpy.container.open import Content, open_capture
from cffpy.pm4asm.register_edit import SetRegister
from tests.selection import first_always
from tests.views.conftest import dump

SETTINGS = [
    ("a220-gl-tri", "RB_COLOR_MASK.WRITE_RED=0"),
    ("a330-gl-tri", "GRAS_SC_CONTROL.RENDER_MODE=RB_TILING_PASS"),
    ("a420-gl-tri", "RB_DEPTH_CONTROL.ZFUNC=FUNC_ALWAYS"),
    ("a530-gl-tri", "RB_DEPTH_CNTL.ZFUNC=FUNC_ALWAYS"),
    ("a660-vk-cube-gmem-forcebin", "RB_DEPTH_CNTL.ZFUNC=FUNC_ALWAYS"),
    ("a740-vk-tri-auto", "GRAS_SU_CNTL.LINEHALFWIDTH=3.0"),
]

DRAWS = [
    ("a220-gl-tri", 0, "CP_DRAW_INDX"),
    ("a330-gl-tri", 1, "CP_DRAW_INDX"),
    ("a420-gl-tri", 1, "CP_DRAW_INDX_OFFSET"),
    ("a530-gl-tri", 0, "CP_DRAW_INDX_OFFSET"),
    ("a660-vk-cube-gmem-forcebin", 42, "CP_DRAW_INDX_OFFSET"),
    ("a690-vk-multiview", 1, "CP_EVENT_WRITE"),
    ("a740-vk-tri-auto", 2, "CP_DRAW_INDX_OFFSET"),
]


def opened(shared: Path, name: str) -> Content:
    return open_capture(str(shared / "captures" / f"{name}.rd.gz"))


def is_memory(line: str) -> bool:
    """A row of the commands themselves."""
    return line.partition(":")[0].strip(" 0123456789abcdef") == "" and ":" in line


@pytest.mark.parametrize(
    ("name", "setting"), first_always(SETTINGS, names=2), ids=[row[0] for row in SETTINGS]
)
def test_set(name: str, setting: str, shared: Path) -> None:
    content = opened(shared, name)
    output, messages = edited(content, [SetRegister(setting)], pytest.fail)
    assert messages[0].startswith(f"{setting}: set in ")
    before = dump(bytes(content.data)).decode("latin-1").splitlines()
    after = dump(bytes(output)).decode("latin-1").splitlines()
    register = setting.partition(".")[0]
    changed = [pair for pair in zip(before, after, strict=True) if pair[0] != pair[1]]
    assert changed
    for was, is_now in changed:
        assert register in was if register in is_now else is_memory(is_now), is_now


@pytest.mark.parametrize(
    ("name", "number", "packet"), first_always(DRAWS, names=3), ids=[row[0] for row in DRAWS]
)
def test_nop_draw(name: str, number: int, packet: str, shared: Path) -> None:
    content = opened(shared, name)
    edit = NopDraw(number)
    output, messages = edited(content, [edit], pytest.fail)
    assert messages[0].startswith(f"draw #{number} ({packet}) is a CP_NOP now")
    before, after = (dump(bytes(data)) for data in (content.data, output))
    executed = before.count(b"] register values") - after.count(b"] register values")
    assert (f"executed {executed} times" in messages[0]) == (executed > 1)
    opcodes = [
        Counter(line.split(b"opcode: ")[1] for line in text.splitlines() if b"opcode: " in line)
        for text in (before, after)
    ]
    gone, new = opcodes[0] - opcodes[1], opcodes[1] - opcodes[0]
    assert sum(new.values()) == executed
    assert all(line.startswith(b"CP_NOP ") for line in new)
    # what else is gone are the packets of the groups that this draw would have loaded
    assert sum(count for line, count in gone.items() if packet.encode() in line) == executed


@pytest.mark.parametrize(
    ("name", "number", "packet"), first_always(DRAWS, 2, names=3), ids=[row[0] for row in DRAWS]
)
def test_truncate(name: str, number: int, packet: str, shared: Path) -> None:
    content = opened(shared, name)
    output, _ = edited(content, [TruncateAfterDraw(number)], pytest.fail)
    before, after = (dump(bytes(data)) for data in (content.data, output))
    assert b"] register values" in after
    behind = after.rpartition(b"] register values")[2]
    opcodes = {line.split()[1] for line in behind.splitlines() if b"opcode: " in line}
    assert opcodes <= {b"CP_NOP"}
    assert b"write " not in behind
    assert after.count(b"] register values") <= before.count(b"] register values")
