# SPDX-License-Identifier: MIT
"""Caches may be cleared at any time: small limits change no byte."""

from __future__ import annotations

from pathlib import Path
from types import ModuleType

import pytest

from benchmarks.synthetic import draws_capture, tiles_capture
from cffpy.container.open import open_capture
from cffpy.views.cffdump import packets, registers
from tests.selection import first_always
from tests.views.conftest import dump

LIMITS = [
    (registers, "_LINES_LIMIT"),
    (registers, "_REGISTERS_LIMIT"),
    (packets, "_TEXTS_LIMIT"),
    (packets, "_VALUES_LIMIT"),
]


@pytest.mark.parametrize("limit", first_always([1, 7]))
@pytest.mark.parametrize(("module", "name"), first_always(LIMITS, names=2))
def test_small_limits(
    module: ModuleType, name: str, limit: int, samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    captures = [
        bytes(open_capture(str(samples / "a630-triangle.rd.gz")).data),
        bytes(open_capture(str(samples / "a220-triangle.rd")).data),
        draws_capture(20, distinct=True),
        tiles_capture(3, 10),
    ]
    plain = [dump(*captures), dump(*captures, summary=True)]
    monkeypatch.setattr(module, name, limit)
    assert [dump(*captures), dump(*captures, summary=True)] == plain
