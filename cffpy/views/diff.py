# SPDX-License-Identifier: MIT
"""A comparison of two captures: as a document for JSON and HTML, as a tree of lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, TypedDict

from cffpy.analysis.diff.rules import CLASSES
from cffpy.document_types import Facts, Of
from cffpy.frame.faces import facts_document
from cffpy.views.plain_text import Styled, visible

if TYPE_CHECKING:
    from cffpy.analysis.diff.model import Comparison, Difference, Entry, PassPair
    from cffpy.analysis.diff.recording import Recording

SCHEMA = "cffpy.diff/1"

#: What the tree shows of one entry: fields, lines of details, consequences.
_SHOWN_FIELDS = 12
_SHOWN_DETAILS = 24
_SHOWN_CONSEQUENCES = 12

#: Names of a noise class that the summary gives.
_SHOWN_NAMES = 4


@dataclass(slots=True)
class Node:
    """A line of the tree, and the lines under it. ``style``: what it is, for colours."""

    text: str
    style: str = ""
    children: list[Node] = field(default_factory=list)

    def add(self, text: str, style: str = "") -> Node:
        """Put a line under this one."""
        child = Node(text, style)
        self.children.append(child)
        return child


def summary(result: Comparison) -> str:
    """How much differs, in one line."""
    if not result.differs:
        is_part = result.is_truncated or result.good.chosen is not None
        return f"no difference{_compared(result) if is_part else ''}"
    count = len(result.entries)
    folded = sum(map(_count_folded, result.entries))
    text = f"{count} difference{'s' if count > 1 else ''}"
    if not folded:
        return text
    return f"{text}, {folded} more that follow{'s' if folded == 1 else ''}"


def _compared(result: Comparison) -> str:
    """What was compared, where limits or a filter left out the rest."""
    pairs = [pair for pair in result.pairs if pair.good is not None and pair.bad is not None]
    draws = sum(None not in drawn for pair in pairs for drawn in pair.draws)
    return f" in what was compared ({len(pairs)} passes, {draws} draws)"


def filter_text(result: Comparison) -> str | None:
    """Which draws were compared, in one line; None: all."""
    chosen = result.good.chosen
    if chosen is None:
        return None
    counts = [
        sum(drawn[side] is not None for pair in result.pairs for drawn in pair.draws)
        for side in range(2)
    ]
    numbers = f"{counts[0]} of good, {counts[1]} of bad"
    return f"only draws compared where {visible(chosen.expression)}: {numbers}"


def tree(result: Comparison, everything: bool = False) -> list[Node]:
    """The summary, an entry each, and what is hidden. ``everything``: cut nothing short."""
    files = f"{visible(result.good.name)} → {visible(result.bad.name)}"
    nodes = [Node(f"{summary(result)}: {files}", "summary")]
    gpus = result.good.passes.gpu, result.bad.passes.gpu
    if gpus[0] != gpus[1] and None not in gpus:
        nodes.append(Node(f"the captures are of two GPUs: {gpus[0]}, {gpus[1]}", "summary"))
    chosen = filter_text(result)
    if chosen is not None:
        nodes.append(Node(chosen, "summary"))
    nodes.extend(_entry_node(entry, everything) for entry in result.entries)
    if result.hidden:
        hidden = Node("hidden (counted only; --show CLASS shows them)", "hidden")
        for noise, names in sorted(result.hidden.items()):
            listed = ", ".join(name for name, _ in names.most_common(_SHOWN_NAMES))
            more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
            hidden.add(f"{noise}: {sum(names.values())} ({listed}{more})", "hidden")
        nodes.append(hidden)
    return nodes


def text_lines(nodes: list[Node], depth: int = 0) -> list[Styled]:
    """The tree as indented lines, each with the style of its node."""
    lines = []
    for node in nodes:
        lines.append(Styled("  " * depth + node.text, node.style))
        lines.extend(text_lines(node.children, depth + 1))
    return lines


def _entry_node(entry: Entry, everything: bool) -> Node:
    node = Node(entry.title, "entry")
    limit = len(entry.differences) if everything else _SHOWN_FIELDS
    for difference in entry.differences[:limit]:
        shown = node.add(f"{difference.name}: {difference.good} → {difference.bad}", "field")
        _add_places(shown, difference)
        lines = difference.details if everything else difference.details[:_SHOWN_DETAILS]
        for line in lines:
            shown.add(line, "detail")
        if len(lines) < len(difference.details):
            shown.add(f"and {len(difference.details) - len(lines)} more lines", "more")
    if len(entry.differences) > limit:
        node.add(f"and {len(entry.differences) - limit} more fields (--all shows them)", "more")
    if entry.consequences:
        number = len(entry.consequences)
        folded = node.add(f"{folded_text(entry)}: {number}", "folded")
        limit = number if everything else _SHOWN_CONSEQUENCES
        for consequence in entry.consequences[:limit]:
            if everything:
                folded.children.append(_entry_node(consequence, everything))
            else:
                folded.add(consequence.title, "consequence")
        if number > limit:
            folded.add(f"and {number - limit} more", "more")
    return node


def folded_text(entry: Entry) -> str:
    """What the entries are that are folded under one."""
    return "its parts, and what follows" if entry.has_parts else "what follows from it"


def _add_places(node: Node, difference: Difference) -> None:
    for name, place in (("good", difference.good_place), ("bad", difference.bad_place)):
        if place is not None:
            node.add(f"{name}: {place}", "place")


def _count_folded(entry: Entry) -> int:
    return sum(1 + _count_folded(consequence) for consequence in entry.consequences)


# -- JSON -----------------------------------------------------------------------------------------


class ComparedCapture(TypedDict):
    """A capture that is compared."""

    file: Annotated[str, "its path, and the place of it that is compared"]
    gpu: Annotated[str | None, "name of the GPU; null where the capture does not tell it"]
    damage: Annotated[list[str], "damage of its commands, in words"]
    passes: Annotated[list[Facts], "all its passes", Of("cffpy.frame.passes:Pass")]


class HiddenDifferences(TypedDict):
    """Differences that are counted, not shown."""

    description: Annotated[str, "what the class hides"]
    count: Annotated[int, "how many differences it hides"]
    names: Annotated[dict[str, int], "the same by what differs, the most frequent first"]


class AlignedPasses(TypedDict):
    """Two passes that are each other's counterparts, or one without a counterpart."""

    good: Annotated[int | None, "number of the pass in the first capture"]
    bad: Annotated[int | None, "number of the pass in the second capture"]
    draws: Annotated[
        list[list[int | None]],
        "its draws: the number in the first and in the second capture, null where it has none",
    ]


