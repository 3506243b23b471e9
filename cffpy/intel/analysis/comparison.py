# SPDX-License-Identifier: MIT
"""What differs between two Intel captures: draws are aligned, then what they use is compared.

Addresses and offsets in memory are not compared: their differences mean nothing.
"""

from __future__ import annotations

import zlib
from difflib import SequenceMatcher
from typing import NamedTuple

from cffpy.container.damage import Damage
from cffpy.errors import CaptureError
from cffpy.intel.analysis.actions import is_program
from cffpy.intel.analysis.anv import descriptor_sets
from cffpy.intel.analysis.draw_state import pushed_constants
from cffpy.intel.analysis.state_history import structures
from cffpy.intel.analysis.survey import survey
from cffpy.intel.decoder.text import field_texts, field_values
from cffpy.intel.descriptions import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Set

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.anv import Descriptor, DescriptorSet, PushConstants
    from cffpy.intel.analysis.state import Instruction
    from cffpy.intel.analysis.surfaces import Surface
    from cffpy.intel.analysis.survey import Survey, SurveyWalk
    from cffpy.intel.decoder.groups import Group

    Texts = dict[str, str]
    _Signed = tuple[list[Action], list[tuple[object, ...]]]
    _Aligned = tuple[list[tuple[Action, Action]], list[Action], list[Action]]

#: Draws that are aligned by their contents; more of them by their number.
_MOST_ALIGNED = 1 << 12
#: Bytes of a kernel that its digest is made of.
_KERNEL_BYTES = 1 << 20
#: Descriptors of a capture that are compared.
_MAX_DESCRIPTORS = 1 << 18


class Part(NamedTuple):
    """A part of a capture: a submission, a pass, or draws of a pass; all of it without any."""

    submit: int | None = None
    pass_index: int | None = None
    draws: range | None = None


