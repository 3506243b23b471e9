# SPDX-License-Identifier: MIT
"""What fragment programs do, by the names of their instructions."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

from cffpy.analysis.observer import Observer
from cffpy.analysis.program_facts import FragmentPrograms, ProgramFacts
from cffpy.analysis.walk import Walk
from cffpy.container.open import open_bytes
from cffpy.frame.action import Action
from cffpy.pm4asm.assemble import assemble
from tests.selection import first_always

SAMPLE = Path("samples/a660-frame-binning.pm4")
#: The last instruction of the fragment program of the sample, without those before it.
LAST = "    mov.f32f32 r1.w, c0.x\n"
INPUTS = """    bary.f r1.x, 0, r0.x
    bary.f r1.y, 1, r0.x
    bary.f (ei)r1.z, 2, r0.x
"""


class _Actions(Observer):
    def __init__(self) -> None:
        self.draws: list[Action] = []

    def action(self, action: Action) -> None:
        if action.kind == "draw":
            self.draws.append(action)


def facts(program: str, end: str = "    end\n") -> set[ProgramFacts | None]:
    """The facts of the sample with ``program`` as its fragment program."""
    text = SAMPLE.read_text(encoding="utf-8")
    old = INPUTS + LAST + "    end\n"
    assert old in text
    source = BytesIO(text.replace(old, program + end).encode())
    walk = Walk()
    programs, actions = FragmentPrograms(walk), _Actions()
    walk.observe(programs, actions)
    content = open_bytes(bytes(assemble(source, "sample")))
    walk.run(content, lambda line: pytest.fail(line))
    return {programs.of(draw) for draw in actions.draws if dict(draw.programs).get("FS")}


@pytest.mark.parametrize(
    ("instruction", "expected"),
    first_always(
        [
            (
                "mov.f32f32 r1.w, c0.x",
                ProgramFacts(False, False, False, False, reads_constants=True),
            ),
            ("mov.f32f32 r1.w, r0.x", ProgramFacts(False, False, False, False)),
            ("nop", ProgramFacts(False, False, False, False, is_idle=True)),
            ("kill p0.x", ProgramFacts(True, False, False, False)),
            ("(rpt2)bary.f r1.x, (r)0, r0.x", ProgramFacts(False, False, False, True)),
            ("flat.b r1.x, 0, r0.x", ProgramFacts(False, False, False, True)),
            ("ldlv.u32 r1.x, l[0], 1", ProgramFacts(False, False, False, True)),
            ("(sy)sam (f32)(xyzw)r0.x, r0.x, s#0, t#0", ProgramFacts(False, False, True, False)),
            ("ldg.u32 r0.x, g[r1.x], 1", ProgramFacts(False, False, True, False)),
            ("ldib.b.untyped.1d.u32.1.imm r1.x, r0.x, 0", ProgramFacts(False, False, True, False)),
            ("stg.u32 g[r1.x], r0.x, 1", ProgramFacts(False, True, False, False)),
            ("stib.b.untyped.1d.u32.1.imm r1.x, r0.x, 0", ProgramFacts(False, True, False, False)),
            ("stl.u32 l[r0.x], r1.x, 1", ProgramFacts(False, False, False, False)),
        ],
        names=2,
    ),
)
def test_facts(instruction: str, expected: ProgramFacts) -> None:
    assert facts(f"    {instruction}\n") == {expected}


def test_another_program_behind_the_padding_does_not_count() -> None:
    program = "    end\n" + "    nop\n" * 5 + "    kill p0.x\n"
    assert facts("", program) == {ProgramFacts(False, False, False, False, is_idle=True)}
