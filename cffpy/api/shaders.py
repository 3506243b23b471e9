# SPDX-License-Identifier: MIT
"""Shaders: the distinct programs of a capture."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.objects import Shown

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cffpy.frame.shader import CapturedShader
    from cffpy.views.model_documents import ShadersDocument


class Shaders(Shown["CapturedShader"]):
    """The distinct programs of a capture, in the order of their first use."""

    def __init__(self, name: str, found: Iterable[CapturedShader], left_out: int) -> None:
        super().__init__(found)
        self._name = name
        #: Programs that are not listed, because there were too many.
        self.left_out = left_out

    def of(self, wanted: Callable[[CapturedShader], bool]) -> Shaders:
        """Some of them, with their numbers."""
        shown = Shaders(self._name, (), self.left_out)
        shown.extend(one for one in self if wanted(one))
        return shown

    def to_dict(self, listings: bool = True) -> ShadersDocument:
        """The document of ``cffpy shaders --json``, without its schema."""
        return {
            "file": self._name,
            "shaders": [one.to_dict(listings) for one in self],
            "left_out": self.left_out,
        }

    def _repr_html_(self) -> str:
        from cffpy.frame.faces import html_table

        rows = (
            (one.number, one.stage, f"{one.gpuaddr:#x}", one.instructions, one.uses) for one in self
        )
        return html_table(("shader", "stage", "address", "instructions", "uses"), rows)
