# SPDX-License-Identifier: MIT
from __future__ import annotations

import base64
import json
import re
import zlib
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pytest

import cffpy
import cffpy.views.page_kit
import cffpy.views.report_html
from cffpy.views.pass_cost import DIRECT
from cffpy.views.plain_text import visible
from cffpy.views.report_html import page as page_module
from cffpy.views.report_html.page import page
from cffpy.views.report_html.passes import pass_table, place_text, rows_of
from tests.selection import first_always
from tests.views.diff_html.comparisons import HOSTILE
from tests.views.page_kit.reading import Document, check_nothing_is_loaded
from tests.views.report_html.documents import hostile_document, huge_document, small_document

FOLDERS = [
    Path(cffpy.views.report_html.__file__).parent,
    Path(cffpy.views.page_kit.__file__).parent,
]
FILES = [path for folder in FOLDERS for path in sorted(folder.glob("*.[jc]s*"))]


@pytest.mark.parametrize("make", first_always([small_document, hostile_document, huge_document]))
def test_well_formed(make: Callable[[], dict[str, Any]]) -> None:
    found = check_nothing_is_loaded(page(make()))
    ids = found.values("id")
    assert len(ids) == len(set(ids))


def test_hostile_texts_are_text() -> None:
    plain, hostile = Document(page(small_document())), Document(page(hostile_document()))
    assert hostile.text.count(visible(HOSTILE)) >= 20
    assert "window.injected" not in hostile.contents["script"]
    assert "\x1b" not in hostile.text
    assert hostile.tags["script"] == plain.tags["script"]
    assert hostile.tags["img"] == 0


def test_passes_can_be_read_without_scripts() -> None:
    document = small_document()
    found = Document(page(document))
    for one in document["passes"]:
        assert f"pass={one['pass']}" in found.values("id")
        assert place_text(one["first"]) in found.text
        for target in one["attachments"]:
            assert (target["format"] or "unknown") in found.text
        for operation in one["operations"]:
            assert operation["text"] in found.text
    assert found.tags["svg"] >= 2  # tiles and GMEM of the pass in tiles
    assert "Differences from" in found.text


@pytest.mark.parametrize(
    ("mode", "moved", "expected"),
    [
        ("gmem", 2048, "2.0 KiB"),
        ("gmem", 0, "0 B"),
        ("sysmem", 2048, "2.0 KiB and by draws"),
        ("sysmem", 0, "by draws"),
    ],
)
def test_memory_of_a_pass(mode: str, moved: int, expected: str) -> None:
    """What draws of a sysmem pass move is not counted; 0 B would say that they move nothing."""
    document = small_document()
    cost = document["costs"][0]
    passes = [document["passes"][cost["pass"]] | {"mode": mode}]
    costs = {cost["pass"]: cost | {"memory_bytes": moved}}
    cells = re.findall(r"<td[^>]*>(.*?)</td>", str(pass_table(passes, costs, {})))
    assert re.sub(r"<[^>]*>", "", cells[6]) == expected
    assert (DIRECT in cells[6]) == (mode == "sysmem")


def test_ends_of_lines() -> None:
    """Hints of tiles and details of differences have several lines; each is one in the page."""
    document = small_document()
    document["comparison"]["entries"] = [
        {
            "title": "state",
            "fields": [["field", "1", "2", ["one", "two"]]],
            "extents": [],
            "more": 0,
            "consequences": [],
        }
    ]
    text = page(document).decode()
    assert "\\x0a" not in text
    assert "column 0, row 0\n" in text
    assert '<pre class="listing">one\ntwo</pre>' in text


def test_links_lead_to_something() -> None:
    document = small_document()
    found = Document(page(document))
    tabs = {"content", *found.values("id")}
    scripted = re.compile(r"(pass=\d+&draw=\d+|row=\d+)")
    for link in found.values("href"):
        name = link.removeprefix("#")
        assert link == "data:," or name in tabs or scripted.fullmatch(name), link


