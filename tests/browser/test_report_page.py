# SPDX-License-Identifier: MIT
"""The page of ``cffpy report`` in a real browser."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.frame.faces import sentence
from cffpy.query.properties import PROGRAM_NUMBERS
from cffpy.views.plain_text import visible
from cffpy.views.report_html.page import page
from cffpy.views.report_html.passes import place_text
from tests.analysis.passes.small import small_capture
from tests.browser.webdriver import ENTER, ESCAPE, Browser, missing_programs
from tests.selection import first_always
from tests.views.diff_html.comparisons import HOSTILE
from tests.views.report_html.documents import (
    hostile_document,
    huge_document,
    long_document,
    small_document,
)

ABSENT = missing_programs()
pytestmark = pytest.mark.skipif(bool(ABSENT), reason=f"not installed: {', '.join(ABSENT)}")

SHOWN = """
return [...document.querySelectorAll("main > .view")]
    .filter((one) => !one.hidden).map((one) => one.id)
"""
COUNT = "return document.getElementById('count').textContent"
LISTED = (
    "return [...document.querySelectorAll('.list-draw .list-name')].map((one) => one.textContent)"
)
REGISTERS = "return [...document.querySelectorAll('.register-name')].map((one) => one.textContent)"
REQUESTS = "return performance.getEntriesByType('resource').map((one) => one.name)"


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    with Browser(tmp_path_factory.mktemp("browser") / "files") as running:
        yield running


@pytest.fixture(scope="module")
def pages(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    folder = tmp_path_factory.mktemp("pages")
    made = {
        "small": small_document(),
        "hostile": hostile_document(),
        "huge": huge_document(),
        "long": long_document(20_000),
    }
    for name, document in made.items():
        (folder / f"{name} #<&>.html").write_bytes(page(document))
    return {name: folder / f"{name} #<&>.html" for name in made}


@pytest.fixture(scope="module")
def textures(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a draw with textures, samplers and shaders."""
    return report_of(samples / "a660-textures.rd", tmp_path_factory)


