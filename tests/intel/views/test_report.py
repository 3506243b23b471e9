# SPDX-License-Identifier: MIT
"""The report of Intel captures: its document and its page."""

from __future__ import annotations

import html
import json
import re
import subprocess
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path

import pytest

import cffpy
from cffpy.reports.intel import IntelReport, report_of_intel
from cffpy.views import intel_report_html
from cffpy.views.intel_report_html import page
from tests.intel import aub_files, frames

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def made(data: bytes, compare: bytes | None = None) -> IntelReport:
    """The report of a capture."""
    with cffpy.open(data) as capture:
        if compare is None:
            return report_of_intel(capture)
        with cffpy.open(compare) as other:
            return report_of_intel(capture, other)


@pytest.fixture(scope="module")
def report() -> IntelReport:
    return made(frames.frame())


def test_draws(report: IntelReport) -> None:
    draws = report.to_dict()["draws"]
    assert [one["action"]["name"] for one in draws if one["uses"] is not None] == [
        f"p0:{number}" for number in range(8)
    ]
    first = next(one for one in draws if one["action"]["name"] == "p0:0")
    (table,) = first["uses"]["binding_tables"]
    assert table["entries"][0]["state"] == "0x100002040"
    (descriptors,) = first["uses"]["descriptor_sets"]
    assert descriptors["address"] == f"{frames.SET:#x}"
    with cffpy.open(frames.frame()) as capture:
        assert first["bindings"] == [one.to_dict() for one in capture.draw("p0:0").bindings]
    changed = {one["register"]: one["fields"] for one in first["changes"]}
    (field,) = changed["3DSTATE_VF_TOPOLOGY"]
    assert field == {"field": "Primitive Topology Type", "before": "", "now": "4 (TRILIST)"}


def test_state_that_does_not_change(report: IntelReport) -> None:
    """Consecutive draws have no changes between them."""
    draws = {one["action"]["name"]: one["changes"] for one in report.to_dict()["draws"]}
    assert draws["p0:1"] == draws["p0:2"] == []
    assert [one["register"] for one in draws["p0:3"]] == ["3DSTATE_CONSTANT_PS"]


def test_surfaces_and_batches(report: IntelReport) -> None:
    document = report.to_dict()
    surfaces = {one["surface"]["address"]: one for one in document["surfaces"]}
    target = surfaces[f"{frames.TARGET:#x}"]
    assert target["text"].startswith("2D R8G8B8A8_UNORM 64x32")
    uses = [one["draw"] for one in target["uses"] if one["as"] == "render target"]
    assert [one for one in uses if one] == [f"p0:{number}" for number in range(8)]
    texture = surfaces[f"{frames.TEXTURE:#x}"]["uses"]
    assert {one["as"] for one in texture} == {"PS table entry 2", "set, descriptor 0x10"}
    batches = {one["address"]: one for one in document["batches"]}
    assert next(iter(batches)) == f"{frames.BATCH:#x}"
    assert batches[f"{frames.SECONDARY:#x}"]["actions"] == [3]
    with cffpy.open(frames.frame()) as capture:
        assert document["passes"][0]["pass"] == capture.passes[0].to_dict()


