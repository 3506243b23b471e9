# SPDX-License-Identifier: MIT
"""One side of a comparison: the state of a capture, followed record by record."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    pass
