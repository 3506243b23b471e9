# SPDX-License-Identifier: MIT
"""Text out of a capture, made safe to show."""

from __future__ import annotations


def visible(text: str) -> str:
    """The text without the control characters that a terminal would obey."""
    if text.isprintable():
        return text
    return "".join(
        character if character.isprintable() else _escaped(ord(character)) for character in text
    )


def _escaped(number: int) -> str:
    if number < 0x100:
        return f"\\x{number:02x}"
    return f"\\u{number:04x}" if number < 0x10000 else f"\\U{number:08x}"
