# SPDX-License-Identifier: MIT
"""Parts of captures that are compared: a submit, a pass or a draw, as written behind a path."""

from __future__ import annotations

import re
from dataclasses import dataclass

_SELECTION = re.compile(
    r"(?P<path>.+):(?:submit[ =]?(?P<submit>\d{1,9})"
    r"|pass[ =]?(?P<pass>\d{1,9})(?:/draw[ =]?(?P<draw>\d{1,9}))?)"
)


@dataclass(frozen=True, slots=True)
class Selection:
    """A part of a capture; all of it where everything is None.

    ``submit``, ``index`` (of a pass) and ``draw`` (of the program, in the pass) count from 0.
    """

    submit: int | None = None
    index: int | None = None
    draw: int | None = None

    @property
    def is_whole(self) -> bool:
        """Whether nothing is left out."""
        return self.submit is None and self.index is None

    @property
    def text(self) -> str:
        """``pass 3, draw 7``."""
        if self.submit is not None:
            return f"submit {self.submit}"
        return f"pass {self.index}" + ("" if self.draw is None else f", draw {self.draw}")

    def __str__(self) -> str:
        """As it is written behind a path, with the colon."""
        if self.submit is not None:
            return f":submit{self.submit}"
        if self.index is None:
            return ""
        return f":pass{self.index}" + ("" if self.draw is None else f"/draw{self.draw}")


WHOLE = Selection()


def parse_selection(text: str) -> tuple[str, Selection]:
    """``path:pass3/draw7`` -> the path and the part; a path without a part is the whole."""
    found = _SELECTION.fullmatch(text)
    if found is None:
        return text, WHOLE
    numbers = (found["submit"], found["pass"], found["draw"])
    return found["path"], Selection(*(None if one is None else int(one) for one in numbers))
