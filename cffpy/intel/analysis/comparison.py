# SPDX-License-Identifier: MIT
"""What differs between two Intel captures: draws are aligned, then what they use is compared.

Addresses and offsets in memory are not compared: their differences mean nothing.
"""

from __future__ import annotations

import zlib
from difflib import SequenceMatcher
from typing import NamedTuple

from cffpy.intel.analysis.survey import survey
from cffpy.intel.decoder.text import field_texts
from cffpy.intel.descriptions import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.container.open import Content
    from cffpy.intel.analysis.actions import Action
    from cffpy.intel.analysis.state import Executed
    from cffpy.intel.analysis.surfaces import Surface
    from cffpy.intel.analysis.survey import Survey, SurveyWalk

    Uses = dict[str, str]

#: Draws that are aligned by their contents; more of them by their number.
_MOST_ALIGNED = 1 << 12
#: Bytes of a kernel that its digest is made of.
_KERNEL_BYTES = 1 << 20


class Recorded:
    """The program's actions of a capture and what each uses: name -> text."""

    def __init__(self, content: Content, directory: str | None) -> None:
        self.uses: dict[int, Uses] = {}
        self._fields: dict[tuple[str, tuple[int, ...]], Uses] = {}
        self.found: Survey = survey(content, directory, self._take)
        self.actions: list[Action] = [one for one in self.found.actions if one.is_program]

    def _take(self, walk: SurveyWalk, action: Action, _command: Executed) -> bool:
        if action.is_program:
            self.uses[action.number] = self._used(walk, action)
        return False

    def _used(self, walk: SurveyWalk, action: Action) -> Uses:
        counts = action.counts._asdict()
        found = {f"draw {name}": str(value) for name, value in counts.items() if value is not None}
        found["draw topology"] = action.topology
        for slot, command in walk.state.slots.items():
            found.update(self._slot(walk, slot, command))
        for program in action.programs:
            for width, address in program.kernels:
                facts = walk.kernels.facts(address)
                if facts is not None:
                    data = walk.span(address, min(facts.size, _KERNEL_BYTES))
                    name = f"{program.stage} {width} kernel".replace("  ", " ")
                    found[name] = f"{facts.size} bytes, crc32 {zlib.crc32(data):08x}"
        for table in action.tables:
            for entry in table.entries:
                name = f"{table.stage} table entry {entry.number}"
                found[name] = _surface(entry.surface)
        found["depth buffer"] = _surface(action.depth)
        return found

    def _slot(self, walk: SurveyWalk, slot: str, command: Executed) -> Uses:
        key = slot, command.words
        known = self._fields.get(key)
        if known is None:
            header = command.dword(0)
            plain = {
                field.name
                for field in command.group.fields(command.group.length_of(header), header)
                if field.kind not in (rows.ADDRESS, rows.OFFSET)
            }
            known = self._fields[key] = {
                f"{slot}.{name}": text
                for name, text in field_texts(walk.database, command.group, command.words)
                if name in plain
            }
        return known


class Entry(NamedTuple):
    """One difference: what differs, its two values ("" where there is none), and the draws."""

    what: str
    good: str
    bad: str
    draws: list[tuple[int, int]]


class Differences:
    """The comparison: pairs of actions that belong together, those without a counterpart."""

    def __init__(self, good: Recorded, bad: Recorded) -> None:
        self.good = good
        self.bad = bad
        self.pairs, self.missing, self.added = _aligned(good.actions, bad.actions)
        self.entries = _entries(good, bad, self.pairs)

    @property
    def differs(self) -> bool:
        """Whether there is any difference."""
        return bool(self.entries or self.missing or self.added)


def compare(good: Content, bad: Content, directory: str | None = None) -> Differences:
    """Compare two captures. Raises UnsupportedGpu for an unknown device."""
    return Differences(Recorded(good, directory), Recorded(bad, directory))


def _surface(surface: Surface | None) -> str:
    return "" if surface is None else surface.describe().rpartition(" at ")[0] or "null"


def _signature(action: Action) -> tuple[object, ...]:
    """The key by which actions of both captures are aligned."""
    targets = tuple((one.format, one.width, one.height) for one in action.targets)
    return action.role, action.topology, action.counts.vertices, action.counts.groups, targets


def _aligned(
    good: list[Action], bad: list[Action]
) -> tuple[list[tuple[Action, Action]], list[Action], list[Action]]:
    if max(len(good), len(bad)) > _MOST_ALIGNED:
        both = min(len(good), len(bad))
        return list(zip(good, bad, strict=False)), good[both:], bad[both:]
    matcher = SequenceMatcher(
        None, [_signature(one) for one in good], [_signature(one) for one in bad], autojunk=False
    )
    pairs: list[tuple[Action, Action]] = []
    missing: list[Action] = []
    added: list[Action] = []
    for _, first, end, other, other_end in matcher.get_opcodes():
        count = min(end - first, other_end - other)
        pairs += zip(good[first : first + count], bad[other : other + count], strict=True)
        missing += good[first + count : end]
        added += bad[other + count : other_end]
    return pairs, missing, added


def _entries(good: Recorded, bad: Recorded, pairs: list[tuple[Action, Action]]) -> list[Entry]:
    """Equal differences of several draws are one; the one that most draws have comes first."""
    found: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
    for one, other in pairs:
        uses, others = good.uses[one.number], bad.uses[other.number]
        for name in {**uses, **others}:
            values = uses.get(name, ""), others.get(name, "")
            if values[0] != values[1]:
                found.setdefault((name, *values), []).append((one.number, other.number))
    entries = [Entry(*key, draws) for key, draws in found.items()]
    return sorted(entries, key=lambda entry: -len(entry.draws))
