# SPDX-License-Identifier: MIT
"""The checker: every bit is accounted for; overlaps and unknown names are reported."""

from __future__ import annotations

import pytest

from cffpy._data import data_path
from cffpy.isa.check import ERROR, NOTICE, check_directory, check_files
from cffpy.isa.language import parse_text
from tests.selection import first_always


def found(*texts):
    files = [parse_text(text, f"f{number}.isa") for number, text in enumerate(texts)]
    return [str(finding) for finding in check_files(files)]


@pytest.mark.slow
def test_the_projects_own_description():
    findings = check_directory(data_path("register_db"))
    assert [f for f in findings if f.severity == ERROR] == []
    overlaps = [f.message for f in findings if f.kind == "overlap"]
    assert overlaps == [
        "ldib.b overlaps ldl (generations 600 on)",
        "ldib.b overlaps ldlw (generations 600 on)",
        "ldib.b overlaps ldp (generations 600 on)",
        "ldib.b overlaps ray_intersection (generations 700 on)",
    ]
    assert {f.severity for f in findings} == {NOTICE}


@pytest.mark.parametrize(
    ("text", "findings"),
    first_always(
        [
            ('bitset rr size 8 { display "{F}" 0..7 F : uint }', []),
            (
                'bitset rr size 8 { display "{F}" 1..5 F : uint }',
                ["f0.isa:1: error: rr: bits without meaning: 0, 6..7"],
            ),
            (
                'bitset rr size 4 { display "{F}" 0..3 F : uint pattern 2..3 1x }',
                ["f0.isa:1: error: rr: bit 2 is in pattern 1x and in field F"],
            ),
            (
                'bitset rr size 1 { display "{G}" 0 F : uint }',
                ["f0.isa:1: notice: rr: no field G for a template of rr"],
            ),
            (
                'bitset rr size 1 { override {G} { } display "{F}" 0 F : uint }',
                ["f0.isa:1: notice: rr: no field G for a expression of rr"],
            ),
            (
                'bitset rr size 1 { display "{F}" 0 F : uint } enum e { } expr x = 1',
                [
                    "f0.isa:1: notice: enum e is not used",
                    "f0.isa:1: notice: expression x is not used",
                ],
            ),
            (
                """bitset rr size 2 { display "{NAME}" }
            bitset a extends rr gen ..599 { 0 F : uint pattern 1 1 }
            bitset b extends rr gen 500.. { pattern 0 1 1 F : uint }
            bitset c extends rr gen 600..  { pattern 0..1 10 }""",
                ["f0.isa:3: notice: b overlaps a (generations 500 to 599)"],
            ),
            (
                "bitset rr size 8 { 0..7 F : x }",
                ["f0.isa:1: error: field F: unknown type x"],
            ),
        ],
        names=2,
    ),
)
def test_findings(text, findings):
    assert found(text) == findings


@pytest.mark.slow
def test_descriptions_of_their_own_do_not_mix():
    part = 'bitset rr size 1 { display "{F}" 0 F : uint }'
    assert found(part, part) == []
    assert found(part, f'import "f0.isa" {part}') == [
        "f1.isa:1: error: bitset rr is declared twice"
    ]


def test_a_file_that_is_no_description_is_a_finding(tmp_path):
    folder = tmp_path / "isa"
    folder.mkdir()
    (folder / "a.isa").write_text("bitset a size 8 {\n  nonsense\n}\n")
    (folder / "b.txt").write_text("not looked at")
    (finding,) = check_directory(str(tmp_path))
    assert (finding.file, finding.line, finding.severity) == ("a.isa", 2, ERROR)
    assert "unexpected input" in finding.message
