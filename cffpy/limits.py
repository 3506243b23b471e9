# SPDX-License-Identifier: MIT
"""Limits for hostile files, each set by an environment variable. docs/robustness.md lists them."""

from __future__ import annotations

import os

from cffpy.errors import CffpyError


def limit(name: str, default: int, most: int | None = None) -> int:
    """The limit of this name: the variable's number, also as 0x..., else ``default``.

    Raises CffpyError for what is no number from 1 to ``most``.
    """
    chosen = os.environ.get(name, "")
    if not chosen:
        return default
    try:
        number = int(chosen, 0)
    except ValueError:
        raise CffpyError(f"{name} is no number: {chosen!r}") from None
    if number < 1 or (most is not None and number > most):
        raise CffpyError(f"{name} is no number of 1 to {most or 'more'}: {chosen!r}")
    return number
