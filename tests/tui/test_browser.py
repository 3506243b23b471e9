# SPDX-License-Identifier: MIT
"""The browser, driven by keys, on a screen of 80 x 24 characters."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("textual", reason="textual is not installed: pip install 'cffpy[tui]'")

from textual.pilot import Pilot
from textual.widgets import Static

from cffpy.errors import CffpyError
from cffpy.tui.app import Browser, KeysScreen
from cffpy.tui.pictures import PixelLine
from cffpy.tui.reader import Decoding, state_columns
from cffpy.tui.widgets import OutlineView, StateView, TextView

Steps = Callable[[Browser, "Pilot[CffpyError]"], Awaitable[None]]


@pytest.fixture(autouse=True)
def state_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """These tests do not use the user's marks."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))


def browse(steps: Steps, *paths: Path, size: tuple[int, int] = (80, 24)) -> Browser:
    """Open captures, and run these steps once they are loaded."""
    app = Browser([str(path) for path in paths], Decoding())

    async def run() -> None:
        async with app.run_test(size=size) as pilot:
            is_read = (
                (lambda: bool(app._passes))
                if len(paths) == 1
                else (lambda: app.differences is not None)
            )
            await until(pilot, is_read)
            await steps(app, pilot)

    asyncio.run(run())
    return app


async def until(pilot: Pilot[Any], condition: Callable[[], bool]) -> None:
    """Wait until a worker has done something."""
    for _ in range(600):
        if condition():
            await pilot.pause()
            return
        await pilot.pause(0.05)
    raise AssertionError("nothing happened in 30 seconds")


def status(app: Browser) -> str:
    return str(app.query_one("#status", Static).render())


def labels(app: Browser) -> list[str]:
    view = app.outline_view
    nodes = (view.get_node_at_line(line) for line in range(view.last_line + 1))
    return [str(node.label) for node in nodes if node is not None]


def text(app: Browser, page: str) -> TextView:
    return app.query_one(f"#{page}-view", TextView)


@pytest.mark.perf
def test_a_large_capture_opens_soon(shared: Path) -> None:
    """Until its passes are listed: seconds of processor time, of all threads."""
    start = time.process_time()

    async def steps(app: Browser, pilot: Pilot[CffpyError]) -> None:
        await until(pilot, lambda: len(labels(app)) > 1)
        assert time.process_time() - start < 2

    name = "BIG-a730-vk-scene5000-720p-sysmem-4frames-full"
    browse(steps, shared / f"captures/{name}.rd.gz")


@pytest.mark.slow
def test_passes_draws_registers(samples: Path) -> None:
    async def steps(app: Browser, pilot: Pilot[CffpyError]) -> None:
        await until(pilot, lambda: len(labels(app)) > 1)
        assert labels(app)[0].startswith("submit 0: ")
        await pilot.press("j")
        await until(pilot, lambda: any("pass 0: gmem" in line for line in text(app, "pass").lines))
        await pilot.press("l", "j")
        state = app.query_one(StateView)
        await until(pilot, lambda: bool(state.rows))
        heading = str(app.query_one("#state-heading", Static).render())
        assert heading == f"p0:0, registers (changed): {len(state.rows)} registers"
        details = str(app.query_one("#details", Static).render())
        assert details.startswith(f"{state.rows[0].register} = {state.rows[0].value}")
        headings = [str(column.label) for column in state.table.ordered_columns]
        assert headings == [column.name for column in state_columns()]
        assert state_columns()[0].meaning in str(state.table.tooltip)
        assert "written by register write, " in details
        await pilot.press("c")
        await until(pilot, lambda: "(this pass)" in str(app.query_one("#state-heading").render()))
        await pilot.press("c")
        await until(pilot, lambda: "(all)" in str(app.query_one("#state-heading").render()))
        await pilot.press("enter", "slash", *"depth_cntl", "enter")
        await pilot.pause()
        assert "DEPTH_CNTL" in state.rows[state.table.cursor_row].register
        await pilot.press("slash", *"nosuchregister", "enter")
        await pilot.pause()
        assert "not found: nosuchregister" in status(app)

    browse(steps, samples / "a660-frame-gmem.rd")


@pytest.mark.slow
def test_pages_of_a_draw(samples: Path) -> None:
    async def steps(app: Browser, pilot: Pilot[CffpyError]) -> None:
        await pilot.press("p", *"p0:0", "enter", "3")
        await until(pilot, lambda: any("VS at" in line for line in text(app, "shaders").lines))
        await pilot.press("4")
        await until(pilot, lambda: bool(text(app, "bindings").lines))
        await pilot.press("5")
        await until(pilot, lambda: len(text(app, "dump").lines) > 3)
        await pilot.press("tab", "slash", *"CP_DRAW", "enter")
        await pilot.pause()
        view = text(app, "dump")
        top, height = view.scroll_offset.y, view.size.height
        assert any("CP_DRAW" in line for line in view.lines[top : top + height])
        await pilot.press("g")
        await until(pilot, lambda: view.scroll_offset.y == 0)

    browse(steps, samples / "a660-frame-gmem.rd")


