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

from cffpy.views.page_kit.markup import element

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Members that are unpacked when they are asked for; all others are the part "core". What does not
#: fit into the page is left out from the last one on.
PARTS = ("shaders", "resources", "bindings", "registers", "pictures", "dump")

#: Bytes of all data in the page, in base64. The page has 40 MB at most; its markup has a budget
#: of its own.
MAX_BYTES = 32_000_000

_TYPE = "application/octet-stream"

#: Of compression: the highest takes three times as long, and saves 2 %.
_LEVEL = 7

#: Compressed bytes that become base64 at once, in whole groups of 3.
_ENCODED = 3 << 14

#: Items of a list whose text is made at once.
_ITEMS = 64


class Packed:
    """A member of the document as the page has it."""

    __slots__ = ("text",)

    def __init__(self, part: object) -> None:
        #: Of the element, in pieces.
        self.text = _packed(part)


def data_blocks(
    document: Mapping[str, Any], most: int = MAX_BYTES
) -> tuple[list[list[bytes]], list[str]]:
    """The elements in UTF-8, each in pieces, and the names of the members that did not fit.

    Draws do not fit where "core" does not: then the page has its markup only.
    """
    names = [name for name in PARTS if name in document]
    core = {name: part for name, part in document.items() if name not in PARTS}
    blocks: list[list[bytes]] = []
    missing: list[str] = []
    for name, part in (("core", core), *((name, document[name]) for name in names)):
        text = part.text if isinstance(part, Packed) else _packed(part)
        length = sum(map(len, text))
        if length <= most:
            most -= length
            head, end, _ = element("script", type=_TYPE, id=f"data-{name}").partition("</script>")
            blocks.append([head.encode(), *text, end.encode()])
        elif name == "core":
            return [], ["draws", *names]
        else:
            missing.append(name)
    return blocks, missing


def _packed(part: object) -> list[bytes]:
    """The part in base64, in pieces, as they become part of the page."""
    compressor = zlib.compressobj(_LEVEL)
    packed = bytearray()
    text: list[bytes] = []
    for piece in _pieces(part):
        packed += compressor.compress(piece.encode("ascii"))
        if len(packed) >= _ENCODED:
            text.append(base64.b64encode(packed[:_ENCODED]))
            del packed[:_ENCODED]
    packed += compressor.flush()
    text.append(base64.b64encode(packed))
    return text


def _pieces(part: Any) -> Iterator[str]:  # noqa: ANN401
    """The JSON text of a part; its text as a whole is several times as large as the page."""
    if isinstance(part, dict):
        separator = "{"
        for key, value in part.items():
            yield f"{separator}{_json(str(key))}:"
            yield from _pieces(value)
            separator = ","
        yield "{}" if not part else "}"
    elif hasattr(part, "text"):  # a list as its JSON text
        yield part.text
    elif (isinstance(part, list) or hasattr(part, "tolist")) and len(part) > _ITEMS:
        separator = "["
        if isinstance(part, list) and _has_columns(part[0]):
            for item in part:
                yield separator
                yield from _pieces(item)
                separator = ","
            yield "]"
            return
        for start in range(0, len(part), _ITEMS):
            yield separator + _json(part[start : start + _ITEMS])[1:-1]
            separator = ","
        yield "]"
    else:
        yield _json(part)


def _has_columns(item: object) -> bool:
    return isinstance(item, dict) and any(hasattr(part, "tolist") for part in item.values())


def _json(part: object) -> str:
    return json.dumps(
        part, separators=(",", ":"), ensure_ascii=True, allow_nan=False, default=_listed
    )


def _listed(column: Any) -> Any:  # noqa: ANN401
    """A compact column as a list."""
    return column.tolist()
