# SPDX-License-Identifier: MIT
"""The screen with the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.containers import VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Static

if TYPE_CHECKING:
    from textual.app import ComposeResult
    from textual.binding import BindingType

KEYS = """\
Move
  j k, arrows   down, up              g G    top, bottom
  space b       page down, page up    ^d ^u  half a page
  h l, arrows   close, open a node; scroll left, right
  Tab, Enter    from the outline to the page
  ] [           next, previous draw   } {    next, previous pass
  1 to 7        pass, state, shaders, bindings, dump, pictures,
                differences

Find
  / n N         search in the outline or page; next, previous
  w             only draws for which an expression holds, as in
                draws --where: RB_DEPTH_CNTL.ZFUNC == FUNC_LESS
  Escape        all draws again
  : p           go to a draw: p0:8, or 57 for draw 57 of the dump
  m '           mark the draw; go to the next mark
  a x           note on the draw, which marks it; write all marks
                to a file

Registers
  c             changed since the draw before, set in this pass,
                all, different from the other capture

Two captures
  d D           next, previous draw that differs
  o             show the other capture

  q  quit       ?  these keys
"""


class KeysScreen(ModalScreen[None]):
    """Shows the keys until any is pressed."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,question_mark,enter", "dismiss", "Close")]

    def compose(self) -> ComposeResult:
        """The text."""
        with VerticalScroll(id="keys"):
            yield Static(KEYS, markup=False)

    def on_click(self) -> None:
        """Close."""
        self.dismiss()
