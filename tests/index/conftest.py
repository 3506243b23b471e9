# SPDX-License-Identifier: MIT
"""An index of the samples, and small corpora of captures."""

from __future__ import annotations

import shutil
from importlib.util import find_spec
from pathlib import Path

import pytest

pytest.importorskip("duckdb")
if find_spec("pyarrow") is None:  # not imported: it would stay mapped for tests of peak memory
    pytest.skip("pyarrow is not installed", allow_module_level=True)

import cffpy

NAMES = ("a430-depth-good", "a660-frame-gmem", "a690-compute")


@pytest.fixture(scope="session")
def built(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An index of all samples; damaged.rd.gz is one of them."""
    path = tmp_path_factory.mktemp("built") / "samples.index"
    cffpy.build_index([samples], path, jobs=0)
    return path


@pytest.fixture
def corpus(samples: Path, tmp_path: Path) -> Path:
    """A folder with three captures."""
    folder = tmp_path / "corpus"
    folder.mkdir()
    for name in NAMES:
        shutil.copy(samples / f"{name}.rd", folder)
    return folder
