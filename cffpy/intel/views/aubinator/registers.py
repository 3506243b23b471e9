# SPDX-License-Identifier: MIT
"""Registers in the text of error states, and the sentences that stand for some of them."""

from __future__ import annotations

from re import compile as pattern
from struct import pack

from cffpy.intel.decoder.text import GroupText
from cffpy.intel.descriptions.rows import ENGINE_BITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.intel.decoder.groups import Database

_RENDER, _COPY, _VIDEO, _VIDEO_ENHANCE, _COMPUTE = range(5)

#: Class of an engine -> the bit of the engines of instructions; video enhancement has none.
ENGINE_OF_CLASS = {
    _RENDER: ENGINE_BITS["render"],
    _COPY: ENGINE_BITS["blitter"],
    _VIDEO: ENGINE_BITS["video"],
    _VIDEO_ENHANCE: 0,
    _COMPUTE: ENGINE_BITS["compute"],
}
CLASS_NAMES = {
    _RENDER: "render",
    _COPY: "copy",
    _VIDEO: "video",
    _VIDEO_ENHANCE: "video-enh",
    _COMPUTE: "compute",
}
_PREFIXES = {
    "rcs": _RENDER,
    "ccs": _COMPUTE,
    "bcs": _COPY,
    "vcs": _VIDEO,
    "vecs": _VIDEO_ENHANCE,
}
_OLD_NAMES = {
    "render": (_RENDER, 0),
    "blt": (_COPY, 0),
    "bsd": (_VIDEO, 0),
    "bsd2": (_VIDEO, 1),
    "vebox": (_VIDEO_ENHANCE, 0),
}

_ACTHD = {
    (_COPY, 0): "BCS_ACTHD_UDW",
    (_VIDEO, 0): "VCS_ACTHD_UDW",
    (_VIDEO, 1): "VCS2_ACTHD_UDW",
    (_RENDER, 0): "ACTHD_UDW",
    (_VIDEO_ENHANCE, 0): "VECS_ACTHD_UDW",
}
_CTL = {
    (_COPY, 0): "BCS_RING_BUFFER_CTL",
    (_VIDEO, 0): "VCS_RING_BUFFER_CTL",
    (_VIDEO, 1): "VCS2_RING_BUFFER_CTL",
    (_RENDER, 0): "RCS_RING_BUFFER_CTL",
    (_VIDEO_ENHANCE, 0): "VECS_RING_BUFFER_CTL",
}
_FAULT = {
    (_COPY, 0): "BCS_FAULT_REG",
    (_VIDEO, 0): "VCS_FAULT_REG",
    (_RENDER, 0): "RCS_FAULT_REG",
    (_VIDEO_ENHANCE, 0): "VECS_FAULT_REG",
}
_INSTDONE = {
    (_VIDEO, 0): "VCS_INSTDONE",
    (_VIDEO, 1): "VCS2_INSTDONE",
}

#: Bits of PGTBL_ER.
_PAGE_TABLE_ERRORS = (
    (26, "Invalid Sampler Cache GTT entry"),
    (24, "Invalid Render Cache GTT entry"),
    (23, "Invalid Instruction/State Cache GTT entry"),
    (22, "There is no ROC, this cannot occur!"),
    (21, "Invalid GTT entry during Vertex Fetch"),
    (20, "Invalid GTT entry during Command Fetch"),
    (19, "Invalid GTT entry during CS"),
    (18, "Invalid GTT entry during Cursor Fetch"),
    (17, "Invalid GTT entry during Overlay Fetch"),
    (8, "Invalid GTT entry during Display B Fetch"),
    (4, "Invalid GTT entry during Display A Fetch"),
    (1, "Valid PTE references illegal memory"),
    (0, "Invalid GTT entry during fetch for host"),
)

_HEX = r"\s*([0-9a-fA-F]{1,8})"
_UNDERSCORED = r"\s*\[\s*[-+]?[0-9]+\s*\]\s*\[\s*[-+]?[0-9]+\s*\]"

