# SPDX-License-Identifier: MIT
"""Registers at draws: as cffpy state has them; values, fields, changes, errors."""

from __future__ import annotations

import io
import tracemalloc
from pathlib import Path

import pytest

import cffpy
from benchmarks.synthetic import draws_capture
from cffpy.container.open import open_capture
from tests.analysis.passes.streams import Streams
from tests.analysis.register_store.replay import state_at
from tests.builders import type4
from tests.selection import first_always

SAMPLES = (
    "a220-triangle",
    "a430-depth-good",
    "a530-two-submits",
    "a630-indirect",
    "a650-blits",
    "a660-frame-binning",
    "a660-frame-gmem",
    "a660-frame-sysmem",
    "a690-compute",
    "a740-state-groups",
)


def check_states(path: Path, most: int = 8) -> None:
    """The recorded state of draws is what a walk up to each draw finds."""
    capture = cffpy.open(path)
    content = open_capture(str(path))
    assert capture.draws
    step = max(1, len(capture.draws) // most)
    for draw in capture.draws[::step]:
        assert capture._source.walked.store.has(draw.order)
        found = state_at(content, draw.order, lambda _line: None)
        assert found is not None
        recorded = draw.state.snapshot()
        assert recorded.registers == found.registers
        assert recorded.writes.keys() == found.writes.keys()
        for register, write in found.writes.items():
            other = recorded.writes[register]
            assert str(write.place) == str(other.place)
            assert write.origin(found.action) == other.origin(draw)
            assert (write.executed, write.condition) == (other.executed, other.condition)


@pytest.mark.parametrize("name", first_always(SAMPLES, 3))
def test_recorded_states_are_those_of_a_walk_up_to_the_draw(samples: Path, name: str) -> None:
    check_states(samples / f"{name}.rd")


def test_states_of_a_damaged_capture(samples: Path) -> None:
    check_states(samples / "damaged.rd.gz")


@pytest.mark.parametrize("stops", [True, False])
def test_draws_beyond_the_limit_of_changes(
    samples: Path, monkeypatch: pytest.MonkeyPatch, stops: bool
) -> None:
    """Their states cost a walk each, where the recorder had to stop."""
    if stops:
        monkeypatch.setattr("cffpy.analysis.register_store.recorder._ENTRIES", -1)
    monkeypatch.setattr("cffpy.analysis.register_store.recorder.most_changes", lambda _size: 2)
    whole = cffpy.open(samples / "a530-two-submits.rd")
    assert [problem.kind for problem in whole.problems] == ["truncated"]
    draws = whole.draws
    assert whole._source.walked.store.has(draws[-1].order) != stops
    monkeypatch.undo()
    for draw, other in zip(draws, cffpy.open(samples / "a530-two-submits.rd").draws, strict=True):
        assert draw.state.snapshot().registers == other.state.snapshot().registers


@pytest.mark.parametrize(
    "name",
    first_always(
        [
            "a640-vk-scene100-noubwc-nolrz",
            "a740-vk-dyn-secondary-gmem",
            "a660-gl-cube-gmem",
            "a530-gl-tri",
        ]
    ),
)
def test_states_of_drivers(shared: Path, name: str) -> None:
    check_states(shared / "captures" / f"{name}.rd.gz", most=5)


@pytest.fixture
def capture(samples: Path) -> cffpy.Capture:
    return cffpy.open(samples / "a660-frame-gmem.rd")


def test_a_value(capture: cffpy.Capture) -> None:
    state = capture.draws[-1].state
    value = state["RB_DEPTH_CNTL"]
    assert value.value is not None
    assert int(value) == value.value == value
    assert hex(value) == f"{value:#x}" == hex(value.value)
    assert state[value.register.offset] == value
    assert value.text == f"{value}"
    assert value.fields["ZFUNC"].text == value.ZFUNC
    assert value.Z_TEST_ENABLE in (True, False)
    assert value.written_by is not None
    assert value.written_by.packet
    assert value.written_by.place.gpuaddr
    assert value.origin in ("this pass", "before the pass", "earlier submit")
    assert value.inherited == (value.origin == "earlier submit")
    assert value.is_written
    assert not value.is_unknown
    wide = state["RB_MRT[0].BASE"]
    assert wide.register.bits == 64
    assert int(wide) == state.at(wide.register.offset).value
    with pytest.raises(cffpy.UnknownName, match="did you mean ZFUNC"):
        _ = value.ZFUNK


def test_fields_in_hexadecimal_are_numbers() -> None:
    """COMPONENT_ENABLE is described as hexadecimal."""
    control = cffpy.registers("a6xx")["RB_MRT[0].CONTROL"].decode(0x780)
    assert control.fields["COMPONENT_ENABLE"].text == "0xf"
    assert control.COMPONENT_ENABLE == 0xF


def test_a_value_that_was_not_written(capture: cffpy.Capture) -> None:
    state = capture.draws[0].state
    name = next(name for name in capture.registers if name not in state)
    value = state[name]
    assert (value.value, value.is_written, value.is_unknown) == (None, False, False)
    assert (value.written_by, value.origin, value.text) == (None, None, "never written")
    with pytest.raises(cffpy.UnknownValue):
        int(value)
    assert value != 0


def test_wrong_names(capture: cffpy.Capture) -> None:
    state = capture.draws[0].state
    with pytest.raises(KeyError) as problem:
        _ = state["RB_DEPTH_CNTLL"]
    assert isinstance(problem.value, cffpy.CffpyError)
    assert str(problem.value).startswith("a6xx has no register RB_DEPTH_CNTLL; did you mean RB_D")
    for key in (0x7FFFF, -1, "", "RB_MRT[99].CONTROL"):
        assert key not in state
        with pytest.raises(cffpy.UnknownName):
            _ = state[key]


def test_values_that_were_read_are_not_kept() -> None:
    """Memory does not grow with draws times registers: a value is some 50 bytes."""
    with cffpy.open(draws_capture(200, distinct=False)) as opened:
        draws = list(opened.draws)
        names = list(draws[-1].state)
        assert len(names) >= 19
        _ = [draws[-1].state[name] for name in names]  # changes are kept
        tracemalloc.start()
        try:
            read = sum(draw.state[name].value is not None for draw in draws for name in names)
            held, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
    assert read >= 3700
    assert held < 20_000


@pytest.mark.parametrize(
    ("gpu", "offset", "name"),
    [(530, 0x210B, "0x210b"), (740, 0xAB40, "HLSQ_SHARED_CONSTS_IMM[0]+0")],
)
def test_each_listed_name_is_one_of_the_state(gpu: int, offset: int, name: str) -> None:
    """Registers that no description names, too, where they were written."""
    s = Streams(gpu)
    data = s.capture([[type4(offset, 7) + s.draw() + s.draw()]])
    for draw in cffpy.open(data).draws:
        assert name in list(draw.state)
        assert all(listed in draw.state for listed in draw.state)
        assert draw.state[name] == draw.state[offset] == 7
        assert draw.state[name].written_by is not None
        with pytest.raises(cffpy.UnknownName):
            draw.state["0x210a"]
        assert 0x210A not in draw.state


def test_names_and_patterns(capture: cffpy.Capture) -> None:
    state = capture.draws[-1].state
    names = list(state)
    assert len(names) == len(state) == len(set(names))
    assert "RB_DEPTH_CNTL" in names
    assert [value.name for value in state.values()] == names
    found = state.matching("rb_mrt[*].control")
    assert [value.name for value in found] == [
        name for name in names if name.startswith("RB_MRT[") and name.endswith(".CONTROL")
    ]


def test_changes_join_to_the_whole(capture: cffpy.Capture) -> None:
    values: dict[str, int | None] = {}
    for draw in capture.draws:
        for change in draw.state.changed:
            assert change.before.value == values.get(change.name)
            assert change.now.value != change.before.value
            values[change.name] = change.now.value
        assert set(draw.state.written) >= {change.now for change in draw.state.changed}
    last = capture.draws[-1].state
    assert values == {value.name: value.value for value in last.values()}


def test_registers_that_the_gpu_writes_are_unknown(shared: Path) -> None:
    path = shared / "captures" / "a660-vk-indirect-gmem.rd.gz"
    capture = cffpy.open(path)
    unknown = [v for draw in capture.draws for v in draw.state.values() if v.is_unknown]
    for value in unknown:
        assert value.value is None
        assert value.text == "only the GPU knows"
        with pytest.raises(cffpy.UnknownValue):
            int(value)
    for draw in capture.draws:
        snapshot = draw.state.snapshot()
        missing = {r for r in snapshot.writes if r not in snapshot.registers}
        assert {value.register.offset for value in draw.state.values() if value.is_unknown} >= {
            register for register in missing if register - 1 not in snapshot.writes
        }


def test_the_state_of_other_actions(capture: cffpy.Capture) -> None:
    others = [a for a in capture.actions if not isinstance(a, cffpy.Draw) and a.executed]
    assert others
    action = others[0]
    found = state_at(capture._source.content, action.order, lambda _line: None)
    assert found is not None
    assert action.state.snapshot().registers == found.registers
    assert action.state.changed == []


def test_registers_of_a_capture(capture: cffpy.Capture) -> None:
    register = capture.registers["RB_DEPTH_CNTL"]
    assert capture.registers[register.offset] == register
    assert {field.name for field in register.fields} >= {"ZFUNC", "Z_TEST_ENABLE"}
    assert register.decode(0).ZFUNC == "FUNC_NEVER"
    assert "RB_DEPTH_CNTL" in list(capture.registers)
    assert hash(register) == hash(capture.registers[register.offset])
    assert repr(register) == f"<Register RB_DEPTH_CNTL {register.offset:#x}, 32 bits>"


def test_two_described_halves_are_one_register(samples: Path) -> None:
    capture = cffpy.open(samples / "a530-two-submits.rd")
    state = capture.draws[0].state
    low = next(v for v in state.values() if v.name.endswith("_LO"))
    whole = state[low.name.removesuffix("_LO")]
    high = state[low.name.removesuffix("_LO") + "_HI"]
    assert whole.register.is_pair
    assert int(whole) == int(low) | int(high) << 32
    assert whole.fields == {}


def test_a_value_has_the_facts_of_the_document(capture: cffpy.Capture) -> None:
    """What ``cffpy state --json`` lists is what a state has: one declaration."""
    for draw in capture.draws[:3]:
        listed = draw.state.to_dict()["registers"]
        commands = {value.name for value in draw.state.values() if len(value.commands) > 1}
        assert [value.to_dict() for value in draw.state.values() if value.name not in commands] == [
            one for one in listed if one["register"] not in commands
        ]


def test_equal_states_have_one_map_of_registers() -> None:
    s = Streams(630)
    pitch = "RB_DEPTH_BUFFER_PITCH"
    draws = [part for value in (1, 2, 1, 1) for part in (s.raw(pitch, value), s.draw())]
    with cffpy.open(io.BytesIO(s.capture([[s.marker("RM6_DIRECT_RENDER"), *draws]]))) as capture:
        maps = [draw.state.dwords for draw in capture.draws]
        assert maps[0] is maps[2] is maps[3]
        assert maps[1] is not maps[0]
        assert maps[1] != maps[0]
        offset = capture.registers[pitch].offset
        assert [found[offset] for found in maps] == [1, 2, 1, 1]
        assert len({*maps}) == 2
        for draw, found in zip(capture.draws, maps, strict=True):
            for value in draw.state.values():
                assert found[value.register.number] == value.value
