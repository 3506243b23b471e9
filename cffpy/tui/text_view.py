# SPDX-License-Identifier: MIT
"""TextView: lines of text of any number, with search and the keys of less."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from rich.cells import cell_len
from rich.color import Color
from rich.segment import Segment
from rich.style import Style
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.scroll_view import ScrollView
from textual.strip import Strip

from cffpy.tui.pictures import HALF, PixelLine

if TYPE_CHECKING:
    from collections.abc import Sequence

_FOUND = Style(reverse=True)
_ANNOTATION = Style(color="green", bold=True)

#: Lines of cffpy in an annotated dump begin with this.
_MARK = "#cffpy"


class TextView(ScrollView, can_focus=True):
    """Shows printable lines; only those on the screen are rendered."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j,down", "scroll_down", "Down", show=False),
        Binding("k,up", "scroll_up", "Up", show=False),
        Binding("space,f,ctrl+f,pagedown", "page_down", "Page down", show=False),
        Binding("b,ctrl+b,pageup", "page_up", "Page up", show=False),
        Binding("ctrl+d", "half_page(1)", "Half a page down", show=False),
        Binding("ctrl+u", "half_page(-1)", "Half a page up", show=False),
        Binding("g,home", "scroll_home", "Top", show=False),
        Binding("G,end", "scroll_end", "Bottom", show=False),
        Binding("h,left", "scroll_left", "Left", show=False),
        Binding("l,right", "scroll_right", "Right", show=False),
    ]

    def __init__(self, *, id: str) -> None:  # noqa: A002 - Textual's name
        super().__init__(id=id)
        self.lines: Sequence[str] = ()
        self._pattern = ""
        self._found = -1

    def show(self, lines: Sequence[str]) -> None:
        """Replace the text; the view starts at its top."""
        self.lines = lines
        self._found = -1
        width = max(map(cell_len, lines), default=0)
        self.virtual_size = Size(width, len(lines))
        self.scroll_to(0, 0, animate=False)
        self.refresh()

    def render_line(self, y: int) -> Strip:
        """The line of the screen at ``y``."""
        left, top = self.scroll_offset
        number, width = top + y, self.scrollable_content_region.width
        if number >= len(self.lines):
            return Strip.blank(width, self.rich_style)
        text = self.lines[number]
        style = self.rich_style
        if text.startswith(_MARK):
            style += _ANNOTATION
        return Strip(self._segments(text, style)).crop_extend(left, left + width, self.rich_style)

    def _segments(self, text: str, style: Style) -> list[Segment]:
        if isinstance(text, PixelLine):
            return [
                Segment(HALF, Style(color=Color.from_rgb(*upper), bgcolor=Color.from_rgb(*lower)))
                for upper, lower in text.pixels
            ]
        if not self._pattern:
            return [Segment(text, style)]
        segments, folded, begin = [], text.lower(), 0
        while (at := folded.find(self._pattern, begin)) >= 0 and len(folded) == len(text):
            end = at + len(self._pattern)
            segments += [Segment(text[begin:at], style), Segment(text[at:end], style + _FOUND)]
            begin = end
        return [*segments, Segment(text[begin:], style)]

    def search(self, text: str, forward: bool = True) -> bool:
        """Go to the next line that contains a text, ignoring case; wraps around."""
        self._pattern = text.lower()
        self.refresh()
        count = len(self.lines)
        start = self._found if self._found >= 0 else self.scroll_offset.y - (1 if forward else 0)
        for step in range(1, count + 1):
            number = (start + (step if forward else -step)) % count
            if self._pattern in self.lines[number].lower():
                self._found = number
                height = self.scrollable_content_region.height
                self.scroll_to(0, max(number - height // 2, 0), animate=False)
                return True
        return False

    def action_half_page(self, direction: int) -> None:
        """Scroll by half of the height."""
        height = self.scrollable_content_region.height
        self.scroll_relative(y=direction * max(height // 2, 1), animate=False)