#: Lines that are followed by the register of this name.
_SIMPLE = tuple(
    (pattern(rf"\s*{line}:\s*0x{_HEX}"), register)
    for line, register in (
        ("GAM_DONE", "GAM_DONE"),
        ("SC_INSTDONE", "SC_INSTDONE"),
        ("GEN7_SC_INSTDONE", "SC_INSTDONE"),
        ("SC_INSTDONE_EXTRA", "SC_INSTDONE_EXTRA"),
        ("GEN12_SC_INSTDONE_EXTRA", "SC_INSTDONE_EXTRA"),
        ("SC_INSTDONE_EXTRA2", "SC_INSTDONE_EXTRA2"),
        ("GEN12_SC_INSTDONE_EXTRA2", "SC_INSTDONE_EXTRA2"),
        (rf"SAMPLER_INSTDONE{_UNDERSCORED}", "SAMPLER_INSTDONE"),
        (rf"GEN8_SAMPLER_INSTDONE{_UNDERSCORED}", "SAMPLER_INSTDONE"),
        (rf"ROW_INSTDONE{_UNDERSCORED}", "ROW_INSTDONE"),
        (rf"GEN8_ROW_INSTDONE{_UNDERSCORED}", "ROW_INSTDONE"),
        (rf"GEOM_SVGUNIT_INSTDONE{_UNDERSCORED}", "INSTDONE_GEOM"),
        (rf"XEHPG_INSTDONE_GEOM_SVG{_UNDERSCORED}", "INSTDONE_GEOM"),
        ("INSTDONE1", "INSTDONE_1"),
    )
)
_NAMED = {
    name: pattern(rf"\s*{name}:\s*0x{_HEX}(?:\s*([0-9a-fA-F]{{1,8}}))?")
    for name in ("CTL", "ACTHD", "ACTHD_LDW", "ACTHD_UDW", "PGTBL_ER", "ERROR", "INSTDONE", "TAIL")
}
_HEAD = pattern(rf"\s*HEAD:\s*0x{_HEX}(?:\s*\[\s*0x{_HEX})?")
_FENCE = pattern(r"\s*fence\[\s*[-+]?[0-9a-fA-FxX]+\s*\]\s*=\s*(?:0[xX])?([0-9a-fA-F]+)")
_FAULT_REG = pattern(rf"\s*FAULT_REG:\s*0x{_HEX}")
_FAULT_DATA = pattern(rf"\s*FAULT_TLB_DATA:\s*0x{_HEX}\s*0x{_HEX}")


def engine_class(ring: str) -> tuple[int, int] | None:
    """Class and instance of a ring's name ("rcs0", "bsd2"), or None."""
    for prefix, number in _PREFIXES.items():
        if ring.startswith(prefix):
            rest = ring[len(prefix) :].lstrip()
            digits = len(rest) - len(rest.lstrip("0123456789"))
            return number, int(rest[:digits] or 0)
    return _OLD_NAMES.get(ring)


