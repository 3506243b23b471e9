# SPDX-License-Identifier: MIT
"""What tests of visibility share: from a capture to the visibility of its passes."""

from __future__ import annotations

import pytest

from cffpy.analysis.queries import find_passes
from cffpy.analysis.visibility import BUDGET, VisibilityReader
from cffpy.container.open import open_bytes
from tests.binned import Binned


def passes_of(data: bytes, budget: int = BUDGET):
    finder, _ = find_passes(open_bytes(data), lambda message: pytest.fail(message))
    reader = VisibilityReader(finder.found, budget)
    return [reader.read(one) for one in finder.found.passes]


def read(wanted: Binned, gpu: int = 660, budget: int = BUDGET):
    (found,) = passes_of(wanted.capture(gpu), budget)
    return found


def findings(found) -> list[str]:
    return [
        *found.findings,
        *(text for pipe in found.pipes for text in pipe.findings),
    ]
