# SPDX-License-Identifier: MIT
"""Edits of a capture: made of packets, and of recorded captures of each generation."""

from __future__ import annotations

import difflib
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.analysis.edits import (
    ChangedBytes,
    DropGroup,
    Edit,
    NopDraw,
    NopPackets,
    TruncateAfterDraw,
    edited,
)
from cffpy.container.open import Content, open_bytes, open_capture
from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.errors import CaptureError
from cffpy.pm4asm.register_edit import SetRegister
from tests.builders import COMMANDS, capture, type0, type3, type4, type7
from tests.selection import first_always
from tests.views.conftest import dump

DRAWS, STATE = 0x200000, 0x300000
DEPTH, BIN = 0x8871, 0x8800

NOP, IB, GROUPS, DRAW, MARKER, REG_WRITE, REG_RMW, BUNCH = (
    0x10,
    0x3F,
    0x43,
    0x38,
    0x65,
    0x6D,
    0x21,
    0x5C,
)


def draw(count: int) -> list[int]:
    return type7(DRAW, 4 | 2 << 6, 1, count, 0)


def frame() -> bytes:
    """Two tiles that call one IB with two draws, whose state is a group; then a second submit."""
    draws = [
        *type7(GROUPS, 2 | 0b111 << 20 | 3 << 24, STATE, 0),
        *type4(BIN, 0x11),
        *draw(3),
        *type4(DEPTH, 0x47),
        *draw(6),
        *type7(NOP, 1),
    ]
    commands = [*type7(MARKER, 4), *type7(IB, DRAWS, 0, len(draws))]
    commands += [*type7(MARKER, 4), *type7(IB, DRAWS, 0, len(draws)), *type7(NOP, 2, 3)]
    last = [*type4(BIN, 5), *draw(9)]
    state = type4(0x8090, 0x12)
    first = capture(630, commands, {DRAWS: draws, STATE: state})
    return first + capture_bytes(
        [
            *buffer_sections(COMMANDS, dwords_bytes(last)),
            command_stream_section(COMMANDS, len(last)),
        ]
    )


def changed(data: bytes, *edits: Edit) -> tuple[list[str], list[str]]:
    """Lines of the dump that an edit changed, without addresses and hex; and its messages."""
    content = open_bytes(data)
    output, messages = edited(content, edits, pytest.fail)
    assert len(output) == len(data)
    before, after = dump(data).decode(), dump(bytes(output)).decode()
    lines = difflib.unified_diff(before.splitlines(), after.splitlines(), n=0, lineterm="")
    kept = [line for line in lines if not line.startswith(("---", "+++", "@@"))]
    return [line[0] + line[1:].strip() for line in kept if "\t0000: " not in line], messages


def words_changed(data: bytes, edit: Edit) -> dict[int, tuple[int, int]]:
    """Byte offset -> dword before and after."""
    output, _ = edited(open_bytes(data), [edit], pytest.fail)
    found = {}
    for offset in range(0, len(data), 4):
        pair = (
            int.from_bytes(data[offset : offset + 4], "little"),
            int.from_bytes(output[offset : offset + 4], "little"),
        )
        if pair[0] != pair[1]:
            found[offset] = pair
    return found


def draws_shown(data: bytes) -> int:
    return dump(data).count(b"] register values")


# -- draws ---------------------------------------------------------------------------------------


def test_nop_draw() -> None:
    data = frame()
    output, messages = edited(open_bytes(data), [NopDraw(4)], pytest.fail)
    assert messages == ["draw #4 (CP_DRAW_INDX_OFFSET) is a CP_NOP now"]
    assert (draws_shown(data), draws_shown(bytes(output))) == (5, 4)
    # a NOP of the same size, and no other change
    start = len(data) - 20 - 20
    assert output[:start] == data[:start]
    assert output[start + 20 :] == data[start + 20 :]
    assert output[start : start + 20] == dwords_bytes(type7(NOP, 0, 0, 0, 0))


def test_nop_draw_that_is_executed_twice() -> None:
    data = frame()
    for number in (1, 3):
        output, messages = edited(open_bytes(data), [NopDraw(number)], pytest.fail)
        assert messages == [
            f"draw #{number} (CP_DRAW_INDX_OFFSET) is a CP_NOP now; the packet was executed "
            "2 times (draws #1, #3), all are affected"
        ]
        assert draws_shown(bytes(output)) == 3


