# SPDX-License-Identifier: MIT
"""DrawTextures: the textures of each draw and dispatch, and the buffers that they lie in."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.bound_textures import BoundTextures
from cffpy.check.model import Facts

if TYPE_CHECKING:
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.walk import Walk


class DrawTextures(BoundTextures, Facts):
    """The textures that programs use, as a fact of lints."""

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        Facts.__init__(self, walk, passes)
        BoundTextures.__init__(self, walk)
