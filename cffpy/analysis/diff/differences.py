# SPDX-License-Identifier: MIT
"""Differences of one register or fact: what differs as text, and whether it is shown.

Texts are of fields of registers and descriptors, words of data, and listings of shaders.
"""

from __future__ import annotations

import re
import struct
from collections import Counter
from difflib import SequenceMatcher, unified_diff
from itertools import islice
from typing import TYPE_CHECKING

from cffpy.analysis.diff.commands import COMMANDS, DAMAGE
from cffpy.analysis.diff.model import Difference
from cffpy.analysis.diff.rules import (
    FACT_CATEGORIES,
    OTHER,
    Category,
    RegisterCase,
    descriptor_category,
    is_address_field,
    is_read,
    register_category,
    rule_of,
)
from cffpy.analysis.inputs.descriptor_sets import SetSlot, set_of_base
from cffpy.analysis.inputs.vertex_buffers import COUNTS
from cffpy.capture.gpu import PROGRAM_ADDRESS_MASK
from cffpy.regdb.rows import COMMAND, PORT
from cffpy.regdb.subjects import RegisterSubject

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from cffpy.analysis.diff.commands import PipeCommand, UncomparedValue
    from cffpy.analysis.diff.registers import CaptureRegisters
    from cffpy.analysis.diff.rules import Category, RuleName
    from cffpy.analysis.diff.state import Captures, CaptureState, StatePair
    from cffpy.analysis.inputs.facts import FactKey, InputFact
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import PacketLocation
    from cffpy.regdb.registers import FieldText


#: Lines of a shader's difference, and words of data, that are kept.
_MAX_LINES = 2000
_MAX_WORDS = 64

#: What stands before an instruction in a listing: numbers, and its words in brackets.
_NUMBERS = re.compile(r"^\s*:?[\w:]*\[[\w]*\]\s*|^\s*[0-9a-f]{1,4}:\s")

_LABEL = re.compile(r"\bl\d+\b")

#: Bytes.
_INSTRUCTION, _A2XX_INSTRUCTION = 8, 12

#: Stands for the value of a field that one of two generations does not have.
NO_FIELD = "-"

NOT_WRITTEN = "not written"

#: Low bits of an address that are flags, or 0: everything is at least dwords apart.
_FLAGS = 3

#: a2xx: the same in constants, which hold descriptors of textures and vertex buffers.
_FETCH_FLAGS = 0xFFF

#: a6xx: copies of SP_BINDLESS_BASE and SP_CS_BINDLESS_BASE.
_COPIES_OF_BASES = ("HLSQ_BINDLESS_BASE", "HLSQ_CS_BINDLESS_BASE")


#: Registers of events that clear, load or store, from a5xx on; others are left over from draws.
_RESOLVES_BY = ("RB_BLIT", "RB_RESOLVE", "RB_CLEAR")

#: Clear values are compared as such, of clears alone.
_CLEAR_VALUE = "CLEAR_COLOR"

#: Fields of packets that drivers choose by tile: whether a draw uses the visibility streams (its
#: draw initiator), and the rectangles of CP_BLIT.
_OF_TILES: frozenset[FactKey] = frozenset(
    ("draw", name)
    for name in (
        "VIS_CULL",
        *(f"{end}_{corner}" for end in ("SRC", "DST") for corner in ("X1", "Y1", "X2", "Y2")),
    )
)


