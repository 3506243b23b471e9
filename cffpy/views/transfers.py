# SPDX-License-Identifier: MIT
"""What actions copy, fill, load or store, as cells of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from cffpy.frame.action import Action


def ends_cells(action: Action) -> tuple[str, str]:
    """Sources and destinations of an action as text."""
    transfers = action.transfers
    sources = dict.fromkeys(one.source_text for one in transfers)
    return "; ".join(filter(None, sources)), "; ".join(one.destination_text for one in transfers)
