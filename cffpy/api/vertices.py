# SPDX-License-Identifier: MIT
"""Vertex attributes of a draw: format, buffer, offset, stride.

Attributes are found by registers or by the program.

Since a5xx, ``VFD_DECODE`` names format, buffer and offset of an attribute, ``VFD_FETCH`` stride
and address of a buffer. On a3xx and a4xx each ``VFD_DECODE`` goes with a ``VFD_FETCH``, and the
next one follows where ``SWITCHNEXT`` is set. An a2xx program fetches its attributes itself: by a
fetch constant with address and size.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from cffpy.frame.binding import VertexAttribute
from cffpy.regdb.registers import number_of

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cffpy.analysis.shaders import ProgramReader
    from cffpy.frame.action import Action
    from cffpy.frame.field import FieldValue
    from cffpy.frame.register_state import RegisterState
    from cffpy.frame.shader import Shader
    from cffpy.isa.a2xx import VertexFetch

#: The kinds of integers: UINT and SINT.
_INTEGERS = re.compile(r"(?<=_)[US]INT$")

#: Attributes of a draw, at most: the hardware has 32.
_MAX_ATTRIBUTES = 32

#: Registers and fields that have the number of attributes.
_COUNTS = (
    ("VFD_CNTL_0", "DECODE_CNT"),
    ("VFD_CONTROL_0", "DECODE_CNT"),
    ("VFD_CONTROL_0", "VTXCNT"),
    ("VFD_CONTROL_0", "STRMDECINSTRCNT"),
)


class _Source(Protocol):
    """What is asked of ``cffpy.api.source.Source``."""

    @property
    def fetches_by_program(self) -> bool: ...
    @property
    def programs(self) -> ProgramReader: ...
    def state(self, action: Action) -> RegisterState: ...
    def shader(self, submit: int, stage: str, gpuaddr: int) -> Shader | None: ...


def attributes_of(source: _Source, action: Action) -> list[VertexAttribute]:
    """The attributes of a draw; none for what draws no vertices."""
    if action.kind != "draw":
        return []
    if not source.fetches_by_program:
        return attributes_of_registers(source.state(action))
    address = dict(action.programs).get("VS")
    submit = action.place.submit
    program = None if address is None else source.shader(submit, "VS", address)
    return (
        []
        if program is None
        else attributes_of_program(source.programs.vertex_fetches(program.code))
    )


def is_vertex_register(name: str) -> bool:
    """Whether attributes of draws depend on a register; addresses do not count."""
    return name.startswith("VFD_") and not name.endswith((".BASE", ".BASE_LO", ".BASE_HI", ".SIZE"))


def attributes_of_registers(state: RegisterState) -> list[VertexAttribute]:
    """The attributes of a draw (a3xx and later)."""
    counts = (_number(_fields(state, name), field) for name, field in _COUNTS)
    count = next((one for one in counts if one is not None), 0)
    one_each = "VFD_FETCH[0].INSTR_0" in state
    decode = (
        "VFD_DECODE[{}].INSTR" if "VFD_DECODE[0].INSTR" in state else "VFD_FETCH_INSTR[{}].INSTR"
    )
    found = []
    buffer = 0
    for number in range(min(count, _MAX_ATTRIBUTES)):
        fields = _fields(state, decode.format(number))
        form = fields.get("FORMAT")
        if form is None:
            continue
        if one_each:
            fetch = _fields(state, f"VFD_FETCH[{buffer}].INSTR_0")
            found.append(
                VertexAttribute(
                    number,
                    form.text,
                    buffer,
                    0,
                    _number(fetch, "BUFSTRIDE"),
                    bool(_number(fetch, "INSTANCED")),
                    *_conversion(fields),
                )
            )
            buffer += bool(_number(fields, "SWITCHNEXT"))
            continue
        buffer = _number(fields, "IDX") or 0
        found.append(
            VertexAttribute(
                number,
                form.text,
                buffer,
                _number(fields, "OFFSET") or 0,
                _stride(state, buffer),
                bool(_number(fields, "INSTANCED")),
                *_conversion(fields),
            )
        )
    return found


def _conversion(fields: Mapping[str, FieldValue]) -> tuple[str | None, bool]:
    """The swap of an attribute, and whether it is scaled: FLOAT, or INT up to a4xx, says so."""
    is_float = _number(fields, "FLOAT")
    if is_float is None:
        is_float = _number(fields, "INT") == 0
    scaled = bool(is_float) and _INTEGERS.search(fields["FORMAT"].text) is not None
    return fields["SWAP"].text if "SWAP" in fields else None, scaled


def _stride(state: RegisterState, buffer: int) -> int | None:
    for name in (f"VFD_FETCH[{buffer}].STRIDE", f"VFD_VERTEX_BUFFER[{buffer}].STRIDE"):
        if name in state:
            return state[name].value
    return None


def _fields(state: RegisterState, name: str) -> Mapping[str, FieldValue]:
    return state[name].fields if name in state else {}


def _number(fields: Mapping[str, FieldValue], name: str) -> int | None:
    return number_of(fields[name]) if name in fields else None


# -- a2xx -----------------------------------------------------------------------------------------


def attributes_of_program(fetches: Iterable[VertexFetch]) -> list[VertexAttribute]:
    """The attributes that an a2xx program fetches; a buffer's slot is that of its constant."""
    return [
        VertexAttribute(number, one.format, one.constant, one.offset, one.stride or None)
        for number, one in enumerate(fetches)
    ]
