# SPDX-License-Identifier: MIT
"""Which parameters of a test run always; the others are marked slow and run by the gate."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest


def first_always(values: Iterable[Any], count: int = 1, names: int = 1) -> list[Any]:
    """The values as parameters, of which the first ``count`` are not slow.

    ``names``: of the parameters that one value is for; several make a value a tuple.
    """
    found: list[Any] = []
    for number, value in enumerate(values):
        if number < count or hasattr(value, "marks"):
            found.append(value)
        else:
            parts = value if names > 1 else (value,)
            found.append(pytest.param(*parts, marks=pytest.mark.slow))
    return found