class DiffDocument(TypedDict):
    """A comparison: cffpy diff --json."""

    good: Annotated[ComparedCapture, "the first capture"]
    bad: Annotated[ComparedCapture, "the second capture"]
    where: Annotated[str | None, "the filter that draws were compared for"]
    differs: Annotated[bool, "there are entries"]
    summary: Annotated[str, "how much differs, in words"]
    entries: Annotated[
        list[Facts],
        "a cause each, most telling first",
        Of("cffpy.analysis.diff.model:Entry"),
    ]
    hidden: Annotated[dict[str, HiddenDifferences], "by the classes of --show"]
    passes: Annotated[list[AlignedPasses], "how passes and draws were aligned"]


def document(result: Comparison) -> DiffDocument:
    """Entries with their fields and consequences, pairs of passes and draws, what is hidden."""
    return {
        "good": _capture(result.good),
        "bad": _capture(result.bad),
        "where": None if result.good.chosen is None else result.good.chosen.expression,
        "differs": result.differs,
        "summary": summary(result),
        "entries": [facts_document(entry) for entry in result.entries],
        "hidden": {
            noise: {
                "description": CLASSES[noise],
                "count": sum(names.values()),
                "names": dict(names.most_common()),
            }
            for noise, names in sorted(result.hidden.items())
        },
        "passes": [_pair(pair) for pair in result.pairs],
    }


def _capture(recording: Recording) -> ComparedCapture:
    return {
        "file": recording.name,
        "gpu": recording.passes.gpu,
        "damage": [str(damage) for damage in recording.damage],
        "passes": [facts_document(one) for one in recording.passes.passes],
    }


def _pair(pair: PassPair) -> AlignedPasses:
    return {
        "good": None if pair.good is None else pair.good.index,
        "bad": None if pair.bad is None else pair.bad.index,
        "draws": [
            [None if record is None else record.action.number for record in (mine, theirs)]
            for mine, theirs in pair.draws
        ],
    }
