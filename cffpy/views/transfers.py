# SPDX-License-Identifier: MIT
"""What actions copy, fill, load or store: cells of a table, and objects for JSON."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.views.model_documents import hexadecimal

if TYPE_CHECKING:
    from cffpy.frame.action import Action
    from cffpy.frame.geometry import Rectangle
    from cffpy.frame.transfer import Transfer, TransferEnd

#: Columns of CSV of both ends: those of the first transfer of an action.
CSV_COLUMNS = tuple(
    f"{end}_{name}"
    for end in ("source", "destination")
    for name in ("address", "gmem", "format", "rectangle")
)


def ends_cells(action: Action) -> tuple[str, str]:
    """Sources and destinations of an action as text."""
    transfers = action.transfers
    sources = dict.fromkeys(one.source_text for one in transfers)
    return "; ".join(filter(None, sources)), "; ".join(one.destination_text for one in transfers)


def csv_cells(action: Action) -> tuple[object, ...]:
    """The cells under CSV_COLUMNS."""
    return *_csv_end(action.source), *_csv_end(action.destination)


def _csv_end(end: TransferEnd | None) -> tuple[object, ...]:
    if end is None:
        return None, None, None, None
    area = None if end.rectangle is None else str(end.rectangle)
    return hexadecimal(end.address), hexadecimal(end.gmem), end.format, area


def transfer_document(transfer: Transfer) -> dict[str, Any]:
    """A transfer as an object. Addresses, and dwords of a value, are hex strings."""
    value = transfer.value
    return {
        "attachment": transfer.attachment,
        "source": _end_document(transfer.source),
        "added": [_end_document(one) for one in transfer.added],
        "destination": _end_document(transfer.destination),
        "value": None if value is None else [hexadecimal(dword) for dword in value],
        "resolves": transfer.resolves,
        "limit": _rectangle(transfer.limit),
        "rotation": transfer.rotation,
    }


def _end_document(end: TransferEnd | None) -> dict[str, Any] | None:
    if end is None:
        return None
    return {
        "address": hexadecimal(end.address),
        "gmem": hexadecimal(end.gmem),
        "format": end.format,
        "tiling": end.tiling,
        "swap": end.swap,
        "srgb": end.srgb,
        "samples": end.samples,
        "pitch": end.pitch,
        "layer_pitch": end.layer_pitch,
        "ubwc": end.ubwc,
        "flags": hexadecimal(end.flags),
        "flag_pitch": end.flag_pitch,
        "width": end.width,
        "height": end.height,
        "rectangle": _rectangle(end.rectangle),
        "size": end.size,
        "negated": end.negated,
    }


def _rectangle(area: Rectangle | None) -> dict[str, int] | None:
    if area is None:
        return None
    size = area.size
    return {"left": area.left, "top": area.top, "width": size.width, "height": size.height}
