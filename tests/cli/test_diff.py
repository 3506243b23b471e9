# SPDX-License-Identifier: MIT
"""``cffpy diff``, its text and its page, as a process."""

from __future__ import annotations

import gzip
import json
import lzma
import struct
from pathlib import Path

import pytest

from cffpy.analysis.diff.rules import RULES, RuleName
from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
)
from tests.analysis.diff.frames import DrawCall, frame_bytes, vertices_bytes
from tests.builders import type4
from tests.command_server import Run
from tests.selection import first_always


def draws(changed: dict[str, int] | None = None) -> list[DrawCall]:
    calls = [DrawCall(3 * (number + 1)) for number in range(4)]
    calls[1].registers = {"RB_DEPTH_CNTL": 5, "GRAS_CL_CNTL": 0, **(changed or {})}
    return calls


@pytest.fixture
def good(tmp_path: Path) -> Path:
    path = tmp_path / "good.rd"
    path.write_bytes(frame_bytes(draws()))
    return path


@pytest.fixture
def bad(tmp_path: Path) -> Path:
    path = tmp_path / "bad.rd.gz"
    path.write_bytes(gzip.compress(frame_bytes(draws({"RB_DEPTH_CNTL": 29}))))
    return path


def test_the_same_in_other_compression(run_cffpy: Run, good: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin.rd.xz"
    twin.write_bytes(lzma.compress(good.read_bytes()))
    done = run_cffpy("diff", good, twin)
    assert done.returncode == 0
    assert done.stdout.startswith(b"no difference: ")
    assert done.stderr == b""


def test_a_difference(run_cffpy: Run, good: Path, bad: Path) -> None:
    done = run_cffpy("diff", good, bad)
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert lines[0].startswith("1 difference: ")
    assert lines[1] == "draws p0:1-3: RB_DEPTH_CNTL.ZFUNC: FUNC_LESS → FUNC_ALWAYS"
    assert lines[3].startswith("    good: stream 0 > 0x100")
    assert b"\x1b" not in done.stdout
    assert b"\x1b[" in run_cffpy("diff", "--color", good, bad).stdout


def test_standard_input(run_cffpy: Run, good: Path, bad: Path) -> None:
    done = run_cffpy("diff", "-", bad, input=good.read_bytes())
    assert done.returncode == 1
    assert b"standard input" in done.stdout
    assert run_cffpy("diff", good, "-", input=good.read_bytes()).returncode == 0
    both = run_cffpy("diff", "-", "-", input=good.read_bytes())
    assert both.returncode == 2
    assert both.stdout == b""
    assert b"cannot both be standard input" in both.stderr


def test_brief_is_the_exit_code_alone(run_cffpy: Run, good: Path, bad: Path) -> None:
    for other, code in ((good, 0), (bad, 1)):
        done = run_cffpy("diff", "--brief", good, other)
        assert (done.returncode, done.stdout, done.stderr) == (code, b"", b"")


def test_json(run_cffpy: Run, good: Path, bad: Path) -> None:
    document = json.loads(run_cffpy("diff", "--json", good, bad).stdout)
    assert document["schema"] == "cffpy.diff/1"
    assert document["differs"] is True
    (entry,) = document["entries"]
    (extent,) = entry["extents"]
    assert (extent["first_draw"], extent["last_draw"], extent["numbers_of"]) == (1, 3, "good")
    (difference,) = entry["differences"]
    assert (difference["good"], difference["bad"]) == ("FUNC_LESS", "FUNC_ALWAYS")
    assert int(difference["good_written_by"]["file_offset"], 16) > 0
    assert document["passes"][0]["draws"] == [[n, n] for n in range(4)]
    same = json.loads(run_cffpy("diff", "--json", good, good).stdout)
    assert (same["equal"], same["entries"], same["rules"]) == (True, [], [])


def test_unified(run_cffpy: Run, good: Path, bad: Path) -> None:
    done = run_cffpy("diff", "--unified", good, bad)
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert lines[:2] == [f"--- {good}", f"+++ {bad}"]
    assert [line.split()[-1] for line in lines if line.startswith("@@")] == ["p0:1"]
    assert any(line.startswith("-") and "FUNC_LESS" in line for line in lines[2:])
    assert any(line.startswith("+") and "FUNC_ALWAYS" in line for line in lines[2:])
    assert run_cffpy("diff", "--unified", good, good).stdout == b""


#: Rule -> a register that it holds for.
OF_NO_EFFECT = {
    "addresses": "VFD_FETCH[0].BASE",
    "scratch": "CP_SCRATCH[4].REG",
    "engines": "RB_2D_BLIT_CNTL",
}


@pytest.mark.parametrize("rule", OF_NO_EFFECT)
def test_what_has_no_effect_is_counted_and_shown_on_demand(
    run_cffpy: Run, tmp_path: Path, rule: RuleName
) -> None:
    name = OF_NO_EFFECT[rule]
    paths = [tmp_path / "one.rd", tmp_path / "other.rd"]
    for value, path in enumerate(paths):
        calls = [DrawCall(3)]
        calls[0].registers = {name: 0x1000 * (value + 1)}
        path.write_bytes(frame_bytes(calls))
    hidden = run_cffpy("diff", *paths)
    assert hidden.returncode == 0
    last = f"1 difference is of no effect: {RULES[rule].text(1)}"
    assert hidden.stdout.decode().splitlines()[1:] == [last]
    assert f"  {rule}: 1 ({name}" in run_cffpy("diff", "--all", *paths).stdout.decode()
    for switch in (["--show", rule], ["--strict"]):
        shown = run_cffpy("diff", *switch, *paths)
        assert shown.returncode == 1
        assert f"draw p0:0: {name}" in shown.stdout.decode()


def test_what_is_undecided_is_no_equality(run_cffpy: Run, tmp_path: Path) -> None:
    """One of the captures does not have the vertices; the buffer that holds them is there."""
    paths = [tmp_path / "one.rd", tmp_path / "other.rd"]
    for data, path in zip((dwords_bytes([1, 2, 3, 4]), b""), paths, strict=True):
        path.write_bytes(vertices_bytes(data))
    done = run_cffpy("diff", *paths)
    assert done.returncode == 1
    assert done.stdout.decode().splitlines() == [
        f"nothing is known to differ, 1 undecided: {paths[0]} → {paths[1]}",
        "undecided: the captures do not tell the effect",
        "  uncaptured: 1 (vertex buffer 0)",
    ]
    assert run_cffpy("diff", "--brief", *paths).returncode == 1
    shown = run_cffpy("diff", "--strict", *paths).stdout.decode().splitlines()
    assert shown[0].startswith("1 difference: ")
    assert shown[1] == "draw p0:0: vertex buffer 0: captured → not captured"


def test_trouble_is_one_line_and_exit_code_2(run_cffpy: Run, good: Path, tmp_path: Path) -> None:
    nameless = tmp_path / "nameless.rd"
    nameless.write_bytes(
        capture_bytes(
            [*buffer_sections(0x1000, dwords_bytes([0] * 4)), command_stream_section(0x1000, 4)]
        )
    )
    text = tmp_path / "frame.pm4"
    text.write_text("pm4 1\ngpu_id 630\n")
    for paths in ((tmp_path / "nothing.rd", good), (good, nameless), (text, text)):
        done = run_cffpy("diff", *paths)
        assert done.returncode == 2
        assert done.stdout == b""
        assert done.stderr.count(b"\n") == 1
        assert b"Traceback" not in done.stderr
    for form in ("--json", "--unified"):
        done = run_cffpy("diff", "--brief", form, good, good)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"--brief cannot be used together with --json or --unified" in done.stderr
    assert run_cffpy("diff", good).returncode == 2


def test_damage_is_told_and_changes_no_exit_code(run_cffpy: Run, good: Path) -> None:
    cut = good.with_name("cut.rd")
    cut.write_bytes(good.read_bytes() + b"\x03\0\0\0\xff\0\0\0")
    done = run_cffpy("diff", good, cut)
    assert done.returncode == 0
    assert b"cut.rd" in done.stderr


def test_one_side_empty(run_cffpy: Run, good: Path, tmp_path: Path) -> None:
    empty, packed = tmp_path / "empty.rd", tmp_path / "empty.rd.gz"
    empty.write_bytes(b"")
    packed.write_bytes(gzip.compress(b""))
    for first, second in ((good, empty), (empty, good), (empty, empty), (packed, good)):
        done = run_cffpy("diff", first, second)
        assert (done.returncode, done.stdout) == (2, b"")
        assert b"the file is empty" in done.stderr


def test_one_side_without_streams(run_cffpy: Run, good: Path, tmp_path: Path) -> None:
    other = tmp_path / "other.rd"
    other.write_bytes(capture_bytes(buffer_sections(0x100000, bytes(16))))
    done = run_cffpy("diff", good, other)
    assert done.returncode == 1
    assert b"pass 0 of good is missing in bad (render, sysmem, 4 draws)" in done.stdout
    assert b"GPUs" not in done.stdout  # only one is known


@pytest.mark.slow
def test_the_order_depends_on_no_hash_seed(run_cffpy: Run, tmp_path: Path) -> None:
    paths = [tmp_path / "one.rd", tmp_path / "other.rd"]
    names = [*OF_NO_EFFECT.values(), *(f"VFD_FETCH[{number}].BASE" for number in range(1, 16))]
    shown = ("GRAS_CL_CNTL", "RB_STENCILREF", "RB_STENCIL_CONTROL", "GRAS_SU_CNTL", "VPC_PACK")
    for value, path in enumerate(paths):
        calls = [
            DrawCall(3, {name: value + number for number, name in enumerate(names)}),
            DrawCall(6, dict.fromkeys(("RB_DEPTH_CNTL", "GRAS_SU_CNTL"), value)),
            DrawCall(9, dict.fromkeys(shown[:4], value)),
        ]
        path.write_bytes(frame_bytes(calls))
    outputs = {
        run_cffpy("diff", "--json", *paths, env={"PYTHONHASHSEED": seed}).stdout
        for seed in ("0", "1", "77")
    }
    (output,) = outputs
    assert len(json.loads(output)["rules"]) > 1


def test_the_same_bytes_are_no_difference_at_once(
    run_cffpy: Run, good: Path, tmp_path: Path
) -> None:
    copy = tmp_path / "copy.rd"
    copy.write_bytes(good.read_bytes())
    done = run_cffpy("diff", good, copy)
    assert done.returncode == 0
    assert done.stdout.decode() == f"no difference: {good} → {copy} (the same content)\n"


def test_two_draws_of_one_file(run_cffpy: Run, good: Path) -> None:
    same = run_cffpy("diff", f"{good}@p0:1", f"{good}@p0:1")
    assert same.returncode == 0
    for part, said in (
        ("p7", "no pass p7: the capture has 1 pass, p0"),
        ("s7", "no passes in s7; submits with passes: s0"),
        ("p0:99", "no draw p0:99: pass 0 has 4 draws, p0:0 to p0:3"),
        ("p0:2-9", "no draw p0:9: pass 0 has 4 draws, p0:0 to p0:3"),
        ("p0:t3", "no tile p0:t3: pass 0 has no tiles"),
    ):
        missing = run_cffpy("diff", f"{good}@{part}", good)
        assert missing.returncode == 2
        assert missing.stderr.decode() == f"cffpy: error: {good}: {said}\n"


def test_a_limit_leaves_no_difference_in_what_was_compared(
    run_cffpy: Run, good: Path, bad: Path
) -> None:
    done = run_cffpy("diff", "--limit", "draws=1", good, bad)
    assert done.returncode == 2
    first = done.stdout.decode().splitlines()[0]
    assert first.startswith("no difference in what was compared (1 passes, ")


def test_where_leaves_some_draws(run_cffpy: Run, good: Path, bad: Path) -> None:
    done = run_cffpy("diff", "--where", "draw.vertices >= 9", good, bad)
    assert done.returncode == 1
    lines = done.stdout.decode().splitlines()
    assert lines[1] == "only draws compared where draw.vertices >= 9: 2 of good, 2 of bad"
    assert lines[2] == "draws p0:2-3: RB_DEPTH_CNTL.ZFUNC: FUNC_LESS → FUNC_ALWAYS"
    # it holds for one of the two only
    always = "RB_DEPTH_CNTL.ZFUNC == FUNC_ALWAYS and draw.number == 1"
    assert b"draw p0:1: " in run_cffpy("diff", "--where", always, good, bad).stdout
    none = run_cffpy("diff", "--where", "draw.vertices == 3", good, bad)
    assert none.returncode == 0
    assert none.stdout.startswith(b"no difference in what was compared (1 passes, 1 draws): ")


@pytest.mark.slow
def test_where_in_each_form_of_output(
    run_cffpy: Run, good: Path, bad: Path, tmp_path: Path
) -> None:
    where = "draw.vertices == 12"
    document = json.loads(run_cffpy("diff", "--json", "--where", where, good, bad).stdout)
    assert document["where"] == where
    assert document["passes"] == [{"good": 0, "bad": 0, "draws": [[3, 3]]}]
    assert document["entries"][0]["extents"][0]["first_draw"] == 3
    assert run_cffpy("diff", "--unified", "--where", where, good, bad).stdout == b""
    text = run_cffpy("diff", "--unified", "--where", "draw.number == 1", good, bad).stdout
    assert text == run_cffpy("diff", "--unified", good, bad).stdout
    assert b"draw p0:1" in text
    page = tmp_path / "page.html"
    assert run_cffpy("diff", "--html", page, "--where", where, good, bad).returncode == 1
    assert f"only draws compared where {where}: 1 of good, 1 of bad" in page.read_text("utf-8")


@pytest.mark.parametrize(
    ("where", "message"),
    first_always(
        [
            ("draw.vertices == 77", b"matches draw.vertices == 77"),
            ("RB_DEPTH_CNTLX", b"RB_DEPTH_CNTL"),
            ("draw.vertices ==", b"column"),
        ],
        names=2,
    ),
)
def test_where_that_chooses_nothing_or_is_wrong(
    run_cffpy: Run, good: Path, bad: Path, where: str, message: bytes
) -> None:
    for other in (good, bad):
        done = run_cffpy("diff", "--where", where, good, other)
        assert done.returncode == 2
        assert done.stdout == b""
        assert message in done.stderr
        assert done.stderr.count(b"\n") <= 4


GRAS_SU_CNTL = 0x8090
CULLED_BACK, CULLED_FRONT = 0x12, 0x11


@pytest.fixture
def captures(samples: Path, tmp_path: Path) -> tuple[Path, Path]:
    """A sample, and the same with the other faces culled, under a name that is markup."""
    good = samples / "a630-triangle.rd.gz"
    data = gzip.decompress(good.read_bytes())
    old, new = (
        struct.pack("<2I", *type4(GRAS_SU_CNTL, value)) for value in (CULLED_BACK, CULLED_FRONT)
    )
    assert old in data
    bad = tmp_path / "<b>bad & \udc80.rd"
    bad.write_bytes(data.replace(old, new))
    return good, bad


def test_page_to_a_file(run_cffpy: Run, captures: tuple[Path, Path], tmp_path: Path) -> None:
    out = tmp_path / "page.html"
    done = run_cffpy("diff", "--html", out, *captures)
    assert (done.returncode, done.stdout, done.stderr) == (1, b"", b"")
    text = out.read_text("utf-8")
    assert text.startswith("<!doctype html>\n")
    assert text.endswith("</html>\n")
    assert "GRAS_SU_CNTL.CULL_FRONT" in text
    assert "&lt;b&gt;bad &amp; \\udc80.rd" in text
    assert "<b>bad" not in text


@pytest.mark.slow
def test_the_page_is_the_same_each_time(run_cffpy: Run, captures: tuple[Path, Path]) -> None:
    pages = {
        run_cffpy("diff", "--html", "-", *captures, env={"PYTHONHASHSEED": seed}).stdout
        for seed in ("1", "2", "3")
    }
    assert len(pages) == 1


def test_quiet_does_not_keep_the_page_from_being_written(
    run_cffpy: Run, captures: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "page.html"
    done = run_cffpy("diff", "--brief", "--html", out, *captures)
    assert (done.returncode, done.stdout) == (1, b"")
    assert out.stat().st_size > 1000


def test_a_page_that_cannot_be_written_is_trouble(
    run_cffpy: Run, captures: tuple[Path, Path], tmp_path: Path
) -> None:
    out = tmp_path / "missing" / "page.html"
    done = run_cffpy("diff", "--html", out, *captures)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr == f"cffpy: error: {out}: No such file or directory\n".encode()