@pytest.mark.parametrize(
    ("vertices", "not_counted", "text"),
    [(1500, 0, "1,500"), (1500, 2, "at least 1,500"), (0, 2, "unknown")],
)
def test_vertices_that_only_the_gpu_knows(vertices: int, not_counted: int, text: str) -> None:
    document = small_document()
    document["passes"][0]["vertices"] = {"number": vertices, "known": 1, "unknown": not_counted}
    assert f"<dt>vertices or indices</dt><dd>{text}</dd>" in page(document).decode()


def unpacked(blocks: Iterable[Sequence[bytes]]) -> dict[str, Any]:
    """The parts by name: what the page's script reads."""
    found = {}
    for block in blocks:
        name = block[0].decode().partition('id="data-')[2].rstrip('">')
        found[name] = json.loads(zlib.decompress(base64.b64decode(b"".join(block[1:-1]))))
    return found


def test_data_is_the_document() -> None:
    document = small_document()
    blocks, missing = page_module.data_blocks(document)
    assert missing == []
    parts = unpacked(blocks)
    for name in page_module.PARTS:
        assert parts[name] == json.loads(json.dumps(document[name]))
    rest = {name: part for name, part in document.items() if name not in page_module.PARTS}
    assert parts["core"] == json.loads(json.dumps(rest))


@pytest.mark.parametrize("count", [0, 1, 64, 65, 128, 200])
def test_data_is_packed_in_pieces(count: int) -> None:
    part = {
        "rows": [[n, None, "\u00b7"] for n in range(count)],
        "inner": {"a": [], "b": {}, "c": 1},
    }
    document = {"file": "name", "registers": part, "dump": None, "pictures": list(range(count))}
    blocks, missing = page_module.data_blocks(document)
    expected = {"core": {"file": document.pop("file")}, **document}
    assert (unpacked(blocks), missing) == (expected, [])


@pytest.mark.parametrize(("share", "names"), [(0.9, {"core"}), (0.0, set())], ids=["most", "none"])
def test_what_does_not_fit_is_left_out_and_named(share: float, names: set[str]) -> None:
    document = small_document()
    whole = sum(len(b"".join(block)) for block in page_module.data_blocks(document)[0])
    blocks, missing = page_module.data_blocks(document, int(whole * share))
    assert missing
    assert set(unpacked(blocks)) & {"core"} == names
    assert {*unpacked(blocks), *missing} >= {*page_module.PARTS}
    text = Document(page(document, int(whole * share))).text
    assert f"Left out, because the page would be too large: {', '.join(missing)}" in text


@pytest.mark.slow
def test_the_page_is_never_larger_than_it_may_be(samples: Path) -> None:
    document = hostile_document()
    with cffpy.open(samples / "a660-frame-binning.rd") as capture:
        (binned,) = cffpy.report(capture).to_dict()["passes"]
    tiles = {
        name: [row[name] for row in rows_of(binned["tiles"])] * 512 for name in binned["tiles"]
    }
    binned["tile_count"] = len(tiles["tile"])
    document["passes"] = [
        {**binned, "pass": number, "tiles": tiles if number < 30 else None} for number in range(900)
    ]
    data = page(document)
    assert len(data) < 40_000_000
    assert "The page is full" in data.decode()


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.name)
def test_files_fit_into_their_elements(path: Path) -> None:
    text = path.read_text("utf-8")
    assert "</" not in text
    assert "<!--" not in text
    assert "\r" not in text
    assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(", text)


def test_classes_have_styles() -> None:
    styles = "".join(path.read_text("utf-8") for path in FILES if path.suffix == ".css")
    names = {
        name for value in Document(page(small_document())).values("class") for name in value.split()
    }
    own = {"bad", "info", "pass", "passes"}
    missing = {name for name in names - own if f".{name}" not in styles}
    assert not {name for name in missing if not name.startswith(("mark-", "part-"))}
