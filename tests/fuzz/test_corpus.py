# SPDX-License-Identifier: MIT
"""The inputs that coverage-guided runs have found: each parser takes them.

``python -m tests.fuzz.nightly --update`` adds inputs.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.fuzz.targets import TARGETS
from tests.selection import first_always

CORPUS = Path(__file__).resolve().parent / "corpus"


@pytest.mark.parametrize("name", first_always(sorted(path.name for path in CORPUS.iterdir())))
def test_inputs(name: str) -> None:
    target, _ = TARGETS[name]
    inputs = sorted((CORPUS / name).iterdir())
    assert inputs
    for path in inputs:
        data = path.read_bytes()
        try:
            target(data)
        except Exception as problem:
            pytest.fail(f"{name}/{path.name}: {problem!r}")