class Recorded:
    """The program's actions of a capture and what each uses: name -> text.

    ``name``: of the file.
    """

    def __init__(self, content: Content, directory: str | None) -> None:
        self.texts: dict[int, Texts] = {}
        #: Structures that instructions point at and that are not in memory: a dump may lack them.
        self.unknown: dict[int, set[str]] = {}
        self._fields: dict[tuple[str, tuple[int, ...]], Texts] = {}
        self._descriptors_left = _MAX_DESCRIPTORS
        self.name = content.name
        self._faults = content.faults
        self.survey: Survey = survey(content, directory, self._take)
        self.actions: list[Action] = [
            action for action in self.survey.actions if is_program(action)
        ]
        if self._descriptors_left <= 0:
            message = "too many descriptors: those of later draws are not compared"
            self.survey.run.damage.append(Damage(None, message, limit="descriptors"))

    @property
    def problems(self) -> list[str]:
        """What is wrong with the file, one line each."""
        return [str(each) for each in (*self._faults, *self.survey.run.damage)]

    def selected(self, part: Part) -> list[Action]:
        """The program's actions of a part. Raises CaptureError where the capture has none."""
        if part.submit is not None:
            count = len(self.survey.run.submissions)
            if part.submit >= count:
                raise self._absent("submit", "s", part.submit, count)
            return [action for action in self.actions if action.submit == part.submit]
        if part.pass_index is None:
            return self.actions
        if part.pass_index >= len(self.survey.passes):
            raise self._absent("pass", "p", part.pass_index, len(self.survey.passes))
        actions = [action for action in self.actions if action.pass_index == part.pass_index]
        if part.draws is None:
            return actions
        last = part.draws[-1]
        if last >= len(actions):
            index = part.pass_index
            raise self._absent("draw", f"p{index}:", last, len(actions), f"pass {index}")
        return actions[part.draws[0] : last + 1]

    def signed(self, actions: list[Action]) -> _Signed:
        """Actions, and the key of each by which those of both captures are aligned."""
        return actions, [self._signature(action) for action in actions]

    def _signature(self, action: Action) -> tuple[object, ...]:
        uses = self.survey.uses[action.order]
        targets = tuple((target.format, target.width, target.height) for target in uses.targets)
        return action.kind, action.primitive, action.vertices, uses.counts.groups, targets

    def _absent(
        self, noun: str, prefix: str, number: int, count: int, owner: str = "the capture"
    ) -> CaptureError:
        ends = f"{prefix}0", f"{prefix}{count - 1}"
        problem = CaptureError.absent(noun, f"{prefix}{number}", owner, ends, count)
        return CaptureError(f"{self.name}: {problem}")

    def _take(self, walk: SurveyWalk, action: Action, command: Instruction) -> bool:
        if is_program(action):
            uses = walk.uses[action.order]
            used = self.texts[action.order] = self._used(walk, action, uses)
            pushed = pushed_constants(walk, uses, command)
            used.update(_pushed(pushed))
            if self._descriptors_left > 0:
                for descriptor_set in descriptor_sets(walk.state, uses, walk, pushed):
                    self._descriptors_left -= len(descriptor_set.descriptors) + len(
                        descriptor_set.samplers
                    )
                    used.update(_set(descriptor_set))
        return False

    def _used(self, walk: SurveyWalk, action: Action, uses: Uses) -> Texts:
        counts = uses.counts._asdict()
        texts = {f"draw {name}": str(value) for name, value in counts.items() if value is not None}
        texts["draw topology"] = action.primitive or ""
        if action.condition is not None:
            texts["draw predicate"] = str(action.execution.value)
        for slot, command in walk.state.slots.items():
            texts.update(self._slot(walk, slot, command))
        for held in structures(walk, action):
            if held.words is None or held.group is None:
                self.unknown.setdefault(action.order, set()).add(held.name)
            else:
                texts.update(self._structure(walk, held.name, held.words, held.group))
        for program in uses.programs:
            for width, address in program.kernels:
                facts = walk.kernels.facts(address)
                if facts is not None:
                    data = walk.span(address, min(facts.size, _KERNEL_BYTES))
                    name = f"{program.stage} {width} kernel".replace("  ", " ")
                    texts[name] = f"{facts.size} bytes, crc32 {zlib.crc32(data):08x}"
        for table in uses.tables:
            for entry in table.entries:
                name = f"{table.stage} table entry {entry.number}"
                texts[name] = _surface(entry.surface)
        texts["depth buffer"] = _surface(uses.depth)
        return texts

    def _structure(
        self, walk: SurveyWalk, name: str, words: tuple[int, ...], group: Group
    ) -> Texts:
        """The fields of a structure in memory, and its bits that no field has."""
        known = self._fields.get((name, words))
        if known is None:
            fields = group.fields(group.dwords)
            addresses = {
                field.name for field in fields if field.kind in (rows.ADDRESS, rows.OFFSET)
            }
            rest = sum(word << 32 * number for number, word in enumerate(words))
            known = self._fields[name, words] = {}
            for field in field_values(walk.database, group, words):
                rest &= ~(((2 << field.high - field.low) - 1) << field.low)
                if field.name not in addresses:
                    text = f"{field.value:.9g}" if isinstance(field.value, float) else field.text
                    known[f"{name}.{field.name}"] = text
            if rest:
                known[f"{name}.other bits"] = f"{rest:#x}"
        return known

    def _slot(self, walk: SurveyWalk, slot: str, command: Instruction) -> Texts:
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


_WHOLE = Part()


class Entry(NamedTuple):
    """One difference: what differs, its two values ("" where there is none), and the draws."""

    what: str
    good: str
    bad: str
    draws: list[tuple[int, int]]


class Differences:
    """The comparison: pairs of actions that belong together, those without a counterpart.

    ``actions``: those of each side that are compared.
    """

    def __init__(
        self, good: Recorded, bad: Recorded, part: Part = _WHOLE, other: Part = _WHOLE
    ) -> None:
        self.good = good
        self.bad = bad
        first, second = self.actions = good.selected(part), bad.selected(other)
        if all(each.draws is not None and len(each.draws) == 1 for each in (part, other)):
            aligned: _Aligned = list(zip(first, second, strict=True)), [], []
        else:
            aligned = _aligned(good.signed(first), bad.signed(second))
        self.pairs, self.missing, self.added = aligned
        self.entries = _entries(good, bad, self.pairs)

    def choose(self, good: Set[int], bad: Set[int]) -> None:
        """Leave only these actions of either capture, by ``order``; of pairs, of both."""
        self.pairs = [
            (one, other) for one, other in self.pairs if one.order in good or other.order in bad
        ]
        self.missing = [action for action in self.missing if action.order in good]
        self.added = [action for action in self.added if action.order in bad]
        self.entries = _entries(self.good, self.bad, self.pairs)

    @property
    def differs(self) -> bool:
        """Whether there is any difference."""
        return bool(self.entries or self.missing or self.added)


