# SPDX-License-Identifier: MIT
"""Parameters of tests: which run always, and which are marked slow."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest
from _pytest.mark.structures import ParameterSet


def first_always(values: Iterable[Any], count: int = 1, names: int = 1) -> list[Any]:
    """The values as parameters, of which the first ``count`` are not slow.

    ``names``: how many parameters a value has; if several, it is a tuple.
    """
    found: list[Any] = []
    for number, value in enumerate(values):
        if number < count:
            found.append(value)
        elif isinstance(value, ParameterSet):
            found.append(value._replace(marks=[*value.marks, pytest.mark.slow]))
        else:
            parts = value if names > 1 else (value,)
            found.append(pytest.param(*parts, marks=pytest.mark.slow))
    return found
