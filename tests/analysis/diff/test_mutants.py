# SPDX-License-Identifier: MIT
"""Mutants of captures: each is reported, counted by a rule, or proven to have no effect.

The proof (``effects``) is tested first: it must see whatever has an effect.
"""

from __future__ import annotations

from pathlib import Path

import pytest

import cffpy
from tests.analysis.diff.effects import effects_of
from tests.analysis.diff.frames import (
    DRAW,
    EVENT,
    LOAD_FRAG,
    MARKER,
    NOP,
    THREAD_CONTROL,
    DrawCall,
    frame_bytes,
    write,
)
from tests.analysis.diff.mutants import Mutants, counts_text, read
from tests.analysis.diff.mutations import Mutation, mutations, sample
from tests.builders import capture, type7

SAMPLES = Path(__file__).parents[3] / "samples"

#: A constant of the fragment stage, and the dwords before it.
LOAD = (0 | 1 << 14 | 12 << 18 | 1 << 22, 0, 0)


def effects(*packets: list[int], vertices: int = 3) -> object:
    """The effects of packets before a draw."""
    words = [word for packet in packets for word in packet]
    return effects_of(frame_bytes([DrawCall(vertices, packets=words)]))


def constant(value: int, first: int = 0) -> list[int]:
    return type7(LOAD_FRAG, LOAD[0] | first, *LOAD[1:], value, 0, 0, 0)


#: Two lists of packets before a draw that have the same effects.
EQUAL = {
    "a value that is overwritten": (
        [write("GRAS_CL_CNTL", 1), write("GRAS_CL_CNTL", 2)],
        [write("GRAS_CL_CNTL", 3), write("GRAS_CL_CNTL", 2)],
    ),
    "a constant that is overwritten": ([constant(1), constant(2)], [constant(3), constant(2)]),
    "contents of a CP_NOP": ([type7(NOP, 1)], [type7(NOP, 2)]),
    "order of writes": (
        [write("GRAS_CL_CNTL", 1), write("GRAS_SU_CNTL", 2)],
        [write("GRAS_SU_CNTL", 2), write("GRAS_CL_CNTL", 1)],
    ),
}

#: Two that do not.
OTHERS = {
    "a value": ([write("GRAS_CL_CNTL", 1)], [write("GRAS_CL_CNTL", 2)]),
    "a value that one lacks": ([write("GRAS_CL_CNTL", 1)], []),
    "a value at an event": (
        [write("GRAS_CL_CNTL", 1), type7(EVENT, 0x1E), write("GRAS_CL_CNTL", 2)],
        [write("GRAS_CL_CNTL", 3), type7(EVENT, 0x1E), write("GRAS_CL_CNTL", 2)],
    ),
    "a constant": ([constant(1)], [constant(2)]),
    "where a constant goes": ([constant(1)], [constant(1, first=1)]),
    "a timestamp": ([type7(EVENT, 4, 0x100, 1, 1)], [type7(EVENT, 4, 0x100, 1, 2)]),
    "an event": ([type7(EVENT, 0x1D)], []),
    "a mode": ([type7(MARKER, 0x10)], []),
    "a command register": (
        [write("HLSQ_INVALIDATE_CMD", 1), write("HLSQ_INVALIDATE_CMD", 2)],
        [write("HLSQ_INVALIDATE_CMD", 2)],
    ),
    "a draw": ([type7(DRAW, 4 | 2 << 6, 1, 3)], []),
}


@pytest.mark.parametrize("name", EQUAL)
def test_what_has_the_same_effects(name: str) -> None:
    one, other = EQUAL[name]
    assert effects(*one) == effects(*other)


@pytest.mark.parametrize("name", OTHERS)
def test_what_has_other_effects(name: str) -> None:
    one, other = OTHERS[name]
    assert effects(*one) != effects(*other)


def test_vertices_are_an_effect() -> None:
    assert effects(vertices=3) != effects(vertices=4)


def test_a_pipe_is_an_effect_and_a_switch_to_it_is_not() -> None:
    def of(*threads: int) -> object:
        switches = [word for one in threads for word in type7(THREAD_CONTROL, one)]
        return effects_of(capture(740, [*switches, *type7(EVENT, 0x1D)]))

    bv, br, apart = 2, 1, 1 << 27 | 2
    assert of(bv, bv) == of(bv)
    assert of(bv, br) == of(br)
    assert of(bv) != of(br)
    assert of(apart) != of(bv)


def test_damage_is_an_effect() -> None:
    whole = frame_bytes([DrawCall(3)], behind=type7(NOP, 0, 0))
    cut = frame_bytes([DrawCall(3)], behind=type7(NOP, 0, 0)[:2])
    assert effects_of(whole) != effects_of(cut)


