# SPDX-License-Identifier: MIT
"""Clear values as text: in the terms of the attachment's format, then the dwords themselves."""

from __future__ import annotations

import re
import struct
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.analysis.passes.model import Operation, Pass

#: Formats whose components are as wide as their names say, lowest first.
_COMPONENTS = re.compile(r"[A-Z]+\d?_([RGBA0-9_]+)_(UNORM|SNORM|UINT|SINT|FLOAT)")


def clear_value(name: str, operation: Operation, of: Pass) -> tuple[int, ...] | None:
    """The dwords that an attachment is cleared to; None where it is not.

    One rectangle may clear several attachments; one word may hold depth and stencil.
    """
    if name == "stencil" and not _has_stencil(operation, of):
        return None
    value = {"depth": operation.depth_value, "stencil": operation.stencil_value}.get(name)
    if value is not None:
        return (value,)
    if (operation.attachment or "").startswith("color") and not name.startswith("color"):
        return None
    if not operation.clear_value:
        return None
    if name in ("depth", "stencil") and _format(name, operation, of).endswith("24_8"):
        packed = operation.clear_value[0]
        return (packed >> 24,) if name == "stencil" else (packed & 0xFFFFFF,)
    return operation.clear_value


def clear_text(name: str, value: Sequence[int], operation: Operation, of: Pass) -> str:
    """``1.0 (00ffffff)``: the value as the format means it, and its dwords."""
    words = list(value)
    while len(words) > 1 and not words[-1]:
        words.pop()
    raw = " ".join(f"{word:08x}" for word in words)
    meant = _meant(name, value, operation, of)
    return raw if meant is None else f"{meant} ({raw})"


def _meant(name: str, value: Sequence[int], operation: Operation, of: Pass) -> str | None:
    form = _format(name, operation, of)
    if name == "stencil":
        return str(value[0] & 0xFF)
    if name == "depth":
        return _depth(value[0], form, operation)
    if operation.how == "rectangle draw":
        numbers = [_float(word) for word in value]
        is_usual = all(number == 0 or 1e-6 < abs(number) < 1e9 for number in numbers)
        return " ".join(map(_number, numbers)) if is_usual else None
    widths = _widths(form)
    if widths is None or not form.endswith("UNORM"):
        return None
    if operation.how == "BLIT event":  # as the format packs it
        packed = sum(word << 32 * number for number, word in enumerate(value))
    else:  # a component a dword
        packed, at = 0, 0
        for word, width in zip(value, widths, strict=False):
            packed |= (word & (1 << width) - 1) << at
            at += width
    components = []
    for width in widths:
        most = (1 << width) - 1
        components.append(_number((packed & most) / most))
        packed >>= width
    return " ".join(components)


def _depth(word: int, form: str, operation: Operation) -> str | None:
    if form.endswith("32") or operation.depth_value is not None or operation.how == "CP_BLIT":
        return _number(_float(word)) if word == 0 or 1e-6 < _float(word) <= 1 else None
    if form.endswith(("24_8", "X8Z24")):
        return _number((word & 0xFFFFFF) / 0xFFFFFF)
    return _number((word & 0xFFFF) / 0xFFFF) if form.endswith("16") else None


def _widths(form: str) -> tuple[int, ...] | None:
    """Bits of each component: of ``FMT6_8_8_8_8_UNORM`` 8, 8, 8, 8."""
    found = _COMPONENTS.fullmatch(form)
    if found is None:
        return None
    widths = tuple(int(width) for width in re.findall(r"\d+", found[1]))
    return widths if 0 < len(widths) <= 4 and all(1 <= width <= 32 for width in widths) else None


def _format(name: str, operation: Operation, of: Pass) -> str:
    known = {target.name: target.format for target in of.attachments}
    return (
        known.get(name)
        or known.get("depth" if name == "stencil" else name)
        or (operation.format or "")
    )


def _has_stencil(operation: Operation, of: Pass) -> bool:
    names = {target.name: target.format or "" for target in of.attachments}
    formats = (names.get("depth", ""), operation.format or "")
    if "stencil" in names or not any(formats):
        return True
    return any(form.endswith("24_8") or "S8" in form for form in formats)


def _float(word: int) -> float:
    number: float = struct.unpack("<f", (word & 0xFFFFFFFF).to_bytes(4, "little"))[0]
    return number


def _number(value: float) -> str:
    """Three digits are what a program's clear value needs: 0.2, not 0.200000003."""
    text = f"{value:.3g}"
    return text if "." in text or "e" in text or not text.lstrip("-").isdigit() else f"{text}.0"
