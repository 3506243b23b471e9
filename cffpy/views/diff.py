# SPDX-License-Identifier: MIT
"""A comparison of two captures: as a document for JSON and HTML, as a tree of lines."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, TypedDict

from cffpy.analysis.diff.rules import RULES
from cffpy.document_types import Facts, Of
from cffpy.frame.faces import facts_document
from cffpy.views.plain_text import Styled, visible

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from cffpy.analysis.diff.model import AppliedRule, Comparison, Difference, Entry, PassPair
    from cffpy.analysis.diff.recording import Recording

SCHEMA = "cffpy.diff/1"

#: What the tree shows of one entry: fields, lines of details, consequences.
_SHOWN_FIELDS = 12
_SHOWN_DETAILS = 24
_SHOWN_CONSEQUENCES = 12

#: Names of what a rule holds for that are shown.
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
    parts = []
    if result.undecided:
        parts.append(f"{result.undecided:,} undecided")
    if not result.differs:
        is_part = result.is_truncated or result.good.chosen is not None
        text = "nothing is known to differ" if parts else "no difference"
        return ", ".join((f"{text}{_compared(result) if is_part else ''}", *parts))
    count = len(result.entries)
    folded = sum(map(_count_folded, result.entries))
    if folded:
        parts.insert(0, f"{folded} more that follow{'s' if folded == 1 else ''}")
    return ", ".join((f"{count} difference{'s' if count > 1 else ''}", *parts))


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
    """The summary, an entry each, what is undecided and of no effect.

    ``everything``: cut nothing short.
    """
    files = f"{visible(result.good.name)} → {visible(result.bad.name)}"
    nodes = [Node(f"{summary(result)}: {files}", "summary")]
    gpus = result.good.passes.gpu, result.bad.passes.gpu
    if gpus[0] != gpus[1] and None not in gpus:
        nodes.append(Node(f"the captures are of two GPUs: {gpus[0]}, {gpus[1]}", "summary"))
    chosen = filter_text(result)
    if chosen is not None:
        nodes.append(Node(chosen, "summary"))
    nodes.extend(_entry_node(entry, everything) for entry in result.entries)
    nodes.extend(_rule_nodes(result, everything))
    return nodes


def _rule_nodes(result: Comparison, everything: bool) -> Iterator[Node]:
    """What is undecided, and, as the last line, what is of no effect."""
    if result.undecided:
        undecided = Node("undecided: the captures do not tell the effect", "undecided")
        undecided.children.extend(_rule_node(rule) for rule in result.rules if not rule.decided)
        yield undecided
    rules = [rule for rule in result.rules if rule.decided]
    if not rules:
        return
    if everything:
        by_rule = Node("of no effect, by rule (--show RULE shows them)", "rule")
        by_rule.children.extend(map(_rule_node, rules))
        yield by_rule
    yield Node(no_effect_text(rules), "rule")


def no_effect_text(rules: Sequence[AppliedRule]) -> str:
    """``3 differences are of no effect: 2 timestamps, 1 scratch register``."""
    count = sum(rule.count for rule in rules)
    counted = ", ".join(RULES[rule.rule].text(rule.count) for rule in rules)
    verb = "difference is" if count == 1 else "differences are"
    return f"{count:,} {verb} of no effect: {counted}"


def _rule_node(rule: AppliedRule) -> Node:
    names = list(rule.differences)
    listed = ", ".join(names[:_SHOWN_NAMES])
    more = f" and {len(names) - _SHOWN_NAMES} more" if len(names) > _SHOWN_NAMES else ""
    return Node(f"{rule.rule}: {rule.count:,} ({listed}{more})", "rule")


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
    good = "good", difference.good_place, difference.good_group
    bad = "bad", difference.bad_place, difference.bad_group
    for name, place, group in (good, bad):
        if place is not None:
            text = "" if group is None or group.name is None else f", {group}"
            node.add(f"{name}{text}: {place}", "place")


def _count_folded(entry: Entry) -> int:
    return sum(1 + _count_folded(consequence) for consequence in entry.consequences)


# -- JSON -----------------------------------------------------------------------------------------


class ComparedCapture(TypedDict):
    """A capture that is compared."""

    file: Annotated[str, "its path, and the place of it that is compared"]
    gpu: Annotated[str | None, "name of the GPU; null where the capture does not tell it"]
    damage: Annotated[list[str], "damage of its commands, in words"]
    passes: Annotated[list[Facts], "all its passes", Of("cffpy.frame.passes:Pass")]


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
    equal: Annotated[bool, "there are no entries, and nothing is undecided: exit code 0"]
    differs: Annotated[bool, "there are entries"]
    undecided: Annotated[int, "how many differences the captures do not decide"]
    summary: Annotated[str, "how much differs, in words"]
    entries: Annotated[
        list[Facts],
        "a cause each, most telling first",
        Of("cffpy.analysis.diff.model:Entry"),
    ]
    rules: Annotated[
        list[Facts],
        "the rules by which differences are counted and no entries, the most frequent first",
        Of("cffpy.analysis.diff.model:AppliedRule"),
    ]
    passes: Annotated[list[AlignedPasses], "how passes and draws were aligned"]


def document(result: Comparison) -> DiffDocument:
    """Entries with fields and consequences, pairs of passes and draws, what rules count."""
    return {
        "good": _capture(result.good),
        "bad": _capture(result.bad),
        "where": None if result.good.chosen is None else result.good.chosen.expression,
        "equal": result.is_equal,
        "differs": result.differs,
        "undecided": result.undecided,
        "summary": summary(result),
        "entries": [facts_document(entry) for entry in result.entries],
        "rules": [facts_document(rule) for rule in result.rules],
        "passes": [_pair(pair) for pair in result.pairs],
    }


def _capture(recording: Recording) -> ComparedCapture:
    return {
        "file": recording.name,
        "gpu": recording.passes.gpu,
        "damage": [str(damage) for damage in recording.damage],
        "passes": [facts_document(pass_) for pass_ in recording.passes.passes],
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
