# SPDX-License-Identifier: MIT
"""The state at actions of Intel captures: instructions, structures in memory, registers."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from struct import pack, unpack_from

import pytest

import cffpy
from cffpy.errors import UnknownName, UnknownValue
from cffpy.intel.decoder.groups import Database
from tests.frame.test_faces import check_object, within
from tests.intel import aub_files, frames
from tests.selection import first_always

Run = Callable[..., subprocess.CompletedProcess[bytes]]

#: Offsets from the dynamic state base.
VIEWPORT, DEPTH_RANGE, BLEND, COLOUR, SCISSOR = 0x40, 0xC0, 0x140, 0x180, 0x1C0
#: CS_GPR 0 of the render command streamer.
REGISTER = 0x2600


def pointers() -> bytes:
    """Instructions that point at structures; 3DSTATE_CLIP with one viewport."""
    return b"".join(
        (
            frames.words(0x78120002, 0, 0, 0),
            frames.words(0x78210000, VIEWPORT),
            frames.words(0x78230000, DEPTH_RANGE),
            frames.words(0x78240000, BLEND | 1),
            frames.words(0x780E0000, COLOUR | 1),
            frames.words(0x780F0000, SCISSOR),
        )
    )


def dynamic_state() -> bytes:
    """What lies in dynamic state: each structure with dwords of its own."""
    data = bytearray(0x240)
    numbers = [1.5 * number for number in range(16)]
    data[VIEWPORT : VIEWPORT + 64] = pack("<16f", *numbers)
    data[DEPTH_RANGE : DEPTH_RANGE + 8] = pack("<2f", 0.25, 0.75)
    data[BLEND : BLEND + 12] = frames.words(1 << 31, 1 << 31 | 17 << 26, 3)
    data[COLOUR : COLOUR + 24] = frames.words(1 << 24, 0, 0x3F800000, 0, 0, 0x3F000000)
    data[SCISSOR : SCISSOR + 8] = frames.words(2 | 3 << 16, 30 | 20 << 16)
    return bytes(data)


def memory(state: bytes | None = None) -> dict[int, bytes]:
    """The batches of the frame; the pointers, and a register, come before the first draw."""
    found = frames.batches()
    batch = found[frames.BATCH]
    load = frames.words(0x11000001, REGISTER, 0x1234)
    first = frames.bases() + pointers() + load
    plain = batch[: batch.index(frames.draw(36))].removeprefix(frames.bases())
    found[frames.BATCH] = first + plain + frames.draw(36) + frames.draw(6, 2) + aub_files.END
    found[frames.DYNAMIC] = dynamic_state() if state is None else state
    return found


@pytest.fixture(scope="module")
def capture() -> cffpy.Capture:
    return cffpy.open(frames.frame(memory()))


#: Each structure, its offset and its dwords.
STRUCTURES = {
    "SF_CLIP_VIEWPORT[0]": (VIEWPORT, 16),
    "CC_VIEWPORT[0]": (DEPTH_RANGE, 2),
    "BLEND_STATE": (BLEND, 1),
    "BLEND_STATE_ENTRY[0]": (BLEND + 4, 2),
    "COLOR_CALC_STATE": (COLOUR, 6),
    "SCISSOR_RECT[0]": (SCISSOR, 2),
}


def test_structures_are_state(capture: cffpy.Capture) -> None:
    state, data = capture.draw("p0:0").state, dynamic_state()
    for name, (offset, count) in STRUCTURES.items():
        value = state[name]
        assert value.words == unpack_from(f"<{count}I", data, offset), name
        assert value.bits == 32 * count
        assert value.value is None
        assert value.written_by.packet.startswith("3DSTATE_")
    assert state["CC_VIEWPORT[0]"].Minimum_Depth == 0.25
    assert state["scissor_rect[0]"].fields["Scissor Rectangle X Max"].value == 30
    assert set(STRUCTURES) <= set(state)


def test_the_interface_of_all_states(capture: cffpy.Capture) -> None:
    first, second = capture.draws
    state = first.state
    assert list(state) == state.keys() == [name for name, _ in state.items()]
    assert len(state) == len(list(state.values()))
    assert state["3DSTATE_VF_TOPOLOGY"].Primitive_Topology_Type == "TRILIST"
    assert state["3DSTATE_VF_TOPOLOGY"] == second.state["3DSTATE_VF_TOPOLOGY"]
    assert state["3DSTATE_PS"] != state["3DSTATE_VS"]
    register = state.at(REGISTER // 4)
    assert (register.value, register.register_offset, register.bits) == (0x1234, 0x980, 32)
    assert state[REGISTER // 4] == state[register.name] == register
    assert "3DSTATE_PS" in state
    assert "3DSTATE_GS" not in state
    assert state.get("3DSTATE_GS") is None
    assert not state["3DSTATE_GS"].is_written
    assert state["3DSTATE_GS"].text == "never written"
    assert [one.name for one in state.matching("3DSTATE_*TOPOLOGY")] == ["3DSTATE_VF_TOPOLOGY"]
    with pytest.raises(UnknownName, match="did you mean 3DSTATE_PS"):
        state["3DSTATE_PX"]
    with pytest.raises(UnknownName, match="has no field Nothing"):
        _ = state["3DSTATE_PS"].Nothing
    with pytest.raises(UnknownValue, match="name a field"):
        int(state["3DSTATE_PS"])
    assert state.dwords["3DSTATE_VF_TOPOLOGY"] == (0x784B0000, 4)
    assert state.dwords is second.state.dwords, "nothing was set between"


def test_who_set_a_value() -> None:
    with cffpy.open(frames.frame()) as capture:
        state = capture.draw("p0:3").state
        write = state["3DSTATE_CONSTANT_PS"].written_by
        assert (write.packet, write.pass_index) == ("3DSTATE_CONSTANT_PS", 0)
        assert state["3DSTATE_CONSTANT_PS"].origin == "this pass"
        assert state["3DSTATE_DEPTH_BUFFER"].origin == "before the pass"
        assert write.place.gpuaddr != state["3DSTATE_DEPTH_BUFFER"].written_by.place.gpuaddr
        changed = [one.name for one in state.changed]
        assert changed == ["3DSTATE_CONSTANT_PS"]
        assert {"3DSTATE_VF_TOPOLOGY", *changed} <= {one.name for one in state.written}
        assert [one.name for one in capture.draw("p0:1").state.changed] == []
        assert len(capture.draw("p0:0").state.changed) == len(capture.draw("p0:0").state)
        assert capture.actions[0].state.changed == [], "it is no draw of the program"


def test_every_fact_on_every_face(capture: cffpy.Capture) -> None:
    state = capture.draw("p0:0").state
    for value in state.values():
        for one in within(value):
            check_object(one)
    for one in within(state._uses):
        check_object(one)


def test_filters(capture: cffpy.Capture) -> None:
    draws = capture.draws
    assert len(draws.where("CC_VIEWPORT[0].Minimum_Depth == 0.25")) == len(draws)
    assert len(draws.where("SCISSOR_RECT[*].Scissor_Rectangle_X_Max > 29")) == len(draws)
    assert not draws.where("BLEND_STATE.Alpha_To_Coverage_Enable == 0")


@pytest.mark.parametrize(
    ("name", "dword"),
    first_always(
        [(name, dword) for name, (_, count) in STRUCTURES.items() for dword in range(count)],
        names=2,
    ),
)
@pytest.mark.parametrize("bit", first_always([0, 7, 13, 31]))
def test_a_bit_of_a_structure_is_a_difference(name: str, dword: int, bit: int) -> None:
    data = bytearray(dynamic_state())
    at = STRUCTURES[name][0] + 4 * dword + bit // 8
    data[at] ^= 1 << bit % 8
    with (
        cffpy.open(frames.frame(memory())) as good,
        cffpy.open(frames.frame(memory(bytes(data)))) as bad,
    ):
        entries = cffpy.diff(good, bad).entries
        names = {one.name for entry in entries for one in entry.differences}
        assert {one.partition(".")[0] for one in names} == {name}, "fields may share bits"
        changed = [
            one for one in bad.draws[0].state.values() if one != good.draws[0].state[one.name]
        ]
        assert [one.name for one in changed] == [name]


def test_structures_that_a_dump_lacks_are_no_difference() -> None:
    """An error state has the buffers that the kernel saved, which need not be all."""
    known = memory()
    lacking = {address: data for address, data in known.items() if address != frames.DYNAMIC}
    with cffpy.open(frames.frame(known)) as good, cffpy.open(frames.frame(lacking)) as bad:
        state = bad.draws[0].state
        assert state["SCISSOR_RECT[0]"].is_unknown
        assert state["SCISSOR_RECT[0]"].text == "not in memory"
        names = {one.name for entry in cffpy.diff(good, bad).entries for one in entry.differences}
        assert not any(name.partition(".")[0] in STRUCTURES for name in names), names


@pytest.mark.parametrize("verx10", first_always([60, 70, 80, 90, 110, 120, 125, 200, 300]))
def test_pointers_are_described(verx10: int) -> None:
    """Each field that points at a structure, and the field that says whether it is set."""
    from cffpy.intel.analysis.state import _POINTERS

    database = Database(verx10)
    known = {one.name: one for one in database.instructions}
    structs = set()
    for name, pointers in _POINTERS.items():
        group = known.get(name)
        if group is None:
            continue
        fields = {one.name for one in group.fields(-1)}
        for one in pointers:
            if one.field in fields:
                assert database.struct(one.struct) is not None
                structs.add(one.struct)
        assert any(one.field in fields for one in pointers), name
    assert {"CC_VIEWPORT", "BLEND_STATE", "SCISSOR_RECT", "COLOR_CALC_STATE"} <= structs


# -- cffpy state ----------------------------------------------------------------------------------


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "state.aub"
    found.write_bytes(frames.frame(memory()))
    return found


def test_the_command(path: Path, run_cffpy: Run) -> None:
    shown = run_cffpy("state", "--at", "p0:0", path, "SCISSOR*", hex(REGISTER)).stdout.decode()
    heading, name, place, *rows = shown.splitlines()
    assert heading.startswith("draw p0:0 (#1), TRILIST, stream 0 > batch ")
    assert (name, place.split(":")[0].strip()) == ("SCISSOR_RECT[0]", "before the pass")
    assert rows[:4] == [
        "    Scissor Rectangle X Min = 2",
        "    Scissor Rectangle Y Min = 3",
        "    Scissor Rectangle X Max = 30",
        "    Scissor Rectangle Y Max = 20",
    ]
    assert rows[4].startswith("00001234  ")
    whole = run_cffpy("state", "--at", "p0:0", path).stdout.decode()
    assert "  PS table at 0xc0000080 (offset 0x80), 4 entries (driver)" in whole


def test_its_document_is_that_of_all_captures(path: Path, run_cffpy: Run) -> None:
    document = json.loads(run_cffpy("state", "--at", "p0:0", "--json", path).stdout)
    assert document["schema"] == "cffpy.state/1"
    with cffpy.open(path) as capture:
        draw = capture.draw("p0:0")
        assert document["draw"] == draw.to_dict()
        values = [one.to_dict() for one in draw.state.values()]
        assert document["registers"] == values
        assert document["uses"] == draw.state._uses.to_dict()


def test_names_and_origins(path: Path, run_cffpy: Run) -> None:
    unset = run_cffpy("state", "--at", "p0:0", path, "3DSTATE_GS")
    line = b"cffpy: warning: no register 3DSTATE_GS was written before this draw\n"
    assert (unset.returncode, unset.stderr) == (0, line)
    unknown = run_cffpy("state", "--at", "p0:0", path, "3DSTATE_PX")
    assert unknown.returncode == 2
    assert b"has no instruction or register 3DSTATE_PX; did you mean 3DSTATE_PS" in unknown.stderr
    frame = path.with_name("frame.aub")
    frame.write_bytes(frames.frame())
    shown = run_cffpy("state", "--origin", "this pass", "--at", "p0:3", frame).stdout.decode()
    names = [line for line in shown.splitlines()[1:] if not line.startswith(" ")]
    assert names == [
        "3DSTATE_BINDING_TABLE_POINTERS_PS",
        "3DSTATE_CONSTANT_PS",
        "3DSTATE_PS",
        "3DSTATE_VF_TOPOLOGY",
        "3DSTATE_VS",
    ]