class Differ:
    """Compares registers and facts of both captures, as they are at the present pair of draws.

    ``hides``: called with the name of a rule and that of a difference; counts the difference and
    returns True if the rule hides it. ``uses_set``: whether the draw can use a set of descriptors.
    """

    def __init__(
        self,
        states: StatePair,
        hides: Callable[[RuleName, str], bool],
        uses_set: Callable[[int], bool],
        all_shown: bool,
        of_draws: Differ | None = None,
    ) -> None:
        """``of_draws``: for binning runs, what compares the tiles: it has reported before."""
        self._captures = one, other = states.captures
        self._registers = one.registers, other.registers
        self._of_draws = of_draws
        self._hides = hides
        self._uses_set = uses_set
        #: Whether addresses in constants are shown.
        self._all_shown = all_shown
        #: Register -> the entries of the logs with the writes of the values that were reported.
        self._reported: dict[str, tuple[int | None, int | None]] = {}

    # -- registers ------------------------------------------------------------------------------

    def register(
        self,
        name: str,
        kind: str,
        alike: bool,
        passes: tuple[Pass, Pass],
        before: tuple[Difference, ...],
    ) -> tuple[Difference, ...]:
        """What differs in a register that has two values, or which one capture has not written.

        ``kind``: of the command. ``alike``: whether the passes are cut into the same tiles.
        ``before``: what has differed so far, which is returned if nothing has changed.
        """
        one, other = self._registers
        known = one if name in one else other
        subject = known.subject(name)
        if self._is_left_out(name, kind, subject):
            return ()
        case = RegisterCase(
            subject,
            kind,
            known.is_address(name) and not self._is_no_move(name),
            alike,
            name in one and name in other,
            all(of.has_register(name, known.offsets[name]) for of in self._registers),
            is_behind_count=self._is_behind_count(name),
            is_of_unused_set=self._is_of_unused_set(name),
            is_scaled_by_tile=self._are_scaled(passes),
            is_reported=self._is_reported(name, passes),
        )
        rule = rule_of(case)
        if rule is not None and self._hides(rule, name):
            return ()
        if case.is_in_both:
            found = self._fields(name, subject, before)
        elif any(of.is_unknown(name) for of in self._registers):
            found = self._unknown(name, subject)
        else:
            found = (self._one_sided(name, subject),)
        if found:
            self._reported[name] = one.entry(name), other.entry(name)
        return found

    def _unknown(self, name: str, subject: RegisterSubject) -> tuple[Difference, ...]:
        """A value that only the GPU knows, in one capture."""
        if self._hides("uncaptured", name):
            return ()
        texts = [
            f"{of[name]:08x}" if name in of else "only the GPU knows" for of in self._registers
        ]
        about = register_category(subject)
        return (Difference(name, texts[0], texts[1], about, *self._places(name)),)

    def _is_left_out(self, name: str, kind: str, subject: RegisterSubject) -> bool:
        """Whether the value of a register is not compared at this kind of command."""
        if COMMAND in subject.roles:
            return True  # all writes are compared, as facts
        if kind == "resolve" and _CLEAR_VALUE in name:
            return True  # of clears it is compared as that
        if not is_read(name, kind) or (kind == "resolve" and not name.startswith(_RESOLVES_BY)):
            self._hides("engines", name)
            return True
        # an element that was reset is as one that was never written
        return PORT in subject.roles and not any(of.get(name) for of in self._registers)

    def _are_scaled(self, passes: tuple[Pass, Pass]) -> bool:
        """Whether fragment density maps scale the tiles whose draws are compared."""
        is_binning = self._of_draws is not None
        return not is_binning and all(one.tiles and one.tiles[0].density for one in passes)

    def _is_behind_count(self, name: str) -> bool:
        """Whether neither draw uses this element of an array; what is there was left behind."""
        array, bracket, rest = name.partition("[")
        if not bracket or array not in COUNTS:
            return False
        index = int(rest.partition("]")[0], 0)
        for of in self._registers:
            counts = [of.field(*one) for one in COUNTS[array]]
            known = [count for count in counts if count is not None]
            if not known or index < known[0]:
                return False
        return True

    def _is_of_unused_set(self, name: str) -> bool:
        number = set_of_base(name)
        return number is not None and not self._uses_set(number)

    def _is_reported(self, name: str, passes: tuple[Pass, Pass]) -> bool:
        """Whether both values are of earlier passes, where the difference was reported."""
        reported = [of._reported.get(name) for of in (self._of_draws, self) if of is not None]
        return any(
            all(
                _is_of_earlier_pass(of, name, entry, one)
                for of, entry, one in zip(self._registers, entries, passes, strict=True)
            )
            for entries in reported
            if entries is not None
        )

    def _is_no_move(self, name: str) -> bool:
        """Whether two addresses differ in more than where something lies."""
        if name.startswith(_COPIES_OF_BASES):
            # the bases are written twice: one capture has another base in the copy
            base = name.replace("HLSQ_", "SP_", 1)
            if len({of.get(name) == of.get(base) for of in self._registers}) > 1:
                return True
        if name.endswith(("_HI", "+0x1")):
            return False
        one, other = (of.get(name) or 0 for of in self._registers)
        is_program = any(name in of.program_registers for of in self._registers)
        return bool((one ^ other) & (~PROGRAM_ADDRESS_MASK if is_program else _FLAGS))

    def _one_sided(self, name: str, subject: RegisterSubject) -> Difference:
        texts = [NOT_WRITTEN, NOT_WRITTEN]
        details: tuple[str, ...] = ()
        for number, of in enumerate(self._registers):
            if name in of:
                value = of[name]
                fields = of.text.fields(of.offsets[name], value)
                texts[number] = f"{value:08x}"
                details = tuple(f"{one.name}: {one.text}" for one in fields if one.name)
                if not details:
                    texts[number] = fields[0].text
        about = register_category(subject)
        return Difference(name, texts[0], texts[1], about, *self._places(name), details)

    def _fields(
        self, name: str, subject: RegisterSubject, before: tuple[Difference, ...]
    ) -> tuple[Difference, ...]:
        found = list(self._field_differences(name, subject))
        # most draws write again what differs already: no place is looked up for them
        if len(found) == len(before) and all(
            (one.name, one.good, one.bad, one.category, one.details) == (*new, ())
            for one, new in zip(before, found, strict=True)
        ):
            return before
        places = self._places(name)
        return tuple([Difference(*one, *places) for one in found])

    def _field_differences(
        self, name: str, subject: RegisterSubject
    ) -> Iterator[tuple[str, str, str, Category]]:
        fields = [
            {one.name: one for one in of.text.fields(of.offsets[name], of[name])}
            for of in self._registers
        ]
        for field in dict.fromkeys([*fields[0], *fields[1]]):
            left, right = (of.get(field) for of in fields)
            if left is not None and right is not None and left.bits == right.bits:
                continue
            title = f"{name}.{field}" if field else name
            texts = _field_texts(field, left, right)
            if texts[0] == texts[1]:
                continue  # of two generations: other bits, the same meaning
            if NO_FIELD in texts and self._hides("inherited", title):
                continue
            if is_address_field(subject, field) and self._hides("addresses", title):
                continue
            about = register_category(subject, field)
            if about.name == "push constants":
                one, other = self._registers
                texts = word_text(one[name]), word_text(other[name])
            yield title, *texts, about

    def _places(self, name: str) -> tuple[PacketLocation | None, PacketLocation | None]:
        one, other = (of.write_of(name) for of in self._registers)
        return None if one is None else one.place, None if other is None else other.place

    # -- facts ----------------------------------------------------------------------------------

    def fact(self, key: FactKey, alike: bool, is_used: bool) -> tuple[Difference, ...]:
        """What differs in a fact. ``is_used``: whether the draw can use it."""
        good, bad = (capture.fact(key) for capture in self._captures)
        name = key_text(key)
        if good is bad or (not is_used and self._hides("unused", name)):
            return ()
        if good is None or bad is None:
            # left over from a run that the other mode does not have
            is_hidden = not alike and self._hides("inherited", name)
            return () if is_hidden else tuple(self._facts(key, good, bad))
        if good.digest == bad.digest:
            return ()  # neither captured, perhaps: addresses are compared
        if self._follows(key, alike):
            return ()
        if good.digest is None or bad.digest is None:
            return tuple(self._uncaptured(key, good, bad))
        return tuple(self._facts(key, good, bad))

    def _follows(self, key: FactKey, alike: bool) -> bool:
        """Whether a fact follows from other tiles, or is the size of another shader."""
        if key in _OF_TILES:
            return not alike and self._hides("tiles", key_text(key))
        if key[0] != "loaded program":
            return False
        one, other = (capture.fact(("shader", key[1])) for capture in self._captures)
        return one is not None and other is not None and one.digest != other.digest

    def _facts(
        self, key: FactKey, good: InputFact | None, bad: InputFact | None
    ) -> Iterator[Difference]:
        found = list(differences(key, good, bad, self._captures, with_addresses=self._all_shown))
        if not found and key[0] == "constants":
            self._hides("addresses", key_text(key))
        for one in found:
            if NO_FIELD not in (one.good, one.bad) or not self._hides("inherited", one.name):
                yield one

    def _uncaptured(self, key: FactKey, good: InputFact, bad: InputFact) -> Iterator[Difference]:
        """Contents that one capture lacks are a difference where no buffer lies there."""
        name = key_text(key)
        one, other = self._captures
        lacking, capture = (good, one) if good.digest is None else (bad, other)
        is_outside = lacking.address is not None and capture.buffers.find(lacking.address) is None
        if not is_outside and self._hides("uncaptured", name):
            return
        texts = [
            f"no buffer at {one.address:#x}"
            if one is lacking and is_outside
            else ("not captured" if one is lacking else "captured")
            for one in (good, bad)
        ]
        category = FACT_CATEGORIES.get(str(key[0]), OTHER)
        yield Difference(name, texts[0], texts[1], category, good.place, bad.place)


