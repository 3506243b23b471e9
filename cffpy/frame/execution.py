# SPDX-License-Identifier: MIT
"""Executed: whether commands are executed, as far as the command stream shows."""

from __future__ import annotations

from enum import Enum


class Executed(Enum):
    """Whether commands are executed. ``value`` is what facts have."""

    YES = True
    NO = False
    #: Only the GPU knows.
    UNKNOWN = None

    def __init__(self, value: bool | None) -> None:
        #: Whether it is not NO. An attribute: asked several times for each action.
        self.is_possible = value is not False
        self.is_unknown = value is None

    def within(self, outer: Executed) -> Executed:
        """This of a block, inside of commands that are executed as ``outer`` says."""
        if self is Executed.NO or outer is Executed.NO:
            return Executed.NO
        return self if outer is Executed.YES else outer
