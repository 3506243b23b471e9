# SPDX-License-Identifier: MIT
"""The options of crashdec, as one record."""

from __future__ import annotations

from cffpy.value_object import ValueObject


class CrashdecOptions(ValueObject):
    """What to print. Field names follow the command line options."""

    __slots__ = ("allregs", "color", "look_back", "markers", "summary", "verbose")

    def __init__(
        self,
        summary: bool = False,
        allregs: bool = False,
        markers: bool = False,
        verbose: bool = False,
        color: bool = False,
        look_back: int | None = None,
    ) -> None:
        self.summary = summary
        self.allregs = allregs
        #: Print CP_NOP packets as strings, except for debug markers.
        self.markers = markers
        #: Print all data, and the whole ring.
        self.verbose = verbose
        self.color = color
        #: Dwords before the ring's read pointer; None: as crashdec of the edition.
        self.look_back = look_back
