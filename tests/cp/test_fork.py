# SPDX-License-Identifier: MIT
"""A fork of the state: reads the original, and does not change it."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from cffpy.cp.state import CpState

registers = st.integers(0, 5)
steps = st.lists(
    st.tuples(st.sampled_from(("set", "pop", "update", "fork")), registers, st.integers(0, 9))
)


@given(st.dictionaries(registers, st.integers(0, 9)), steps)
def test_reads_as_a_copy_would(before: dict[int, int], steps: list[tuple[str, int, int]]) -> None:
    state = CpState()
    state.registers.update(before)
    fork, copy = state.fork(), dict(before)
    for step, register, value in steps:
        if step == "set":
            fork.set_register(register, value)
            copy[register] = value
        elif step == "pop":
            fork.registers.pop(register, None)
            copy.pop(register, None)
        elif step == "update":
            fork.registers.update({register: value})
            copy[register] = value
        else:
            fork = fork.fork()
        for register in range(6):
            assert fork.registers.get(register) == copy.get(register)
            assert fork.value(register) == copy.get(register, 0)
            assert (register in fork.registers) == (register in copy)
            if register in copy:
                assert fork.registers[register] == copy[register]
    assert state.registers == before


def test_the_rest_is_its_own() -> None:
    state = CpState()
    state.draws[3] = 7
    state.render_mode = "RM6_BIN_VISIBILITY"
    fork = state.fork()
    fork.draws[3] = 8
    fork.groups[0] = None
    fork.finish_draw()
    assert (state.draws[3], state.draw_count) == (7, 0)
    assert fork.render_mode == state.render_mode
    assert fork.draw_count == 1
