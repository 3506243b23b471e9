# SPDX-License-Identifier: MIT
"""Where shader programs are named: the registers that hold their addresses, by generation.

Names only; an edition of the register database need not have all of them.
"""

from __future__ import annotations

#: Shader stages, in the order of the blocks of CP_LOAD_STATE4 and 6.
STAGES = ("VS", "HS", "DS", "GS", "FS", "CS")

#: Stages that a3xx has registers for.
_STAGES_3XX = ("VS", "FS")

#: Low bits of such a register that are no part of the address.
ADDRESS_MASK = ~0xF


def program_registers(generation: int) -> list[tuple[str, str, str]]:
    """(stage, register, register of the upper half): each that holds a program's address.

    The last is empty where the first holds the whole address; a2xx has no such registers.
    """
    if generation == 3:
        return [(stage, f"SP_{stage}_OBJ_START_REG", "") for stage in _STAGES_3XX]
    if generation == 4:
        return [(stage, f"SP_{stage}_OBJ_START", "") for stage in STAGES]
    if generation == 5:
        return [(stage, f"SP_{stage}_OBJ_START_LO", f"SP_{stage}_OBJ_START_HI") for stage in STAGES]
    rows = []
    if generation >= 6:
        for stage in STAGES:
            rows.append((stage, f"SP_{stage}_OBJ_START", ""))
            # the names that Mesa gives them from 25.1 on
            rows.append((stage, f"SP_{'PS' if stage == 'FS' else stage}_BASE", ""))
    return rows


def enable_registers(generation: int) -> list[tuple[str, str]]:
    """(stage, register): each whose field ENABLED tells whether draws run the stage's program.

    On a4xx, drivers of old wrote the registers of VS and FS in another form.
    """
    if generation == 4:
        return [(stage, f"HLSQ_{stage}_CONTROL_REG") for stage in STAGES[1:4]]
    rows = []
    if generation >= 5:
        for stage in STAGES:
            rows.append((stage, f"SP_{stage}_CONFIG"))
            if stage == "FS":
                rows.append((stage, "SP_PS_CONFIG"))
    return rows
