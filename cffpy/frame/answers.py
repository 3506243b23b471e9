# SPDX-License-Identifier: MIT
"""Answers: what the objects of a capture ask for that takes more than their own walk."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Protocol

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from cffpy.analysis.visibility_model import PassVisibility
    from cffpy.api.bindings import Bound
    from cffpy.api.pictures import NamedImage, Pictures
    from cffpy.api.selection import Found
    from cffpy.api.state import RegisterState
    from cffpy.api.vertices import VertexAttribute
    from cffpy.frame.action import Action
    from cffpy.frame.memory import Memory
    from cffpy.frame.passes import Pass
    from cffpy.frame.selection import SelectionKind
    from cffpy.frame.shader import Shader
    from cffpy.query.filters import Filter


class Answers(Protocol):
    """A capture that computes what is asked for, and keeps it.

    Each method raises UsageError where the capture is closed.
    """

    def state(self, action: Action) -> RegisterState:
        """The registers at an action."""

    def bound(self, action: Action) -> Bound:
        """What a draw of the program has bound."""

    def attributes(self, action: Action) -> list[VertexAttribute]:
        """The vertex attributes of a draw."""

    def shader(self, submit: int, stage: str, gpuaddr: int) -> Shader | None:
        """The program at an address; None where none was captured."""

    def memory(self, submit: int) -> Memory:
        """The memory of a submit, as captured."""

    def pictures(self, submit: int) -> Pictures:
        """Makes pictures of the memory of a submit."""

    def images(self, of: Action | Pass) -> list[NamedImage]:
        """The images that an action uses, or the attachments of a pass."""

    def visibility(self, of: Pass) -> PassVisibility:
        """What the captured visibility streams say of a pass."""

    def events_before(self, of: Pass) -> Mapping[str, int]:
        """Waits and cache events between the pass before and this one: name -> how many."""

    def filter(self, where: str | None, columns: str | None = None) -> Filter:
        """A filter of an expression and names of columns. Raises FilterError."""

    def choose(
        self, kind: SelectionKind, items: Iterable[Any], query: Filter
    ) -> list[tuple[Any, Found]]:
        """The items for which a filter holds, each with the values of its names."""