def _is_of_earlier_pass(
    registers: CaptureRegisters, name: str, before: int | None, one: Pass
) -> bool:
    """Whether a register's value is of the same write as ``before``, in another pass."""
    entry = registers.entry(name)
    if entry is None or entry != before:
        return entry is before
    write = registers.write_of(name)
    assert write is not None
    return write.pass_index is not None and write.pass_index < one.index


def _field_texts(field: str, left: FieldText | None, right: FieldText | None) -> tuple[str, str]:
    """Two values of a field. Where they read the same, say floats, their bits are added."""
    none = "0x0" if field.startswith("other bits") else NO_FIELD
    texts = none if left is None else left.text, none if right is None else right.text
    if texts[0] == texts[1] and left is not None and right is not None:
        return f"{texts[0]} ({left.bits:#x})", f"{texts[1]} ({right.bits:#x})"
    return texts


#: A name as ``name_order`` sorts it.
NameOrder = tuple[tuple[str | int, ...], str]

#: A number in a name: slots are decimal, indices of registers hexadecimal.
_NUMBER = re.compile(r"(0x[0-9a-f]{1,64}|[0-9]{1,64})")


def name_order(name: str) -> NameOrder:
    """What sorts names in which numbers are numbers: ``[0xa]`` before ``[0x10]``, 2 before 10."""
    parts = _NUMBER.split(name)
    numbers = [int(part, 0) if part[:2] == "0x" else int(part) for part in parts[1::2]]
    parts_in_order = (one for pair in zip(parts[::2], (*numbers, 0), strict=True) for one in pair)
    return tuple(parts_in_order), name


