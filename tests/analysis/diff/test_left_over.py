# SPDX-License-Identifier: MIT
"""Values left by a draw without a counterpart are consequences of its absence."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cffpy.analysis.diff.model import Comparison, Entry
from tests.analysis.diff.frames import DrawCall, compared, frame

CULL, DEPTH = "GRAS_CL_CNTL", "RB_DEPTH_CNTL"
LESS, ALWAYS = 5, 29


def draws(count: int, base: int = 0) -> list[DrawCall]:
    """Draws of different sizes. Each pass writes DEPTH when it begins, and nothing writes CULL."""
    return [DrawCall(base + 3 * number + 3) for number in range(count)]


def shown(result: Comparison) -> list[tuple[str, list[str]]]:
    """Title of each entry, and what is folded under it."""
    return [(entry.title, [one.title for one in entry.consequences]) for entry in result.entries]


def test_in_the_same_pass_and_in_later_ones() -> None:
    first = [*draws(2), DrawCall(30, {DEPTH: ALWAYS}), DrawCall(33)]
    good = frame(first, draws(3, 300))
    bad = frame([*first[:2], first[3]], draws(3, 300))
    title = "draw p0:2 of good is missing in bad"
    # the same pass: draw 3; the next one has nothing that was not reported
    ((found, folded),) = shown(compared(good, bad))
    assert found == title
    assert [one.split(": ")[0] for one in folded] == ["draw p0:3"]


def test_behind_the_last_draw_of_a_pass() -> None:
    first = [*draws(2), DrawCall(30, {CULL: 3})]
    good, bad = frame(first, draws(3, 300)), frame(first[:2], draws(3, 300))
    for sides, name in (((good, bad), "good"), ((bad, good), "bad")):
        ((found, folded),) = shown(compared(*sides))
        assert found.startswith(f"draw p0:2 of {name} is missing")
        assert [one.split(": ")[0] for one in folded] == ["draws p1:0-2"]


def test_of_a_missing_pass() -> None:
    good = frame(draws(3), [DrawCall(60, {CULL: 3}), DrawCall(63)], draws(4, 300))
    bad = frame(draws(3), draws(4, 300))
    ((found, folded),) = shown(compared(good, bad))
    assert found.startswith("pass 1 of good is missing in bad")
    assert [one.split(": ")[0] for one in folded] == ["draws p2:0-3 (pass 1 of bad)"]


def test_what_a_later_draw_writes_itself_is_a_cause() -> None:
    first = [*draws(2), DrawCall(30, {CULL: 3})]
    later = [DrawCall(300, {CULL: 1}), DrawCall(303)]
    for own in ({CULL: 3}, {CULL: 0}):
        changed = [DrawCall(300, own), later[1]]
        titles = [
            title for title, _ in shown(compared(frame(first, later), frame(first[:2], changed)))
        ]
        assert titles[0] == "draw p0:2 of good is missing in bad"
        assert [one.split(": ")[0] for one in titles[1:]] == ["draws p1:0-1"]


def names(entries: list[Entry]) -> set[str]:
    """The registers of all differences, folded ones included."""
    found: set[str] = set()
    for entry in entries:
        found |= {one.name.partition(".")[0] for one in entry.differences}
        found |= names(entry.consequences)
    return found


REGISTERS = st.fixed_dictionaries(
    {}, optional={DEPTH: st.sampled_from((1, LESS, ALWAYS)), CULL: st.sampled_from((0, 1))}
)


@pytest.mark.slow
@settings(deadline=None)
@given(
    st.lists(REGISTERS, min_size=3, max_size=6), st.lists(REGISTERS, max_size=3), st.integers(0, 5)
)
def test_a_value_that_differs_at_a_pair_of_draws_is_never_hidden(
    first: list[dict[str, int]], second: list[dict[str, int]], gone: int
) -> None:
    """One draw is missing: what differs at any later pair of draws is reported or folded."""
    gone %= len(first)
    whole = [DrawCall(3 * at + 3, of) for at, of in enumerate(first)]
    later = [DrawCall(300 + 3 * at, of) for at, of in enumerate(second)]
    kept = [*whole[:gone], *whole[gone + 1 :]]
    result = compared(frame(whole, later), frame(kept, later))
    state: dict[str, int] = {DEPTH: 1}
    without = dict(state)
    expected = set()
    for at, one in enumerate([*first, *second]):
        state.update(one)
        if at == len(first):  # what each pass begins with
            state[DEPTH] = without[DEPTH] = 1
            state.update(one)
        if at != gone:
            without.update(one)
            expected |= {name for name, value in state.items() if without.get(name) != value}
    assert expected <= names(result.entries)
    assert result.differs
