# SPDX-License-Identifier: MIT
"""Lines that are read without lark give what the grammar gives, columns included."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cffpy.errors import AssemblyError
from cffpy.pm4asm.assemble import read_lines
from cffpy.pm4asm.model import SourceProblem
from cffpy.pm4asm.read import parse_line, read_line

SAMPLES = Path(__file__).resolve().parents[2] / "samples"

#: Every form that is read without lark.
FORMS = [
    "CP_WAIT_FOR_IDLE",
    "CP_NAME FLAG A=1 B=-0.5 C=r1.x D=lo(b0+0x10) E=hi( b0 ) F=b0+4 [2]=0x1f G=1e-3",
    "GRAS_CL[0].XY = { A, B=0x1, C=NAME, 0xff }",
    "GRAS_CL = { }",
    "GRAS_CL = sizeof(state0)",
    "0xab40 = 0x3f800000",
    "64B = 1",
    "+ NAME = 2",
    "+ A=1 B=NAME",
    "+ [0]=1 [12]=b0",
    "+ 0xab41 = b0 + 8",
    "+ pair A.B[1] = { X=1, Y }",
    "+ pair 0x10 = 3",
    "commands state0 at 0x100a3804c {",
    "data samplers_1 at 4096 {",
    "shader vs0 at 0x1000{",
    "at 0x100000000",
]
#: What looks like them and is left to the grammar.
OTHERS = [
    "pair = 1",
    "size = 1",
    "00000001 = 3",
    "deadbeef A=1",
    "+ deadbeef A=1",
    "[0]=1",
    "+",
    "+ 3",
    "+ string = 1",
    "A = { { } }",
    "A = { B, }",
    "A = { 1=2 }",
    "A = lo(b0",
    "A = lo (b0)",
    "A = 1 B",
    "A =",
    "A B=1,",
    "A = 1.2.3",
    "commands s at {",
    "at x",
]
#: Pieces that mutations put into lines.
PIECES = ["0x1", "size", "pair", "lo(", "reg(x+1)", "+ ", "{ }", "12345678", "deadbeef", "1.5", "]"]
PIECES += [*"0af_.[{}(),=+- AN"]


def _outcome(text: str) -> object:
    try:
        return parse_line(text)
    except (AssemblyError, SourceProblem):
        return None


def _read(text: str) -> object:
    try:
        return read_line(text)
    except SourceProblem:
        return None


@pytest.mark.parametrize("text", FORMS)
def test_a_form_is_read_as_the_grammar_reads_it(text: str) -> None:
    assert read_line(text) == parse_line(text)


@pytest.mark.parametrize("text", OTHERS)
def test_other_lines_are_left_to_the_grammar(text: str) -> None:
    assert read_line(text) is None


def test_a_fraction_as_an_offset_is_reported_at_its_column() -> None:
    problems = []
    for reader in (read_line, parse_line):
        with pytest.raises(SourceProblem) as caught:
            reader("A = lo(b0+0.5)")
        problems.append((str(caught.value), caught.value.column))
    assert problems[0] == problems[1]


def test_lines_of_the_samples_and_their_mutations() -> None:
    lines = set()
    for path in sorted(SAMPLES.glob("*.pm4")):
        with path.open("rb") as stream:
            lines |= {line.text for line in read_lines(stream, path.name)}
    generator = random.Random(20)
    chosen = generator.sample(sorted(lines), 400)
    read = 0
    for text in chosen + [_mutated(generator, one) for one in chosen]:
        statement = _read(text)
        read += statement is not None
        assert statement is None or statement == _outcome(text), text
    assert read > len(chosen) // 2


def _mutated(generator: random.Random, text: str) -> str:
    for _ in range(generator.randint(1, 2)):
        place = generator.randrange(len(text) + 1)
        cut = generator.randint(0, 1)
        text = text[:place] + generator.choice([*PIECES, ""]) + text[place + cut :]
    return text.strip() or "A"
