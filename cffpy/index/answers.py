# SPDX-License-Identifier: MIT
"""What an index knows of a register's value and of a program: facts, columns, documents."""

from __future__ import annotations

from typing import Any, NamedTuple

from cffpy.analysis.register_store.register_state import StateValue
from cffpy.frame.faces import facts_document
from cffpy.frame.facts import Address, Bits, described
from cffpy.frame.shader import CapturedShader


@described(
    "register_value",
    is_value=False,
    like=(CapturedShader, StateValue),
    captures="how many captures have it",
    draws="how many draws have it",
    first_capture="the first capture that has it, by name",
)
class RegisterValueCount(NamedTuple):
    """A value of a register in an index: how many captures and draws have it, and which first."""

    generation: int
    register: str
    register_offset: Address
    value: Bits | None
    decoded: str
    captures: int
    draws: int
    first_capture: str


@described(
    "shader_use",
    is_value=False,
    like=(CapturedShader,),
    capture="the capture",
    names={"number": "shader"},
)
class IndexedUse(NamedTuple):
    """A capture that has a program of an index."""

    capture: str
    number: int
    uses: int


@described(
    "indexed_shader",
    is_value=False,
    like=(CapturedShader,),
    captures="how many captures have it",
    uses="draws and dispatches that run it, of all captures",
    first_capture="the first capture that has it, by name",
    first_shader="its number there",
    listing="its instructions as text",
    places="the first captures that have it",
)
class IndexedShader(NamedTuple):
    """A program of an index."""

    digest: str
    stage: str
    bytes: int
    instructions: int
    half_registers: int | None
    full_registers: int | None
    constlen: int | None
    ss: int | None
    sy: int | None
    captures: int
    uses: int
    first_capture: str
    first_shader: int
    listing: str
    places: list[IndexedUse]

    def to_dict(self) -> dict[str, Any]:
        """Its object in the document of ``cffpy index shader --json``."""
        return facts_document(self)
