# SPDX-License-Identifier: MIT
"""What the languages .regs, .isa and .gen share: parser, printer, store, importer."""

from __future__ import annotations

#: The largest number that a description may hold.
MAX_NUMBER = (1 << 64) - 1