def key_text(key: FactKey) -> str:
    """A fact's name: ``texture FS 0``, ``uniform data set 1 slot 2``."""
    if isinstance(key[-1], SetSlot):
        return f"{key[0]} set {key[-1].set} slot {key[-1].slot}"
    if key[0] == "draw":
        return str(key[1])
    return " ".join(str(part) for part in key)


def differences(
    key: FactKey,
    good: InputFact | None,
    bad: InputFact | None,
    captures: Captures,
    with_addresses: bool = False,
) -> Iterator[Difference]:
    """What differs between two facts, ``with_addresses`` in constants, too."""
    category = FACT_CATEGORIES.get(str(key[0]), OTHER)
    name = key_text(key)
    places = None if good is None else good.place, None if bad is None else bad.place
    if good is None or bad is None:
        texts = ("there", "missing") if bad is None else ("missing", "there")
        yield Difference(name, *texts, category, *places)
    elif good.domain is not None and good.domain == bad.domain:
        yield from _descriptor_differences(key, good, bad, captures)
    elif key[0] == "shader":
        one, other = (
            _listing(capture, fact) for capture, fact in zip(captures, (good, bad), strict=True)
        )
        lines = unified_diff(_instructions(one), _instructions(other), "good", "bad", lineterm="")
        texts = _shader_text(good, one, captures[0]), _shader_text(bad, other, captures[1])
        yield Difference(name, *texts, category, *places, tuple(islice(lines, _MAX_LINES)))
    elif good.data is not None and bad.data is not None:
        words = _data_words(key, good, bad, None if with_addresses else captures)
        if words:
            yield _data_difference(name, category, good, bad, words)
    else:
        yield Difference(name, _digest_text(good), _digest_text(bad), category, *places)


def _digest_text(fact: InputFact) -> str:
    """``loaded`` for contents, of which the other capture has none."""
    return "loaded" if isinstance(fact.digest, bytes) else str(fact.digest)


