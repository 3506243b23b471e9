# SPDX-License-Identifier: MIT
"""Caches are effective: ratios within one process, no times."""

from __future__ import annotations

import gc
import struct
import time

import pytest

from cffpy.isa.ir3 import Ir3Disassembler
from cffpy.isa.render import Renderer
from cffpy.isa.store import load
from tests.isa.harvest import VECTORS

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
