# SPDX-License-Identifier: MIT
"""Captures of Intel GPUs through the model that all captures have."""

from __future__ import annotations

from functools import cached_property
from pathlib import Path

import pytest

import cffpy
from cffpy.api.intel_source import REFUSED, IntelSource
from cffpy.api.source import Source
from cffpy.errors import CaptureError, FilterError, IntelFileError, UsageError
from tests.frame.test_faces import check_object, objects_of_commands, within
from tests.intel import frames
from tests.selection import first_always

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


@pytest.mark.parametrize(
    "given",
    [frames.frame(), frames.hang(), SAMPLES / "skl-frame.aub.gz", SAMPLES / "skl-hang.i915.gz"],
    ids=["AUB", "i915", "sample AUB", "sample i915"],
)
def test_every_fact_on_every_face(given: bytes | Path) -> None:
    with cffpy.open(given) as capture:
        for one in objects_of_commands(capture):
            check_object(one)
        bindings = [one for draw in capture.draws for one in draw.bindings]
        assert {type(one).__name__ for one in bindings} >= {"Descriptor", "Constants"}
        for binding in bindings:
            check_object(binding)
            for field in binding.fields.values():
                check_object(field)
        for draw in capture.draws:
            check_object(draw.state)
            for value in draw.state.registers:
                check_object(value)
            for change in draw.state.changed:
                check_object(change)
            for used in within(draw.state._uses):
                check_object(used)


def test_facts_that_only_intel_captures_have() -> None:
    """What documents of state, report and crash are made of, on every face."""
    with cffpy.open(frames.frame()) as capture:
        survey = capture.intel._survey
        objects = [flush for flushes in survey.flushes for flush in flushes]
        tables = [table for uses in survey.uses for table in uses.tables]
        objects += [entry.surface for table in tables for entry in table.entries]
    with cffpy.open(frames.hang()) as capture:
        crash = capture.intel.crash._report
        objects += [crash.position, crash.fault, crash.survey.run.device]
    assert None not in objects
    assert {type(one).__name__ for one in objects} == {
        *("Flush", "Surface", "Position", "Fault", "IntelDevice")
    }
    for one in objects:
        check_object(one)


def check_offsets(capture: cffpy.Capture, data: bytes) -> None:
    """The file has the instruction of each draw where its place says, and its count of vertices."""
    for action in capture.actions:
        offset = action.place.file_offset
        if action.generated is not None and action.generated.is_predicted:
            assert offset is None
        elif action.packet == "3DPRIMITIVE":
            assert offset is not None
            assert int.from_bytes(data[offset + 2 : offset + 4], "little") == 0x7B00


def test_an_action_is_where_its_offset_says() -> None:
    with cffpy.open(frames.frame()) as capture:
        check_offsets(capture, frames.frame())
        counts = [
            int.from_bytes(frames.frame()[offset + 8 : offset + 12], "little")
            for one in capture.draws
            if (offset := one.place.file_offset) is not None
        ]
        located = [one for one in capture.draws if one.place.file_offset is not None]
        assert counts == [one.vertices for one in located]
        assert len(located) == 5


@pytest.mark.parametrize("name", first_always(["hsw-vk-tri", "g4x-gl-tri", "tgl-vk-tess"]))
def test_offsets_of_drivers(name: str, shared: Path) -> None:
    """Of memory in buffers, as older files have it, and in pages."""
    with cffpy.open(shared / "intel" / "captures" / f"{name}.aub.gz") as capture:
        assert capture.draws
        check_offsets(capture, bytes(capture.data))


def test_error_states_have_no_offsets() -> None:
    """They have memory encoded."""
    with cffpy.open(frames.hang()) as capture:
        assert {one.place.file_offset for one in capture.actions} == {None}
        assert capture.draws[1].place.name.file_offset is None


def test_places_as_they_are_printed() -> None:
    with cffpy.open(frames.frame()) as capture:
        for action in capture.actions:
            for text in (str(action.place), f"{action.place.gpuaddr:#x}"):
                assert capture._scope(text).actions()[0].place.gpuaddr == action.place.gpuaddr
        draw = capture.draws[1]
        assert capture._scope(f"+{draw.place.file_offset:#x}").actions() == [draw]
        topology = frames.BATCH + 0xF4
        assert capture._scope(f"{topology:#x}").actions() == [capture.draws[0]]
        with pytest.raises(CaptureError, match=r"no packet is executed at 0x10; the nearest one"):
            capture._scope("0x10")


def test_the_same_classes() -> None:
    with cffpy.open(frames.frame()) as capture:
        assert [type(one).__name__ for one in capture.actions[:2]] == ["HizOperation", "Draw"]
        draw = capture.draw("p0:1")
        assert draw is capture.draw(2) is capture.draws[1]
        assert draw.pass_ is capture.passes[0]
        assert draw.executions == [draw]
        assert (draw.first, draw.first_instance, draw.base_vertex) == (0, 0, 0)
        assert [str(one.generated) for one in capture.draws if one.generated] == [
            "generated 0:0",
            "predicted 0:1",
            "predicted 1:0",
            "predicted 1:1",
        ]
        assert capture.gpu is None
        assert repr(capture) == "<Capture data: Intel>"
    with pytest.raises(UsageError):
        assert draw.pass_


