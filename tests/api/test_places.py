# SPDX-License-Identifier: MIT
"""Capture.at and what places cover: every object of a capture is found by its own name."""

from __future__ import annotations

from pathlib import Path

import pytest

import cffpy

SAMPLES = ("a660-frame-gmem.rd", "a630-triangle.rd.gz", "a220-triangle.rd", "a530-two-submits.rd")


@pytest.mark.parametrize("name", SAMPLES)
def test_each_object_is_at_its_name(name: str, samples: Path) -> None:
    with cffpy.open(samples / name) as capture:
        for number, submit in enumerate(capture.submits):
            assert capture.at(f"s{number}") is submit
        for one in capture.passes:
            assert capture.at(f"p{one.index}") is one
            for draw in one.draws:
                assert capture.at(draw.name) is draw
            for tile in one.tiles:
                assert capture.at(f"p{one.index}:t{tile.number}") is tile
        for shader in capture.shaders:
            assert capture.at(f"sh{shader.number}") is shader
        for action in capture.actions:
            if action.executed and action.dump_draw is not None:
                assert capture.at(f"#{action.dump_draw}") is action
                assert capture.at(action.dump_draw) is action


@pytest.mark.parametrize("name", SAMPLES)
def test_each_packet_is_at_its_place(name: str, samples: Path) -> None:
    with cffpy.open(samples / name) as capture:
        packets = list(capture.packets())
        for packet in packets[:: max(1, len(packets) // 12)]:
            place = packet.place
            assert str(capture.at(str(place)).place) == str(place), "its first execution"
            submit = f"s{place.submit}:"
            assert capture.at(f"{submit}{place.gpuaddr:#x}").place.gpuaddr == place.gpuaddr
            assert capture.at(f"+{place.file_offset:#x}").place.file_offset == place.file_offset
            inner = place.gpuaddr + 4 * len(packet.dwords)
            found = capture.at(f"{submit}{inner:#x}").place
            assert found.gpuaddr == place.gpuaddr, "a dword of it"


@pytest.mark.parametrize("name", SAMPLES)
def test_an_action_is_the_scope_of_its_packet(name: str, samples: Path) -> None:
    with cffpy.open(samples / name) as capture:
        for action in capture.actions[:8]:
            scope = capture._scope(str(action.place))
            first = next(one for one in capture.actions if str(one.place) == str(action.place))
            assert [one.order for one in scope.actions()] == [first.order]


def test_a_packet_before_a_draw_leads_to_the_draw(samples: Path) -> None:
    with cffpy.open(samples / "a630-triangle.rd.gz") as capture:
        first = next(iter(capture.packets()))
        scope = capture._scope(str(first.place))
        assert [one.order for one in scope.actions()] == [0]


def test_what_places_cover(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        actions = capture.actions

        def orders(text: str) -> list[int]:
            return [one.order for one in capture._scope(text).actions()]

        def of(draw: int) -> list[int]:
            return [one.order for one in actions if one.pass_ and one.number == draw]

        assert orders("s0") == [one.order for one in actions]
        assert orders("p0:1") == of(1)
        assert orders("p0:0-1") == sorted(of(0) + of(1))
        assert orders("p0:t2") == [one.order for one in actions if one.tile_number == 2]
        assert orders("#3-5") == [one.order for one in actions if one.dump_draw in (3, 4, 5)]
        used = {one.order for one in actions if one.programs} & set(orders("sh0"))
        assert used
        whole = capture._scope(None)
        assert whole.is_whole
        assert len(whole.actions()) == len(actions)


def test_a_binning_run(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-binning.rd") as capture:
        assert capture.at("p0:binning") is capture.passes[0].binning
        binned = [one.order for one in capture.actions if one.binning]
        scope = capture._scope("p0:binning")
        assert [one.order for one in scope.actions()] == binned
        assert scope.is_of_executions


def test_lists_of_draws(samples: Path) -> None:
    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        assert capture.at("p0:0-1") == list(capture.passes[0].draws)
        assert [one.dump_draw for one in capture.at("#3-4")] == [3, 4]


@pytest.mark.parametrize(
    ("place", "kind", "message"),
    [
        ("57", cffpy.UsageError, "draw 57 of the dump is #57"),
        (None, cffpy.UsageError, 'a place must be a text, as in "p3:17"'),
        (True, cffpy.UsageError, "a place must be"),
        ("p9", cffpy.CaptureError, "no pass p9: the capture has 1 pass, p0"),
        ("p0:9", cffpy.CaptureError, "no draw p0:9: pass 0 has 2 draws, p0:0 to p0:1"),
        ("p0:t9", cffpy.CaptureError, "no tile p0:t9: pass 0 has 4 tiles, p0:t0 to p0:t3"),
        ("p0:binning", cffpy.CaptureError, "no binning run p0:binning: pass 0 has none; no pass"),
        ("0x4", cffpy.CaptureError, "no packet is executed at 0x4; the nearest one is at 0x"),
        ("s5:0x100001000", cffpy.CaptureError, "no packet is executed at s5:0x100001000"),
        ("+0x0", cffpy.CaptureError, r"no packet is executed at \+0x0; the nearest one is at \+0x"),
        ("stream 7 > 0x100001000", cffpy.CaptureError, "no packet is executed at stream 7"),
    ],
)
def test_what_is_not_there(
    place: str, kind: type[cffpy.CffpyError], message: str, samples: Path
) -> None:
    with (
        cffpy.open(samples / "a660-frame-gmem.rd") as capture,
        pytest.raises(kind, match=message),
    ):
        capture.at(place)


def test_findings_of_a_place(samples: Path) -> None:
    """Findings of a capture are those of its passes, and of what is outside of passes."""
    from cffpy.check.registry import chosen_lints

    with cffpy.open(samples / "a660-frame-gmem.rd") as capture:
        lints = chosen_lints([], [])
        whole = capture._source.check(lints).findings
        scope = capture._scope("p0")
        of_pass = capture._source.check(lints, scope.has_report).findings
        inside = [one for one in whole if one._first.pass_ or one._first.draw]
        assert {one.lint.id for one in of_pass} == {one.lint.id for one in inside}