class _Page(HTMLParser):
    """Collects ids and links; checks that elements are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.ids: list[str] = []
        self.links: set[str] = set()
        self._open: list[str] = []
        self.feed(text)
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        known = dict(attrs)
        if known.get("id"):
            self.ids.append(str(known["id"]))
        if (known.get("href") or "").startswith("#"):
            self.links.add(str(known["href"])[1:])
        if tag not in ("link", "meta"):
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag


def test_the_page(report: IntelReport) -> None:
    text = report.page().decode()
    page = _Page(text)
    assert len(set(page.ids)) == len(page.ids)
    assert page.links <= set(page.ids)
    assert {"passes", "pass0", "draws", "action1", "surfaces", "batches"} <= set(page.ids)
    assert "<script" not in text
    assert "<td>0x2bfffffc0</td><td>64 bytes</td><td>PS table entry 1</td>" in text
    row = '<th scope="row">texture</th><td>2 of PS</td><td>not used</td><td>0xeffe40000000</td>'
    assert row in text
    assert "Surface Format: 199 (ISL_FORMAT_R8G8B8A8_UNORM); " in text


def test_lines_of_passes(report: IntelReport) -> None:
    """All lines of a pass, as ``cffpy passes`` prints them, each in a line of its own."""
    text = report.page().decode()
    assert "\\x0a" not in text
    shown = re.findall(r'<pre class="listing">(.*?)</pre>', text, re.DOTALL)
    passes = report.to_dict()["passes"]
    assert [html.unescape(one).split("\n") for one in shown] == [one["lines"][1:] for one in passes]


def test_many_lines_of_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """A pass of 14,210 characters is shown whole; a page that is full says so."""
    found = made(frames.frame())
    document = found.to_dict()
    lines = [f"  flush {number}: the render target cache" for number in range(350)]
    (only,) = document["passes"]
    document["passes"] = [
        {**only, "pass": {**only["pass"], "pass": number}, "lines": ["pass", *lines]}
        for number in (0, 1)
    ]
    text = page(document).decode()
    assert text.count("\n".join(lines)) == 2
    monkeypatch.setattr(intel_report_html, "_PASS_CHARACTERS", 100)
    text = page(document).decode()
    assert text.count("\n".join(lines)) == 1
    assert text.count("The page is full: what is in this pass is not shown.") == 1


def test_names_are_escaped() -> None:
    data = aub_files.header(application="<b>bold</b>") + frames.frame()[len(aub_files.header()) :]
    text = made(data).page().decode()
    assert "&lt;b&gt;bold&lt;/b&gt;" in text
    assert "<b>bold" not in text


def test_the_command(tmp_path: Path, run_cffpy: Run) -> None:
    capture, page = tmp_path / "frame.aub", tmp_path / "out.html"
    capture.write_bytes(frames.frame())
    done = run_cffpy("report", capture, "-o", page)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert re.match(rb"<!doctype html>", page.read_bytes())
    document = json.loads(run_cffpy("report", "--json", capture).stdout)
    assert document["schema"] == "cffpy.intel-report/1"
    assert document["info"]["generation"] == 90
    for arguments, message in (
        (("--gpu", "630", "-o", page, capture), b"--gpu does not apply to Intel captures"),
        (("--json", "-o", page, capture), b"cannot be used together"),
    ):
        refused = run_cffpy("report", *arguments)
        assert refused.returncode == 2
        assert message in refused.stderr


def test_a_cut_file(tmp_path: Path, run_cffpy: Run) -> None:
    capture = tmp_path / "cut.aub"
    capture.write_bytes(frames.frame()[:-10])
    done = run_cffpy("report", "--json", capture)
    assert (done.returncode, done.stderr.count(b"\n")) == (1, 1)
    assert len(json.loads(done.stdout)["info"]["problems"]) == 1


def test_what_is_too_much_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cffpy.reports.intel._MAX_ACTIONS", 4)
    monkeypatch.setattr("cffpy.reports.intel.MAX_DRAWS", 2)
    report = made(frames.frame())
    assert report.cut == ["the state of draws after the first 2", "actions after the first 4"]
    text = report.page().decode()
    assert len(report.to_dict()["draws"]) == 4
    assert "Left out: actions after the first 4." in text
    assert _Page(text).links <= set(_Page(text).ids)


def test_a_comparison() -> None:
    """Two draws of the second capture have other counts, and one more follows."""
    memory = frames.batches()
    batch = memory[frames.BATCH].replace(frames.draw(36), frames.draw(33), 1)
    memory[frames.BATCH] = batch.removesuffix(aub_files.END) + frames.draw(48) + aub_files.END
    report = made(frames.frame(memory), frames.frame())
    compared = report.to_dict()["comparison"]
    assert compared is not None
    assert compared["summary"] == "2 differences"
    (entry,) = [one for one in compared["entries"] if one["fields"]]
    assert entry["fields"] == [["draw vertices", "36", "33", []]]
    assert entry["extents"] == [[0, 1, 1]], "the row is the number of the action"
    text = report.page().decode()
    page = _Page(text)
    assert page.links <= set(page.ids)
    assert {"differences", "action1"} <= page.links | set(page.ids)
    assert "Differences from the other capture" in text
    same = made(frames.frame(), frames.frame())
    assert "There are no differences." in same.page().decode()


def test_the_command_compares(tmp_path: Path, run_cffpy: Run) -> None:
    good, bad, page = tmp_path / "good.aub", tmp_path / "bad.aub", tmp_path / "out.html"
    good.write_bytes(frames.frame())
    bad.write_bytes(frames.frame().replace(frames.draw(36), frames.draw(33), 1))
    document = json.loads(run_cffpy("report", "--json", "--compare", good, bad).stdout)
    assert (document["comparison"]["other"], len(document["draws"])) == (str(good), 11)
    fields = [one["fields"][0][0] for one in document["comparison"]["entries"]]
    assert fields == ["draw vertices"]
    assert json.loads(run_cffpy("report", "--json", bad).stdout)["comparison"] is None
    done = run_cffpy("report", "--compare", "-", bad, "-o", page, input=frames.frame()[:-10])
    assert (done.returncode, done.stderr.count(b"cffpy: warning: standard input: ")) == (0, 1)
    assert b"Damage of the other: " in page.read_bytes()
    text = tmp_path / "notes.txt"
    text.write_text("no capture")
    for arguments in (("--compare", text, bad), ("--compare", bad, text)):
        refused = run_cffpy("report", *arguments, "-o", page)
        assert (refused.returncode, refused.stderr.count(b"\n")) == (1, 1)
        assert b"notes.txt" in refused.stderr
