# SPDX-License-Identifier: MIT
"""A capture to text and back, without files."""

from __future__ import annotations

import io

from cffpy.container.damage import Damage
from cffpy.container.open import Content
from cffpy.pm4asm.assemble import assemble
from cffpy.pm4asm.decompile import decompile


def text_of(data: bytes | Content, submit: int | None = None) -> str:
    """The text of a capture's bytes."""
    # not opened as a file is: bytes may look compressed
    content = data if isinstance(data, Content) else Content("data", data, "none", len(data), None)
    damage: list[Damage] = []
    return "".join(decompile(content, damage, lambda line: None, submit=submit))


def bytes_of(text: str, limit: int = 1 << 28) -> bytes:
    """The capture of a text."""
    return bytes(assemble(io.BytesIO(text.encode()), "test.pm4", limit=limit))
