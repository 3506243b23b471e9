# SPDX-License-Identifier: MIT
"""What the guide shows beside its console examples runs, too: Python, expressions, a text."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import cffpy
from tools import examples

GUIDE = sorted((Path(__file__).resolve().parent.parent / "docs/guide").glob("*.md"))
PYTHON = [
    pytest.param(block, id=f"{page.stem}-{number}")
    for page in GUIDE
    for number, block in enumerate(
        re.findall(r"^```python\n(.*?)^```$", page.read_text("utf-8"), re.MULTILINE | re.DOTALL)
    )
]


def block_after(name: str, words: str) -> str:
    """The first table or block of a page after these words."""
    (page,) = [page for page in GUIDE if page.stem == name]
    _, found, rest = page.read_text("utf-8").partition(words)
    assert found
    return rest


@pytest.mark.parametrize("block", PYTHON)
def test_python(block: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with examples.runner() as runner:
        monkeypatch.chdir(runner.folder)
        names: dict[str, object] = {}
        exec(compile(block, "the guide", "exec"), names)
    assert "cffpy" in names


def test_expressions(samples: Path) -> None:
    table = block_after("many-captures", "| what you look for | expression |").partition("\n\n")[0]
    expressions = re.findall(r"\| `(.+)` \|$", table, re.MULTILINE)
    assert len(expressions) >= 9
    draws = cffpy.open(samples / "a660-textures.rd").draws
    found = {text for text in expressions if draws.where(text)}
    assert "sampled(0x100008000)" in found


def test_the_text_of_a_small_frame_compiles() -> None:
    text = block_after("change", "A small frame from nothing").split("```\n")[1]
    capture = cffpy.open(cffpy.compile(text))
    assert [draw.vertices for draw in capture.draws] == [3]


def test_questions_name_commands_that_exist() -> None:
    from cffpy.cli.main import COMMANDS

    for page in GUIDE:
        for name in re.findall(r"`cffpy ([a-z][a-z-]*)", page.read_text("utf-8")):
            assert name in COMMANDS, f"{page.name}: cffpy {name}"