def test_numbers_are_those_of_the_capture_as_it_came() -> None:
    data = frame()
    output, _ = edited(open_bytes(data), [NopDraw(0), NopDraw(4)], pytest.fail)
    assert draws_shown(bytes(output)) == 2
    with pytest.raises(CaptureError, match="no draw #5: the dump has 5 draws, #0 to #4"):
        edited(open_bytes(data), [NopDraw(5)], pytest.fail)


def test_nop_a_range_of_draws() -> None:
    data = frame()
    output, messages = edited(open_bytes(data), [NopDraw(range(1, 3))], pytest.fail)
    assert messages == [
        "2 draws (#1, #2) are CP_NOPs now; their 2 packets were executed 4 times "
        "(draws #0, #1, #2, #3), all are affected"
    ]
    assert draws_shown(bytes(output)) == 1
    _, messages = edited(open_bytes(data), [NopDraw(range(5))], pytest.fail)
    assert messages == ["5 draws (#0, #1, #2, #3, #4) are CP_NOPs now"]
    with pytest.raises(CaptureError, match="no draw #5: the dump has 5 draws, #0 to #4"):
        edited(open_bytes(data), [NopDraw(range(3, 1_000_000_000))], pytest.fail)


def test_nop_draw_of_32_bit_packets() -> None:
    commands = [*type0(0x2000, 5), *type3(0x22, 0, 0x84, 3), *type3(0x22, 0, 0x84, 6)]
    lines, _ = changed(capture(330, commands), NopDraw(0))
    assert "+opcode: CP_NOP (10) (4 dwords)" in lines
    assert "-{ NUM_INDICES = 3 }" in lines
    assert "-{ NUM_INDICES = 6 }" not in lines


def test_nop_packets_leaves_others_at_the_same_address() -> None:
    """Three submits in the same buffer: the packet is in the first and the last of them."""
    streams = [[*type4(0x8860, value), *draw(3)] for value in (1, 2, 1)]
    sections = [gpu_id_section(630)]
    for stream in streams:
        sections += buffer_sections(COMMANDS, dwords_bytes(stream))
        sections.append(command_stream_section(COMMANDS, len(stream)))
    data = capture_bytes(sections)
    packets = {COMMANDS: dwords_bytes(type4(0x8860, 1))}
    words = words_changed(data, NopPackets(packets))
    headers = [at for at in range(0, len(data), 4) if data[at : at + 4] == packets[COMMANDS][:4]]
    assert len(headers) == 3
    assert set(words) == {headers[0], headers[0] + 4, headers[2], headers[2] + 4}
    with pytest.raises(CaptureError, match="none of the packets is executed"):
        words_changed(data, NopPackets({COMMANDS: dwords_bytes(type4(0x8860, 3))}))


def test_truncate_after_draw() -> None:
    data = frame()
    output, messages = edited(open_bytes(data), [TruncateAfterDraw(2)], pytest.fail)
    # in the IB: a register, the second draw, a NOP; after the second call: a NOP
    assert messages == [
        "4 packets after draw #2 are CP_NOPs now; the packet was executed 2 times (draws #0, #2), "
        "all are affected",
        "1 later submits have a length of 0 now",
    ]
    assert draws_shown(bytes(output)) == 2
    before, after = dump(data).decode(), dump(bytes(output)).decode()
    same = before.index("draw[0] register values")
    assert before[:same].replace("(6 dwords)", "") == after[:same].replace("(6 dwords)", "")
    assert "cmdstream[1]: 0 dwords" in after


def test_truncate_after_the_last_draw() -> None:
    data = capture(630, draw(3))
    output, messages = edited(open_bytes(data), [TruncateAfterDraw(0)], pytest.fail)
    assert output == data
    assert messages == ["0 packets after draw #0 are CP_NOPs now"]


# -- groups --------------------------------------------------------------------------------------


def test_drop_group() -> None:
    lines, messages = changed(frame(), DropGroup(3))
    assert messages == ["group 3 is disabled in 1 place, executed 2 times"]
    assert lines.count("+{ COUNT = 0 | DISABLE | GROUP_ID = 3 }") == 2
    assert lines.count("-write GRAS_SU_CNTL (8090)") == 2
    assert not [line for line in lines if line[0] == "+" and "write" in line]
    with pytest.raises(CaptureError, match="no CP_SET_DRAW_STATE sets group 4"):
        edited(open_bytes(frame()), [DropGroup(4)], pytest.fail)


