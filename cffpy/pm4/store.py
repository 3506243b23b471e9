# SPDX-License-Identifier: MIT
"""The compiled rows of packet headers and packets: made of the Structs, kept by cffpy.compiled.

Packets are decoded by the bundled descriptions, regardless of the edition that shows them: what the
machine and the analyses read is part of them, and other editions rename fields.
"""

from __future__ import annotations

import marshal
import os

from cffpy.descriptions.store import Store
from cffpy.editions.folders import source_files
from cffpy.regdb import store as register_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.row_readers import Rows

_FOLDER = os.path.dirname(os.path.abspath(__file__))
_STRUCTS, _PACKETS = (os.path.join(_FOLDER, file) for file in ("structs.py", "packets.py"))

#: The part of HEADERS, and that of PACKETS with the names of the chips.
_ALL_HEADERS, _CHIPS = "headers", "chips"


def load_headers() -> dict[str, Rows]:
    """The rows of packet headers: by type, "TYPE0" to "TYPE7"."""
    rows: dict[str, Rows] = HEADERS.load(_ALL_HEADERS)
    return rows


def load_packets(chip: str) -> dict[str, bytes]:
    """The packed rows of each packet and structure of ``chip`` ("A6XX"), by name.

    ``NAME:VARIANT`` is a packet in one of its variants. ``marshal.loads`` gives (rows, dwords of an
    entry, 0 for what is not a list of entries). A chip that the descriptions do not have is
    decoded as the last one that they have.
    """
    packed: dict[str, bytes] | None = PACKETS.load(chip)
    if packed is None:
        packed = PACKETS.load(PACKETS.load(_CHIPS)[-1])
    return packed or {}


def _compile_headers(_directory: str) -> dict[str, bytes]:
    from cffpy.pm4 import structs

    return {_ALL_HEADERS: marshal.dumps(structs.compile_headers())}


def _compile_packets(_directory: str) -> dict[str, bytes]:
    from cffpy.pm4.packets import compile_chips

    chips = compile_chips(register_store.chips(None))
    parts = {chip: marshal.dumps(packets) for chip, packets in chips.items()}
    return {_CHIPS: marshal.dumps(tuple(chips)), **parts}


HEADERS = Store("headers", 1, lambda _directory: [_STRUCTS], _compile_headers, of_editions=False)
PACKETS = Store(
    "packets",
    1,
    lambda directory: [*source_files(directory), _STRUCTS, _PACKETS],
    _compile_packets,
    of_editions=False,
)