class RegisterLines:
    """The registers of an i915 error state, line by line.

    ``head`` and ``tail``: bytes, None while unknown. ``acthd``: the address that the GPU reached.
    """

    def __init__(self, database: Database, colour: bool, out: Callable[[str], object]) -> None:
        self._database = database
        self._text = GroupText(database, colour)
        self._out = out
        self.head: int | None = None
        self.tail: int | None = None
        self.acthd = 0

    def take(self, line: str, ring: str) -> None:
        """Print what belongs after a line."""
        if "0x" not in line and "fence" not in line:
            return
        unit = engine_class(ring)
        for text in self._found(line, unit):
            self._out(text)

    def _register(self, name: str | None, value: int) -> str:
        register = None if name is None else self._database.register(name)
        return "" if register is None else self._text.text(register, 0, pack("<I", value))

    def _found(self, line: str, unit: tuple[int, int] | None) -> Iterator[str]:
        """The texts of all patterns that match, in the order of the reference."""
        yield from self._positions(line, unit)
        number = self._value("PGTBL_ER", line)
        if number:
            for bit, sentence in _PAGE_TABLE_ERRORS:
                if number >> bit & 1:
                    yield f"    {sentence}\n"
        number = self._value("ERROR", line)
        if number:
            yield self._register("GFX_ARB_ERROR_RPT", number)
        number = self._value("INSTDONE", line)
        if number is not None:
            yield self._register(self._instdone(unit), number)
        for regex, register in _SIMPLE:
            found = regex.match(line)
            if found is not None:
                yield self._register(register, int(found[1], 16))
        yield from self._faults(line, unit)

    def _positions(self, line: str, unit: tuple[int, int] | None) -> Iterator[str]:
        number = self._value("CTL", line)
        if number is not None:
            yield self._register(_CTL.get(unit) if unit else None, number)
        found = _HEAD.match(line)
        if found is not None:
            number = int(found[1], 16)
            wraps = number >> 21
            yield f"    head = 0x{number & 0x1FFFFC:08x}, wraps = {wraps}\n"
            if found[2] is not None:
                self.head = int(found[2], 16)
        number = self._value("TAIL", line)
        if number is not None:
            self.tail = number
        found = _NAMED["ACTHD"].match(line)
        if found is not None:
            yield self._register(_ACTHD.get(unit) if unit else None, int(found[1], 16))
            if found[2] is not None:
                self.acthd = int(found[1], 16) << 32 | int(found[2], 16)
        number = self._value("ACTHD_LDW", line)
        if number is not None:
            self.acthd = number
        number = self._value("ACTHD_UDW", line)
        if number is not None:
            self.acthd |= number << 32

    def _instdone(self, unit: tuple[int, int] | None) -> str | None:
        if unit is None:
            return None
        if unit[0] == _RENDER:
            return "INSTDONE_2" if self._database.ver == 6 else "INSTDONE_1"
        if unit[0] == _COPY:
            return "BCS_INSTDONE"
        if unit[0] == _VIDEO_ENHANCE:
            return "VECS_INSTDONE"
        return _INSTDONE.get(unit)

    def _faults(self, line: str, unit: tuple[int, int] | None) -> Iterator[str]:
        found = _FENCE.match(line)
        if found is not None:
            yield _fence(self._database.ver, int(found[1][:16], 16))
        found = _FAULT_REG.match(line)
        if found is not None and int(found[1], 16):
            name = _FAULT.get(unit, "FAULT_REG") if unit else "FAULT_REG"
            yield self._register(name, int(found[1], 16))
        found = _FAULT_DATA.match(line)
        if found is not None and self._database.ver >= 8:
            high, low = int(found[1], 16), int(found[2], 16)
            address = low << 12 | (high & 0xF) << 44
            yield f"    Address 0x{address:016x} {'GGTT' if high & 16 else 'PPGTT'}\n"

    def _value(self, name: str, line: str) -> int | None:
        found = _NAMED[name].match(line)
        return None if found is None else int(found[1], 16)


def _fence(ver: int, fence: int) -> str:
    """A fence register as text; only gen4 to gen7 have them."""
    if ver not in (4, 5, 6, 7):
        return ""
    pitch = ((fence >> 32 & 0xFFF) + 1) * 128 if ver >= 6 else ((fence >> 2 & 0x1FF) + 1) * 128
    size = ((fence >> 32 & 0xFFFFF000) - (fence & 0xFFFFF000) + 4096) & 0xFFFFFFFF
    return (
        f"    {'' if fence & 1 else 'in'}valid, {'y' if fence & 2 else 'x'}-tiled,"
        f" pitch: {pitch}, start: 0x{fence & 0xFFFFF000:08x}, size: {size}\n"
    )
