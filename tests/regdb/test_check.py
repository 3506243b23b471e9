# SPDX-License-Identifier: MIT
"""The findings of a check: each kind in a small case, and those of Mesa's own descriptions."""

import os
import time
from collections import Counter

import pytest

from cffpy.regdb.check import ERROR, NOTICE, check_directory, check_files

from .conftest import ROOT


@pytest.fixture
def findings(files):
    def run(text, **others):
        models = files(a6xx='import "adreno_common"\n' + text, **others)
        return [(f.severity, f.kind, f.message) for f in check_files(models)]

    return run


@pytest.mark.parametrize(
    "text",
    [
        "bitset b { 0..3 A 4..7 B }",
        "bitset b { 0..3 A when chip A6XX 0..3 B when chip A7XX }",
        "bitset b { 0..3 A 0..3 B when chip A2XX }",  # no generation of this file
        "domain D { reg32 0 A reg32 1 B reg64 2 C reg32 4 E }",
        "domain D { reg64 0 A when chip A6XX reg32 1 B when chip A7XX }",
        "domain D { array 0 A[4] stride 2 { reg32 0 X } reg32 3 B reg32 9 C }",
        "domain D { array 0 A[] stride 0xfffffffff { reg32 0 X } }",
        "domain D { array 0 A[0xffffffffffffffff] stride 1 { array 0 B[0xffffff] stride 1 { } } }",
        "enum e { A = 1 when chip A6XX B = 1 when chip A7XX }",
        "domain D { reg32 0 A : b reg32 1 B : hex } bitset b { 31 X }",
        "enum e { M N } domain D { stripe when e M { reg32 0 A } stripe when e N { reg32 0 B } }",
    ],
)
def test_nothing_wrong(findings, text):
    assert findings(text) == []


@pytest.mark.parametrize(
    ("text", "severity", "kind", "message"),
    [
        ("bitset b { 0..3 A 3 B }", NOTICE, "bits twice", "field B and field A share bits"),
        ("domain D { reg32 0 R { 0 A 0 B } }", NOTICE, "bits twice", "D.R: field B and field A"),
        ("domain D { reg64 0 A reg32 1 B }", NOTICE, "overlap", "D: A and B are both at 0x1"),
        (
            "domain D { array 0 A[2] stride 2 { reg32 0 X } reg32 2 B when chip A7XX }",
            NOTICE,
            "overlap",
            "D: A[1].X and B are both at 0x2",
        ),
        ("enum e { A = 1 B = 1 }", NOTICE, "value twice", "0x1 is A and B"),
        ("domain D { reg32 0 A : b } bitset b { 32 X }", NOTICE, "width", "beyond its 32"),
        ("domain D { reg32 0 A : oops }", ERROR, "unknown type", "D.A: unknown type 'oops'"),
        ("bitset b { 0 A : oops }", ERROR, "unknown type", "unknown type 'oops'"),
        ("domain D { array 0 A[1] index oops { } }", ERROR, "unknown type", "is not an enum"),
        ("domain D { reg32 0 A when oops X }", ERROR, "varset", "'oops', which is not an enum"),
        ("domain D { reg32 0 A when chip X- }", ERROR, "variant", "'chip' has no value X"),
        ("domain D { reg32 0 A when chip A7XX-A2XX }", ERROR, "range", "holds nothing"),
        ("domain D { reg32 0 A { 31..32 X } }", ERROR, "width", "bits 31..32 of 32"),
        ("bitset b { 64 X }", ERROR, "width", "bits 64..64 of 64"),
        ("domain D { reg32 0 A bits 5..32 }", ERROR, "range", "D.A: bits 5..32"),
        ("domain D { reg32 0 A[2] }", ERROR, "stride", "repeated, but has no stride"),
        ("domain D { array 0 A[2] { } }", ERROR, "stride", "repeated, but has no stride"),
        ("domain D { array 0, 1 A[3] { } }", ERROR, "range", "2 offsets for 3 repeats"),
        ("domain D width 8 { }", ERROR, "width", "only 32 is supported"),
        ('import "oops"', ERROR, "missing import", "import of 'oops'"),
    ],
)
def test_finding(findings, text, severity, kind, message):
    found = findings(text)
    assert [(each[0], each[1]) for each in found] == [(severity, kind)]
    assert message in found[0][2]


def test_bitsets_in_themselves(findings):
    found = findings("bitset b { 0 A : b } domain D { reg32 0 R : b }")
    assert {each[:2] for each in found} == {(ERROR, "compile")}


def test_findings_have_file_and_line(files):
    models = files(a6xx='import "x"\nimport "adreno_common"', x="\n\nenum e {\n A = 1\n B = 1 }")
    assert [str(finding) for finding in check_files(models)] == [
        "x.regs:5: notice: enum e: 0x1 is A and B"
    ]


def test_files_that_nothing_imports_are_checked_too(findings):
    found = findings("", lonely="domain D { reg32 0 A : oops }")
    assert [each[:2] for each in found] == [(ERROR, "unknown type")]


@pytest.mark.slow
def test_many_registers_at_one_offset_take_no_quadratic_time(findings):
    text = "domain D {" + " ".join(f"reg32 0 R{n}" for n in range(2000)) + "}"
    start = time.process_time()
    assert len(findings(text)) > 2000
    assert time.process_time() - start < 20


@pytest.mark.slow
def test_bundled_edition_has_no_errors():
    found = check_directory(os.path.join(ROOT, "register_db"))
    assert Counter((finding.severity, finding.kind) for finding in found) == {
        (NOTICE, "overlap"): 27,
        (NOTICE, "bits twice"): 13,
        (NOTICE, "value twice"): 11,
    }
