# SPDX-License-Identifier: MIT
"""Bound: all that one draw has bound, by kind."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.frame.binding import DESCRIPTORS, Binding, Constants, DataBuffer, Descriptor

if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.frame.binding import BindingKind


class Bound:
    """All bindings of one draw, by kind, then by stage or set and slot."""

    def __init__(self, bindings: Iterable[Binding]) -> None:
        self.bindings = list(bindings)

    def of(self, *kinds: BindingKind, only_used: bool = True) -> list[Binding]:
        """The bindings of these kinds."""
        return [one for one in self.bindings if one.kind in kinds and (one.used or not only_used)]

    def descriptors(self, *kinds: BindingKind) -> list[Descriptor]:
        """The descriptors of these kinds that the draw uses."""
        return [one for one in self.of(*kinds) if isinstance(one, Descriptor)]

    def all_descriptors(self) -> list[Descriptor]:
        """All descriptors, used or not."""
        found = self.of(*DESCRIPTORS, only_used=False)
        return [one for one in found if isinstance(one, Descriptor)]

    def buffers(self, *kinds: BindingKind) -> list[DataBuffer]:
        """The data of these kinds that the draw reads."""
        return [one for one in self.of(*kinds) if isinstance(one, DataBuffer)]

    def constants(self) -> list[Constants]:
        """Constants and push constants."""
        found = self.of("constants", "push constants")
        return [one for one in found if isinstance(one, Constants)]
