# SPDX-License-Identifier: MIT
"""The ``struct.Struct`` of each structure in an .rd capture.

These are derived from the construct Structs of cffpy.container.structs, which describe them; the
rows in between are kept as compiled descriptions are (cffpy.compiled), so that reading a capture
imports no construct.
"""

from __future__ import annotations

import marshal
import os

from cffpy import compiled
from cffpy.row_readers import byte_struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from struct import Struct
    from typing import Any

#: What compiled.py calls these rows; the number of their form.
KIND, SCHEMA = "sections", 1


def compile_sections() -> dict[str, bytes]:
    """The compiled form: rows of the structures. Also for the wheel."""
    from cffpy.container.structs import RESYNC_MARKER, compile_rows

    content = {"rows": compile_rows(), "marker": RESYNC_MARKER.build({})}
    return {KIND: marshal.dumps(content)}


def load_sections() -> dict[str, Any]:
    """The compiled form: ``{"rows": {name: rows}, "marker": bytes}``."""
    content = compiled.load_packaged(KIND, SCHEMA, KIND)
    if content is None:
        folder = os.path.dirname(os.path.abspath(__file__))
        sources = [os.path.join(folder, "structs.py")]
        content = compiled.load(KIND, SCHEMA, sources, compile_sections, KIND)
    assert content is not None  # it has this one part
    loaded: dict[str, Any] = marshal.loads(content)
    return loaded


_LOADED = load_sections()


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
