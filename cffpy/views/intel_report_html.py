# SPDX-License-Identifier: MIT
"""The page of ``cffpy report`` of an Intel capture, made of its document. It has no script."""

from __future__ import annotations

from bisect import bisect_left
from typing import TYPE_CHECKING, Any

from cffpy.views.page_kit.document import (
    document,
    files_of,
    footer,
    kit_files,
    problem_list,
    section,
    table,
)
from cffpy.views.page_kit.markup import Budget, Markup, element, text_lines

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    Row = Sequence[str | Markup]

#: Characters of draws, of passes, of each other part.
_DRAW_CHARACTERS, _PASS_CHARACTERS, _OTHER_CHARACTERS = 32_000_000, 8_000_000, 2_000_000


def page(report: Mapping[str, Any]) -> bytes:
    """The page in UTF-8. ``report``: the document of ``cffpy report --json``."""
    info = report["info"]
    passes = report["passes"]
    compared = report["comparison"]
    draws = _Draws(report["draws"], compared)
    tabs = [
        element("a", text, href=f"#{name}")
        for name, text in (
            *([] if compared is None else [("differences", "Differences")]),
            ("passes", "Passes"),
            ("draws", "Draws"),
            ("surfaces", "Surfaces"),
            ("batches", "Batches"),
        )
    ]
    body = (
        element("a", "Skip to the content", href="#content", class_="skip"),
        element(
            "header",
            element("h1", info["file"]),
            element("p", _summary(report), class_="note"),
            element("nav", tabs, class_="tabs", aria_label="Parts"),
        ),
        element(
            "main",
            _problems(report),
            None if compared is None else _differences(compared, draws),
            section("passes", "Passes", _pass_table(passes, draws)),
            _passes(passes, draws),
            section("draws", "Draws and other actions", draws.table()),
            draws.details(),
            section("surfaces", "Surfaces", _surfaces(report["surfaces"], draws)),
            section("batches", "Batches", _batches(report["batches"], draws)),
            id="content",
        ),
        footer(),
    )
    title = f"{info['file']} – cffpy report"
    styles = [*kit_files("report.css"), *files_of(__file__, "intel_report.css")]
    return document(title, body, styles)


def _summary(report: Mapping[str, Any]) -> str:
    info = report["info"]
    parts = [info["kind"], info["gpu"] or "unknown GPU", *info["processes"]]
    for name, count in (
        ("submissions", len(info["submits"])),
        ("passes", len(report["passes"])),
        ("actions", len(report["draws"])),
    ):
        parts.append(f"{count:,} {name}")
    return " · ".join(parts)


def _problems(report: Mapping[str, Any]) -> Markup | None:
    return problem_list((one["text"] for one in report["info"]["problems"][:200]), report["cut"])


def _table(headings: Sequence[str], rows: Iterable[Row], caption: str | None = None) -> Markup:
    """A table; it ends with a note where it would be too large for the page."""
    return table(headings, rows, caption=caption, budget=Budget(_OTHER_CHARACTERS))


class _Draws:
    """Actions: rows of a table, and the details of those whose state is known."""

    def __init__(
        self, draws: Sequence[Mapping[str, Any]], compared: Mapping[str, Any] | None
    ) -> None:
        self._draws = draws
        #: What differs of an action, by its number.
        self._differences: dict[int, list[Row]] = {}
        actions = [draw["action"] for draw in draws]
        #: Numbers of actions that are the program's draws.
        self._program = [one["action"] for one in actions if one["draw"] is not None]
        for entry in () if compared is None else compared["entries"]:
            for action in self.of(entry):
                rows = self._differences.setdefault(action, [])
                rows += [(name, other, this) for name, other, this, _ in entry["fields"]]
        self._names = {
            one["action"]: one["name"] if one["draw"] is not None else f"action {one['action']}"
            for one in actions
        }
        #: Characters of details are limited; only those that are on the page have links.
        self._details = self._render()

    def link(self, action: int) -> Markup:
        """The name of an action, with a link to its details if the page has them."""
        name = self._names.get(action, f"action {action}")
        if action not in self._details:
            return element("span", name)
        return element("a", name, href=f"#action{action}")

    def of(self, entry: Mapping[str, Any]) -> list[int]:
        """The draws that a difference holds for."""
        found = []
        for _, first, last in entry["extents"]:
            start, end = (bisect_left(self._program, number) for number in (first, last + 1))
            found += self._program[start:end] if first >= 0 else []
        return found

    def links(self, actions: Sequence[int]) -> Markup:
        """Links to the first and the last of these actions."""
        if not actions:
            return Markup("")
        first, last = actions[0], actions[-1]
        if first == last:
            return self.link(first)
        return element("span", self.link(first), " to ", self.link(last))

    def table(self) -> Markup:
        """All actions."""
        headings = ("action", "name", "submit", "address", "what", "counts", "targets", "depth")
        return _table(headings, map(self._row, self._draws))

    def _row(self, one: Mapping[str, Any]) -> Row:
        action = one["action"]
        number = action["action"]
        return (
            str(number),
            self.link(number) if action["draw"] is not None else "",
            str(action["submit"]),
            action["place"]["gpuaddr"],
            one["what"],
            one["counts"],
            *_targets(action["targets"]),
        )

    def details(self) -> list[Markup]:
        """What each draw uses, and the state that changed."""
        values = list(self._details.values())
        if len(values) < sum(draw["uses"] is not None for draw in self._draws):
            values.append(element("p", "The page is full: more draws are not shown."))
        return values

    def _render(self) -> dict[int, Markup]:
        budget = Budget(_DRAW_CHARACTERS)
        found: dict[int, Markup] = {}
        for draw in self._draws:
            if budget.is_spent:
                break
            if draw["uses"] is not None:
                found[draw["action"]["action"]] = budget.take(self._detail(draw))
        return found

    def _detail(self, one: Mapping[str, Any]) -> Markup:
        action = one["action"]
        number = action["action"]
        title = f"{self._names[number]}: {one['what']}, {one['counts']}"
        place = f"{action['packet']} at {action['place']['gpuaddr']}"
        return element(
            "details",
            element("summary", title),
            element("p", f"{place}, submission {action['submit']}"),
            self._differences_of(number),
            _uses(one["uses"]),
            _bindings(one["bindings"]),
            _changes(one["changes"]),
            id=f"action{number}",
            class_="draw",
        )

    def _differences_of(self, action: int) -> Markup | None:
        rows = self._differences.get(action)
        if rows is None:
            return None
        headings = ("what", "there", "here")
        return _table(headings, rows, "Differences from the other capture")