# -- values --------------------------------------------------------------------------------------


def test_set_everywhere() -> None:
    data = frame()
    lines, messages = changed(data, SetRegister("RB_BIN_CONTROL.BINW=0"))
    assert messages == ["RB_BIN_CONTROL.BINW=0: set in 2 places"]
    assert {line.partition(":")[0] for line in lines if "BIN_CONTROL" in line}
    assert not [line for line in lines if "BIN_CONTROL" not in line]
    found = words_changed(data, SetRegister("RB_BIN_CONTROL.BINW=0"))
    assert sorted(found.values()) == [(5, 0), (0x11, 0)]


def test_set_at_a_draw() -> None:
    data = frame()
    found = words_changed(data, SetRegister("RB_BIN_CONTROL=0x123", 4))
    assert list(found.values()) == [(5, 0x123)]
    _, messages = changed(data, SetRegister("RB_BIN_CONTROL.BINW=64", 3))
    assert messages == [
        "RB_BIN_CONTROL.BINW=64: set in 1 place; this also reaches 3 other draws (#0, #1, #2)"
    ]
    with pytest.raises(CaptureError, match="RB_DEPTH_CNTL is never written before draw #0"):
        edited(open_bytes(data), [SetRegister("RB_DEPTH_CNTL.ZFUNC=FUNC_NEVER", 0)], pytest.fail)


def test_a_value_that_is_there_already() -> None:
    data = frame()
    lines, messages = changed(data, SetRegister("RB_BIN_CONTROL=0x11"))
    assert messages == ["RB_BIN_CONTROL=0x11: set in 1 place; 1 place had this value already"]
    assert lines
    for edit in (SetRegister("RB_BIN_CONTROL=0x11", 0), SetRegister("RB_DEPTH_CNTL.ZFUNC=1")):
        lines, messages = changed(data, edit)
        assert lines == []
        assert messages[0].endswith(": it has this value already, in 1 place")


def test_a_value_that_is_there_already_in_packets() -> None:
    rmw = type7(REG_RMW, DEPTH, 0xFFFFFFE3, 0x47)
    data = capture(630, [*rmw, *type4(0x8825, 0x1000, 1), *draw(3)])
    _, messages = changed(data, SetRegister("RB_DEPTH_CNTL.ZFUNC=1"))
    assert messages == ["RB_DEPTH_CNTL.ZFUNC=1: it has this value already, in 1 place"]
    _, messages = changed(data, SetRegister("RB_MRT[0].BASE=0x100001000"))
    assert messages == ["RB_MRT[0].BASE=0x100001000: it has this value already, in 1 place"]
    _, messages = changed(data, SetRegister("RB_MRT[0].BASE=0x200001000"))
    assert messages == ["RB_MRT[0].BASE=0x200001000: set in 1 place"]
    kept = type7(REG_RMW, DEPTH, 0xFFFFFFFF, 0x47)
    _, messages = changed(capture(630, [*kept, *draw(3)]), SetRegister("RB_DEPTH_CNTL.ZFUNC=1"))
    assert messages == ["RB_DEPTH_CNTL.ZFUNC=1: set in 1 place"]


def test_two_fields_of_one_write() -> None:
    edits = [
        SetRegister("RB_DEPTH_CNTL.ZFUNC=FUNC_NEVER"),
        SetRegister("RB_DEPTH_CNTL.Z_TEST_ENABLE=0"),
    ]
    output, _ = edited(open_bytes(frame()), edits, pytest.fail)
    assert dwords_bytes(type4(DEPTH, 0x42)) in output


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("RB_STENCIL_CONTROL=0", "RB_STENCIL_CONTROL is never written"),
        ("RB_DEPTH_CNTL.ZFUN=1", "no field ZFUN, did you mean ZFUNC?"),
        ("RB_DEPTH_CNTX=1", "no register is called RB_DEPTH_CNTX"),
        ("RB_DEPTH_CNTL.ZFUNC=FUNC_LES", "did you mean FUNC_LESS?"),
        ("RB_DEPTH_CNTL.ZFUNC=9", "9 does not fit into 3 bits"),
        ("RB_DEPTH_CNTL", "is not REG.FIELD=VALUE"),
        ("=1", "is not REG.FIELD=VALUE"),
        ("RB_DEPTH_CNTL= ", "is not REG.FIELD=VALUE"),
        ("RB_DEPTH_CNTL.ZFUNC.X=1", "no register is called RB_DEPTH_CNTL.ZFUNC"),
    ],
)
def test_wrong_values(text: str, message: str) -> None:
    with pytest.raises(CaptureError, match=message):
        edited(open_bytes(frame()), [SetRegister(text)], pytest.fail)


