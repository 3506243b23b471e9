# SPDX-License-Identifier: MIT
"""Limits for hostile files: their names, defaults, and how a user sets them.

Each is set by ``--limit NAME=N``, or by an environment variable, which the option stands for.
docs/robustness.md says more of what they limit.
"""

from __future__ import annotations

import os

from cffpy.errors import CffpyError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence

#: Name -> variable. They limit a capture's size when decompressed, streams within streams, dwords
#: that run, passes, tiles and draws that are kept, and what is printed of one packet or list.
LIMITS = {
    "bytes": "CFFPY_MAX_BYTES",
    "depth": "CFFPY_MAX_DEPTH",
    "commands": "CFFPY_MAX_COMMANDS",
    "draws": "CFFPY_MAX_DRAWS",
    "elements": "CFFPY_MAX_ELEMENTS",
}

#: Of the option.
HELP = f"Set a limit for hostile captures: {', '.join(LIMITS)}."

#: Of ``elements``: what is printed of one packet or list.
MAX_ELEMENTS = 1 << 20


def hint(name: str) -> str:
    """For the message that a limit was met: how to set it."""
    return f"(--limit {name}=N or {LIMITS[name]} sets the limit)"


def is_set(name: str) -> bool:
    """Whether the user chose this limit."""
    return bool(os.environ.get(LIMITS[name]))


def limit(name: str, default: int, most: int | None = None) -> int:
    """The limit of this name: the user's number, also as 0x..., else ``default``.

    Raises CffpyError for what is no number from 1 to ``most``.
    """
    chosen = os.environ.get(LIMITS[name], "")
    if not chosen:
        return default
    try:
        number = int(chosen, 0)
    except ValueError:
        raise CffpyError(f"{LIMITS[name]} is no number: {chosen!r}") from None
    if number < 1 or (most is not None and number > most):
        raise CffpyError(f"{LIMITS[name]} is no number of 1 to {most or 'more'}: {chosen!r}")
    return number


class Chosen:
    """Limits that a command line sets, as variables of this process: ``NAME=N`` each.

    ``undo`` sets them back. Raises ValueError, with a message for the user, for what is none.
    """

    def __init__(self, texts: Sequence[str]) -> None:
        self._before: dict[str, str | None] = {}
        numbers = {}
        for text in texts:
            name, _, number = text.partition("=")
            if name not in LIMITS:
                raise ValueError(f"{text!r} is no limit: NAME=N, where NAME is {', '.join(LIMITS)}")
            try:
                is_positive = int(number, 0) > 0
            except ValueError:
                is_positive = False
            if not is_positive:
                raise ValueError(f"{text!r} needs a number from 1 on")
            numbers[LIMITS[name]] = number
        for key, number in numbers.items():
            self._before[key] = os.environ.get(key)
            os.environ[key] = number

    def undo(self) -> None:
        """The limits are as before."""
        for key, number in self._before.items():
            if number is None:
                os.environ.pop(key, None)
            else:
                os.environ[key] = number