def test_filters() -> None:
    with cffpy.open(frames.frame()) as capture:
        found = capture.draws.where("draw.vertices > 8 and target.format == R8G8B8A8_UNORM")
        assert [one.name for one in found] == ["p0:0", "p0:2", "p0:7"]
        assert [one.name for one in capture.actions.where("draw.role == generation")] == [
            "#4",
            "#7",
        ]
        assert len(capture.passes.where("pass.kind == render and draw.vertices == 36")) == 1
        for wrong in (
            "RB_DEPTH_CNTL.ZFUNC == 1",
            "texture.FMT == 1",
            "3DSTATE_PS == 1",
            "3DSTATE_PS.Kernel_Start == 1",
            "3DSTATE_VF_TOPOLOGY.Primitive_Topology_Type == TRIANGLES",
            "written(3DSTATE_PS.Enable)",
            "MI_NOOP.Identification_Number == 1",
            "draw.packet == 3DPRIMITVE",
            "pass.kind == rendered",
        ):
            with pytest.raises(FilterError):
                capture.draws.where(wrong)


def test_filters_name_fields_of_instructions() -> None:
    """State is the last instruction of a name; ``_`` stands for spaces, any case is taken."""
    with cffpy.open(frames.frame()) as capture:
        draws = capture.draws
        entries = "3DSTATE_PS.Binding_Table_Entry_Count"
        assert len(draws.where(f"{entries} == 4")) == len(draws)
        assert len(draws.where("3dstate_ps.binding_table_entry_count in (3..5)")) == len(draws)
        assert not draws.where(f"{entries} == 1"), "those of the driver's rectangles"
        kind = "3DSTATE_DEPTH_BUFFER.Surface_Format"
        assert len(draws.where(f"{kind} == D24_UNORM_X8_UINT and {kind} == 3")) == len(draws)
        assert [one.name for one in draws.where(f"changed({entries})")] == ["p0:0"]
        assert [
            one.name
            for one in draws.where("unknown(3DSTATE_SBE.Force_Vertex_URB_Entry_Read_Offset)")
        ]
        one = capture.draws.where(f"{kind} == D24_UNORM_X8_UINT and {entries} > 0")[0]
        assert one.name == "p0:0"
        assert capture.passes.where(f"{entries} == 4") == capture.passes
        assert not draws.where("3DSTATE_SO_BUFFER[*].Surface_Size > 0")


def test_what_intel_gpus_do_not_have_is_refused() -> None:
    with cffpy.open(frames.frame()) as capture:
        assert capture.lrz == capture.buffers == []
        with pytest.raises(CaptureError, match="data: inherited registers: Intel GPUs have none"):
            assert capture.inherited
        with pytest.raises(CaptureError, match="descriptions of registers: not available"):
            assert capture.registers
        with pytest.raises(IntelFileError, match="not a capture of an Adreno GPU"):
            cffpy.open(frames.frame(), gpu="630")


def test_no_result_of_adreno_is_asked_of_an_intel_capture() -> None:
    """Each public method of a source is the same for both, has an Intel form, or is refused."""
    same = {"ask", "choose", "content", "filter", "state", "forget", "is_closed", "note_truncated"}
    same |= {"bound", "descriptors", "passes_of_submit", "visibilities", "visibility"}
    same |= {"model", "queries_of", "walked"}
    own = {"check", "close", "collected", "events_before", "intel", "lrz", "shader", "history"}
    own |= {"bindings", "drawn_state", "lrz_at", "record", "record_for", "states", "has_state"}
    own |= {"state_by_name", "has_dump", "pass_lines", "uses_lines"}
    own |= {"draw_lines", "problems_of_file", "state_groups", "state_group_at"}
    own |= {"driver", "called_streams", "streams_of_pass", "stream_of", "call_of"}
    own |= {"timestamps", "time_of_pass", "time_of_tile"}
    own |= {"gpu_queries", "stream_out", "has_stream_out"}
    own |= {"barriers", "mode_choices"}
    same |= {"barriers_in", "mode_choice"}
    own |= {"next_action", "summary", "walk", "walk_for_tables", "walk_whole", "write_lines"}
    public = {name for name in vars(Source) if not name.startswith("_")}
    assert public - same - own == set(REFUSED)
    assert own <= set(vars(IntelSource))
    assert not any(isinstance(vars(IntelSource)[name], cached_property) for name in REFUSED)


def test_sizes_of_attachments() -> None:
    with cffpy.open(frames.frame()) as capture:
        (one,) = capture.passes
        colour, depth = (target.surface for target in one.attachments)
        assert (colour.width, colour.height, colour.state) == (64, 32, 0x100002040)
        assert (depth.width, depth.height, depth.state, depth.aux) == (64, 32, None, None)
        assert len(capture.draws.where("target.surface.width == 64")) == 8
        document = one.to_dict()["attachments"][0]["surface"]
        assert document["state"] == "0x100002040"


def test_sizes_of_drivers(shared: Path) -> None:
    """A compressed target; a stencil buffer, whose instruction has no size before gen12."""
    captures = shared / "intel" / "captures"
    with cffpy.open(captures / "icl-vk-tri.aub.gz") as capture:
        surface = capture.passes[0].attachments[0].surface
        assert (surface.width, surface.height, surface.aux) == (256, 256, "AUX_CCS_E")
        assert surface.aux_address == 0xEFFEFFFF0000
    with cffpy.open(captures / "hsw-vk-cube.aub.gz") as capture:
        depth, stencil = capture.passes[0].attachments[-2:]
        assert (depth.name, stencil.name) == ("depth", "stencil")
        assert (stencil.surface.width, stencil.surface.height) == (256, 192)