def compare(
    good: Content,
    bad: Content,
    directory: str | None = None,
    part: Part = _WHOLE,
    other: Part = _WHOLE,
) -> Differences:
    """Compare two captures, or a part of each.

    Raises UnsupportedGpu for an unknown device, CaptureError where there is no such part.
    """
    first = Recorded(good, directory)
    return Differences(first, first if bad is good else Recorded(bad, directory), part, other)


def _pushed(blocks: list[PushConstants]) -> Texts:
    """The program's constants that stages read, and dynamic offsets that are not zero.

    The stages of a draw share one block; where they do not, names begin with the stages.
    """
    texts = {}
    shared: dict[int, list[PushConstants]] = {}
    for block in blocks:
        shared.setdefault(block.address, []).append(block)
    for readers in shared.values():
        stages = "" if len(shared) == 1 else f"{' '.join(block.stage for block in readers)} "
        block = readers[0]
        for reader in readers:
            for start in range(reader.first, min(reader.first + reader.size, len(block.client)), 4):
                value = int.from_bytes(block.client[start : start + 4], "little")
                texts[f"{stages}push constant {start:#x}"] = f"{value:#010x}"
        for number, offset in enumerate(block.dynamic_offsets):
            if offset:
                texts[f"{stages}dynamic offset {number}"] = f"{offset:#x}"
    return texts


def _set(descriptor_set: DescriptorSet) -> Texts:
    """The descriptors of a set, without addresses."""
    name = (
        f"set {descriptor_set.number}"
        if descriptor_set.number is not None
        else f"set of {descriptor_set.source}"
    )
    texts = {
        f"{name} descriptor {each.offset:#x}": _descriptor(each)
        for each in descriptor_set.descriptors
    }
    for sampler in descriptor_set.samplers:
        texts[f"{name} sampler {sampler.number}"] = sampler.describe()
    return texts


def _descriptor(descriptor: Descriptor) -> str:
    if descriptor.kind == "buffer":
        return f"buffer, {descriptor.size} bytes"
    sampler = (
        ""
        if descriptor.sampler_state is None
        else f", sampler {descriptor.sampler_state.describe()}"
    )
    return f"{descriptor.kind} {_surface(descriptor.surface)}{sampler}"


def _surface(surface: Surface | None) -> str:
    return "" if surface is None else surface.describe().rpartition(" at ")[0] or "null"


def _aligned(first: _Signed, second: _Signed) -> _Aligned:
    (good, keys), (bad, other_keys) = first, second
    if max(len(good), len(bad)) > _MOST_ALIGNED:
        both = min(len(good), len(bad))
        return list(zip(good, bad, strict=False)), good[both:], bad[both:]
    matcher = SequenceMatcher(None, keys, other_keys, autojunk=False)
    pairs: list[tuple[Action, Action]] = []
    missing: list[Action] = []
    added: list[Action] = []
    for _, start, end, other, other_end in matcher.get_opcodes():
        count = min(end - start, other_end - other)
        pairs += zip(good[start : start + count], bad[other : other + count], strict=True)
        missing += good[start + count : end]
        added += bad[other + count : other_end]
    return pairs, missing, added


def _entries(good: Recorded, bad: Recorded, pairs: list[tuple[Action, Action]]) -> list[Entry]:
    """Equal differences of several draws are one; the one that most draws have comes first."""
    draws_of: dict[tuple[str, str, str], list[tuple[int, int]]] = {}
    for one, other in pairs:
        texts, others = good.texts[one.order], bad.texts[other.order]
        unknown = good.unknown.get(one.order, set()) | bad.unknown.get(other.order, set())
        for name in {**texts, **others}:
            values = texts.get(name, ""), others.get(name, "")
            if values[0] != values[1] and name.partition(".")[0] not in unknown:
                draws_of.setdefault((name, *values), []).append((one.order, other.order))
    entries = [Entry(*key, draws) for key, draws in draws_of.items()]
    return sorted(entries, key=lambda entry: -len(entry.draws))
