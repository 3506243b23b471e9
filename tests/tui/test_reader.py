# SPDX-License-Identifier: MIT
"""How the browser reads a capture, without a terminal."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import cffpy
from cffpy.capture.gpu import parse_gpu
from cffpy.errors import CaptureError, CffpyError, FilterError
from cffpy.frame.faces import columns
from cffpy.frame.facts import model_of
from cffpy.frame.objects import Selection
from cffpy.frame.register_state import StateValue
from cffpy.limits import Limits
from cffpy.tui import reader as reading
from cffpy.tui.outline import GROUP, Outline
from cffpy.tui.reader import (
    ALL,
    CHANGED,
    DIFFERENT,
    THIS_PASS,
    Decoding,
    Reader,
    StateRow,
    Stopped,
    state_columns,
)
from tests.intel import frames


def never() -> bool:
    return False


def opened(path: Path) -> Reader:
    return Reader(str(path), Decoding())


def test_pages_have_what_commands_print(samples: Path) -> None:
    path = samples / "a660-frame-gmem.rd"
    reader = opened(path)
    (one,) = [one for one in reader.passes(never) if one.kind == "render"][:1]
    page = reader.pass_page(one, never)
    assert page[0].startswith(f"  pass {one.index}: gmem")
    assert any(line.startswith("tile  bin") for line in page)
    draw = one.draws[0]
    assert reader.shader_page(draw, never)[0].startswith("VS at 0x")
    names = {row.register for row in reader.state_page(draw, ALL, never)}
    with cffpy.open(path) as capture:
        assert names == set(capture.draw("p0:0").state)
    dump = reader.dump_page(draw, never)
    assert dump[0].startswith("#cffpy ")
    assert any("CP_DRAW_INDX_OFFSET" in line for line in dump)


def test_state_by_change_and_by_pass(samples: Path) -> None:
    reader = opened(samples / "a650-blits.rd")
    draws = [draw for one in reader.passes(never) for draw in one.draws]
    first, second = draws[:2]
    changed = reader.state_page(second, CHANGED, never)
    assert [row.register for row in changed] == [one.name for one in second.state.changed]
    assert len(changed) < len(reader.state_page(second, THIS_PASS, never))
    row = next(row for row in reader.state_page(first, ALL, never) if row.fields)
    assert row.written_by.startswith("register write, ")
    assert all(":" in bits for _name, bits, _text in row.fields)
    same = reader.state_page(first, DIFFERENT, never, reader.state_of(first, never))
    assert same == [], "a draw does not differ from itself"
    other = reader.state_of(second, never)
    different = {row.register for row in reader.state_page(first, DIFFERENT, never, other)}
    assert different
    assert different <= {one.name for one in second.state.changed}


def test_filter(samples: Path) -> None:
    reader = opened(samples / "a660-frame-gmem.rd")
    draws = [draw for one in reader.passes(never) for draw in one.draws]
    assert reader.matching("draw.vertices >= 0", never) == {draw.order for draw in draws}
    with pytest.raises(FilterError):
        reader.matching("RB_NO_SUCH == 1", never)


def test_a_question_that_is_not_wanted_ends(samples: Path) -> None:
    reader = opened(samples / "a660-frame-gmem.rd")
    with pytest.raises(Stopped):
        reader.passes(lambda: True)
    calls: list[bool] = []

    def soon() -> bool:
        calls.append(True)
        return len(calls) > 1

    with pytest.raises(Stopped):
        reader.passes(soon)
    (one, *_) = reader.passes(never)
    calls.clear()
    with pytest.raises(Stopped):
        reader.dump_page(one.draws[0], lambda: True)


def test_a_long_dump_is_cut(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reading, "MAX_DUMP_LINES", 5)
    reader = opened(samples / "a660-frame-gmem.rd")
    dump = reader.dump_page(reader.passes(never)[0].draws[0], never)
    assert len(dump) == 6
    assert dump[-1] == "... more than 5 lines"


def test_decoding_as_arguments() -> None:
    decoding = Decoding(parse_gpu("630"), "mesa-25.3", Limits(draws=7))
    assert decoding.arguments == ["--gpu=630", "--edition=mesa-25.3", "--limit=draws=7"]
    assert Decoding(parse_gpu("a7xx")).arguments == ["--gpu=7"]


def test_a_file_that_is_no_capture(tmp_path: Path) -> None:
    path = tmp_path / "x.rd"
    path.write_bytes(b"no capture\n")
    with pytest.raises(CffpyError):
        opened(path)


def test_outline(samples: Path) -> None:
    reader = opened(samples / "a660-frame-gmem.rd")
    outline = Outline(reader.passes(never))
    (submit,) = outline.submits()
    (first, *_) = outline.children(submit)
    (node, *_) = outline.children(first)
    assert (submit.kind, first.kind, node.kind) == ("submit", "pass", "draw")
    assert node.draw is not None
    assert outline.path(node.draw) == [submit[:2], first[:2], node[:2]]
    marked = Outline(reader.passes(never), {node.draw.order}, {node.draw.order: "*"})
    assert [draw.order for draw in marked.draws] == [node.draw.order]
    assert marked.label(node.draw).startswith("* p0:0 ")


def test_many_draws_are_in_groups(samples: Path) -> None:
    (one, *_) = opened(samples / "a660-frame-gmem.rd").passes(never)
    draw = one.draws[0]

    shown = ("role", "packet", "primitive", "vertices", "instances", "groups", "indexed")
    same = {name: getattr(draw, name) for name in shown}
    many = replace(one, draws=Selection("draws"))
    draws: Any = [
        SimpleNamespace(order=number, dump_draw=number, name=f"p0:{number}", pass_=many, **same)
        for number in range(2 * GROUP + 1)
    ]
    many.draws.extend(draws)
    outline = Outline([many])
    (submit,) = outline.submits()
    (node,) = outline.children(submit)
    groups = list(outline.children(node))
    assert [group.label for group in groups] == [
        f"p0:0 to p0:{GROUP - 1}",
        f"p0:{GROUP} to p0:{2 * GROUP - 1}",
        f"p0:{2 * GROUP} to p0:{2 * GROUP}",
    ]
    assert len(list(outline.children(groups[1]))) == GROUP
    last = many.draws[-1]
    assert outline.path(last)[2:] == [("group", 2 * GROUP), ("draw", 2 * GROUP)]


def test_pages_of_an_intel_capture(tmp_path: Path) -> None:
    path = tmp_path / "frame.aub"
    path.write_bytes(frames.frame())
    reader = opened(path)
    (one,) = reader.passes(never)
    assert reader.pass_page(one, never)[-1].strip().endswith("stall the command streamer")
    draw = one.draws[3]
    assert reader.shader_page(draw, never)[0] == "VS at 0x300000800"
    page = reader.binding_page(draw, never)
    assert page[0] == "constants 3 of PS at 0x3c0001000, 128 bytes", "as of all captures"
    assert "VS kernel at 0x300000800, 16 bytes" in page
    topology = "3DSTATE_VF_TOPOLOGY: Primitive Topology Type = 4 (TRILIST)"
    lines = reader.dump_page(one.draws[0], never)
    assert f"{frames.BATCH + 0xF4:#x} {topology}" in lines
    names = {
        which: [row.register for row in reader.state_page(draw, which, never)]
        for which in (ALL, THIS_PASS, CHANGED)
    }
    assert "STATE_BASE_ADDRESS" in names[ALL]
    assert "STATE_BASE_ADDRESS" not in names[THIS_PASS]
    assert names[CHANGED] == ["3DSTATE_CONSTANT_PS"]
    with pytest.raises(CaptureError, match="images: not available"):
        reader.picture_page(draw, (80, 24), never)


def test_columns_are_declared_facts() -> None:
    declared = {column.name: column.meaning for column in columns(model_of(StateValue))}
    shown = {column.name: column.meaning for column in state_columns()}
    assert shown.items() <= declared.items()
    assert [*shown] == [*StateRow._fields[: len(shown)]]
