# SPDX-License-Identifier: MIT
"""The compiled rows of packet headers and packets: made of the Structs, kept by cffpy.compiled.

Packets are decoded by the bundled descriptions, regardless of the edition that shows them: what the
machine and the analyses read is part of them, and other editions rename fields. Packets of a
generation that the bundled edition does not describe are those of the first edition that does.
"""

from __future__ import annotations

import marshal
import os

from cffpy._data import data_path
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
    entry, 0 for what is not a list of entries). A chip that no edition has is decoded as the last
    one that the bundled edition has.
    """
    packed: dict[str, bytes] | None = PACKETS.load(chip)
    if packed is None:
        directory = register_store.describing(chip)
        part = PACKETS.load(_CHIPS)[-1] if directory is None else chip
        packed = PACKETS.load(part, directory)
    return packed or {}


def _compile_headers(_directory: str) -> dict[str, bytes]:
    from cffpy.pm4 import structs

    return {_ALL_HEADERS: marshal.dumps(structs.compile_headers())}


def _compile_packets(directory: str) -> dict[str, bytes]:
    from cffpy.pm4.packets import compile_chips, compile_newer

    bundled = register_store.chips(None)
    if directory != data_path("register_db"):
        last = load_packets(bundled[-1])
        newer = [chip for chip in register_store.chips(directory) if chip not in bundled]
        return {chip: marshal.dumps(compile_newer(chip, directory, last)) for chip in newer}
    chips = compile_chips(bundled)
    parts = {chip: marshal.dumps(packets) for chip, packets in chips.items()}
    return {_CHIPS: marshal.dumps(tuple(chips)), **parts}


HEADERS = Store("headers", 1, lambda _directory: [_STRUCTS], _compile_headers, of_editions=False)
PACKETS = Store(
    "packets",
    2,
    lambda directory: [*source_files(directory), _STRUCTS, _PACKETS],
    _compile_packets,
)