@pytest.fixture(scope="module")
def frame(samples: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The report of a draw with vertices and indices, and of one without indices."""
    return report_of(samples / "a660-frame-gmem.rd", tmp_path_factory)


def report_of(path: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    output = tmp_path_factory.mktemp("report") / "page.html"
    with cffpy.open(path) as capture:
        cffpy.report(capture, output)
    return output


@pytest.fixture
def clean(browser: Browser) -> Iterator[Browser]:
    """The browser; the console must stay empty during the test, and nothing must be loaded."""
    browser.messages()
    browser.resize(1300, 900)
    browser.prefer("light")
    yield browser
    assert browser.run("return window.injected") is None
    assert browser.run(REQUESTS) == []
    assert browser.messages() == []


@pytest.fixture
def opened(clean: Browser, pages: dict[str, Path]) -> Browser:
    load(clean, pages["small"])
    return clean


def load(browser: Browser, path: Path) -> None:
    browser.open(path)
    check_until(browser, "return document.body.classList.contains('scripted')", True)


PATIENCE = 60.0  # seconds until a test gives up


def check_until(browser: Browser, script: str, expected: Any) -> None:
    """Until a script returns this."""
    end = time.monotonic() + PATIENCE
    while (found := browser.run(script)) != expected:
        assert time.monotonic() < end, found
        time.sleep(0.02)


def go(browser: Browser, fragment: str) -> None:
    browser.run("location.hash = arguments[0]", fragment)


def show_draw(browser: Browser, number: int, name: str) -> None:
    go(browser, f"row={number}")
    check_until(
        browser, "return document.querySelector('#draw h2')?.textContent.split(' ')[1]", name
    )


def find(browser: Browser, text: str) -> None:
    browser.run("search.value = arguments[0]; search.dispatchEvent(new Event('input'))", text)


def draws() -> list[cffpy.Draw]:
    return list(cffpy.open(small_capture()).draws)


# -- what is shown --------------------------------------------------------------------------------


@pytest.mark.slow
def test_begins_with_the_passes(opened: Browser) -> None:
    assert opened.run(SHOWN) == ["overview"]
    assert opened.run(COUNT) == f"{len(draws())} draws"
    assert opened.run(LISTED) == [draw.name for draw in draws()]
    assert opened.run("return document.querySelectorAll('.timeline-pass').length") == 3


@pytest.mark.slow
def test_deep_links(opened: Browser) -> None:
    go(opened, "pass=1")
    check_until(opened, SHOWN, ["pass=1"])
    assert opened.run("return document.querySelector('.current').textContent").startswith("pass 1")
    go(opened, "pass=1&draw=1")
    check_until(opened, SHOWN, ["draw"])
    check_until(opened, "return document.querySelector('.current').textContent.slice(0, 4)", "p1:1")
    check_until(opened, "return document.title.slice(0, 4)", "p1:1")
    for nonsense in (
        "pass=99",
        "pass=1&draw=99",
        "nothing",
        "pass=x&draw=%",
        "row=99999",
        "shader=-1",
    ):
        go(opened, nonsense)
        check_until(
            opened, "return document.querySelectorAll('main > .view:not([hidden])').length", 1
        )


def test_a_draw_has_the_registers_of_the_interface(opened: Browser) -> None:
    for number, draw in enumerate(draws()):
        show_draw(opened, number, draw.name or "")
        opened.press("c")
        changed = {change.name for change in draw.state.changed}
        check_until(
            opened,
            f"{REGISTERS}.sort().join()".replace("return ", "return (").replace(".sort", ").sort"),
            ",".join(sorted(changed)),
        )
        opened.press("a")
        everything = {value.name for value in draw.state.values()}
        check_until(opened, "return document.querySelectorAll('.register').length", len(everything))


def test_a_register_opens_to_fields_and_its_packet(opened: Browser) -> None:
    draw = draws()[1]
    show_draw(opened, 1, draw.name or "")
    opened.press("a")
    value = next(one for one in draw.state.values() if len(one.fields) > 2)
    script = """
    const row = [...document.querySelectorAll(".register")].find(
        (one) => one.querySelector(".register-name").textContent === arguments[0]);
    row.open = true;
    return row.textContent;
    """
    # the page fills a row after it was opened
    last = list(value.fields.values())[-1].name
    end = time.monotonic() + PATIENCE
    while last not in (text := opened.run(script, value.name)):
        assert time.monotonic() < end, text
    for field in value.fields.values():
        assert field.name in text
        assert field.text in text
    assert value.written_by is not None
    assert f"{value.written_by.place.gpuaddr:#x}" in text
    assert value.written_by.packet in text


def test_a_value_leads_to_the_dump_around_its_packet(opened: Browser) -> None:
    show_draw(opened, 1, draws()[1].name or "")
    opened.press("a")
    opened.run("document.querySelector('.register').open = true")
    link = "return document.querySelector('.packet a')?.textContent ?? ''"
    check_until(opened, link, "The dump around it")
    opened.click(".packet a")
    check_until(opened, SHOWN, ["packet"])
    check_until(opened, "return document.querySelectorAll('.dump.chosen').length", 1)
    text = opened.run("return document.querySelector('.dump.chosen').textContent")
    first, name, *_, last = text.split("\n")
    assert first.startswith("#cffpy packet 0x")
    assert name.strip().startswith(("write ", "opcode: "))
    assert last.split(":")[0] == f"{int(first.split()[2].rstrip(',;'), 16):016x}"
    go(opened, "packet=99999")
    check_until(
        opened,
        "return document.querySelector('#packet .note').textContent",
        "This part of the dump is not in the page.",
    )


def test_tiles_in_the_timeline(opened: Browser) -> None:
    frame = next(one for one in small_document()["passes"] if one["tiles"])
    assert opened.run("return document.querySelectorAll('.tile-strip').length") == 0
    go(opened, f"pass={frame['pass']}")
    bars = "return document.querySelectorAll('.tile-strip .tile-bar').length"
    check_until(opened, bars, frame["tile_count"])
    hint = opened.run("return document.querySelector('.tile-strip title').textContent")
    assert hint.startswith("tile 0: ")
    assert "draws visible" in hint


def test_markers_and_barriers_in_the_timeline(
    clean: Browser, pages: dict[str, Path], tmp_path: Path
) -> None:
    found = small_document()
    first, second, third = found["passes"]
    first["markers"], second["markers"], third["markers"] = ["frame", "sky"], ["frame"], ["post"]
    third["events_before"] = {"CACHE_FLUSH_TS": 2}
    (tmp_path / "page.html").write_bytes(page(found))
    load(clean, tmp_path / "page.html")
    texts = "return [...document.querySelectorAll('.marker title')].map((one) => one.textContent)"
    assert clean.run(texts) == ["frame", "post", "sky"]
    barrier = "return [...document.querySelectorAll('.barrier title')].at(-1).textContent"
    assert clean.run(barrier) == "before pass 2:\nCACHE_FLUSH_TS ×2"


def test_pictures_of_attachments(opened: Browser) -> None:
    go(opened, "pass=1")
    size = "return document.querySelector('#pass\\\\=1 .pictures img')?.naturalWidth ?? 0"
    check_until(opened, size, 1)


def test_tabs(opened: Browser) -> None:
    for tab in ("findings", "differences", "resources", "shaders", "overview"):
        opened.click(f".tabs a[href='#{tab}']")
        check_until(opened, SHOWN, [tab])
    go(opened, "shader=0")
    check_until(opened, "return document.querySelector('#shaders h2').textContent", "Shaders")


CELLS = """
const box = document.querySelector(`#draw [aria-label=${arguments[0]}]`);
return box && [...box.querySelectorAll("tr")].map(
    (row) => [...row.children].map((cell) => cell.textContent));
"""


def test_tables_of_vertices_and_indices(clean: Browser, frame: Path) -> None:
    """The cube of the sample: eight corners with colours, twelve triangles."""
    load(clean, frame)
    show_draw(clean, 0, "p0:0")
    check_until(
        clean, "return document.querySelector('#draw [aria-label=Vertices]') !== null", True
    )
    heading, *rows = clean.run(CELLS, "Vertices")
    assert heading == ["vertex", "0: 32_32_32_FLOAT", "1: 32_32_32_FLOAT"]
    corners = [(x, y, z) for z in (0, 1) for y in (0, 1) for x in (0, 1)]
    assert rows == [
        [
            str(number),
            ", ".join(str(2 * one - 1) for one in corner),
            ", ".join(map(str, corner)),
        ]
        for number, corner in enumerate(corners)
    ]
    clean.run("document.querySelectorAll('#draw details').forEach((one) => { one.open = true; })")
    check_until(clean, "return document.querySelector('#draw [aria-label=Indices]') !== null", True)
    heading, *rows = clean.run(CELLS, "Indices")
    assert heading == ["index", "+0", "+1", "+2"]
    assert len(rows) == 12
    assert rows[:4] == [
        ["0", "0", "1", "2"],
        ["3", "1", "3", "2"],
        ["6", "4", "6", "5"],
        ["9", "4", "5", "6"],
    ]
    show_draw(clean, 1, "p0:1")
    check_until(clean, "return document.querySelectorAll('#draw [aria-label=Indices]').length", 0)
    assert len(clean.run(CELLS, "Vertices")) == 1 + 3


# -- the search -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "expression",
    first_always(
        [
            "draw.vertices > 3",
            "draw.kind == dispatch or draw.indexed",
            "pass.mode == gmem and not draw.vertices < 4",
            "pass.mode in (sysmem, gmem)",
            "draw.number in 1..2",
            "draw.packet ~ 'DRAW'",
            "unknown(RB_MRT[3].CONTROL)",
            "changed(RB_DEPTH_CNTL)",
            "changed(VFD_INDEX_OFFSET) or written(RB_BLEND_CNTL)",
            "RB_RENDER_CNTL != 0x10",
            "RB_MRT[*].CONTROL > 0",
            "all(RB_MRT[*].CONTROL > 0)",
            "any(target.format ~ '8_8')",
            "draw.vertices * 2 - 3 >= 3 + draw.number",
            "RB_RENDER_CNTL & 0x10 == 0",
            "-draw.vertices in (-3, -6..-4)",
            "pass.index + 1 == 2 and not (draw.number == 0)",
            "unknown(draw.vertices > 3)",
            "draw.kind in [draw, dispatch]",
            "marker('red')",
        ],
        2,
    ),
)
def test_expressions_find_what_where_finds(opened: Browser, expression: str) -> None:
    check_expression(opened, cffpy.open(small_capture()), expression)


@pytest.mark.parametrize(
    "expression",
    first_always(
        [
            "texture.WIDTH == 64",
            "texture.WIDTH > 200",
            "all(texture.FMT == FMT6_8_8_8_8_UNORM)",
            "all(texture.TILE_MODE == TILE6_3) or sampler.ANISO == A6XX_TEX_ANISO_1",
            "sampled(0x100010000)",
            "not sampled(0x100010000 + 4)",
            "texture.stage == 'FS' and texture.slot == 1 and texture.address > 0x100000000",
            "sampler.slot in 1..2 and unknown(texture.bindless_set == 3)",
        ]
    ),
)
def test_expressions_on_what_a_draw_uses(
    clean: Browser, textures: Path, samples: Path, expression: str
) -> None:
    load(clean, textures)
    check_expression(clean, cffpy.open(samples / "a660-textures.rd"), expression)


@pytest.mark.parametrize(
    "expression",
    [
        "draw.shaders.FS.instructions > 100000",
        "draw.shaders.VS.bytes >= 8 and draw.shaders.FS.cat1 < 1000",
        "draw.shaders.VS.full_registers + draw.shaders.FS.full_registers > 0"
        " and unknown(draw.shaders.GS.instr)",
    ],
)
def test_expressions_on_numbers_of_shaders(
    clean: Browser, frame: Path, samples: Path, expression: str
) -> None:
    load(clean, frame)
    check_expression(clean, cffpy.open(samples / "a660-frame-gmem.rd"), expression)


@pytest.mark.parametrize(
    ("expression", "problem"),
    first_always(
        [
            ("texture.NO_SUCH == 1", "no texture of this capture has a field NO_SUCH"),
            ("storage.WIDTH == 1", "no storage of this capture has a field WIDTH"),
            ("tile.number == 1", "the page does not have tile.number: cffpy draws --where has it"),
            ("RB_NOSUCH", "no packet of this capture writes RB_NOSUCH"),
            ("draw.primitive == NOSUCH", "draw.primitive has no value NOSUCH"),
            (
                "draw.primitive == DI_PT_TRILIS",
                "draw.primitive has no value DI_PT_TRILIS; did you mean DI_PT_TRILIST",
            ),
            ("draw.kind", "draw.kind is a text, not a condition"),
            ("draw.kind < 3", "draw.kind is a text, 3 is not"),
            ('draw.vertices == "3"', "3 is a text, draw.vertices is not"),
            ("draw.nosuch", "there is no property draw.nosuch"),
            ("nosuch(3)", "there is no function nosuch"),
            ("draw.shaders.XX", "there is no stage XX"),
        ],
        7,
        names=2,
    ),
)
def test_names_that_the_page_does_not_have(
    clean: Browser, textures: Path, expression: str, problem: str
) -> None:
    load(clean, textures)
    find(clean, expression)
    begin = f"{PROBLEM}.slice(0, {len(problem)})"
    check_until(clean, begin, problem)


PROBLEM = "return document.getElementById('search-problem').textContent"

#: Expressions of all kinds; names of registers are those of a6xx and a7xx, or of older ones.
EXPRESSIONS = """
GRAS_SU_CNTL.CULL_BACK
gras_su_cntl.cull_back
GRAS_SU_CNTL
not GRAS_SU_CNTL.CULL_BACK
RB_DEPTH_CNTL
RB_DEPTH_CNTL.ZFUNC
RB_DEPTH_CNTL.ZFUNC == FUNC_LESS
RB_DEPTH_CNTL.ZFUNC == func_less
RB_DEPTH_CNTL.ZFUNC != FUNC_LESS
RB_DEPTH_CNTL.ZFUNC == 1
RB_DEPTH_CNTL.ZFUNC > 1
RB_DEPTH_CNTL.ZFUNC in (FUNC_LESS, FUNC_ALWAYS)
RB_DEPTH_CNTL.ZFUNC in 1..3
RB_DEPTH_CNTL.ZFUNC ~ "LESS"
RB_DEPTH_CNTL.ZFUNC == NOSUCH
RB_DEPTH_CNTL.NOSUCH
RB_DEPTH_CNTL.Z_TEST_ENABLE
RB_DEPTH_CNTL.Z_TEST_ENABLE == true
RB_DEPTH_CNTL.Z_TEST_ENABLE == 1
RB_DEPTH_CNTL.Z_TEST_ENABLE ~ "True"
RB_DEPTH_CNTL & 1 == 1
RB_DEPTH_CONTROL.ZFUNC == FUNC_LESS
RB_DEPTH_CONTROL.Z_TEST_ENABLE == true
RB_NOSUCH
RB_MRT[0].CONTROL.COMPONENT_ENABLE == 0xf
RB_MRT[0x0].CONTROL.COMPONENT_ENABLE == 15
RB_MRT[*].CONTROL.BLEND
all(RB_MRT[*].CONTROL.BLEND)
any(RB_MRT[*].CONTROL.COMPONENT_ENABLE == 0xf)
RB_MRT[0].BUF_INFO.COLOR_FORMAT ~ "8_8_8_8"
RB_MRT.CONTROL
unknown(RB_DEPTH_CNTL)
SP_FS_CONFIG.NTEX >= 1
GRAS_CL_VPORT[0].XSCALE > 100
GRAS_CL_VPORT[0].XSCALE == 128.0
GRAS_CL_VPORT[0].XSCALE ~ "[.]0$"
GRAS_SU_CNTL.LINEHALFWIDTH >= 0.5
RB_MRT[0].BASE > 0x1000
HLSQ_CONTROL_2_REG.FACEREGID == r63.x
changed(RB_DEPTH_CNTL)
written(RB_DEPTH_CNTL)
changed(draw.vertices)
draw.primitive == DI_PT_TRILIST
draw.primitive == di_pt_trilist
draw.primitive == NOSUCH
draw.primitive in (DI_PT_TRILIST, DI_PT_TRIFAN)
draw.primitive ~ "TRI"
draw.primitive
draw.kind == NOSUCH
draw.role == clear
draw.packet == CP_DRAW_INDX_OFFSET
draw.executed
draw.executed == yes
not draw.indexed
draw.indirect == true
draw.vertices > 3 and draw.instances == 1
draw.vertices == "3"
draw.name ~ "^p0"
draw.place.gpuaddr > 0
draw.place.file_offset > 0
draw.nosuch
draw.shaders.FS > 0
draw.shaders.XX
draw.shaders.FS.instructions > 5
draw.shaders.CS.nosuch
pass.mode == sysmem
pass.mode == NOSUCH
pass.hardware_binning == true
pass.framebuffer.width
pass.draw_count > 1
target.format ~ "8_8_8_8"
target.name == "color 0"
texture.WIDTH > 0
texture.slot >= 1
draw.lrz == off
draw.lrz_reasons ~ "."
draw.visible_primitives > 0
draw.place.path.kind == IB
draw.generated.call == 1
target.ubwc
target.samples >= 1
source.address > 0
destination.rectangle.width > 8
draw.transfers.value > 0
pass.attachments.format ~ "32"
pass.operations.kind == clear
pass.lrz.cleared
pass.first.gpuaddr > 0
sampled(0x1000)
marker("x")
nosuch(3)
1 == 1
draw.vertices ==
draw.vertices in ()
draw.vertices not in (3, 6)
draw.vertices * 1.5 > 4
draw.vertices & 1
draw.vertices > 1K
draw.vertices ~ "3"
draw.vertices ~ "["
draw.kind < 3
draw.vertices == draw.kind
"""

#: What the page says where the interface has an answer: what it lacks, and what it cannot know.
LACKS = ("the page does not have ", "no packet of this capture writes ", "no texture of this ")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "a220-gl-cube-full",
        "a330-gl-inst-mrt",
        "a430-gl-compute",
        "a530-gl-inst-mrt",
        "a630-gl-xfb-queries",
        "a660-vk-indirect-gmem",
        "a740-vk-tri-auto",
    ],
)
def test_the_page_answers_as_the_interface(
    clean: Browser, shared: Path, tmp_path_factory: pytest.TempPathFactory, name: str
) -> None:
    """The same number of draws, or an error of both; never 0 for what the page does not know."""
    path = shared / f"captures/{name}.rd.gz"
    load(clean, report_of(path, tmp_path_factory))
    capture = cffpy.open(path)
    for expression in EXPRESSIONS.strip().splitlines():
        try:
            expected = f"{len(capture.draws.where(expression))}"
        except cffpy.CffpyError:
            expected = "error"
        clean.run("document.getElementById('count').textContent = ''")
        find(clean, expression)
        check_until(clean, f"return Boolean(({COUNT[7:]}) || ({PROBLEM[7:]}))", True)
        problem = clean.run(PROBLEM)
        if not problem.startswith(LACKS):
            found = "error" if problem else clean.run(COUNT).split(" ")[0].replace(",", "")
            assert (expression, found) == (expression, expected), problem


def check_expression(opened: Browser, capture: cffpy.Capture, expression: str) -> None:
    """The page finds the draws that the interface finds."""
    names = [draw.name for draw in capture.draws.where(expression)]
    find(opened, expression)
    problem = PROBLEM
    count = len(capture.draws)
    text = f"{len(names)} of {count} draw{'s' if count > 1 else ''}"
    end = time.monotonic() + PATIENCE
    while opened.run(COUNT) != text and not opened.run(problem):
        assert time.monotonic() < end, opened.run(COUNT)
    if opened.run(problem):  # a register that no packet writes is an error here
        assert "no packet of this capture writes" in opened.run(problem)
        assert all(
            register not in draw.state
            for draw in capture.draws
            for register in [expression.split("(")[-1].rstrip(")")]
        )
    else:
        assert opened.run(LISTED) == names


def test_words_and_keys(opened: Browser) -> None:
    opened.press("/p1:1")
    check_until(opened, COUNT, f"1 of {len(draws())} draws")
    opened.press(ENTER)
    check_until(opened, "return location.hash", "#pass=1&draw=1&where=p1%3A1")
    opened.press(ESCAPE)
    check_until(opened, COUNT, f"{len(draws())} draws")
    opened.press("k")
    check_until(opened, "return location.hash", "#pass=1&draw=0")
    opened.press("j")
    check_until(opened, "return location.hash", "#pass=1&draw=1")
    opened.press("j")
    check_until(opened, "return location.hash", "#pass=2&draw=0")
    opened.press("p")
    check_until(opened, SHOWN, ["pass=2"])
    opened.press("o")
    check_until(opened, SHOWN, ["overview"])


def test_keys_in_quick_succession(opened: Browser) -> None:
    """Each starts from where the one before has moved to."""
    go(opened, "pass=1&draw=0")
    check_until(opened, SHOWN, ["draw"])
    press = "document.dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true}))"
    opened.run(f"for (const key of ['j', 'j', 'p']) {press}")
    assert opened.run("return location.hash") == "#pass=2"
    assert opened.run(SHOWN) == ["pass=2"]


def test_primitives_are_shown_and_found(opened: Browser) -> None:
    kinds = LISTED.replace("list-name", "list-kind")
    shown = [draw.role or (draw.primitive or draw.kind).removeprefix("DI_PT_") for draw in draws()]
    assert "TRILIST" in shown
    assert opened.run(kinds) == shown
    opened.press("/trilist")
    check_until(opened, COUNT, f"{shown.count('TRILIST')} of {len(draws())} draws")


def test_a_search_is_part_of_the_link(opened: Browser) -> None:
    go(opened, "pass=1&where=draw.vertices%20%3E%203")
    check_until(opened, "return document.getElementById('search').value", "draw.vertices > 3")
    expected = len(cffpy.open(small_capture()).draws.where("draw.vertices > 3"))
    check_until(opened, COUNT, f"{expected} of {len(draws())} draws")


@pytest.mark.parametrize(
    "text", ["draw.vertices >", "(", "NO_SUCH == 1", "draw.kind ~ '('", "a == ° 1"]
)
def test_a_wrong_expression_is_explained(opened: Browser, text: str) -> None:
    find(opened, text)
    problem = "return document.getElementById('search-problem').textContent !== ''"
    check_until(opened, problem, True)
    assert opened.run("return search.getAttribute('aria-invalid')") == "true"


# -- hostile pages, many draws --------------------------------------------------------------------


#: Headings whose text is wider than they are, in the view that is shown.
CLIPPED = """
return [...document.querySelectorAll("h1, h2, h3")]
    .filter((one) => one.clientWidth && one.scrollWidth > one.clientWidth)
    .map((one) => one.textContent.slice(0, 40));
"""


@pytest.mark.parametrize("width", [1300, 500])
def test_long_words_in_headings_are_broken(
    clean: Browser, pages: dict[str, Path], width: int
) -> None:
    clean.resize(width, 900)
    load(clean, pages["hostile"])
    go(clean, "shader=0")
    check_until(clean, SHOWN, ["shaders"])
    for fragment in ("pass=1", "row=0", "resources", "shader=0"):
        go(clean, fragment)
        time.sleep(0.1)
        clean.run(
            "for (const one of document.querySelectorAll('main h2')) one.append('x'.repeat(4000))"
        )
        assert clean.run(CLIPPED) == []


@pytest.mark.parametrize("name", ["hostile", "huge"])
def test_every_view_of_a_hostile_page(clean: Browser, pages: dict[str, Path], name: str) -> None:
    load(clean, pages[name])
    last = len(draws()) - 1
    for fragment in (
        "pass=0",
        "pass=1",
        "pass=2",
        "findings",
        "differences",
        "resources",
        "shaders",
        "shader=0",
    ):
        go(clean, fragment)
        check_until(
            clean, "return document.querySelectorAll('main > .view:not([hidden])').length", 1
        )
    for row in range(last + 1):
        go(clean, f"row={row}")
        check_until(clean, "return document.querySelector('#draw .facts') !== null", True)
        clean.press("a")
        time.sleep(0.1)
        clean.run(
            "document.querySelectorAll('#draw details').forEach((one) => { one.open = true; })"
        )
        time.sleep(0.1)
    sources = "return [...document.images].filter((one) => !one.src.startsWith('data:')).length"
    assert clean.run(sources) == 0
    if name == "hostile":
        assert visible(HOSTILE)[:40] in clean.run("return document.body.textContent")
    find(clean, HOSTILE[:60])


def test_a_draw_says_its_pipe_and_place(
    clean: Browser, samples: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = samples / "a740-concurrent-gmem.rd"
    load(clean, report_of(path, tmp_path_factory))
    with cffpy.open(path) as capture:
        draw = capture.draws[0]
    go(clean, "row=0")
    check_until(clean, "return document.querySelector('#draw .facts') !== null", True)
    shown = clean.run("return document.querySelector('#draw .facts').textContent")
    assert f"executed by{draw.pipe}" in shown
    assert str(draw.place) in shown


def test_many_draws_are_few_elements(clean: Browser, pages: dict[str, Path]) -> None:
    load(clean, pages["long"])
    rows = "return document.querySelectorAll('#draws .list-row').length"
    assert clean.run(COUNT) == "20,002 draws" or clean.run(COUNT).endswith("draws")
    assert clean.run(rows) < 200
    clean.run("document.getElementById('draws').scrollTop = 1e9")
    check_until(
        clean,
        f"{LISTED}.at(-1)".replace("return ", "return (", 1).replace(".at", ").at"),
        "p2:19999",
    )
    assert clean.run(rows) < 200


SCROLL = """
const done = arguments[0], list = document.getElementById("draws");
const gaps = [];
let last = performance.now(), step = 0;
const frame = (now) => {
  gaps.push(now - last);
  last = now;
  list.scrollTop += 700;
  if (++step < 90) requestAnimationFrame(frame); else done(gaps.sort((a, b) => a - b));
};
requestAnimationFrame(frame);
"""


@pytest.mark.perf
def test_scrolling_many_draws_is_smooth(clean: Browser, pages: dict[str, Path]) -> None:
    load(clean, pages["long"])
    gaps = clean.wait_for(SCROLL)
    assert gaps[len(gaps) // 2] < 25  # milliseconds; a frame takes 17
    assert gaps[-5] < 80


@pytest.mark.perf
def test_the_largest_capture_is_painted_soon(clean: Browser, shared: Path, tmp_path: Path) -> None:
    path = shared / "captures/BIG-a730-vk-scene5000-720p-sysmem-4frames-full.rd.gz"
    output = tmp_path / "page.html"
    cffpy.report(cffpy.open(path), output)
    assert output.stat().st_size < 40_000_000
    load(clean, output)
    paint = "return performance.getEntriesByName('first-contentful-paint')[0].startTime"
    assert clean.run(paint) < 2000
    show_draw(clean, 12_345, "p3:2308")


# -- without scripts, for other eyes --------------------------------------------------------------


@pytest.mark.slow
def test_without_scripts(tmp_path: Path, pages: dict[str, Path]) -> None:
    with Browser(tmp_path / "browser", scripts=False) as browser:
        browser.open(pages["small"])
        shown = [browser.text(one) for one in browser.find("main > .view")]
        text = "\n".join(shown)
        for one in small_document()["passes"]:
            assert place_text(one["first"]) in text
        assert "need JavaScript" in text


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [1300, 420])
def test_fits_and_can_be_read(opened: Browser, scheme: str, width: int) -> None:
    opened.prefer(scheme)
    opened.resize(width, 900)
    for fragment in ("overview", "pass=1", "row=1", "resources"):
        go(opened, fragment)
        check_until(opened, "return document.documentElement.scrollWidth <= innerWidth + 1", True)
    # no column of the passes is so narrow that it has one word in a line
    go(opened, "overview")
    assert opened.run("return document.querySelector('.passes tbody tr').offsetHeight") < 100


PRINTED = """
return [...document.querySelectorAll(arguments[0])].filter((one) => one.checkVisibility()).length
"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_print(opened: Browser, scheme: str) -> None:
    passes = len(small_document()["passes"])
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    opened.devtools("Emulation.setEmulatedMedia", {"media": "print", "features": features})
    assert opened.run(PRINTED, ".toolbar, .tabs, #draws, #timeline, .skip") == 0
    assert opened.run(PRINTED, "article.pass") == passes
    assert opened.run(PRINTED, "#findings, #differences, #resources") == 3
    assert opened.run("return getComputedStyle(document.body).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    assert opened.run("return getComputedStyle(document.documentElement).colorScheme") == "light"
    cut = "return [...document.querySelectorAll('main, .scroll, pre')].filter((one) => "
    cut += "one.checkVisibility() && one.scrollHeight > one.clientHeight + 2).length"
    assert opened.run(cut) == 0
    entries = "#differences details.entry > table"
    assert opened.run(PRINTED, entries) == opened.run(
        "return document.querySelectorAll(arguments[0]).length", entries
    )
    go(opened, "row=1")
    check_until(opened, SHOWN, ["draw"])
    assert opened.run(PRINTED, "article.pass") == 0
    printed = opened.devtools("Page.printToPDF", {})
    assert len(printed["data"]) > 1000
    opened.devtools("Emulation.setEmulatedMedia", {"media": ""})


def axe_path() -> Path | None:
    """axe-core, which checks accessibility: CFFPY_AXE names its axe.min.js."""
    path = Path(os.environ.get("CFFPY_AXE", "node_modules/axe-core/axe.min.js"))
    return path if path.is_file() else None


@pytest.mark.slow
@pytest.mark.skipif(axe_path() is None, reason="CFFPY_AXE names no axe.min.js (npm: axe-core)")
@pytest.mark.parametrize("scheme", first_always(["light", "dark"]))
def test_accessibility(opened: Browser, scheme: str) -> None:
    path = axe_path()
    assert path is not None
    opened.prefer(scheme)
    opened.run(path.read_text("utf-8"))
    check = """
    const done = arguments[0];
    axe.run().then((found) => done(found.violations.map(
        (one) => `${one.id}: ${one.nodes.slice(0, 3).map((node) => node.html).join(" ")}`)));
    """
    for fragment in (
        "overview",
        "pass=1",
        "row=1",
        "findings",
        "differences",
        "resources",
        "shaders",
        "shader=0",
    ):
        go(opened, fragment)
        time.sleep(0.3)
        assert opened.wait_for(check) == [], fragment


def test_facts_and_numbers_say_what_they_mean(opened: Browser) -> None:
    go(opened, "pass=1&draw=0")
    title = "return document.querySelector('#draw dl.facts dt[title]')?.title ?? ''"
    check_until(opened, f"return ({title[7:]}).length > 10", True)
    go(opened, "shaders")
    title = "return document.querySelector('#shaders thead span[title]')?.title ?? ''"
    check_until(opened, title, sentence(PROGRAM_NUMBERS["instructions"].meaning))