def test_set_in_packets_with_an_opcode() -> None:
    commands = [
        *type7(REG_WRITE, 2, 0x8801, 0x10),
        *type7(BUNCH, BIN, 1, DEPTH, 2),
        *type7(REG_RMW, DEPTH, 0xFFFFFFFF, 0x47),
        *draw(3),
    ]
    data = capture(630, commands)
    assert list(words_changed(data, SetRegister("RB_BIN_CONTROL=7")).values()) == [(1, 7)]
    found = words_changed(data, SetRegister("RB_DEPTH_CNTL.ZFUNC=FUNC_ALWAYS")).values()
    # the pair, then of the RMW the bits that are kept and those that are set
    assert list(found) == [(2, 0x1E), (0xFFFFFFFF, 0xFFFFFFE3), (0x47, 0x5F)]
    found = words_changed(data, SetRegister("RB_RENDER_CNTL=0x33")).values()
    assert list(found) == [(0x10, 0x33)]


def test_set_constants_of_a2xx() -> None:
    commands = [*type3(0x2D, 4 << 16 | 0x104, 0xF), *type3(0x22, 0, 0x84, 3)]
    found = words_changed(capture(220, commands), SetRegister("RB_COLOR_MASK.WRITE_RED=0"))
    assert list(found.values()) == [(0xF, 0xE)]


def test_set_a_64_bit_register() -> None:
    commands = [*type4(0x8825, 0x1000, 1), *draw(3)]
    found = words_changed(capture(630, commands), SetRegister("RB_MRT[0].BASE=0x200002000"))
    assert list(found.values()) == [(0x1000, 0x2000), (1, 2)]


SIZE = 10_000
DATA = bytes(range(250)) * (SIZE // 250)
CHANGES = st.lists(st.tuples(st.integers(0, SIZE + 10), st.binary(max_size=5000)), max_size=6)


@given(CHANGES, st.integers(0, SIZE), st.integers(0, 9000))
def test_changes_in_order(changes: list[tuple[int, bytes]], place: int, size: int) -> None:
    changed = ChangedBytes(memoryview(DATA))
    copy = bytearray(DATA)
    for offset, new in changes:
        changed.write(offset, new)
        if offset < SIZE:
            copy[offset : offset + len(new)] = new[: SIZE - offset]
    assert b"".join(changed.pieces()) == copy
    assert changed.read(place, size) == copy[place : place + size]


def test_unchanged_bytes_are_not_copied() -> None:
    data = memoryview(bytes(1 << 20))
    changed = ChangedBytes(data)
    changed.write(4094, b"abcd")
    copied = [piece for piece in changed.pieces() if isinstance(piece, bytearray)]
    assert list(map(len, copied)) == [4096, 4096]


SETTINGS = [
    ("a220-gl-tri", "RB_COLOR_MASK.WRITE_RED=0"),
    ("a330-gl-tri", "GRAS_SC_CONTROL.RENDER_MODE=RB_TILING_PASS"),
    ("a420-gl-tri", "RB_DEPTH_CONTROL.ZFUNC=FUNC_ALWAYS"),
    ("a530-gl-tri", "RB_DEPTH_CNTL.ZFUNC=FUNC_ALWAYS"),
    ("a660-vk-cube-gmem-forcebin", "RB_DEPTH_CNTL.ZFUNC=FUNC_ALWAYS"),
    ("a740-vk-tri-auto", "GRAS_SU_CNTL.LINEHALFWIDTH=3.0"),
]

RECORDED = [
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
    ("name", "number", "packet"), first_always(RECORDED, names=3), ids=[row[0] for row in RECORDED]
)
def test_nop_draw_of_captures(name: str, number: int, packet: str, shared: Path) -> None:
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
    ("name", "number", "packet"),
    first_always(RECORDED, 2, names=3),
    ids=[row[0] for row in RECORDED],
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
