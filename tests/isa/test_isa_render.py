# SPDX-License-Identifier: MIT
"""The fast renderer equals the interpreter on any word, and decoding is undone by encoding."""

from __future__ import annotations

import gc
import struct
import time
from functools import cache

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cffpy.errors import IsaError
from cffpy.isa.encode import Assembler
from cffpy.isa.ir3 import Ir3Disassembler
from cffpy.isa.render import Renderer
from cffpy.isa.store import load
from tests.isa.harvest import VECTORS

GENERATIONS = (3, 4, 5, 6, 7)
OLD_ROOTS = ("#cf", "#alu-vector", "#alu-scalar", "#fetch")


@cache
def isa(name, generation):
    return load(name, generation)


@cache
def renderer(name, generation, root):
    return Renderer(isa(name, generation), root)


@cache
def assembler(generation):
    return Assembler(generation)


@cache
def disassembler(generation):
    return Ir3Disassembler(generation)


def words(draw, row, root):
    """A word that matches some leaf: its fixed bits, all others random."""
    match, test, dontcare, _display = draw(st.sampled_from(row["plans"][root]["leaves"]))
    size = row["roots"][root][0]
    free = draw(st.integers(0, (1 << size) - 1)) & ~test
    if draw(st.booleans()):
        free &= draw(st.integers(0, (1 << size) - 1))
    if draw(st.booleans()):
        free &= ~dontcare
    return match | free


@st.composite
def ir3_words(draw):
    generation = draw(st.sampled_from(GENERATIONS))
    return generation, words(draw, isa("ir3", generation * 100), "#instruction")


@st.composite
def old_words(draw):
    root = draw(st.sampled_from(OLD_ROOTS))
    return root, words(draw, isa("a2xx", 200), root)


@pytest.mark.slow
@settings(max_examples=8 * settings().max_examples)
@given(ir3_words())
def test_fast_is_exact(case):
    generation, word = case
    fast = renderer("ir3", generation * 100, "#instruction")
    assert fast.render(word) == fast.exactly(word)


@settings(max_examples=2 * settings().max_examples)
@given(old_words())
def test_fast_is_exact_for_a2xx(case):
    root, word = case
    fast = renderer("a2xx", 200, root)
    assert fast.render(word) == fast.exactly(word)


@settings(max_examples=2 * settings().max_examples)
@given(st.sampled_from(GENERATIONS), st.integers(0, (1 << 64) - 1))
def test_any_word_has_a_text(generation, word):
    text, errors = disassembler(generation).instruction(word)
    assert text or errors
    assert len(errors) <= 4


@pytest.mark.slow
@settings(max_examples=2 * settings().max_examples)
@given(ir3_words())
def test_encoding_undoes_decoding(case):
    """The text of any word gives that text again, or is refused."""
    generation, word = case
    text, errors = disassembler(generation).instruction(word)
    try:
        again = assembler(generation).assemble(text)
    except IsaError:
        assert errors, text  # an instruction that asserts forbid, or text of a field left out
        return
    shown = disassembler(generation).instruction(again)
    if not errors:
        assert shown == (text, ())
    assert shown[0] == text


@pytest.mark.slow
@settings(max_examples=2 * settings().max_examples)
@given(st.sampled_from(GENERATIONS), st.text("().,<>#+-_ 0129abcdefghlmnoprstuvwxyz", max_size=40))
def test_assembling_any_text_gives_an_instruction_or_an_error(generation, text):
    try:
        word = assembler(generation).assemble(text)
    except IsaError:
        return
    assert disassembler(generation).instruction(word)[0] == text.strip()


@pytest.mark.parametrize(
    "text",
    [
        "(" * 10_000,
        "(sy)" * 5_000,
        "add.f " + "r0.x, " * 3_000,
        "mov.f32f32 r0.x, (" + "9" * 10_000 + ".000000)",
        "mov.u32u32 r0.x, " + "9" * 10_000,
        "jump #" + "9" * 10_000,
        "jump #\0",
        "mov.u32u32 r0.x, \N{SUPERSCRIPT TWO}",
        "",
    ],
)
def test_assembling_nonsense_is_an_error_of_one_short_line(text):
    with pytest.raises(IsaError) as caught:
        assembler(6).assemble(text)
    assert len(str(caught.value)) < 200


@pytest.mark.parametrize("generation", GENERATIONS)
def test_no_leaf_is_left_to_the_interpreter_for_all_its_words(generation):
    """The fast path is real: a zero-filled word of each leaf takes it, but for a known few."""
    row = isa("ir3", generation * 100)
    fast = renderer("ir3", generation * 100, "#instruction")
    slow = set()
    taken = []
    exactly = fast.exactly
    fast.exactly = lambda word: taken.append(word) or exactly(word)
    for match, _test, _dontcare, _display in row["plans"]["#instruction"]["leaves"]:
        taken.clear()
        done = fast.render(match)
        if taken and not done[4]:
            slow.add(done[1])
    fast.exactly = exactly
    assert slow == set()


# -- caches are effective: ratios within one process, no times -------------------------------------


pytestmark = pytest.mark.perf


def words_of(generation):
    lines = (VECTORS / "ir3" / f"a{generation}xx.txt").read_text().splitlines()
    return [int(line.split(" | ")[1], 16) for line in lines]


def seconds(action):
    gc.disable()
    start = time.perf_counter()
    action()
    taken = time.perf_counter() - start
    gc.enable()
    return taken


def best(action, times=3):
    return min(seconds(action) for _ in range(times))


def test_the_fast_renderer_is_worth_its_code():
    words = words_of(7)
    row = load("ir3", 700)

    def fast():
        renderer = Renderer(row, "#instruction")
        for word in words:
            renderer.render(word)

    exact = Renderer(row, "#instruction")

    def slow():
        for word in words:
            exact.exactly(word)

    assert best(slow) > 4 * best(fast)


def test_known_words_and_known_programs_are_cheap():
    program = [word for word in words_of(6) if word >> 61 in (2, 3)]  # no branch, no end
    data = struct.pack(f"<{len(program)}Q", *program)
    disassembler = Ir3Disassembler(6)
    cold = seconds(lambda: disassembler.disassemble(data, 1))
    warm = seconds(lambda: disassembler.disassemble(data, 2))
    known = best(lambda: disassembler.disassemble(data, 1))
    assert disassembler.disassemble(data, 1).count("\n") >= len(program)
    assert cold > 2 * warm
    assert warm > 20 * known
