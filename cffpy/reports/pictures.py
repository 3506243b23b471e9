# SPDX-License-Identifier: MIT
"""Pictures of a report: captured textures and attachments, scaled down, as PNG.

They need the extra ``image``. An image without a picture has the reason: not captured, all zero,
compressed, a format that is not known.
"""

from __future__ import annotations

import base64
from typing import TYPE_CHECKING, Any

from cffpy.errors import MissingLibrary
from cffpy.image.texels import PictureError
from cffpy.reports.columns import NONE

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.frame.attachment import Attachment
    from cffpy.frame.binding import Descriptor
    from cffpy.frame.passes import Pass
    from cffpy.frame.pictures import Picture
    from cffpy.reports.columns import Cuts

#: Maximum of: images that are read, width and height of a picture, bytes of all pictures.
_MAX_TRIED, _EDGE, _MAX_BYTES = 600, 256, 6_000_000

#: Texels of an image, and of all images, that are read.
_MAX_TEXELS, _MAX_ALL_TEXELS = 1 << 24, 1 << 27


class PictureList:
    """Makes each picture once. An index into ``to_list`` stands for it."""

    def __init__(self, cuts: Cuts) -> None:
        self._cuts = cuts
        self._known: dict[tuple[object, ...], int] = {}
        self._list: list[dict[str, Any]] = []
        self._bytes, self._texels = _MAX_BYTES, _MAX_ALL_TEXELS
        self._is_missing = False

    def of_texture(self, submit: int, texture: Descriptor) -> int:
        """The picture of a texture at a draw of this submit; -1 where there is no image."""
        key = submit, texture.kind, texture.dwords
        return self._of(key, lambda: self._read(texture))

    def of_attachment(self, pass_: Pass, target: Attachment) -> int:
        """The picture of an attachment of a pass."""
        key = pass_.submit, target, pass_.framebuffer
        return self._of(key, lambda: pass_.picture(target.name))

    def _read(self, texture: Descriptor) -> Picture:
        image = texture.image.view
        texels = image.width * image.height
        if texels > _MAX_TEXELS:
            raise PictureError(f"{texels:,} texels are too many for this page")
        self._texels -= texels
        if self._texels < 0:
            raise PictureError("too many textures for this page")
        return texture.picture()

    def _of(self, key: tuple[object, ...], make: Callable[[], Picture]) -> int:
        known = self._known.get(key)
        if known is not None:
            return known
        if self._is_missing:
            return NONE
        if len(self._list) >= _MAX_TRIED or self._bytes < 0:
            self._cuts.note(f"pictures after the first {len(self._list):,}")
            return NONE
        document: dict[str, Any]
        try:
            document = self._document(make())
        except MissingLibrary:
            self._is_missing = True
            self._cuts.note("pictures of textures and attachments, which need cffpy[image]")
            return NONE
        except PictureError as problem:
            document = {"reason": str(problem)}
        known = self._known[key] = len(self._list)
        self._list.append(document)
        return known

    def _document(self, picture: Picture) -> dict[str, Any]:
        data = picture.scaled(_EDGE, _EDGE).png()
        self._bytes -= len(data)
        return {
            "width": picture.width,
            "height": picture.height,
            "notes": list(picture.notes),
            "png": base64.b64encode(data).decode("ascii"),
        }

    def to_list(self) -> list[dict[str, Any]]:
        """The pictures: size, notes, PNG in base64; or the reason why there is none."""
        return self._list