def _descriptor_differences(
    key: FactKey, good: InputFact, bad: InputFact, captures: Captures
) -> Iterator[Difference]:
    kind, name = str(key[0]), key_text(key)
    images = captures[0].image(key, good), captures[1].image(key, bad)
    # where nothing else differs, the distance between two addresses does
    found = list(_field_pairs(kind, good, bad, captures)) or _field_pairs(
        kind, good, bad, captures, with_addresses=True
    )
    for field, about, one, other in found:
        title = f"{name}: {field}"
        yield Difference(title, one, other, about, good.place, bad.place, images=images)


def _listing(capture: CaptureState, fact: InputFact) -> str:
    known = capture.recording.listings
    return known.get(fact.digest, "") if isinstance(fact.digest, bytes) else ""


def _instructions(listing: str) -> list[str]:
    """A listing without what shifts: numbers and words of instructions, numbers in labels."""
    labels: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        return labels.setdefault(match[0], f"label{len(labels)}")

    return [_LABEL.sub(renamed, _NUMBERS.sub("", line).strip()) for line in listing.splitlines()]


def _shader_text(fact: InputFact, listing: str, capture: CaptureState) -> str:
    if not listing or not isinstance(fact.digest, bytes):
        return "not captured"
    is_a2xx = capture.registers.generation.instruction_set == "a2xx"
    size = _A2XX_INSTRUCTION if is_a2xx else _INSTRUCTION
    instructions = 0 if fact.data is None else len(fact.data) // size
    return f"{instructions} instructions, digest {fact.digest.hex()[:8]}"


