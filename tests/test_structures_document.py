# SPDX-License-Identifier: MIT
"""The examples of docs/reference/structures.md and of the Structs' docstrings run."""

from __future__ import annotations

import doctest
import re
from pathlib import Path

import pytest

from cffpy.container import structs as section_structs
from cffpy.pm4 import structs as packet_structs

PAGE = Path(__file__).resolve().parent.parent / "docs" / "reference" / "structures.md"
EXAMPLES = re.findall(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)


@pytest.mark.parametrize("example", EXAMPLES)
def test_example(example: str, samples: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(samples)
    names: dict[str, object] = {}
    exec(compile(example, str(PAGE), "exec"), names)
    assert names.keys() > {"__builtins__"}, "the example imports or defines something"


def test_there_are_examples() -> None:
    assert len(EXAMPLES) == 8


@pytest.mark.parametrize("module", [section_structs, packet_structs])
def test_docstring(module: object) -> None:
    result = doctest.testmod(module)
    assert result.attempted
    assert not result.failed