def _differences(compared: Mapping[str, Any], draws: _Draws) -> Markup:
    """What differs from another capture: passes that only it has, then each difference."""
    rows: list[Row] = [
        (
            entry["title"],
            element("span", [(draws.link(action), " ") for action in draws.of(entry)[:8]]),
            "; ".join(f"{name}: {there} → {here}" for name, there, here, _ in entry["fields"]),
        )
        for entry in compared["entries"]
    ]
    is_equal = not (rows or compared["missing"])
    return section(
        "differences",
        f"Differences from {compared['other']}",
        element("p", compared["summary"]),
        [element("p", f"Damage of the other: {text}") for text in compared["damage"][:200]],
        [element("p", text, class_="bad") for text in compared["missing"]],
        _table(("what", "draws", "there and here"), rows) if rows else None,
        element("p", "There are no differences.") if is_equal else None,
    )


def _pass_table(passes: Sequence[Mapping[str, Any]], draws: _Draws) -> Markup:
    headings = ("pass", "submit", "kind", "size", "draws", "clears", "flushes", "targets", "depth")
    return _table(headings, (_pass_row(pass_, draws) for pass_ in passes))


def _pass_row(one: Mapping[str, Any], draws: _Draws) -> Row:
    facts = one["pass"]
    size = facts["framebuffer"]
    clears = [each for each in facts["operations"] if each["kind"] == "clear"]
    return (
        element("a", str(facts["pass"]), href=f"#pass{facts['pass']}"),
        str(facts["submit"]),
        facts["kind"],
        "" if size is None else f"{size['width']}x{size['height']}",
        element("span", f"{len(one['draws'])}: ", draws.links(one["draws"])),
        ", ".join(each["attachment"] for each in clears),
        str(len(one["flushes"])),
        *_targets(facts["attachments"]),
    )


def _targets(attachments: Sequence[Mapping[str, Any]]) -> tuple[str, str]:
    """The colour buffers, and the depth buffer, with their sizes."""
    colours = [attachment for attachment in attachments if attachment["name"].startswith("color")]
    depth = next((attachment for attachment in attachments if attachment["name"] == "depth"), None)
    return ", ".join(map(_attachment, colours)), "" if depth is None else _attachment(depth)


def _attachment(one: Mapping[str, Any]) -> str:
    size = one["surface"]
    text = "" if size is None else f" {size['width']}x{size['height']}"
    return f"{one['format']}{text} {one['address']}"


def _passes(passes: Sequence[Mapping[str, Any]], draws: _Draws) -> Iterator[Markup]:
    """Attachments, clears, generated draws and flushes of each pass."""
    budget = Budget(_PASS_CHARACTERS)
    for pass_ in passes:
        title, *lines = pass_["lines"]
        if budget.is_spent:
            text = element("p", "The page is full: what is in this pass is not shown.")
        else:
            text = budget.take(element("pre", text_lines(lines), class_="listing"))
        links = element("p", "Draws: ", draws.links(pass_["draws"]))
        yield section(f"pass{pass_['pass']['pass']}", title, text, links)