def _field_pairs(
    kind: str,
    good: InputFact,
    bad: InputFact,
    captures: Captures,
    with_addresses: bool = False,
) -> Iterator[tuple[str, Category, str, str]]:
    """Name, category and both values of the fields that differ, addresses left out."""
    assert good.domain is not None
    texts: list[dict[tuple[str, str], FieldText]] = []
    subjects: dict[tuple[str, str], RegisterSubject] = {}
    for capture, fact in zip(captures, (good, bad), strict=True):
        assert fact.data is not None
        dwords = fact.data[: len(fact.data) // 4 * 4].cast("I").tolist()
        fields = capture.text.descriptor_fields(good.domain, dwords)
        # two dwords may have fields of one name, say the parts of a number
        texts.append({(field.name, field.dword): field for field in fields})
        for field in fields:
            subject = capture.registers.descriptor_subject(good.domain, field.dword)
            subjects[field.name, field.dword] = subject
    for key in dict.fromkeys([*texts[0], *texts[1]]):  # two generations may have other fields
        left, right = (of.get(key) for of in texts)
        if left is not None and right is not None and left.bits == right.bits:
            continue
        name = key[0]
        if with_addresses or not is_address_field(subjects[key], name):
            about = descriptor_category(kind, subjects[key], name)
            yield name, about, *_field_texts(name, left, right)


def _data_words(
    key: FactKey, good: InputFact, bad: InputFact, captures: Captures | None
) -> list[int]:
    """Offsets of the words that differ; of constants without those that are addresses.

    Up to a5xx, drivers put the addresses of uniform buffers there. ``captures``: whose addresses;
    None: addresses count.
    """
    one, other = bytes(good.data or b""), bytes(bad.data or b"")
    words = [
        offset
        for offset in range(0, max(len(one), len(other)), 4)
        if one[offset : offset + 4] != other[offset : offset + 4]
    ]
    if captures is None or key[0] != "constants":
        return words
    return [offset for offset in words if _addresses_at(offset, (one, other), captures) is None]


def constant_addresses(
    good: InputFact, bad: InputFact, captures: Captures
) -> Iterator[tuple[int, int, int]]:
    """Offset in bytes, and both addresses, where both captures have an address in constants."""
    data = bytes(good.data or b""), bytes(bad.data or b"")
    for offset in range(0, min(map(len, data)), 4):
        found = _addresses_at(offset, data, captures)
        if found is not None:
            yield offset, *found


def _addresses_at(
    offset: int, data: tuple[bytes, bytes], captures: Captures
) -> tuple[int, int] | None:
    """The addresses that begin here, of 32 or of 64 bits, if there is one in both captures."""
    good, bad = (
        capture.address_at(words, offset) for capture, words in zip(captures, data, strict=True)
    )
    if good is None or bad is None:
        return None
    has_flags = any(capture.registers.generation.instruction_set == "a2xx" for capture in captures)
    return None if has_flags and (good ^ bad) & _FETCH_FLAGS else (good, bad)


def _data_difference(
    name: str, category: Category, good: InputFact, bad: InputFact, words: list[int]
) -> Difference:
    one, other = bytes(good.data or b""), bytes(bad.data or b"")
    size = max(len(one), len(other))
    first = words[0]
    start = good.offset if good.offset == bad.offset else 0
    details = tuple(
        f"+{start + offset:#x}: {_word(one, offset)} → {_word(other, offset)}"
        for offset in words[:_MAX_WORDS]
    )
    if len(words) > _MAX_WORDS:
        details = (*details, f"and {len(words) - _MAX_WORDS} more words")
    count = f"{len(words)} of {size // 4} words" if len(words) > 1 else f"offset {start + first:#x}"
    place = f"{name} ({count})"
    return Difference(
        place, _word(one, first), _word(other, first), category, good.place, bad.place, details
    )


def _word(data: bytes, offset: int) -> str:
    part = data[offset : offset + 4]
    if len(part) < 4:
        return part.hex() or "missing"
    return word_text(int.from_bytes(part, "little"))


def word_text(word: int) -> str:
    """A word as hex, and as the number that it would be if it is a float of usual size."""
    number: float = struct.unpack("<f", word.to_bytes(4, "little"))[0]
    usual = 1e-6 < abs(number) < 1e9
    return f"{word:08x} ({number:g})" if usual else f"{word:08x}"


# -- commands between draws ----------------------------------------------------------------------

#: What is compared as one sequence -> the key of its category.
_KINDS = {"waits and cache events": "barriers", "other commands": "commands"}

#: Where differences are.
BEFORE_DRAW = "before it"
AFTER_ALL = "after the last draw"


#: The pipes of a7xx, and what their sequences are called. What both execute is in both sequences,
#: and told of the first.
_PIPES = {"BR": "", "BV": " of BV"}


def barriers(
    where: str, good: Sequence[PipeCommand], bad: Sequence[PipeCommand]
) -> Iterator[Difference]:
    """How two sequences of waits, cache events and other commands differ.

    Each pipe executes its own sequence. In which order the stream has them does not count.
    """
    have_pipes = all(any(one.pipe is not None for one in of) for of in (good, bad))
    for what, kind in _KINDS.items():
        is_told = False
        for pipe, of_pipe in _PIPES.items():
            mine, theirs = (_texts(of, pipe, kind) for of in (good, bad))
            own = [_texts(of, pipe, kind, only=True) for of in (good, bad)]
            if pipe == "BV" and (is_told or not have_pipes):
                is_other = own[0] != own[1]  # the rest is that of BR, too
            else:
                is_other = mine != theirs
            if is_other:
                is_told = True
                yield _difference(f"{what}{of_pipe} {where}", FACT_CATEGORIES[kind], mine, theirs)


#: What a dword that a rule leaves out is called.
_UNCOMPARED: Mapping[RuleName, str] = {
    "addresses": "address",
    "timestamps": "timestamp",
    "written": "data",
    "blocks": "size",
}


def uncompared_difference(where: str, value: UncomparedValue) -> Difference:
    """A difference of a value that no rule leaves out, or that is to be shown all the same."""
    texts = ["missing" if one is None else f"{one:08x}" for one in (value.good, value.bad)]
    if value.rule is None:  # it is the program's
        name = f"value of {value.text} {where}"
        texts = [f"{value.text} of {one}" for one in texts]
    else:
        name = f"{_UNCOMPARED[value.rule]} of {value.text} {where}"
    return Difference(name, texts[0], texts[1], FACT_CATEGORIES["commands"])


def _texts(of: Sequence[PipeCommand], pipe: str, kind: str, only: bool = False) -> list[str]:
    """What a pipe executes, ``only``: not both. BR also what has no pipe, or one not known."""
    pipes = (pipe,) if only else (pipe, "both") if pipe == "BV" else (pipe, "both", "unknown", None)
    return [
        one.text
        for one in of
        if one.pipe in pipes and _is_command(one.text) == (kind == "commands")
    ]


def _is_command(text: str) -> bool:
    name = text.partition(" ")[0]
    return name in COMMANDS or name == DAMAGE


def _difference(name: str, category: Category, good: list[str], bad: list[str]) -> Difference:
    """What only one sequence has, else that the order differs."""
    mine, theirs = Counter(good), Counter(bad)
    left, right = _listed(mine - theirs), _listed(theirs - mine)
    if not left and not right:
        left, right = _ORDERS
    texts = left or f"{_WITHOUT}{right}", right or f"{_WITHOUT}{left}"
    # with commas where names have values
    between = ", " if any(" " in one for one in (*good, *bad)) else " "
    marked = [between.join(names) for names in _marked(good, bad)]
    return Difference(name, *texts, category, details=(f"good: {marked[0]}", f"bad: {marked[1]}"))


#: What stands for a sequence that lacks what the other has; for sequences in two orders.
_WITHOUT = "without "
_ORDERS = "one order", "another order"

#: What the name of a difference of sequences says: the pipe, and where they are.
_PLACE = re.compile(rf" (?:of (BV) )?({BEFORE_DRAW}|{AFTER_ALL})$")

#: Waits that a title names.
_MAX_NAMED = 3


def wait_title(difference: Difference, place: str) -> str | None:
    """The title of waits or commands at ``place``, draws as text; None for another difference,
    for damage, and where only their order differs.

    ``CP_WAIT_FOR_IDLE before draw p3:17 is missing in bad``.
    """
    found = _PLACE.search(difference.name)
    is_damage = any(DAMAGE in text for text in (difference.good, difference.bad))
    if found is None or is_damage or difference.good == _ORDERS[0]:
        return None
    at = f"{'before' if found[2] == BEFORE_DRAW else 'after'} {place}"
    pipe = "" if found[1] is None else f"{found[1]}: "
    texts = difference.good, difference.bad
    lacks = [text.startswith(_WITHOUT) for text in texts]
    if not any(lacks):
        return f"{pipe}{at}: {_shortened(texts[0])} → {_shortened(texts[1])}"
    there = texts[lacks.index(False)]
    verb = "are" if ", " in there or there[:1].isdigit() else "is"
    return f"{pipe}{_shortened(there)} {at} {verb} missing in {'bad' if lacks[1] else 'good'}"


def _shortened(listed: str) -> str:
    names = listed.split(", ")
    if len(names) <= _MAX_NAMED:
        return listed
    return f"{', '.join(names[:_MAX_NAMED])} and {len(names) - _MAX_NAMED} more"


def _listed(counts: Counter[str]) -> str:
    return ", ".join(name if number == 1 else f"{number} {name}" for name, number in counts.items())


#: Waits whose sequences are compared one by one, at most; of longer ones both ends are.
_MAX_WAITS = 500

#: Equal waits that are listed beside others.
_BESIDE = 3


def _marked(good: list[str], bad: list[str]) -> tuple[list[str], list[str]]:
    """Both sequences, with brackets around what the other lacks; long equal parts are counted."""
    found: tuple[list[str], list[str]] = ([], [])
    for is_equal, mine, theirs in _parts(good, bad):
        if is_equal:
            shown = mine
            if len(mine) > 2 * _BESIDE + 1:
                counted = f"... {len(mine) - 2 * _BESIDE} equal ..."
                shown = [*mine[:_BESIDE], counted, *mine[-_BESIDE:]]
            found[0].extend(shown)
            found[1].extend(shown)
        else:
            found[0].extend(f"[{one}]" for one in mine)
            found[1].extend(f"[{one}]" for one in theirs)
    return found


def _parts(good: list[str], bad: list[str]) -> Iterator[tuple[bool, list[str], list[str]]]:
    """Parts of two sequences, and whether they are equal."""
    if len(good) + len(bad) <= _MAX_WAITS:
        for tag, first, last, start, end in SequenceMatcher(
            None, good, bad, autojunk=False
        ).get_opcodes():
            yield tag == "equal", good[first:last], bad[start:end]
        return
    room = min(len(good), len(bad))
    first = next((at for at in range(room) if good[at] != bad[at]), room)
    room -= first
    last = next((at for at in range(room) if good[-1 - at] != bad[-1 - at]), room)
    yield True, good[:first], bad[:first]
    yield False, good[first : len(good) - last], bad[first : len(bad) - last]
    yield True, good[len(good) - last :], bad[len(bad) - last :]
