# SPDX-License-Identifier: MIT
"""Texts of register summaries, kept by all that they depend on.

The draws of a frame come again in each tile, and so do most of their summaries.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    #: What the view's texts depend on, the level, the registers, their values, those shown last.
    SummaryKey = tuple[int, int, tuple[int, ...], tuple[int, ...], tuple[int | None, ...]]

#: After this many look-ups, more than a tile of most frames has, no more are made in this file if
#: fewer than a quarter succeeded.
TRIAL = 2048

#: Characters of all texts, at most; a text costs this many besides its own.
_MOST, _COST = 12 << 20, 2048


class SummaryTexts:
    """The texts of one file's summaries."""

    def __init__(self) -> None:
        #: How often a text was asked for, and how often it was known.
        self.asked = 0
        self.known = 0
        self.start_file()

    def start_file(self) -> None:
        """A file begins: forget all texts."""
        #: Whether it is worth asking.
        self.is_useful = True
        self._texts: dict[SummaryKey, str] = {}
        self._size = 0
        self._tried = self._found = 0

    def get(self, key: SummaryKey) -> str | None:
        """The text of a summary that was kept, or None."""
        text = self._texts.get(key)
        self.asked += 1
        self._tried += 1
        if text is not None:
            self.known += 1
            self._found += 1
        if self._tried == TRIAL:
            self.is_useful = self._found * 4 >= TRIAL
            self._tried = self._found = 0
            if not self.is_useful:
                self._texts.clear()
        return text

    def keep(self, key: SummaryKey, text: str) -> None:
        """Keep a text, unless there are too many."""
        self._size += len(text) + _COST
        if self._size <= _MOST:
            self._texts[key] = text