@pytest.mark.slow
def test_filter_marks_steps(samples: Path) -> None:
    async def steps(app: Browser, pilot: Pilot[CffpyError]) -> None:
        outline = app.outline_view.outline
        assert outline is not None
        draws = outline.draws
        assert len(draws) >= 2
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: app._current_draw() is not None)
        await pilot.press("m", "right_square_bracket")
        await until(pilot, lambda: getattr(app._current_draw(), "order", 0) == draws[1].order)
        assert any(line.startswith("* p0:0 ") for line in labels(app))
        await pilot.press("apostrophe")
        await until(pilot, lambda: getattr(app._current_draw(), "order", 0) == draws[0].order)
        await pilot.press("m")
        assert not any(line.startswith("* ") for line in labels(app))

        name = draws[1].name
        await pilot.press("w", *f"draw.number == {draws[1].number}", "enter")
        await until(pilot, lambda: "filtered" in status(app))
        shown = app.outline_view.outline
        assert shown is not None
        assert name in [draw.name for draw in shown.draws]
        assert len(shown.draws) < len(draws)
        await pilot.press("escape")
        await pilot.pause()
        assert "filtered" not in status(app)
        await pilot.press("w", *"RB_DEPTH_CNTRL == 1", "enter")
        await until(pilot, lambda: "RB_DEPTH_CNTL" in status(app))
        await pilot.press("p", *"p9:9", "enter")
        await until(pilot, lambda: "no pass p9" in status(app))
        await pilot.press("question_mark")
        await until(pilot, lambda: isinstance(app.screen, KeysScreen))
        await pilot.press("escape")
        await until(pilot, lambda: not isinstance(app.screen, KeysScreen))

    browse(steps, samples / "a740-state-groups.rd")


@pytest.mark.slow
def test_marks_and_notes_are_kept(
    samples: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    output = tmp_path / "marks.md"

    async def mark(app: Browser, pilot: Pilot[CffpyError]) -> None:
        await pilot.press("right_square_bracket")
        await until(pilot, lambda: app._current_draw() is not None)
        await pilot.press("a", *"too dark", "enter")
        await until(pilot, lambda: any(one.endswith("[too dark]") for one in labels(app)))
        await pilot.press("x", *str(output), "enter")
        await until(pilot, lambda: "1 mark written" in status(app))

    async def again(app: Browser, pilot: Pilot[CffpyError]) -> None:
        await pilot.press("apostrophe")
        await until(pilot, lambda: app._current_draw() is not None)
        assert any(one.startswith("* p0:0") and "[too dark]" in one for one in labels(app))

    browse(mark, samples / "a660-frame-gmem.rd")
    assert "`p0:0`" in output.read_text("utf-8")
    browse(again, samples / "a660-frame-gmem.rd")


@pytest.mark.slow
def test_pictures(samples: Path) -> None:
    pytest.importorskip("PIL", reason="Pillow is not installed: pip install 'cffpy[image]'")

    async def steps(app: Browser, pilot: Pilot[CffpyError]) -> None:
        await pilot.press("6")
        await until(pilot, lambda: bool(text(app, "pictures").lines))
        await pilot.press("p", *"p0:0", "enter")
        lines = text(app, "pictures")
        await until(pilot, lambda: any(isinstance(one, PixelLine) for one in lines.lines))
        number = next(i for i, one in enumerate(lines.lines) if isinstance(one, PixelLine))
        lines.scroll_to(0, number, animate=False)
        await pilot.pause()
        segment = next(iter(lines.render_line(0)))
        assert segment.style is not None
        assert segment.style.bgcolor is not None

    browse(steps, samples / "a660-textures.rd")


@pytest.mark.slow
def test_two_captures(samples: Path) -> None:
    async def steps(app: Browser, pilot: Pilot[CffpyError]) -> None:
        await pilot.press("d")
        await until(pilot, lambda: bool(app.query_one(StateView).rows))
        names = {row.register: row for row in app.query_one(StateView).rows}
        assert "RB_DEPTH_CONTROL" in names
        row = names["RB_DEPTH_CONTROL"]
        assert row.other
        assert row.other != f"{row.value} {row.decoded}"
        assert any(line.startswith("≠ p0:") for line in labels(app))
        before = row.value
        await pilot.press("o")
        await until(pilot, lambda: "a430-depth-bad" in status(app))
        await until(
            pilot,
            lambda: any(
                one.register == "RB_DEPTH_CONTROL" and one.value != before
                for one in app.query_one(StateView).rows
            ),
        )
        await pilot.press("7")
        await pilot.pause()
        assert any("ZFUNC" in line for line in text(app, "differences").lines)

    browse(steps, samples / "a430-depth-good.rd", samples / "a430-depth-bad.rd")


def test_a_file_that_is_no_capture(tmp_path: Path) -> None:
    path = tmp_path / "x.rd"
    path.write_bytes(b"no capture\n")

    async def run() -> Browser:
        app = Browser([str(path)], Decoding())
        async with app.run_test(size=(80, 24)) as pilot:
            for _ in range(100):
                if app.return_value is not None:
                    break
                await pilot.pause(0.05)
        return app

    assert isinstance(asyncio.run(run()).return_value, CffpyError)


@pytest.mark.slow
def test_text_from_the_file_is_no_markup(samples: Path, tmp_path: Path) -> None:
    path = tmp_path / "[red]\x1b[31m.rd"
    path.write_bytes(next(samples.glob("damaged.rd*")).read_bytes())

    async def steps(app: Browser, pilot: Pilot[CffpyError]) -> None:
        assert "[red]\\x1b[31m.rd" in status(app)
        await pilot.press("G", "l", "j", "5")
        await pilot.pause(0.3)
        assert isinstance(app.focused, OutlineView)

    browse(steps, path, size=(40, 10))