def _uses(one: Mapping[str, Any]) -> list[Markup]:
    """Kernels, binding tables, sets and push constants: what only Intel GPUs have."""
    kernels = [
        (
            f"{each['stage']} {each['width']}",
            each["address"],
            "not in memory" if each["size"] is None else f"{each['size']:,} bytes",
        )
        for each in one["kernels"]
    ]
    sets = [
        (
            "" if each["set"] is None else str(each["set"]),
            each["address"],
            f"{each['size']:,} bytes" if each["size"] else "",
            each["source"],
        )
        for each in one["descriptor_sets"]
    ]
    return [
        *([_table(("kernel", "address", "size"), kernels, "Kernels")] if kernels else []),
        *map(_binding_table, one["binding_tables"]),
        *map(_push_constants, one["push_constants"]),
        *([_table(("set", "address", "size", "by"), sets, "Descriptor sets")] if sets else []),
    ]


def _binding_table(one: Mapping[str, Any]) -> Markup:
    notes = {True: ", in the gigabyte of binding tables", False: ", NOT in that gigabyte"}
    place = notes.get(one["in_first_gigabyte"], "")
    title = f"{one['stage']} binding table at {one['address']} ({one['length_source']}){place}"
    rows = (
        (str(entry["index"]), entry["offset"], entry["state"], entry["role"] or entry["heap"])
        for entry in one["entries"]
    )
    return _table(("entry", "offset", "surface state", "as"), rows, title)


def _push_constants(one: Mapping[str, Any]) -> Markup:
    rows = []
    for name, title in (
        ("set_offsets", "offset of set"),
        ("sampler_offsets", "offset of the samplers of set"),
        ("dynamic_offsets", "dynamic offset"),
    ):
        rows += [
            (f"{title} {number}", value) for number, value in enumerate(one[name]) if int(value, 16)
        ]
    title = f"{one['stage']} push constants at {one['address']}"
    return _table(("what", "value"), rows, title)


#: Facts of bindings that the page shows, as columns.
_SHOWN_FACTS = ("address", "first_byte", "size", "format", "width", "height", "elements", "stages")


def _bindings(bindings: Sequence[Mapping[str, Any]]) -> Markup | None:
    """What a draw has bound: the facts that all captures have of it."""
    if not bindings:
        return None
    rows = [
        (
            binding["kind"],
            " ".join(_where(binding)),
            _use(binding),
            *(_cell(binding[name]) for name in _SHOWN_FACTS),
            _fields(binding["fields"]),
        )
        for binding in bindings
    ]
    headings = ("kind", "slot", "use", *(name.replace("_", " ") for name in _SHOWN_FACTS), "fields")
    return _table(headings, rows, "Bindings")


def _where(one: Mapping[str, Any]) -> Iterator[str]:
    yield str(one["slot"])
    if one["bindless_set"] is not None:
        yield f"of set {one['bindless_set']}"
    elif one["stage"] is not None:
        yield f"of {one['stage']}"


def _use(one: Mapping[str, Any]) -> str:
    words = ["used" if one["sure"] else "maybe used"] if one["used"] else ["not used"]
    words += ["written"] if one["writes"] else []
    return ", ".join(words)


def _cell(value: object) -> str:
    return " ".join(map(str, value)) if isinstance(value, list | tuple) else str(value or "")


def _fields(fields: Mapping[str, Any]) -> Markup | str:
    """The fields of a descriptor that are not zero, folded."""
    shown = [
        element("span", f"{name}: {one['decoded']}; ")
        for name, one in fields.items()
        if one["raw"] != "0x0"
    ]
    if not shown:
        return ""
    return element("details", element("summary", f"{len(shown)} of {len(fields)}"), shown)


def _changes(changes: Sequence[Mapping[str, Any]]) -> Markup:
    """The instructions of the state that changed since the draw before."""
    rows = (
        (
            "" if index else one["register"],
            "" if index else one["address"] or "",
            field["field"],
            field["before"],
            field["now"],
        )
        for one in changes
        for index, field in enumerate(one["fields"])
    )
    count = len(changes)
    return element(
        "details",
        element("summary", f"State that changed since the draw before: {count}"),
        _table(("what", "set at", "field", "before", "now"), rows),
    )


def _surfaces(surfaces: Sequence[Mapping[str, Any]], draws: _Draws) -> Markup:
    rows = (
        (
            surface["surface"]["address"],
            surface["text"],
            element(
                "span",
                [(draws.link(use["action"]), f" {use['as']} ") for use in surface["uses"][:8]],
            ),
        )
        for surface in surfaces
    )
    return _table(("address", "surface", "used by"), rows)


def _batches(batches: Sequence[Mapping[str, Any]], draws: _Draws) -> Markup:
    rows = (
        (
            str(batch["submit"]),
            batch["address"],
            f"{batch['runs']:,}",
            element("span", f"{len(batch['actions'])} ", draws.links(batch["actions"])),
        )
        for batch in batches
    )
    return _table(("submit", "address", "times run", "actions"), rows)
