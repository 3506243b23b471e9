# SPDX-License-Identifier: MIT
"""The compiled rows of packet headers and packets: made of the Structs, kept by cffpy.compiled.

Packets are decoded by the bundled descriptions, regardless of the edition that shows them: what the
machine and the analyses read is part of them, and other editions rename fields.
"""

from __future__ import annotations

import marshal
import os

from cffpy import compiled
from cffpy.editions.folders import resolve_edition, source_files
from cffpy.regdb import store as register_store

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.row_readers import Rows

#: What compiled.py calls these rows; the number of their form.
HEADERS_KIND, PACKETS_KIND, SCHEMA = "headers", "packets", 1

_CHIPS = "chips"
_FOLDER = os.path.dirname(os.path.abspath(__file__))


def load_headers() -> dict[str, Rows]:
    """The rows of packet headers: by type, "TYPE0" to "TYPE7"."""
    content = compiled.load_packaged(HEADERS_KIND, SCHEMA, HEADERS_KIND)
    if content is None:
        sources = [os.path.join(_FOLDER, "structs.py")]
        content = compiled.load(HEADERS_KIND, SCHEMA, sources, compile_headers, HEADERS_KIND)
    assert content is not None  # it has this one part
    loaded: dict[str, Rows] = marshal.loads(content)
    return loaded


def load_packets(chip: str) -> dict[str, bytes]:
    """The packed rows of each packet and structure of ``chip`` ("A6XX"), by name.

    ``NAME:VARIANT`` is a packet in one of its variants. ``marshal.loads`` gives (rows, dwords of an
    entry, 0 for what is not a list of entries). A chip that the descriptions do not have is
    decoded as the last one that they have.
    """
    content = _part(chip)
    if not content:
        chips = marshal.loads(_part(_CHIPS) or marshal.dumps(()))
        content = _part(chips[-1])
    loaded: dict[str, bytes] = marshal.loads(content or marshal.dumps({}))
    return loaded


def compile_headers() -> dict[str, bytes]:
    """The compiled form of the headers. Also for the wheel."""
    from cffpy.pm4 import structs

    return {HEADERS_KIND: marshal.dumps(structs.compile_headers())}


def compile_packets() -> dict[str, bytes]:
    """The compiled form of the packets. Also for the wheel."""
    from cffpy.pm4.compile import compile_chips

    chips = compile_chips(register_store.chips(None))
    parts = {chip: marshal.dumps(packets) for chip, packets in chips.items()}
    return {_CHIPS: marshal.dumps(tuple(chips)), **parts}


def _part(name: str) -> bytes | None:
    content = compiled.load_packaged(PACKETS_KIND, SCHEMA, name)
    if content is None:
        declared = [os.path.join(_FOLDER, file) for file in ("structs.py", "packets.py")]
        sources = [*source_files(resolve_edition(None)), *declared]
        content = compiled.load(PACKETS_KIND, SCHEMA, sources, compile_packets, name)
    return content
