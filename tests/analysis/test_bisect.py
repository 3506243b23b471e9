# SPDX-License-Identifier: MIT
"""The search for the draw with which a problem appears, against every possible culprit."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from cffpy.analysis.bisect import Answer, Bisection, Try, Verdict
from cffpy.analysis.queries import find_passes
from cffpy.container.open import Content, open_bytes
from cffpy.container.rd import gpu_address, iter_sections
from cffpy.container.section_types import SectionType
from cffpy.errors import CaptureError
from cffpy.pm4asm.assemble import assemble
from tests.builders import capture, type7
from tests.selection import first_always

SAMPLES = Path(__file__).resolve().parents[2] / "samples"


def sample(name: str) -> Content:
    path = SAMPLES / f"{name}.pm4"
    with open(path, "rb") as text:
        return open_bytes(bytes(assemble(text, str(path))), name)


def program_draws(data: bytes) -> set[int]:
    """Addresses of the packets of the program's draws that are executed."""
    finder, _ = find_passes(open_bytes(data), lambda _line: None)
    return {draw.place.gpuaddr for one in finder.found.passes for draw in one.draws}


def search(content: Content, culprit: int) -> tuple[Verdict, list[Try]]:
    """The problem is there where the packet at ``culprit`` draws."""
    bisection = Bisection(content)
    answers: list[Answer] = []
    tries = []
    while isinstance(now := bisection.next(answers), Try):
        tries.append(now)
        answers.append(culprit in program_draws(bisection.capture(now)[0]))
        assert len(tries) < 40
    return now, tries


@pytest.mark.parametrize(
    "name",
    first_always(["a660-frame-gmem", "a660-frame-sysmem", "a530-two-submits", "a430-depth-bad"]),
)
def test_each_draw_is_found(name: str) -> None:
    content = sample(name)
    finder, _ = find_passes(content, lambda _line: None)
    for one in finder.found.passes:
        for number, draw in enumerate(one.draws):
            found, tries = search(content, draw.place.gpuaddr)
            assert (found.pass_index, found.draw) == (one.index, f"p{one.index}:{number}")
            assert found.is_exact
            assert len({one.key for one in tries}) == len(tries)


def test_groups_of_a_draw() -> None:
    """Each group in turn makes the problem appear."""
    bisection = Bisection(sample("a740-state-groups"))
    for culprit in range(32):
        answers: list[Answer] = []
        tries: list[Try] = []
        while isinstance(now := bisection.next(answers), Try):
            tries.append(now)
            if now.groups:
                answers.append(culprit not in now.groups)
            else:  # the last draw of the last pass is the one
                answers.append(False)
        offered = next(one.groups for one in tries if one.groups)
        assert now.groups == ((culprit,) if culprit in offered else ())


def packet_offsets(content: Content) -> dict[int, int]:
    """Address of each captured dword of buffers -> its offset in the file."""
    found = {}
    address = 0
    for section in iter_sections(content.data):
        if section.type == SectionType.GPUADDR:
            address, _ = gpu_address(section.payload)
        elif section.type == SectionType.BUFFER_CONTENTS:
            for place in range(0, len(section.payload), 4):
                found[address + place] = section.offset + 8 + place
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "group"),
    first_always(
        [("a660-frame-gmem", None), ("a740-state-groups", 3), ("a430-depth-bad", None)], names=2
    ),
)
def test_packets_of_a_draw(name: str, group: int | None) -> None:
    """Each packet that sets state of the first draw in turn makes the problem appear."""
    content = sample(name)
    bisection = Bisection(content)
    one = bisection.passes[0]
    offsets = packet_offsets(content)
    packets = bisection._packets_at(one.draws[0], group)
    assert packets
    draw = next(
        action.place.gpuaddr
        for found in find_passes(content, lambda _line: None)[0].found.passes
        for action in found.draws
        if action.dump_draw in one.draws[0]
    )
    for culprit in list(packets)[:: max(1, len(packets) // 2)]:
        at = offsets[culprit]
        answers: list[Answer] = []
        while isinstance(now := bisection.next(answers), Try):
            data = bisection.capture(now)[0]
            is_there = data[at : at + 4] == content.data[at : at + 4] and group not in now.groups
            answers.append(is_there and draw in program_draws(data))
            assert len(answers) < 40
        assert now.packets == (culprit,)
        assert now.text.endswith(f"the packet at {culprit:#x}, {packets[culprit].text}")
        assert now.groups == (() if group is None else (group,))
        assert now.is_exact


def test_passes_come_first_then_draws() -> None:
    _, tries = search(sample("a530-two-submits"), 0)
    kinds = [one.key.partition(":")[0] for one in tries]
    order = ("pass", "draw", "groups", "packets")
    assert all(order.index(one) <= order.index(other) for one, other in pairwise(kinds))


def test_what_cannot_be_judged_is_gone_around() -> None:
    bisection = Bisection(sample("a660-frame-gmem"))
    answers: list[Answer] = []
    while isinstance(bisection.next(answers), Try):
        answers.append(None)
        assert len(answers) < 20
    found = bisection.next(answers)
    assert isinstance(found, Verdict)
    assert not found.is_exact


def test_a_capture_without_draws() -> None:
    with pytest.raises(CaptureError, match="there are no draws to bisect"):
        Bisection(open_bytes(capture(630, type7(0x10, 1))))
