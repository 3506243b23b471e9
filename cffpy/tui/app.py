# SPDX-License-Identifier: MIT
"""Browser: the application, its keys, and what it shows of a comparison.

Everything that takes time runs in threads of workers.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, NamedTuple

from rich.text import Text
from textual import on, work
from textual.app import App
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, VerticalScroll
from textual.screen import ModalScreen
from textual.widgets import Input, Static, TabbedContent, TabPane, Tree
from textual.worker import get_current_worker

from cffpy.api.comparison import diff
from cffpy.errors import CffpyError, UsageError
from cffpy.frame.places import parse_place
from cffpy.tui.marks import write_exported
from cffpy.tui.outline import Outline
from cffpy.tui.reader import ALL, CHANGED, DIFFERENT, THIS_PASS, Reader, Stopped
from cffpy.tui.widgets import OutlineView, RegisterTable, StateView, TextView
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from textual.app import ComposeResult
    from textual.timer import Timer

    from cffpy.analysis.diff.model import Extent, PassPair
    from cffpy.api.comparison import Comparison
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import Place
    from cffpy.tui.marks import Marks
    from cffpy.tui.outline import Node
    from cffpy.tui.reader import Decoding, StateRow

DIFFERS, MISSING = "≠", "∅"
"""Signs of what differs, and of what the other capture lacks."""


class Differences:
    """Of two captures, in this order; index 0 is the first.

    ``signs``: of each capture, sign by ``Action.order`` of draws and ~index of passes.
    ``counterparts``: of each, ``order`` of a draw -> ``order`` in the other capture.
    """

    def __init__(self, comparison: Comparison) -> None:
        self.lines = [visible(line) for line in comparison.lines()] or ["no difference"]
        self.summary = comparison.summary
        self.signs: tuple[dict[int, str], dict[int, str]] = ({}, {})
        self.counterparts: tuple[dict[int, int], dict[int, int]] = ({}, {})
        pairs = comparison.model.pairs
        for pair in pairs:
            self._add_pair(pair)
        for entry in comparison.entries:
            for extent in entry.extents:
                self._add_extent(extent, pairs)

    def _add_pair(self, pair: PassPair) -> None:
        for side, one, other in ((0, pair.good, pair.bad), (1, pair.bad, pair.good)):
            if one is not None and other is None:
                self.signs[side][~one.index] = MISSING
        for records in pair.draws:
            good, bad = (None if one is None else one.action.order for one in records)
            for side, mine, other_order in ((0, good, bad), (1, bad, good)):
                if mine is not None and other_order is not None:
                    self.counterparts[side][mine] = other_order
                elif mine is not None:
                    self.signs[side][mine] = MISSING

    def _add_extent(self, extent: Extent, pairs: list[PassPair]) -> None:
        for side, index in enumerate((extent.good_pass, extent.bad_pass)):
            if index is not None:
                self.signs[side].setdefault(~index, DIFFERS)
        side = 1 if extent.in_bad else 0
        wanted = extent.bad_pass if extent.in_bad else extent.good_pass
        for pair in pairs:
            one = pair.bad if extent.in_bad else pair.good
            if one is None or one.index != wanted or extent.first is None:
                continue
            last = extent.first if extent.last is None else extent.last
            for draw in one.draws[extent.first : last + 1]:
                self.signs[side].setdefault(draw.order, DIFFERS)
                other = self.counterparts[side].get(draw.order)
                if other is not None:
                    self.signs[1 - side].setdefault(other, DIFFERS)


KEYS = """\
Move
  j k, arrows   down, up              g G    top, bottom
  space b       page down, page up    ^d ^u  half a page
  h l, arrows   close, open a node; scroll left, right
  Tab, Enter    from the outline to the page
  ] [           next, previous draw   } {    next, previous pass
  1 to 7        pass, state, shaders, bindings, dump, pictures,
                differences

Find
  / n N         search in the outline or page; next, previous
  w             only draws for which an expression holds, as in
                draws --where: RB_DEPTH_CNTL.ZFUNC == FUNC_LESS
  Escape        all draws again
  : p           go to a draw: p0:8, or 57 for draw 57 of the dump
  m '           mark the draw; go to the next mark
  a x           note on the draw, which marks it; write all marks
                to a file

Registers
  c             changed since the draw before, set in this pass,
                all, different from the other capture

Two captures
  d D           next, previous draw that differs
  o             show the other capture

  q  quit       ?  these keys
"""


class KeysScreen(ModalScreen[None]):
    """Shows the keys until any is pressed."""

    BINDINGS: ClassVar[list[BindingType]] = [("escape,q,question_mark,enter", "dismiss", "Close")]

    def compose(self) -> ComposeResult:
        """The text."""
        with VerticalScroll(id="keys"):
            yield Static(KEYS, markup=False)

    def on_click(self) -> None:
        """Close."""
        self.dismiss()


_NO_DRAW = "choose a draw in the outline"


class Page(NamedTuple):
    """What a page shows: the state page ``rows`` below a heading, others ``lines``."""

    lines: Sequence[str] = ()
    rows: Sequence[StateRow] = ()
    heading: str = _NO_DRAW


_PAGES = ("pass", "state", "shaders", "bindings", "dump", "pictures", "differences")

#: Seconds that the cursor rests on a node before its page is made.
_REST = 0.15

#: Seconds between two updates of the progress.
_PERIOD = 0.1

_PROMPTS = {
    "/": "search: ",
    "w": "draws where: ",
    "p": "go to draw: ",
    "a": "note on the draw: ",
    "x": "write the marks to a new file: ",
}


class Browser(App[CffpyError]):
    """The browser for one capture, or for two that are compared.

    ``run`` returns the error for which a capture cannot be read, if there is one.
    """

    CSS_PATH = "browser.tcss"
    TITLE = "cffpy"
    ENABLE_COMMAND_PALETTE = False
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("q", "quit", "Quit"),
        Binding("question_mark", "keys", "Keys"),
        Binding("slash", "ask('/')", "Search"),
        Binding("n", "search_again(True)", show=False),
        Binding("N", "search_again(False)", show=False),
        Binding("w", "ask('w')", "Filter"),
        Binding("p,colon", "ask('p')", "Go to"),
        Binding("escape", "clear", show=False),
        Binding("m", "mark", "Mark"),
        Binding("apostrophe", "next_mark", show=False),
        Binding("a", "ask('a')", show=False),
        Binding("x", "ask('x')", show=False),
        Binding("c", "cycle", "Registers"),
        Binding("right_square_bracket", "step_draw(1)", show=False),
        Binding("left_square_bracket", "step_draw(-1)", show=False),
        Binding("right_curly_bracket", "step_pass(1)", show=False),
        Binding("left_curly_bracket", "step_pass(-1)", show=False),
        Binding("d", "step_difference(1)", show=False),
        Binding("D", "step_difference(-1)", show=False),
        Binding("o", "other", show=False),
        *(Binding(str(n), f"page('{page}')", show=False) for n, page in enumerate(_PAGES, 1)),
    ]

    def __init__(
        self, paths: Sequence[str], decoding: Decoding, start: Place | None = None
    ) -> None:
        """``paths``: one or two captures. ``start``: where to begin in the first."""
        super().__init__()
        self._start = start
        self._paths = tuple(paths)
        self._decoding = decoding
        self.readers: list[Reader] = []
        self._passes: list[list[Pass]] = []
        #: Index of the capture that is shown.
        self._side = 0
        self._chosen: dict[int, set[int]] = {}
        self._marks: list[Marks] = []
        self.differences: Differences | None = None
        self._node: Node | None = None
        self._which = DIFFERENT if len(self._paths) > 1 else CHANGED
        self._prompt = ""
        self._asked_in_outline = True
        self._searched = ""
        self._rest: Timer | None = None
        self._reported = 0.0
        self._message = "reading ..."

    def compose(self) -> ComposeResult:
        """The outline, the pages, the prompt and the status line."""
        with Horizontal(id="main"):
            yield OutlineView(id="outline")
            with TabbedContent(id="pages", initial="pass"):
                for page in _PAGES[: None if len(self._paths) > 1 else -1]:
                    with TabPane(page.capitalize(), id=page):
                        if page == "state":
                            yield StateView(id="state-view")
                        else:
                            yield TextView(id=f"{page}-view")
        yield Input(id="prompt", compact=True)
        yield Static("", id="status", markup=False)

    def on_mount(self) -> None:
        """Begin to read."""
        self._show_status()
        self.outline_view.focus()
        self._open()

    @property
    def outline_view(self) -> OutlineView:
        """The tree at the left."""
        return self.query_one(OutlineView)

    @property
    def page(self) -> str:
        """The page that is shown."""
        return self.query_one(TabbedContent).active

    # -- work in threads ------------------------------------------------------------------------

    @work(thread=True, group="open")
    def _open(self) -> None:
        is_stopped = _is_stopped()
        try:
            for path in self._paths:
                reader = Reader(path, self._decoding, self._note_progress)
                self.readers.append(reader)
                passes = reader.passes(is_stopped)
                self._marks.append(reader.marks(is_stopped))
                self._passes.append(passes)
                if len(self.readers) == 1:
                    self.call_from_thread(self._show_outline)
                    if self._start is not None:
                        self._find_place(self._start, 0)
            if len(self.readers) > 1:
                self.call_from_thread(self._say, "comparing ...")
                first, second = self.readers
                with first.asking(is_stopped) as good, second.asking(is_stopped) as bad:
                    self.differences = Differences(diff(good, bad))
                self.call_from_thread(self._show_differences)
        except Stopped:
            return
        except CffpyError as problem:
            self.call_from_thread(self.exit, problem)

    @work(thread=True, exclusive=True, group="page")
    def _load(self, page: str, node: Node, side: int) -> None:
        is_stopped = _is_stopped()
        try:
            made = self._make_page(page, node, side, is_stopped)
        except Stopped:
            return
        except CffpyError as problem:
            text = visible(str(problem))
            made = Page([text], heading=text)
        if not is_stopped():
            self.call_from_thread(self._show_page, page, made)

    def _make_page(self, page: str, node: Node, side: int, is_stopped: Callable[[], bool]) -> Page:
        reader, draw = self.readers[side], node.draw
        if page == "pictures":
            return self._make_pictures(reader, draw or node.pass_, is_stopped)
        if page == "pass":
            if node.pass_ is not None:
                return Page(reader.pass_page(node.pass_, is_stopped))
            outline = self._outline(side)
            return Page([child.label for child in outline.children(node)])
        if draw is None:
            return Page([_NO_DRAW])
        if page == "state":
            return self._make_state(reader, draw, side, is_stopped)
        make = {
            "shaders": reader.shader_page,
            "bindings": reader.binding_page,
            "dump": reader.dump_page,
        }[page]
        return Page(make(draw, is_stopped))

    def _make_pictures(
        self, reader: Reader, node: Action | Pass | None, is_stopped: Callable[[], bool]
    ) -> Page:
        if node is None:
            return Page(["choose a pass or a draw in the outline"])
        size = self.query_one("#pictures-view", TextView).size
        return Page(
            reader.picture_page(node, (max(8, size.width), max(4, size.height - 3)), is_stopped)
        )

    def _make_state(
        self, reader: Reader, draw: Action, side: int, is_stopped: Callable[[], bool]
    ) -> Page:
        which, other = self._which, None
        if self.differences is not None:
            order = self.differences.counterparts[side].get(draw.order)
            found = None if order is None else self._draw_of(1 - side, order)
            if found is not None:
                other = self.readers[1 - side].state_of(found, is_stopped)
        if which == DIFFERENT and other is None:
            which = ALL
        rows = reader.state_page(draw, which, is_stopped, other)
        return Page(rows=rows, heading=f"{draw.name}, registers ({which})")

    @work(thread=True, exclusive=True, group="filter")
    def _filter(self, expression: str, side: int) -> None:
        is_stopped = _is_stopped()
        try:
            orders = self.readers[side].matching(expression, is_stopped)
        except Stopped:
            return
        except CffpyError as problem:
            self.call_from_thread(self._say, visible(str(problem)))
            return
        self.call_from_thread(self._show_chosen, expression, side, orders)

    def _note_progress(self, path: str, done: int, size: int) -> None:
        now = time.monotonic()
        if now - self._reported > _PERIOD:
            self._reported = now
            share = 100 * done // max(size, 1)
            self.call_later(self._say, f"decoding {visible(Path(path).name)}: {share} %")

    # -- what is shown --------------------------------------------------------------------------

    def _outline(self, side: int) -> Outline:
        signs = {} if self.differences is None else dict(self.differences.signs[side])
        notes = {}
        for draw, note in self._marked(side):
            signs[draw.order] = f"*{signs.get(draw.order, '')}"
            notes[draw.order] = note
        return Outline(self._passes[side], self._chosen.get(side), signs, notes)

    def _marked(self, side: int) -> list[tuple[Action, str]]:
        """The draws that are marked, in order, with their notes."""
        notes = self._marks[side].notes if side < len(self._marks) else {}
        if not notes:
            return []
        draws = (draw for pass_ in self._passes[side] for draw in pass_.draws)
        return [(draw, notes[draw.name]) for draw in draws if draw.name in notes]

    def _show_outline(self) -> None:
        outline = self._outline(self._side)
        self.outline_view.show(outline)
        self._say("")
        if not outline.draws:
            self._say("no draws are shown")

    def _show_differences(self) -> None:
        assert self.differences is not None
        self.query_one("#differences-view", TextView).show(self.differences.lines)
        draw = self._current_draw()
        self._show_outline()
        self._say(self.differences.summary)
        if draw is not None:
            self.outline_view.go_to(draw)

    def _show_chosen(self, expression: str, side: int, orders: set[int]) -> None:
        if not orders:
            self._say(f"no draw: {expression}")
            return
        self._chosen[side] = orders
        if side == self._side:
            self._show_outline()
            self._say(f"{len(orders)} draws: {expression}")

    def _show_page(self, page: str, made: Page) -> None:
        self._say("")
        if page == "state":
            self.query_one(StateView).show(made.rows, made.heading)
        else:
            self.query_one(f"#{page}-view", TextView).show(made.lines)

    def _say(self, message: str) -> None:
        self._message = message
        self._show_status()

    def _show_status(self) -> None:
        parts = [visible(Path(self._paths[self._side]).name)]
        if len(self.readers) > self._side:
            capture = self.readers[self._side].capture
            parts.append("unknown GPU" if capture.gpu is None else capture.gpu.name)
            problems = len(capture._source.problems)
            if problems:
                parts.append(f"{problems} problem{'' if problems == 1 else 's'}")
        if self._side in self._chosen:
            parts.append("filtered (Escape: all)")
        parts.append(self._message or "? for keys")
        self.query_one("#status", Static).update(Text("  |  ".join(parts), no_wrap=True))

    # -- events ---------------------------------------------------------------------------------

    def on_tree_node_highlighted(self, event: Tree.NodeHighlighted[Node | None]) -> None:
        """The cursor is on a node: its page follows when it rests there."""
        node = event.node.data
        if node is None or node == self._node:
            return
        tabs = self.query_one(TabbedContent)
        was_draw = self._node is not None and self._node.draw is not None
        self._node = node
        if node.draw is None and tabs.active not in ("differences", "pictures"):
            tabs.active = "pass"
        elif not was_draw and tabs.active == "pass":
            tabs.active = "state"
        self._request_page()

    def on_tree_node_selected(self, event: Tree.NodeSelected[Node | None]) -> None:
        """Enter or a click on a draw: its page gets the focus."""
        if event.node.data is not None and event.node.data.draw is not None:
            self._page_view().focus()

    def _request_page(self) -> None:
        if self._rest is not None:
            self._rest.stop()
        self._rest = self.set_timer(_REST, self._load_page)

    def _load_page(self) -> None:
        if self._node is not None and self.page != "differences" and self._passes:
            self._load(self.page, self._node, self._side)

    @on(TabbedContent.TabActivated)
    def _page_chosen(self) -> None:
        self._request_page()

    @on(Input.Submitted, "#prompt")
    def _answered(self, event: Input.Submitted) -> None:
        prompt, text = self._prompt, event.value.strip()
        self._close_prompt()
        if prompt == "a":
            self._note(text)
        if not text or prompt == "a":
            return
        if prompt == "/":
            self._searched = text
            self.action_search_again(True)
        elif prompt == "w":
            self._say("filtering ...")
            self._filter(text, self._side)
        elif prompt == "x":
            self._export(text)
        else:
            self._go_to_name(text)

    def _close_prompt(self) -> None:
        prompt = self.query_one("#prompt", Input)
        prompt.remove_class("shown")
        prompt.value = ""
        self._prompt = ""
        self.set_focus(self.outline_view if self._asked_in_outline else self._page_view())

    def _page_view(self) -> TextView | RegisterTable:
        if self.page == "state":
            return self.query_one(RegisterTable)
        return self.query_one(f"#{self.page}-view", TextView)

    # -- actions --------------------------------------------------------------------------------

    def action_keys(self) -> None:
        """Show the keys."""
        self.push_screen(KeysScreen())

    def action_ask(self, prompt: str) -> None:
        """Open the prompt."""
        if prompt in ("a", "x") and not self._may_mark(prompt == "a"):
            return
        self._asked_in_outline = isinstance(self.focused, OutlineView) or self.focused is None
        self._prompt = prompt
        box = self.query_one("#prompt", Input)
        box.placeholder = _PROMPTS[prompt]
        box.add_class("shown")
        self.set_focus(box)  # at once: the next key is text

    def action_clear(self) -> None:
        """Close the prompt, or show all draws again."""
        if self._prompt:
            self._close_prompt()
        elif self._chosen.pop(self._side, None) is not None:
            draw = self._current_draw()
            self._show_outline()
            if draw is not None:
                self.outline_view.go_to(draw)

    def action_search_again(self, forward: bool) -> None:
        """Search in what has the focus."""
        if not self._searched:
            return
        if isinstance(self.focused, TextView):
            is_found = self.focused.search(self._searched, forward)
        elif isinstance(self.focused, RegisterTable):
            is_found = self.query_one(StateView).search(self._searched, forward)
        else:
            is_found = self.outline_view.search(self._searched, forward)
        self._say("" if is_found else f"not found: {self._searched}")

    def action_page(self, page: str) -> None:
        """Show a page."""
        if page != "differences" or len(self._paths) > 1:
            self.query_one(TabbedContent).active = page

    def action_cycle(self) -> None:
        """Choose other registers for the page of state."""
        kinds = [CHANGED, THIS_PASS, ALL] + ([DIFFERENT] if len(self._paths) > 1 else [])
        self._which = kinds[(kinds.index(self._which) + 1) % len(kinds)]
        self.query_one(TabbedContent).active = "state"
        self._request_page()

    def action_mark(self) -> None:
        """Mark the draw, or remove its mark."""
        draw = self._current_draw()
        if draw is None or draw.name is None or not self._may_mark(True):
            return
        marks = self._marks[self._side]
        try:
            if draw.name in marks.notes:
                marks.remove(draw.name)
            else:
                marks.set(draw.name, "")
        except CffpyError as problem:
            self._say(visible(str(problem)))
        self._show_marks(draw)

    def action_next_mark(self) -> None:
        """Go to the next draw with a mark."""
        self._step([draw.order for draw, _ in self._marked(self._side)], 1, "no draw is marked")

    def _may_mark(self, needs_draw: bool) -> bool:
        """Whether marks can be made now; says why not."""
        if len(self._marks) <= self._side:
            self._say("still reading")
        elif needs_draw and self._current_draw() is None:
            self._say(_NO_DRAW)
        elif not needs_draw and not self._marked(self._side):
            self._say("no draw is marked")
        else:
            return True
        return False

    def _note(self, text: str) -> None:
        """Put a note on the draw, which marks it."""
        draw = self._current_draw()
        if draw is None or draw.name is None:
            return
        try:
            self._marks[self._side].set(draw.name, text)
        except CffpyError as problem:
            self._say(visible(str(problem)))
        self._show_marks(draw)

    def _show_marks(self, draw: Action) -> None:
        self.outline_view.outline = self._outline(self._side)
        self.outline_view.relabel(draw)

    def _export(self, path: str) -> None:
        marked = self._marked(self._side)
        try:
            write_exported(path, Path(self._paths[self._side]).name, marked)
        except CffpyError as problem:
            self._say(visible(str(problem)))
            return
        noun = "mark" if len(marked) == 1 else "marks"
        self._say(f"{len(marked)} {noun} written to {visible(path)}")

    def action_step_draw(self, step: int) -> None:
        """Go to the next or previous draw."""
        outline = self.outline_view.outline
        orders = [] if outline is None else [draw.order for draw in outline.draws]
        self._step(orders, step, "no draws")

    def action_step_pass(self, step: int) -> None:
        """Go to the first draw of the next or previous pass."""
        outline = self.outline_view.outline
        firsts: dict[int, int] = {}
        for draw in outline.draws if outline is not None else ():
            firsts.setdefault(draw.pass_index or 0, draw.order)
        here = None if self._node is None or self._node.pass_ is None else self._node.pass_.index
        if here in firsts and step < 0:
            self._step([order for index, order in firsts.items() if index < here], -1, "no pass")
        else:
            self._step(list(firsts.values()), step, "no pass")

    def action_step_difference(self, step: int) -> None:
        """Go to the next or previous draw that differs."""
        signs = {} if self.differences is None else self.differences.signs[self._side]
        self._step(sorted(order for order in signs if order >= 0), step, "no draw differs")

    def action_other(self) -> None:
        """Show the other capture, at the counterpart of the draw."""
        if len(self._passes) < 2:
            return
        draw, other = self._current_draw(), None
        if draw is not None and self.differences is not None:
            order = self.differences.counterparts[self._side].get(draw.order)
            other = None if order is None else self._draw_of(1 - self._side, order)
        self._side = 1 - self._side
        self._node = None
        self._show_outline()
        if other is not None:
            self.outline_view.go_to(other)

    # -- draws ----------------------------------------------------------------------------------

    def _current_draw(self) -> Action | None:
        return None if self._node is None else self._node.draw

    def _draw_of(self, side: int, order: int) -> Action | None:
        return next(
            (draw for pass_ in self._passes[side] for draw in pass_.draws if draw.order == order),
            None,
        )

    def _step(self, orders: Sequence[int], step: int, otherwise: str) -> None:
        """Go to the next of these draws, after or before the cursor; wraps around."""
        if not orders:
            self._say(otherwise)
            return
        draw = self._current_draw()
        here = draw.order if draw is not None else -1
        if draw is None and self._node is not None and self._node.pass_ is not None:
            draws = self._node.pass_.draws
            here = draws[0].order - 1 if draws and step > 0 else here
        if step > 0:
            order = next((other_order for other_order in orders if other_order > here), orders[0])
        else:
            order = next(
                (other_order for other_order in reversed(orders) if other_order < here), orders[-1]
            )
        there = self._draw_of(self._side, order)
        if there is None or not self.outline_view.go_to(there):
            self._say("that draw is not shown (Escape: all)")

    def _go_to_name(self, text: str) -> None:
        try:
            place = parse_place(text)
        except UsageError as problem:
            self._say(visible(str(problem)))
            return
        if self.readers:
            self._find_place(place, self._side)

    @work(thread=True, exclusive=True, group="place")
    def _find_place(self, place: Place, side: int) -> None:
        try:
            draw = self.readers[side].draw_at(place, _is_stopped())
        except Stopped:
            return
        except CffpyError as problem:
            self.call_from_thread(self._say, visible(str(problem)))
            return
        self.call_from_thread(self._go_to, draw, side)

    def _go_to(self, draw: Action, side: int) -> None:
        if side == self._side and not self.outline_view.go_to(draw):
            self._say("that draw is not shown (Escape: all)")


def _is_stopped() -> Callable[[], bool]:
    worker = get_current_worker()
    return lambda: worker.is_cancelled
