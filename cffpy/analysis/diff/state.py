# SPDX-License-Identifier: MIT
"""What both captures have at a pair of draws: registers and inputs, and what of it differs.

Draws share their inputs (``DrawInputs.facts``), so two draws are compared by these objects: how two
of them differ is found once. Nothing is followed from draw to draw but which objects were compared
last.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import zip_longest
from operator import itemgetter
from typing import TYPE_CHECKING

from cffpy.analysis.diff.registers import CaptureRegisters, RegisterPair
from cffpy.analysis.inputs.descriptor_sets import SetSlot
from cffpy.analysis.inputs.facts import NO_FACTS, FactKey, Facts, InputFact
from cffpy.analysis.inputs.recorder import FETCHED
from cffpy.analysis.inputs.uses import UsedDescriptors
from cffpy.analysis.register_store.writes import StoredWrites
from cffpy.regdb.registers import RegisterText

if TYPE_CHECKING:
    from collections.abc import Hashable, Mapping, Sequence

    from cffpy.analysis.diff.recording import Recording
    from cffpy.analysis.inputs.descriptor_sets import SetPlace
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.analysis.inputs.uses import Slots

#: A register by its key, or a fact by its key.
Subject = int | FactKey

#: Sets whose descriptors are kept by key, results of comparisons that are kept.
_MAX_SETS, _MAX_KNOWN = 1 << 12, 1 << 14

_NOTHING: Mapping[FactKey, InputFact] = {}

#: Commands at a draw: writes of registers that are commands. They come after what
#: ``DrawInputs.facts`` has.
_COMMANDS = FETCHED + 1

#: A fact of each capture.
FactPair = tuple[InputFact | None, InputFact | None]


#: Bytes compared where two addresses differ, to see whether the same lies there.
HEAD_BYTES = 64


class Buffers:
    """Where the buffers of a capture lie: those of all submits."""

    def __init__(self, buffers: Sequence[tuple[int, int]]) -> None:
        self._buffers = buffers
        self._starts = [start for start, _ in buffers]

    def find(self, address: int) -> tuple[int, int] | None:
        """Start and size in bytes of the buffer that holds an address."""
        position = bisect_right(self._starts, address) - 1
        if position < 0:
            return None
        start, size = self._buffers[position]
        return (start, size) if address < start + size else None


class CaptureState:
    """One capture at the draw that is compared: its registers and its inputs."""

    def __init__(self, recording: Recording, other: CaptureState | None = None) -> None:
        """``other``: of the capture that it is compared with, made before."""
        self.recording = recording
        beside = None if other is None else other.registers
        self.registers: CaptureRegisters = CaptureRegisters(recording, beside)
        self.buffers = Buffers(recording.buffers)
        self.record: DrawInputs | None = None
        self.commands = NO_FACTS
        self._used = UsedDescriptors(recording.descriptors)
        #: Number of a set and id of its contents -> its descriptors by key; of both captures.
        self._sets: dict[tuple[int, int], Mapping[FactKey, InputFact]] = {}
        if other is not None:
            self._sets = other._sets

    @property
    def text(self) -> RegisterText:
        """Names and texts of registers; of a capture that has passes."""
        return self.registers.text

    # -- inputs ---------------------------------------------------------------------------------

    def facts_of_set(self, number: int, place: SetPlace) -> Mapping[FactKey, InputFact]:
        """What is in a set, by key; the same object for the same contents."""
        if self.recording.sets is None:
            return _NOTHING
        contents = self.recording.sets.read(place)
        key = number, id(contents)  # which the recording keeps
        known = self._sets.get(key)
        if known is None:
            if len(self._sets) >= _MAX_SETS:
                self._sets.clear()
            known = self._sets[key] = {
                (kind, SetSlot(number, slot)): fact for (kind, slot), fact in contents[1]
            }
        return known

    def fact(self, key: FactKey) -> InputFact | None:
        """A fact with its place; None where there is none."""
        record, slot = self.record, key[-1]
        if record is None:
            return None
        if isinstance(slot, SetSlot):
            place = record.sets.get(slot.set)
            return None if place is None else self.facts_of_set(slot.set, place).get(key)
        fact = next((of[key] for of in (*record.facts, self.commands) if key in of), None)
        is_of_packet = fact is not None and key[0] == "draw"
        return replace(fact, place=record.action.place) if fact and is_of_packet else fact

    def image(self, key: FactKey, fact: InputFact) -> int | None:
        """What a descriptor is of; a3xx keeps the addresses of textures elsewhere."""
        address = self.fact(("texture address", *key[1:])) if key[0] == "texture" else None
        return fact.points_at if address is None else address.points_at

    def address_of(self, key: FactKey, fact: InputFact) -> int | None:
        """What a descriptor is of, 0 for nothing, or where something lies that was not captured."""
        address = fact.points_at if key[0] != "texture" else self.image(key, fact)
        if address is not None:
            return address
        if fact.digest is None:
            return fact.address
        return None if fact.domain is None else 0

    @property
    def uses(self) -> Hashable:
        """What ``slots`` depends on."""
        return None if self.record is None else (self.record.shaders, self.record.prefetched)

    def slots(self) -> Slots | None:
        """The descriptors of bindless sets that the draw uses; None: any."""
        record = self.record
        return None if record is None else self._used.of(record.shaders, record.prefetched)

    # -- memory ---------------------------------------------------------------------------------

    def address_at(self, data: bytes, offset: int) -> int | None:
        """The address that begins at an offset of some data, if a buffer lies there."""
        size = 8 if self.registers.generation.is_64bit else 4
        part = data[offset : offset + size]
        address = int.from_bytes(part, "little")
        return address if len(part) == size and self.buffers.find(address) is not None else None

    def head(self, address: int) -> memoryview | None:
        """The first bytes that were captured at an address."""
        return None if self.record is None else self.record.memory.head(address, HEAD_BYTES)


#: Both captures.
Captures = tuple[CaptureState, CaptureState]


#: Writes that are commands: registers with values.
_Commands = tuple[tuple[int, int], ...]

_register_of = itemgetter(0)


class CommandFacts:
    """Facts of writes that are commands, such as those that invalidate caches, before a draw."""

    def __init__(self, recording: Recording) -> None:
        self._store = recording.store
        self._text = None if recording.database is None else RegisterText(recording.database)
        self._known: dict[_Commands, Facts] = {}
        #: Id of an entry's registers -> these, and its commands. Draws share the registers of
        #: groups with equal words.
        self._commands: dict[int, tuple[object, _Commands]] = {}

    def of(self, order: int) -> Facts:
        """The facts of an action: all writes since the action before of its pipe, in order."""
        entries = self._store.history(order).command_entries(order)
        writes = [one for at in entries for one in self._commands_of(at)]
        found = tuple(sorted(writes, key=_register_of))
        known = self._known.get(found)
        if known is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            known = self._known[found] = self._facts(found)
        return known

    def _commands_of(self, at: int) -> _Commands:
        """The commands of an entry of the log, in order, as far as their values are known."""
        log = self._store.log
        registers = log.entries[at].registers
        known = self._commands.get(id(registers))
        if known is not None and known[0] is registers:
            return known[1]
        assert log.commands is not None
        source = log.source(at)
        found = tuple(
            (one.register, one.value)
            for one in log.commands.of_change(registers, source)
            if one.value is not None
        )
        if isinstance(source, StoredWrites):  # of others, packets may have been joined
            if len(self._commands) >= _MAX_KNOWN:
                self._commands.clear()
            self._commands[id(registers)] = registers, found
        return found

    def _facts(self, found: _Commands) -> Facts:
        if self._text is None or not found:
            return NO_FACTS
        texts: dict[int, list[str]] = {}
        for register, value in found:
            texts.setdefault(register, []).append(self._fields(self._text, register, value))
        return Facts(
            {
                ("write of", self._text.name(register)): InputFact(", then ".join(of))
                for register, of in texts.items()
            }
        )

    @staticmethod
    def _fields(text: RegisterText, register: int, value: int) -> str:
        """``GFX_BINDLESS=0x1f``: the fields that are not 0."""
        fields = [one for one in text.fields(register, value) if one.name and one.bits]
        return " ".join(f"{one.name}={one.text}" for one in fields) or f"{value:#x}"


#: Facts of each capture that are compared as one.
_Parts = tuple["Mapping[FactKey, InputFact]", "Mapping[FactKey, InputFact]"]
_NO_PARTS: _Parts = NO_FACTS, NO_FACTS

#: What is compared as one: a position of ``DrawInputs.facts``, or a set by -1 less its number.
Slot = int


class InputPair:
    """Which facts differ at a pair of draws.

    ``differing``: their keys, and the fact of each capture. Collected until ``forget``: ``touched``
    has the keys of facts that differ, or did before, and are others than at the pair before;
    ``written`` those that either capture has made anew; ``changed`` what was compared, by slot.
    """

    def __init__(self, good: CaptureState, bad: CaptureState) -> None:
        self._captures = good, bad
        self.differing: dict[FactKey, FactPair] = {}
        self.touched: set[FactKey] = set()
        self.written: set[FactKey] = set()
        self.changed: dict[Slot, _Parts] = {}
        #: What was compared last, and how it differs.
        self._last: dict[Slot, _Parts] = dict.fromkeys(range(_COMMANDS + 1), _NO_PARTS)
        self._differences: dict[Slot, Mapping[FactKey, FactPair]] = {}
        #: The sets that were compared last.
        self._sets: tuple[Mapping[int, SetPlace], Mapping[int, SetPlace]] = ({}, {})
        #: By the ids of facts that the recordings keep, and these.
        self._known: dict[tuple[int, int], tuple[object, object, Mapping[FactKey, FactPair]]] = {}

    def go_on(self) -> None:
        """Go on to what both captures have now."""
        one, other = self._captures
        mine, theirs = one.record, other.record
        assert mine is not None
        assert theirs is not None
        last = self._last
        both = zip_longest(mine.facts, theirs.facts, fillvalue=NO_FACTS)
        for position, (facts, others) in enumerate(both):
            before = last[position]
            if facts is not before[0] or others is not before[1]:
                self._change(position, facts, others)
        for position in range(max(len(mine.facts), len(theirs.facts)), _COMMANDS):
            if last[position] != _NO_PARTS:
                self._change(position, NO_FACTS, NO_FACTS)
        if one.commands is not other.commands or last[_COMMANDS] != _NO_PARTS:
            self._change(_COMMANDS, one.commands, other.commands)
        if mine.sets is not self._sets[0] or theirs.sets is not self._sets[1]:
            self._compare_sets(mine.sets, theirs.sets)

    @property
    def parts(self) -> Mapping[Slot, _Parts]:
        """What both captures have now, by slot."""
        return self._last

    def forget(self) -> None:
        """A pair was compared: collect from now on."""
        self.touched.clear()
        self.written.clear()
        self.changed.clear()

    def _compare_sets(self, mine: Mapping[int, SetPlace], theirs: Mapping[int, SetPlace]) -> None:
        before, self._sets = self._sets, (mine, theirs)
        numbers = dict.fromkeys((*mine, *theirs, *before[0], *before[1]))
        for number in numbers:
            places = mine.get(number), theirs.get(number)
            if places == (before[0].get(number), before[1].get(number)):
                continue
            facts = [
                _NOTHING if place is None else capture.facts_of_set(number, place)
                for capture, place in zip(self._captures, places, strict=True)
            ]
            self._change(-1 - number, *facts)

    def _change(
        self, slot: Slot, mine: Mapping[FactKey, InputFact], theirs: Mapping[FactKey, InputFact]
    ) -> None:
        before = self._differences.get(slot, {})
        now = self._compared(mine, theirs)
        self._last[slot] = self.changed[slot] = mine, theirs
        if not before and not now:
            return
        self._differences[slot] = now
        for key in before:
            if key not in now:
                self.touched.add(key)
                del self.differing[key]
        for key, pair in now.items():
            known = before.get(key)
            self.differing[key] = pair
            if known is None or known != pair:
                self.touched.add(key)
                self.written.add(key)
            elif any(map(_is_made_anew, known, pair)):
                self.written.add(key)

    def _compared(
        self, mine: Mapping[FactKey, InputFact], theirs: Mapping[FactKey, InputFact]
    ) -> Mapping[FactKey, FactPair]:
        """How two lists of facts differ."""
        if mine is theirs:
            return {}
        key = id(mine), id(theirs)
        known = self._known.get(key)
        if known is None:
            if len(self._known) >= _MAX_KNOWN:
                self._known.clear()
            found: dict[FactKey, FactPair] = {}
            for name, fact in mine.items():
                other = theirs.get(name)
                if fact is not other and fact != other:
                    found[name] = fact, other
            found.update((name, (None, fact)) for name, fact in theirs.items() if name not in mine)
            known = self._known[key] = mine, theirs, found
        return known[2]


def _is_made_anew(before: InputFact | None, now: InputFact | None) -> bool:
    """Whether a fact with the same value is of another packet."""
    if before is None or now is None or before is now:
        return False
    return before.place is not now.place


class StatePair:
    """Both captures at a pair of draws."""

    def __init__(self, good: CaptureState, bad: CaptureState, skips_equal: bool = True) -> None:
        """``skips_equal``: as for ``RegisterPair``."""
        self.captures: Captures = good, bad
        self.registers = RegisterPair(good.registers, bad.registers, skips_equal)
        self.inputs = InputPair(good, bad)
        #: Of each capture.
        self.commands = CommandFacts(good.recording), CommandFacts(bad.recording)

    def go_on(
        self, mine: DrawInputs | None, theirs: DrawInputs | None, keeps_addresses: bool = True
    ) -> None:
        """Go on to a draw of each capture. None: one has none; then its inputs stay.

        ``keeps_addresses``: as for ``RegisterPair.go_on``.
        """
        orders = [None if one is None else one.action.order for one in (mine, theirs)]
        kind = "" if mine is None else mine.action.kind
        self.registers.go_on(orders[0], orders[1], kind, keeps_addresses)
        if mine is not None and theirs is not None:
            one, other = self.captures
            one.record, other.record = mine, theirs
            self._note_commands(mine, theirs)
            self.inputs.go_on()

    def forget(self) -> None:
        """A pair was compared: collect from now on."""
        self.registers.forget()
        self.inputs.forget()

    def forget_written(self) -> None:
        """Collect from now on what is written."""
        self.registers.forget_written()
        self.inputs.touched.clear()
        self.inputs.written.clear()

    def name(self, subject: Subject) -> str | None:
        """The name of a register; None for a fact."""
        if isinstance(subject, int):
            return self.captures[0].registers.names.names[subject]
        return None

    def _note_commands(self, mine: DrawInputs, theirs: DrawInputs) -> None:
        records = mine, theirs
        for capture in self.captures:
            capture.commands = NO_FACTS
        if not any(one.of.has_commands for of in self.registers.written for one in of):
            return
        for capture, facts, record in zip(self.captures, self.commands, records, strict=True):
            capture.commands = facts.of(record.action.order)
