# SPDX-License-Identifier: MIT
"""The samples as texts: small, described, commented, and with the content that they are for."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path

import pytest

from cffpy.container.open import open_capture
from cffpy.pm4asm.model import KEYWORDS
from tests.conftest import CHECKOUT
from tests.pm4asm.round import bytes_of, text_of
from tests.selection import first_always

TEXTS = sorted((CHECKOUT / "samples").glob("*.pm4"))


def test_samples_are_described() -> None:
    manifest = tomllib.loads((CHECKOUT / "samples" / "MANIFEST.toml").read_text(encoding="utf-8"))
    assert sorted(entry["file"] for entry in manifest["sample"]) == [path.name for path in TEXTS]
    for entry in manifest["sample"]:
        assert entry["licence"] == "MIT"
        assert entry["origin"]
        assert entry["gpu"]
        assert entry["shows"]


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: path.stem)
def test_a_sample_is_a_text_for_people(path: Path) -> None:
    lines = path.read_text(encoding="utf-8").splitlines()
    assert lines[0] == "// SPDX-License-Identifier: MIT"
    assert len(lines) < 700
    assert sum(line.strip().startswith("//") for line in lines) >= 3


@pytest.mark.parametrize("path", first_always(TEXTS), ids=lambda path: path.stem)
def test_a_sample_decompiles_to_itself(path: Path, samples: Path) -> None:
    built = next(samples.glob(f"{path.stem}.rd*"))
    data = bytes(open_capture(str(built)).data)
    assert bytes_of(path.read_text(encoding="utf-8")) == data
    assert bytes_of(text_of(data)) == data


def test_a_pair_differs_in_one_field(samples: Path) -> None:
    good, bad = (
        text_of(open_capture(str(samples / f"a430-depth-{name}.rd"))).splitlines()
        for name in ("good", "bad")
    )
    different = [pair for pair in zip(good, bad, strict=True) if pair[0] != pair[1]]
    assert len(different) == 1
    assert "ZFUNC=FUNC_LESS" in different[0][0]
    assert "ZFUNC=FUNC_GREATER" in different[0][1]


@pytest.mark.parametrize("name", ["pm4asm", "regs"])
def test_grammars_for_editors(name: str) -> None:
    grammar = json.loads((CHECKOUT / "editors" / f"{name}.tmLanguage.json").read_text("utf-8"))
    for rule in grammar["patterns"]:
        expressions = [rule[key] for key in ("match", "begin", "end") if key in rule]
        assert expressions
        for expression in expressions:
            assert not re.compile(expression).match(""), "it would match everywhere"


def test_the_example_of_the_language_compiles() -> None:
    document = (CHECKOUT / "docs" / "reference" / "pm4asm.md").read_text("utf-8")
    example = re.findall(r"^```\n(pm4 1.*?)^```$", document, re.MULTILINE | re.DOTALL)
    assert len(example) == 1
    assert len(bytes_of(example[0])) == 4096 + 4 + len("triangle/1") + 12 + 12 + 5 * 8


def test_every_statement_is_coloured() -> None:
    """The keywords of the grammar are those of the editors' grammar."""
    lark = (CHECKOUT / "grammars" / "pm4asm.lark").read_text("utf-8")
    keywords = set(re.findall(r'^(?:\?\w+:| +\|) \(?"([a-z_0-9]+)"', lark, re.MULTILINE))
    colours = json.loads((CHECKOUT / "editors" / "pm4asm.tmLanguage.json").read_text("utf-8"))
    assert len(keywords) > 15
    assert set(re.findall(r'"([a-z_0-9]+)"', lark)) | {"short"} == KEYWORDS
    for keyword in keywords:
        assert any(
            re.match(rule["match"], keyword)
            for rule in colours["patterns"]
            if rule.get("name", "").startswith("keyword") and "match" in rule
        ), keyword
