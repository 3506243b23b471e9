# SPDX-License-Identifier: MIT
"""The outline of a capture: submits, passes and draws as nodes, made when they are opened."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.views.passes import title
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Mapping, Sequence

    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass

#: Children of one node at most; longer lists are put into groups of this number.
GROUP = 500


class Node(NamedTuple):
    """A line of the outline, and what it stands for: ``kind`` and ``number`` identify it.

    ``kind``: "submit", "pass", "group" (of draws, where a pass has many) or "draw". ``number``: of
    the submit, of the pass, of the group's first draw in the pass, or ``order`` of the draw.
    """

    kind: str
    number: int
    label: str
    pass_: Pass | None = None
    draw: Action | None = None


class Outline:
    """The nodes of a capture.

    ``chosen``: ``order`` of the draws that are shown, None for all. ``signs``: of draws by
    ``order``, and of passes by ~index, a sign in front of the label. ``notes``: of draws by
    ``order``, what stands behind the label.
    """

    def __init__(
        self,
        passes: Sequence[Pass],
        chosen: Collection[int] | None = None,
        signs: Mapping[int, str] | None = None,
        notes: Mapping[int, str] | None = None,
    ) -> None:
        self._passes = passes
        self._chosen = chosen
        self.signs = dict(signs or {})
        self._notes = dict(notes or {})
        self._draws = {pass_.index: self._chosen_draws(pass_) for pass_ in passes}

    @property
    def draws(self) -> list[Action]:
        """All draws that are shown, in order."""
        return [draw for draws in self._draws.values() for draw in draws]

    def submits(self) -> Iterator[Node]:
        """The nodes at the top."""
        counts: dict[int, int] = {}
        for pass_ in self._shown():
            counts[pass_.submit] = counts.get(pass_.submit, 0) + 1
        for number, count in counts.items():
            noun = "pass" if count == 1 else "passes"
            yield Node("submit", number, f"submit {number}: {count} {noun}")

    def children(self, node: Node) -> Iterator[Node]:
        """The nodes below one."""
        pass_ = node.pass_
        if node.kind == "submit":
            for pass_ in self._shown():
                if pass_.submit == node.number:
                    yield Node("pass", pass_.index, self.pass_label(pass_), pass_)
        elif pass_ is not None and node.kind != "draw":
            draws = self._draws[pass_.index]
            if node.kind == "pass" and len(draws) > GROUP:
                for start in range(0, len(draws), GROUP):
                    last = draws[start : start + GROUP][-1]
                    yield Node("group", start, f"{draws[start].name} to {last.name}", pass_)
                return
            for draw in draws if node.kind == "pass" else draws[node.number :][:GROUP]:
                yield Node("draw", draw.order, self.label(draw), pass_, draw)

    def path(self, draw: Action) -> list[tuple[str, int]]:
        """Kind and number of the nodes from the top to a draw; empty where it is not shown."""
        pass_ = draw.pass_
        draws = [] if pass_ is None else self._draws[pass_.index]
        position = next((i for i, each in enumerate(draws) if each.order == draw.order), None)
        if pass_ is None or position is None:
            return []
        groups = [("group", position // GROUP * GROUP)] if len(draws) > GROUP else []
        return [("submit", pass_.submit), ("pass", pass_.index), *groups, ("draw", draw.order)]

    def label(self, draw: Action) -> str:
        """The line of a draw."""
        primitive = (draw.primitive or draw.packet).removeprefix("DI_PT_")
        words = [draw.name or "", draw.role, primitive]
        if draw.vertices is not None:
            words.append(f"{draw.vertices} {'indices' if draw.indexed else 'vertices'}")
        if draw.instances is not None and draw.instances > 1:
            words.append(f"x {draw.instances}")
        if draw.groups is not None:
            words.append(" x ".join(map(str, draw.groups)))
        sign, note = self.signs.get(draw.order, ""), self._notes.get(draw.order, "")
        return visible(" ".join(filter(None, (sign, *words, note and f"[{note}]"))))

    def pass_label(self, pass_: Pass) -> str:
        """The line of a pass."""
        shown = len(self._draws[pass_.index])
        more = f" ({shown} shown)" if self._chosen is not None else ""
        sign = self.signs.get(~pass_.index, "")
        return visible(f"{sign} {title(pass_)}{more}".strip())

    def _shown(self) -> Iterator[Pass]:
        for pass_ in self._passes:
            if self._chosen is None or self._draws[pass_.index]:
                yield pass_

    def _chosen_draws(self, pass_: Pass) -> Sequence[Action]:
        if self._chosen is None:
            return pass_.draws
        return [draw for draw in pass_.draws if draw.order in self._chosen]