# -- mutations -------------------------------------------------------------------------------------


def test_every_kind_is_found() -> None:
    capture = read(SAMPLES / "a660-frame-gmem.pm4")
    found = mutations(capture)
    kinds = {one.kind: one.about for one in reversed(found)}
    assert {"register", "packet", "IB", "loaded"} <= kinds.keys()
    for one in found:
        changed = one.apply(capture)
        assert len(changed) == len(capture)
        assert changed != capture
        differing = [at for at in range(len(capture)) if capture[at] != changed[at]]
        assert one.offset <= differing[0]
        assert differing[-1] < one.offset + len(one.data)
        if one.kind in ("register", "loaded", "memory"):
            bits = [(capture[at] ^ changed[at]).bit_count() for at in differing]
            assert sum(bits) == 1


def test_a_sample_has_each_thing_first_and_is_the_same_each_time() -> None:
    found = [
        Mutation("register", about, offset, b"1234")
        for about, offsets in (("A", (0, 8, 16, 24)), ("B", (4, 12)))
        for offset in offsets
    ]
    assert {one.about for one in sample(found, 2)} == {"A", "B"}
    assert [*sample(found, 4)] == [*sample(found, 5)][:4]
    assert sorted(sample(found, 100)) == sorted(found)


# -- captures --------------------------------------------------------------------------------------


def check_nothing_is_silent(capture: bytes, most: int) -> None:
    """Each mutant is reported, counted or proven to have no effect."""
    found = list(Mutants(capture).run(most))
    assert found
    silent = [one.mutation[:3] for one in found if one.outcome == "silent"]
    assert silent == [], "\n".join(counts_text(found))


#: Samples, and how many mutants of each kind run always.
ALWAYS = {"a220-triangle": 10, "a430-depth-good": 9, "a530-two-submits": 8, "a630-triangle": 8}


@pytest.mark.parametrize("name", ALWAYS)
def test_mutants_of_samples(name: str) -> None:
    check_nothing_is_silent(read(SAMPLES / f"{name}.pm4"), ALWAYS[name])


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(one.stem for one in SAMPLES.glob("a*.pm4")))
def test_mutants_of_all_samples(name: str) -> None:
    check_nothing_is_silent(read(SAMPLES / f"{name}.pm4"), 40)


#: Captures of each generation and driver, and how many mutants of each kind are compared.
CAPTURES = {
    "captures/a220-gl-tri": 40,
    "captures/a330-gl-inst-mrt": 15,
    "captures/a430-gl-compute": 20,
    "captures/a530-gl-compute": 20,
    "captures/a540-gl-indirect": 15,
    "captures/a630-gl-xfb-queries": 15,
    "captures/a660-vk-events-cond-gmem": 20,
    "captures/a740-vk-bindless-gmem": 20,
    "m26/captures/m26-a660-vk-passes-gmem": 10,
    "m26/captures/m26-a740-vk-cube-gmem-cb": 20,
}


@pytest.mark.slow
@pytest.mark.parametrize("name", CAPTURES)
def test_mutants_of_captures(shared: Path, name: str) -> None:
    path = shared / f"{name}.rd.gz"
    if not path.exists():
        pytest.skip(f"{path.name} is not among the captures")
    check_nothing_is_silent(read(path), CAPTURES[name])


def test_outcomes() -> None:
    """A mutant of each outcome but "silent"."""
    state = [*write("GRAS_CL_CNTL", 1), *write("GRAS_CL_CNTL", 2), *write("CP_SCRATCH[4].REG", 1)]
    capture = frame_bytes([DrawCall(3, packets=state)])
    found = [one for one in mutations(capture) if one.kind == "register"]
    outcomes = [
        (one.mutation.about, one.outcome)
        for one in map(Mutants(capture).classified, found)
        if one.mutation.about in ("GRAS_CL_CNTL", "CP_SCRATCH[4].REG")
    ]
    assert outcomes == [
        ("GRAS_CL_CNTL", "no effect"),
        ("GRAS_CL_CNTL", "reported"),
        ("CP_SCRATCH[4].REG", "by rule"),
    ]


def test_a_difference_that_is_not_looked_at_is_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    """What ``diff`` takes for equal without counting it is found."""
    capture = frame_bytes([DrawCall(3, packets=write("GRAS_CL_CNTL", 1))])
    mutation = next(one for one in mutations(capture) if one.about == "GRAS_CL_CNTL")
    same = cffpy.diff(cffpy.open(capture), cffpy.open(capture))
    monkeypatch.setattr(cffpy, "diff", lambda *_: same)
    (mutant,) = map(Mutants(capture).classified, [mutation])
    assert mutant.outcome == "silent"
    assert any("silent 1 register GRAS_CL_CNTL" in line for line in counts_text([mutant]))
