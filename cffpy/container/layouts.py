# SPDX-License-Identifier: MIT
"""The ``struct.Struct`` of each structure in an .rd capture.

These are derived from the construct Structs of cffpy.container.structs, which describe them; the
rows in between are kept as compiled descriptions are (cffpy.compiled), so that reading a capture
imports no construct.
"""

from __future__ import annotations

import marshal
import os

from cffpy.descriptions.store import Store
from cffpy.row_readers import byte_struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from struct import Struct
    from typing import Any

_STRUCTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "structs.py")
_PART = "sections"


def _compile(_directory: str) -> dict[str, bytes]:
    """``{"rows": {name: rows}, "marker": bytes}``, which no edition changes."""
    from cffpy.container.structs import RESYNC_MARKER, compile_rows

    content = {"rows": compile_rows(), "marker": RESYNC_MARKER.build({})}
    return {_PART: marshal.dumps(content)}


SECTIONS = Store("sections", 1, lambda _directory: [_STRUCTS], _compile, of_editions=False)


_LOADED: dict[str, Any] = SECTIONS.load(_PART)


def _struct(name: str) -> Struct:
    return byte_struct(_LOADED["rows"][name])


#: type, size of the payload in bytes
SECTION_HEADER = _struct("SECTION_HEADER")
#: the two dwords of a resync marker, as bytes
RESYNC_MARKER: bytes = _LOADED["marker"]
#: address_low, length in bytes, address_high, which may be missing
GPU_ADDRESS = _struct("GPU_ADDRESS")
#: address_low, dwords, address_high, which may be missing
COMMAND_STREAM_ADDRESS = _struct("COMMAND_STREAM_ADDRESS")
#: parameter, value, bit_length
PARAMETER = _struct("PARAMETER")
#: gpu_id
GPU_ID = _struct("GPU_ID")
#: chip_id
CHIP_ID = _struct("CHIP_ID")


def offset_in(structure: str, name: str) -> int:
    """Byte offset of a value in a structure, e.g. of "dwords" in "COMMAND_STREAM_ADDRESS"."""
    for row in _LOADED["rows"][structure]:
        if row[0] == name:
            return int(row[1]) * 4
    raise KeyError(name)
