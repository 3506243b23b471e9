# SPDX-License-Identifier: MIT
"""Descriptions that several walks use: read once, and the results are those of their own."""

from __future__ import annotations

from pathlib import Path

import pytest

from cffpy.analysis.shaders import collect_shaders
from cffpy.analysis.walk import Walk
from cffpy.capture.gpu import parse_gpu
from cffpy.container.open import open_capture
from cffpy.editions.folders import editions
from cffpy.pm4.descriptions import Descriptions
from cffpy.regdb.database import Database


def listings(path: Path, shared: Descriptions | None) -> list[tuple[str, str, str]]:
    found, _ = collect_shaders(open_capture(path), print, descriptions=shared)
    return [(one.stage, one.named_by.name, one._program.text) for one in found.shaders]


def test_walks_share_them(samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    names = ("a660-frame-gmem", "a660-textures", "a220-triangle", "a660-frame-gmem")
    paths = [samples / f"{name}.rd" for name in names]
    alone = [listings(path, None) for path in paths]
    opened: list[str] = []
    opens = Database.open

    def note(chip: str, directory: str | None = None) -> Database:
        opened.append(chip)
        return opens(chip, directory)

    monkeypatch.setattr(Database, "open", note)
    shared = Descriptions()
    assert [listings(path, shared) for path in paths] == alone
    assert sorted(opened) == ["A2XX", "A6XX"]


def test_another_edition_has_its_own() -> None:
    directory = next(one for one in editions().values() if one)
    gpu = parse_gpu("a6xx")
    assert Descriptions().names(gpu) is None
    shared = Descriptions(directory)
    assert shared.database(gpu).directory == directory
    names = shared.names(gpu)
    assert names is not None
    assert names is shared.names(gpu)
    assert names.directory is None
    walk = Walk(descriptions=shared)
    assert walk.disassemblers(directory) is shared.disassemblers
    assert walk.disassemblers(None) is not shared.disassemblers
    assert walk.disassemblers(None) is walk.disassemblers(None)
