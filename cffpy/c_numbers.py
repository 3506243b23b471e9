# SPDX-License-Identifier: MIT
"""Integers as C and the hardware have them: strtol, signed 32-bit integers, parity bits."""

from __future__ import annotations

_DIGITS = "0123456789abcdef"
_LARGEST = (1 << 63) - 1


def c_number(text: str) -> int:
    """Strtol with base 0: leading space and sign, the prefixes 0x and 0; ends at a non-digit.

    Without digits the result is 0; numbers beyond 64 bits are clamped.
    """
    stripped = text.lstrip(" \t\n\v\f\r")
    sign = -1 if stripped.startswith("-") else 1
    digits = (stripped[1:] if stripped[:1] in ("+", "-") else stripped).lower()
    base = 10
    if digits.startswith("0x") and digits[2:3] and digits[2] in _DIGITS:
        base, digits = 16, digits[2:]
    elif digits.startswith("0"):
        base = 8
    accepted = _DIGITS[:base]
    taken = 0
    for character in digits:
        if character not in accepted:
            break
        taken = taken * base + int(character, base)
    return min(taken, _LARGEST) if sign > 0 else -min(taken, _LARGEST + 1)


def whole_number(text: str, prefixes: bool = False) -> int:
    """A number of ASCII digits with an optional sign; ``prefixes``: also 0x..., 0o..., 0b....

    Raises ValueError. ``int`` also accepts underscores, spaces and the digits of all scripts.
    """
    if not text.isascii() or "_" in text or text != text.strip():
        raise ValueError(f"{text!r} is not a valid integer")
    return int(text, 0 if prefixes else 10)


def signed32(value: int) -> int:
    """An unsigned 32-bit number as a signed one."""
    return value - (1 << 32) if value & 0x80000000 else value


def odd_parity(value: int) -> int:
    """The bit that makes the number of set bits of ``value`` and it odd."""
    return (value.bit_count() & 1) ^ 1
