# SPDX-License-Identifier: MIT
"""The data inside the page: parts of the document, each compressed, which the script unpacks.

A part is JSON, compressed by deflate (RFC 1950) and written in base64 into a script element of a
type that browsers do not run.
"""

from __future__ import annotations

import base64
import json
import zlib
from typing import TYPE_CHECKING, Any

from cffpy.views.page_kit.markup import Markup, element

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

#: Members that are unpacked when they are asked for; all others are the part "core". What does not
#: fit into the page is left out from the last one on.
PARTS = ("shaders", "resources", "bindings", "registers", "pictures", "dump")

#: Bytes of all data in the page, in base64. The page has 40 MB at most; its markup has a budget
#: of its own.
MAX_BYTES = 32_000_000

_TYPE = "application/octet-stream"

#: Of compression: the highest takes three times as long, and saves 2 %.
_LEVEL = 7

#: Items of a list whose text is made at once.
_ITEMS = 64


def data_blocks(
    document: Mapping[str, Any], most: int = MAX_BYTES
) -> tuple[list[Markup], list[str]]:
    """The elements, and the names of the members that did not fit.

    Draws do not fit where "core" does not: then the page has its markup only.
    """
    names = [name for name in PARTS if name in document]
    core = {name: part for name, part in document.items() if name not in PARTS}
    blocks: list[Markup] = []
    missing: list[str] = []
    for name, part in (("core", core), *((name, document[name]) for name in names)):
        text = _packed(part)
        if len(text) <= most:
            most -= len(text)
            blocks.append(_block(name, text))
        elif name == "core":
            return [], ["draws", *names]
        else:
            missing.append(name)
    return blocks, missing


def _packed(part: object) -> str:
    compressor = zlib.compressobj(_LEVEL)
    packed = bytearray()
    for piece in _pieces(part):
        packed += compressor.compress(piece.encode("ascii"))
    packed += compressor.flush()
    return base64.b64encode(packed).decode("ascii")


def _pieces(part: Any) -> Iterator[str]:  # noqa: ANN401
    """The JSON text of a part; its text as a whole is several times as large as the page."""
    if isinstance(part, dict):
        separator = "{"
        for key, value in part.items():
            yield f"{separator}{_json(str(key))}:"
            yield from _pieces(value)
            separator = ","
        yield "{}" if not part else "}"
    elif (isinstance(part, list) or hasattr(part, "tolist")) and len(part) > _ITEMS:
        separator = "["
        for start in range(0, len(part), _ITEMS):
            yield separator + _json(part[start : start + _ITEMS])[1:-1]
            separator = ","
        yield "]"
    else:
        yield _json(part)


def _json(part: object) -> str:
    return json.dumps(
        part, separators=(",", ":"), ensure_ascii=True, allow_nan=False, default=_listed
    )


def _listed(column: Any) -> Any:  # noqa: ANN401
    """A compact column as a list."""
    return column.tolist()


def _block(name: str, text: str) -> Markup:
    return element("script", Markup(text), type=_TYPE, id=f"data-{name}")


def unpacked(blocks: Sequence[Markup]) -> dict[str, Any]:
    """The parts by name: what the page's script reads."""
    found = {}
    for block in blocks:
        head, _, text = block.removesuffix("</script>").partition(">")
        name = head.partition('id="data-')[2].rstrip('"')
        found[name] = json.loads(zlib.decompress(base64.b64decode(text)))
    return found
