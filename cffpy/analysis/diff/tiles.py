# SPDX-License-Identifier: MIT
"""All tiles of a pair of passes: what differs in others than the tile whose draws are compared.

The program's draws are compared in one tile of each capture, as are loads, clears and stores. The
other tiles run the same streams, so mostly only what is written between the streams can differ.
Tiles are each other's counterparts by their rectangles and VSC pipes. Of a pair of tiles the
actions are compared, and the registers at operations and at the first draw. Where other registers
are written among the draws than in the tile that was compared, they are compared at each draw.
"""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import replace
from itertools import chain, pairwise
from operator import attrgetter
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.diff.addresses import Addresses
from cffpy.analysis.diff.commands import addresses_of, uncompared
from cffpy.analysis.diff.differences import barriers, differences, key_text, uncompared_difference
from cffpy.analysis.diff.model import Difference, Entry, Extent, joined
from cffpy.analysis.diff.pass_alignment import tile_of_draws
from cffpy.analysis.diff.passes import operation_differences
from cffpy.analysis.diff.report import draws_text, where
from cffpy.analysis.diff.rules import ADDRESSES, Category
from cffpy.analysis.inputs.descriptor_sets import DrawSlots, is_of_set
from cffpy.analysis.inputs.facts import NO_FACTS
from cffpy.analysis.register_store.log import BR
from cffpy.analysis.register_store.writes import UNKNOWN
from cffpy.frame.facts import facts_of
from cffpy.frame.passes import Tile

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set

    from cffpy.analysis.diff.commands import PipeCommand, UncomparedValue
    from cffpy.analysis.diff.differences import Differ
    from cffpy.analysis.diff.model import AlignedDraws, FoundDifferences, PassIndices
    from cffpy.analysis.diff.recording import Recording
    from cffpy.analysis.diff.registers import CaptureRegisters
    from cffpy.analysis.diff.rules import RuleName
    from cffpy.analysis.diff.state import CommandFacts, StatePair
    from cffpy.analysis.inputs.facts import FactKey, Facts
    from cffpy.analysis.inputs.recorder import DrawInputs
    from cffpy.analysis.register_store.log import Entry as LogEntry
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass

_TILES = Category("tiles", 5)

#: Facts of a tile that are compared, in this order.
_FACTS = tuple(
    {fact.name: fact for fact in facts_of(Tile)}[name]
    for name in (
        "window_offset",
        "pipe",
        "slot",
        "pipe_tiles",
        "merged_slots",
        "visibility_override",
        "cp_pipe",
    )
)

#: Values in other tiles that a difference lists, at most.
_MAX_OTHERS = 64

#: What the names of the upper halves of addresses end in.
_UPPER = ("_HI", "+0x1")

#: How often the registers of a capture are followed from its beginning again, for tiles in another
#: order.
_MAX_RESTARTS = 64

#: Entries from which on it pays to keep what they write together.
_MANY = 64

_registers_of = attrgetter("registers")

#: Where registers are compared in a tile: at a draw by its number in good, or at an operation by
#: its position, from -1 down.
_Point = int

#: Registers that differ: offset -> both values; None where one capture has not written it.
_Differing = dict[int, tuple[int | None, int | None]]


class _TileRegisters:
    """What the tiles of one capture write to the registers of BR, in any order of tiles."""

    def __init__(
        self,
        recording: Recording,
        registers: CaptureRegisters,
        commands: CommandFacts,
        are_alike: bool,
    ) -> None:
        """``commands``: of the same capture. ``are_alike``: registers have the same offsets in both
        captures.
        """
        self._commands = commands
        self._store = recording.store
        self._log = log = recording.store.log
        self._registers, self._are_alike = registers, are_alike
        self._spans = log.spans(BR) if log.switches else None
        self._starts = [span.start for span in self._spans or ()]
        self._position = 0
        #: Key -> value of what the present tile has written so far.
        self.written: dict[int, int] = {}
        #: What was written last by many entries: these by identity, and the registers together.
        self._last: tuple[tuple[int, ...], dict[int, int]] = ((), {})
        #: Whether two lists of entries write the same.
        self._alike: dict[tuple[tuple[int, ...], tuple[int, ...]], bool] = {}

    def has(self, order: int) -> bool:
        """Whether the registers at an action are recorded."""
        return self._store.has_entries(order)

    def enter(self, tile: Tile) -> None:
        """Go to the action before a tile."""
        firsts = *tile.draws[:1], *(one.action for one in tile.operations[:1])
        before = min((one.order for one in firsts), default=0) - 1
        while before >= 0 and not self.has(before):
            before -= 1
        self._position = self._log.ends[before] if before >= 0 else 0
        self.written = {}

    def go_to(self, order: int) -> None:
        """Go on to an action of the tile, by ``Action.order``."""
        end = self._log.ends[order]
        entries = self._between(self._position, end)
        self._position = end
        if len(entries) < _MANY:
            for one in entries:
                self.written.update(self._by_key(one.registers))
            return
        key = tuple(map(id, map(_registers_of, entries)))
        if key != self._last[0]:
            together: dict[int, int] = {}
            for one in entries:
                together.update(self._by_key(one.registers))
            self._last = key, together
        self.written.update(self._last[1])

    def _by_key(self, registers: dict[int, int]) -> dict[int, int]:
        return registers if self._are_alike else self._registers.by_key(registers)

    def value(self, key: int, order: int) -> int | None:
        """A register at an action of the tile, or UNKNOWN; None where it was never written."""
        if key in self.written:
            return self.written[key]
        offset = key if self._are_alike else self._registers.offset_of(key)
        history = self._store.history(order)
        if offset is None or not history.is_written(offset, order):
            return None
        value = history.value(offset, order)
        return UNKNOWN if value is None else value

    def commands(self, action: Action) -> Facts:
        """The writes that are commands, since the action before: all of them, in order."""
        return self._commands.of(action.order)

    def writes_alike(self, draws: Sequence[Action], others: Sequence[Action]) -> bool:
        """Whether the same is written among two executions of the same draws."""
        if [one.number for one in draws] != [one.number for one in others]:
            return False
        if not all(self.has(one.order) for one in (*draws, *others)):
            return False
        ids = self._among(draws), self._among(others)
        if ids[0] == ids[1]:
            return True
        if ids not in self._alike:
            self._alike.clear()  # most tiles have the writes of the tile before
            self._alike[ids] = all(
                self._together(*mine) == self._together(*theirs)
                and self.commands(mine[1]) == self.commands(theirs[1])
                for mine, theirs in zip(pairwise(draws), pairwise(others), strict=True)
            )
        return self._alike[ids]

    def _among(self, draws: Sequence[Action]) -> tuple[int, ...]:
        """What is written from the first draw to the last, by identity: the log keeps it."""
        if not draws:
            return ()
        ends = self._log.ends
        entries = self._between(ends[draws[0].order], ends[draws[-1].order])
        return tuple(map(id, map(_registers_of, entries)))

    def _together(self, one: Action, other: Action) -> dict[int, int]:
        """What is written from one action to another."""
        found: dict[int, int] = {}
        for entry in self._between(self._log.ends[one.order], self._log.ends[other.order]):
            found.update(entry.registers)
        return found

    def _between(self, begin: int, end: int) -> list[LogEntry]:
        if self._spans is None:
            return self._log.entries[begin:end]
        found: list[LogEntry] = []
        for span in self._spans[max(bisect_right(self._starts, begin) - 1, 0) :]:
            if span.start >= end:
                break
            found += self._log.entries[max(span.start, begin) : min(span.stop, end)]
        return found


#: The draws of the program in a tile, by their numbers.
_Draws = dict[int, "Action"]


class _TilePair(NamedTuple):
    """Two tiles that are each other's counterparts.

    ``draws``: of both captures. ``points``: the actions at which registers are compared, in order.
    """

    good: Tile
    bad: Tile
    draws: tuple[_Draws, _Draws]
    points: dict[_Point, tuple[Action, Action]]


class TileComparer:
    """Compares the tiles of pairs of passes, in order.

    ``found``: what differs, and in which tiles. ``missing``: entries of tiles, and of draws in some
    tiles, that one capture does not have.
    """

    def __init__(
        self,
        recordings: tuple[Recording, Recording],
        states: StatePair,
        differ: Differ,
        counts: Callable[[RuleName, str], None],
        hides: Callable[[RuleName, str], bool],
        addresses: Addresses | None,
    ) -> None:
        """``states``, ``differ``: of their own, at the beginning.

        ``counts``: called with the name of a rule and that of what it holds for. ``hides``:
        as for ``Differ``. ``addresses``: of the draws; None: those of packets are shown.
        """
        self.found: FoundDifferences = {}
        self.missing: list[Entry] = []
        self._recordings = recordings
        self._states, self._differ, self._counts, self._hides = states, differ, counts, hides
        self._of_draws = addresses
        one, other = states.captures
        #: Those that packets of tiles name.
        self._addresses = Addresses(one.buffers, other.buffers, keeps_equal=False)
        #: Ids of lists of packets, which the recordings keep, whose equal addresses were noted.
        self._equal: set[tuple[int, int]] = set()
        are_alike = states.captures[1].registers.is_alike
        self._registers = tuple(
            _TileRegisters(of, capture.registers, commands, are_alike)
            for of, capture, commands in zip(
                recordings, states.captures, states.commands, strict=True
            )
        )
        #: The actions that ``states`` have of both captures, and how often one went back.
        self._orders, self._restarts = [-1, -1], 0
        #: Difference -> the tiles of good, of the present pair of passes.
        self._tiles: dict[Difference, dict[int, None]] = {}

    def compare(self, good: Pass, bad: Pass, aligned: AlignedDraws) -> None:
        """Compare the tiles of the next pair of passes. ``aligned``: all their draws."""
        if max(len(good.tiles), len(bad.tiles)) < 2 or not _have_equal_bins(good, bad):
            return
        numbers = [
            (mine.action.number, theirs.action.number)
            for mine, theirs in aligned
            if mine is not None and theirs is not None
        ]
        tiles = _aligned_tiles(good, bad)
        self._note_missing_tiles(tiles, good, bad)
        pairs = [
            _pair(one, other, numbers)
            for one, other in tiles
            if one is not None and other is not None
        ]
        self._note_missing_draws(pairs, numbers, good, bad)
        self._tiles = {}
        if pairs:
            self._compare_operations(pairs, good, bad)
            self._compare_pairs(pairs, good, bad)
        self._close(good, bad)

    def _compare_operations(self, pairs: Sequence[_TilePair], good: Pass, bad: Pass) -> None:
        """Which loads, clears and stores are executed in tiles."""
        first = good.tiles[0], bad.tiles[0]  # which are compared with the passes
        known = set(_operations_that_differ(good, bad, *first))
        known -= operations_of_some_tiles(good, bad)
        for pair in pairs:
            for difference in _operations_that_differ(good, bad, pair.good, pair.bad):
                if difference not in known:
                    self._note(difference, pair.good)

    def _compare_pairs(self, pairs: list[_TilePair], good: Pass, bad: Pass) -> None:
        """Facts, packets, inputs and registers of tiles."""
        drawn = tile_of_draws(good)
        reference = next((one for one in pairs if one.good.number == drawn), pairs[0])
        if good.hardware_binning == bad.hardware_binning:
            for pair in pairs:
                self._compare_facts(pair.good, pair.bad)
            self._compare_commands(pairs, reference, (good, bad))
        self._compare_inputs(pairs, reference, (good, bad))
        self._compare_registers(pairs, reference, (good, bad))

    # -- tiles and actions ----------------------------------------------------------------------

    def _note_missing_tiles(
        self, tiles: Sequence[tuple[Tile | None, Tile | None]], good: Pass, bad: Pass
    ) -> None:
        for in_bad, names in enumerate(("good", "bad")):
            alone = [pair[in_bad] for pair in tiles if pair[1 - in_bad] is None]
            found = [one.number for one in alone if one is not None]
            if not found:
                continue
            extents = _extents((good.index, bad.index), found, in_bad=bool(in_bad))
            verb, absent = "is" if len(found) == 1 else "are", "good" if in_bad else "bad"
            title = f"{where(extents)} of {names} {verb} missing in {absent}"
            self.missing.append(Entry(title, extents, rank=0))

    def _note_missing_draws(
        self,
        pairs: Sequence[_TilePair],
        numbers: Sequence[tuple[int | None, int | None]],
        good: Pass,
        bad: Pass,
    ) -> None:
        """Draws that both passes have, and one capture does not execute in some tiles."""
        absent: dict[tuple[bool, int], list[int]] = {}
        for pair in pairs:
            mine, theirs = pair.draws
            for one, other in numbers:
                assert one is not None
                if (one in mine) is not (other in theirs):
                    absent.setdefault((one not in mine, one), []).append(pair.good.number)
        by_tiles: dict[tuple[bool, tuple[int, ...]], list[int]] = {}
        for (in_bad, number), of in absent.items():
            by_tiles.setdefault((in_bad, tuple(of)), []).append(number)
        for (in_bad, tiles), missing in by_tiles.items():
            extents = joined(
                Extent(good.index, bad.index, number, number) for number in sorted(missing)
            )
            at = _extents((good.index, bad.index), tiles)
            there, gone = ("bad", "good") if in_bad else ("good", "bad")
            verb = "is" if len(missing) == 1 else "are"
            text = f"{draws_text(extents)} of {there} {verb} missing in {gone}, {where(at)}"
            self.missing.append(Entry(text, at, rank=0))

    def _compare_facts(self, mine: Tile, theirs: Tile) -> None:
        for fact in _FACTS:
            good, bad = fact.get(mine), fact.get(theirs)
            if good != bad:
                called = f"{fact.name.replace('_', ' ')} of the tile"
                self._note(Difference(called, str(good), str(bad), _TILES), mine)

    # -- packets --------------------------------------------------------------------------------

    def _compare_commands(
        self, pairs: Sequence[_TilePair], reference: _TilePair, passes: tuple[Pass, Pass]
    ) -> None:
        """Compare waits, cache events and other packets of all tiles."""
        known = {difference for difference, _ in self._command_differences(reference, passes)}
        for pair in pairs:
            for difference, value in self._command_differences(pair, passes):
                if difference in known or (value is not None and self._leaves_out(value, pair)):
                    continue
                self._note(difference, pair.good)

    def _command_differences(
        self, pair: _TilePair, passes: tuple[Pass, Pass]
    ) -> Iterator[tuple[Difference, UncomparedValue | None]]:
        """What differs; of values that a rule may leave out, these, too."""
        tiles = pair.good, pair.bad
        # what follows a pass is compared as that
        is_last = any(tile is of.tiles[-1] for of, tile in zip(passes, tiles, strict=True))
        mine, theirs = (
            _commands_of(tile, recording, is_last)
            for recording, tile in zip(self._recordings, tiles, strict=True)
        )
        for one, other in zip(mine, theirs, strict=False):
            self._note_equal(one, other)
        if mine == theirs:
            return
        last, both = len(pair.good.actions), zip(mine, theirs, strict=False)
        if len(mine) != len(theirs):  # actions are missing
            last, both = -1, zip([(*chain(*mine),)], [(*chain(*theirs),)], strict=True)
        is_64bit = self._states.captures[0].registers.generation.is_64bit
        for number, (one, other) in enumerate(both):
            if one == other:
                continue
            at = {0: "at its start", last: "at its end"}.get(number, f"before action {number}")
            where = "of it" if last < 0 else at
            yield from ((difference, None) for difference in barriers(where, one, other))
            values = self._recordings[0].written_values, self._recordings[1].written_values
            for value in uncompared(one, other, is_64bit, values):
                yield uncompared_difference(where, value), value

    def _leaves_out(self, value: UncomparedValue, pair: _TilePair) -> bool:
        """Whether a rule leaves a value out; an address only if ``finish`` finds that it moved."""
        if value.rule != "addresses":
            return value.rule is not None and self._hides(value.rule, value.text)
        if self._of_draws is None or not value.good or not value.bad:
            return False
        passes = pair.good.pass_index, pair.bad.pass_index
        number = pair.good.number
        extent = Extent(*passes, phase="tiles", first_tile=number, last_tile=number)
        self._addresses.note(value.good, value.bad, ("packet", f"{value.text} of it"), extent)
        return True

    def _note_equal(self, mine: Sequence[PipeCommand], theirs: Sequence[PipeCommand]) -> None:
        """The addresses of packets that both captures have."""
        key = id(mine), id(theirs)
        if key in self._equal or self._of_draws is None:
            return
        self._equal.add(key)
        is_64bit = self._states.captures[0].registers.generation.is_64bit
        for command in {*mine}.intersection(theirs):
            addresses = [*addresses_of(command, is_64bit)]
            for of in (self._addresses, self._of_draws):
                of.note_of_packets(addresses)

    def finish(self, same: Set[tuple[int, int]]) -> None:
        """All tiles were compared. ``same``: as for ``Addresses.differences``."""
        by_passes: dict[PassIndices, dict[Difference, list[int]]] = {}
        for difference, extents in self._addresses.differences(same):
            for extent in extents:
                of = by_passes.setdefault((extent.good_pass, extent.bad_pass), {})
                assert extent.first_tile is not None
                of.setdefault(difference, []).append(extent.first_tile)
        for passes, tiles in by_passes.items():
            self._add(passes, tiles)
        for rule, name in self._addresses.moved(same):
            self._counts(rule, name)

    # -- what actions depend on besides registers -----------------------------------------------

    def _compare_inputs(
        self, pairs: Sequence[_TilePair], reference: _TilePair, passes: tuple[Pass, Pass]
    ) -> None:
        """Compare what actions of tiles depend on, where that is not what it is where the draws are
        compared.
        """
        if not any(of.tile_records for of in self._recordings):
            return
        counterparts = _pair(passes[0].tiles[0], passes[1].tiles[0], ()).points
        counterparts |= {point: of for point, of in reference.points.items() if point >= 0}
        known: dict[_Point, tuple[dict[Difference, None], dict[FactKey, int]]] = {}
        for pair in pairs:
            for point, actions in pair.points.items():
                of = counterparts.get(point)
                records = None if of is None else self._records(actions, of)
                if of is None or records is None:
                    continue
                if point not in known:
                    first = self._records(of, of)
                    known[point] = ({}, {}) if first is None else self._input_differences(first)
                self._note_inputs(pair, self._input_differences(records), known[point])

    def _records(
        self, actions: tuple[Action, Action], counterparts: tuple[Action, Action]
    ) -> tuple[DrawInputs, DrawInputs] | None:
        """The records of actions of two tiles; None where they are those of their counterparts."""
        found = [
            (of.tile_records.get(action.order), of.record(counterpart))
            for of, action, counterpart in zip(self._recordings, actions, counterparts, strict=True)
        ]
        if actions is not counterparts and not any(own for own, _ in found):
            return None
        mine, theirs = (own or other for own, other in found)
        return None if mine is None or theirs is None else (mine, theirs)

    def _input_differences(
        self, records: tuple[DrawInputs, DrawInputs]
    ) -> tuple[dict[Difference, None], dict[FactKey, int]]:
        """What differs in what two actions depend on; and how far the addresses in it are apart."""
        states, captures = self._states, self._states.captures
        for capture, record in zip(captures, records, strict=True):
            capture.record, capture.commands = record, NO_FACTS
        states.inputs.go_on()
        slots = DrawSlots(capture.slots() for capture in captures)
        found: dict[Difference, None] = {}
        distances: dict[FactKey, int] = {}
        for key in sorted(states.inputs.differing, key=str):
            if is_of_set(key) and not slots.holds(key):
                continue
            found.update(dict.fromkeys(self._differ.fact(key, alike=True, is_used=True)))
            facts = states.inputs.differing[key]
            addresses = [
                None if fact is None else capture.address_of(key, fact)
                for capture, fact in zip(captures, facts, strict=True)
            ]
            if addresses[0] is not None and addresses[1] is not None:
                distances[key] = addresses[1] - addresses[0]
        states.inputs.forget()
        return found, distances

    def _note_inputs(
        self,
        pair: _TilePair,
        found: tuple[dict[Difference, None], dict[FactKey, int]],
        known: tuple[dict[Difference, None], dict[FactKey, int]],
    ) -> None:
        """Note what differs otherwise than where the draws are compared."""
        for difference in found[0]:
            if difference not in known[0]:
                self._note(difference, pair.good)
        for key, distance in found[1].items():
            before = known[1].get(key, 0)
            if distance != before and not found[0]:
                texts = [f"moved by {of:#x}" if of else "not moved" for of in (before, distance)]
                name = f"address of {key_text(key)}"
                self._note(Difference(name, texts[0], texts[1], ADDRESSES), pair.good)

    # -- registers ------------------------------------------------------------------------------

    def _compare_registers(
        self, pairs: list[_TilePair], reference: _TilePair, passes: tuple[Pass, Pass]
    ) -> None:
        """Compare registers in all tiles, and note what differs otherwise than where the draws are
        compared.
        """
        found = [(pair, self._differing(pair, reference)) for pair in pairs]
        of_reference = next(of for pair, of in found if pair is reference)
        known = set(self._written_commands(reference))
        for pair, differing in found:
            if pair is not reference:
                self._note_registers(pair, differing, of_reference, passes)
                for difference in self._written_commands(pair):
                    if difference not in known:
                        self._note(difference, pair.good)

    def _written_commands(self, pair: _TilePair) -> Iterator[Difference]:
        """Writes that are commands and differ, before the actions of a pair of tiles."""
        one, other = self._registers
        for mine, theirs in pair.points.values():
            if not one.has(mine.order) or not other.has(theirs.order):
                continue  # which is counted
            facts = one.commands(mine), other.commands(theirs)
            for key in () if facts[0] == facts[1] else dict.fromkeys((*facts[0], *facts[1])):
                good, bad = (of.get(key) for of in facts)
                if good != bad:
                    yield from differences(key, good, bad, self._states.captures)

    def _note_registers(
        self,
        pair: _TilePair,
        differing: dict[_Point, _Differing],
        of_reference: dict[_Point, _Differing],
        passes: tuple[Pass, Pass],
    ) -> None:
        """Note what differs in a pair of tiles otherwise than in the reference."""
        of_draw = next((of for point, of in of_reference.items() if point >= 0), {})
        for point, registers in differing.items():
            known = of_reference.get(point, of_draw)
            others = {key: both for key, both in registers.items() if known.get(key) != both}
            if others:
                for one in self._texts(pair.points[point], others, known, passes):
                    self._note(one, pair.good)

    def _writes_alike(self, pair: _TilePair, reference: _TilePair) -> bool:
        """Whether each capture writes the same among the draws of two tiles."""
        return all(
            registers.writes_alike(list(draws.values()), list(others.values()))
            for registers, draws, others in zip(
                self._registers, pair.draws, reference.draws, strict=True
            )
        )

    def _differing(self, pair: _TilePair, reference: _TilePair) -> dict[_Point, _Differing]:
        """What differs in a pair of tiles, at operations and draws."""
        one, other = self._registers
        is_equal = pair is reference or self._writes_alike(pair, reference)
        points = _fewer(pair.points) if is_equal else pair.points
        one.enter(pair.good)
        other.enter(pair.bad)
        found: dict[_Point, _Differing] = {}
        for point, (mine, theirs) in points.items():
            if not one.has(mine.order) or not other.has(theirs.order):
                self._counts("uncompared", "registers of a tile that are not recorded")
                continue
            one.go_to(mine.order)
            other.go_to(theirs.order)
            # what neither tile has written is left over from the tile before, where it is compared
            keys = {key for key, _ in one.written.items() ^ other.written.items()}
            both = {
                key: (one.value(key, mine.order), other.value(key, theirs.order)) for key in keys
            }
            found[point] = {key: of for key, of in both.items() if of[0] != of[1]}
        return found

    def _texts(
        self,
        actions: tuple[Action, Action],
        differing: _Differing,
        known: _Differing,
        passes: tuple[Pass, Pass],
    ) -> Iterator[Difference]:
        """Registers that differ, as text, but for noise. ``known``: what differs elsewhere."""
        mine, theirs = actions
        registers = self._states.captures[0].registers
        if not self._go_to(mine, theirs, differing):
            self._counts("uncompared", "registers of tiles in another order")
            return
        for key in sorted(differing):
            if UNKNOWN in differing[key]:
                self._counts("uncaptured", registers.names.names[key])
                continue
            name = registers.names.names[key]
            found = self._differ.register(name, mine.kind, True, passes, ())
            if not found and self._is_other_address(name, mine.kind, key, differing, known):
                texts = ["-" if value is None else f"{value:#x}" for value in differing[key]]
                found = (Difference(name, texts[0], texts[1], ADDRESSES),)
            yield from found

    def _go_to(self, mine: Action, theirs: Action, differing: _Differing) -> bool:
        """Have both captures at a pair of actions. ``differing``: registers there.

        False: too often another tile was the next one in one of the captures.
        """
        for number, action in enumerate((mine, theirs)):
            if action.order < self._orders[number]:
                if self._restarts >= _MAX_RESTARTS:
                    return False
                self._restarts += 1
                self._states.captures[number].registers.restart()
            self._orders[number] = action.order
        states = self._states.registers
        states.go_on(mine.order, theirs.order, mine.kind, keeps_addresses=False)
        states.settle()
        captures = self._states.captures
        if captures[1].registers.is_alike:
            captures[0].registers.by_key(dict.fromkeys(differing, 0))  # which names them
        for number, capture in enumerate(captures):
            for key, both in differing.items():
                value = both[number]
                if value is None or value == UNKNOWN:
                    capture.registers.values.pop(key, None)
                else:
                    capture.registers.values[key] = value
        return True

    def _is_other_address(
        self, name: str, kind: str, key: int, differing: _Differing, known: _Differing
    ) -> bool:
        """Whether an address that a command uses has moved otherwise than elsewhere."""
        registers = self._states.captures[0].registers
        role = registers.used_address(name, kind) if name in registers else None
        if role is None or None in differing[key]:
            return False
        if name.endswith(_UPPER):
            halves = registers.halves(role.register)
            return key not in known and (halves is None or halves[0] not in differing)
        return _distance(differing[key]) != _distance(known.get(key, (0, 0)))

    # -- what was found -------------------------------------------------------------------------

    def _note(self, difference: Difference, tile: Tile) -> None:
        self._tiles.setdefault(difference, {})[tile.number] = None

    def _close(self, good: Pass, bad: Pass) -> None:
        """The pair of passes is over."""
        tiles = {difference: list(numbers) for difference, numbers in self._tiles.items()}
        self._add((good.index, bad.index), tiles)

    def _add(self, passes: PassIndices, tiles: Mapping[Difference, Sequence[int]]) -> None:
        """A difference each, also where its values are others in other tiles.

        ``tiles``: the numbers of the tiles of good that have it.
        """
        by_name: dict[str, list[Difference]] = {}
        for difference in tiles:
            by_name.setdefault(difference.name, []).append(difference)
        for of in by_name.values():
            numbers = sorted({number for difference in of for number in tiles[difference]})
            lines = [
                f"{where(_extents(passes, tiles[other]))}: {other.good} → {other.bad}"
                for other in of[1 : 1 + _MAX_OTHERS]
            ]
            shown = replace(of[0], details=(*of[0].details, *lines)) if lines else of[0]
            self.found.setdefault(shown, []).extend(_extents(passes, numbers))


def _have_equal_bins(good: Pass, bad: Pass) -> bool:
    """Whether tiles can be each other's counterparts. If not, that is told of the passes."""
    return (
        good.mode == bad.mode == "gmem"
        and good.bin_size == bad.bin_size
        and good.grid == bad.grid
        and (good.framebuffer == bad.framebuffer or None in (good.framebuffer, bad.framebuffer))
    )


def _aligned_tiles(good: Pass, bad: Pass) -> list[tuple[Tile | None, Tile | None]]:
    """Tiles by rectangle, and of one rectangle by VSC pipe; those that only bad has last."""
    others: dict[object, list[Tile]] = {}
    for tile in bad.tiles:
        others.setdefault(tile.area_in(bad), []).append(tile)
    pairs: list[tuple[Tile | None, Tile | None]] = []
    for tile in good.tiles:
        found = others.get(tile.area_in(good), [])
        same = next((one for one in found if one.pipe == tile.pipe), found[0] if found else None)
        if same is not None:
            found.remove(same)
        pairs.append((tile, same))
    return [*pairs, *((None, tile) for of in others.values() for tile in of)]


def operations_of_some_tiles(good: Pass, bad: Pass) -> frozenset[Difference]:
    """What is done to attachments in the first tiles of two passes and differs, but not in all."""
    counts = len(good.tiles), len(bad.tiles)
    if 0 in counts or max(counts) < 2 or not _have_equal_bins(good, bad):
        return frozenset()
    found = frozenset(_operations_that_differ(good, bad, good.tiles[0], bad.tiles[0]))
    if not found:
        return found
    in_all = found
    for one, other in _aligned_tiles(good, bad):
        if one is not None and other is not None:
            in_all &= frozenset(_operations_that_differ(good, bad, one, other))
    return found - in_all


def _operations_that_differ(
    good: Pass, bad: Pass, mine: Tile, theirs: Tile
) -> Iterator[Difference]:
    is_drawn = bool(good.draws and bad.draws)
    return operation_differences((good, mine), (bad, theirs), by_name=is_drawn)


def _commands_of(
    tile: Tile, recording: Recording, is_last: bool
) -> tuple[tuple[PipeCommand, ...], ...]:
    """The packets of a tile before its actions, and after them; of the last tile only those."""
    commands = recording.tile_commands.get(id(tile))
    if commands is None:
        return ()
    if not is_last:
        return commands.intervals
    last = max((action.order for action in tile.actions), default=-1)
    return commands.intervals[: max(last - commands.first + 1, 0)]


def _draws_of(tile: Tile) -> _Draws:
    """The program's draws that are executed in a tile, or may be."""
    return {
        draw.number: draw
        for draw in tile.draws
        if draw.number is not None and draw.execution.is_possible
    }


def _pair(good: Tile, bad: Tile, numbers: Iterable[tuple[int | None, int | None]]) -> _TilePair:
    """Two tiles with what both execute. ``numbers``: draws that are each other's counterparts."""
    draws = _draws_of(good), _draws_of(bad)
    found: list[tuple[_Point, tuple[Action, Action]]] = [
        (one, (draws[0][one], draws[1][other]))
        for one, other in numbers
        if one is not None and other is not None and one in draws[0] and other in draws[1]
    ]
    mine, theirs = _operations_of(good), _operations_of(bad)
    if [key for key, _ in mine] == [key for key, _ in theirs]:
        for position, (one_of, other_of) in enumerate(zip(mine, theirs, strict=True)):
            found.append((-1 - position, (one_of[1], other_of[1])))
    found.sort(key=lambda of: of[1][0].order)
    return _TilePair(good, bad, draws, dict(found))


def _operations_of(tile: Tile) -> list[tuple[object, Action]]:
    """The action of each load, clear and store, and what it does; an action once."""
    by_order: dict[int, tuple[object, Action]] = {}
    for one in tile.possible_operations:
        by_order.setdefault(one.action.order, ((one.kind, one.attachment, one.how), one.action))
    return [by_order[order] for order in sorted(by_order)]


def _fewer(points: Mapping[_Point, tuple[Action, Action]]) -> dict[_Point, tuple[Action, Action]]:
    """Operations, and the first draw alone."""
    first = next((point for point in points if point >= 0), None)
    return {point: of for point, of in points.items() if point < 0 or point == first}


def _distance(values: tuple[int | None, int | None]) -> int:
    """By how much an address has moved."""
    return (values[1] or 0) - (values[0] or 0)


def _extents(passes: PassIndices, tiles: Sequence[int], in_bad: bool = False) -> tuple[Extent, ...]:
    """Ranges of tiles."""
    found: list[Extent] = []
    for number in tiles:
        if found and found[-1].last_tile == number - 1:
            found[-1].last_tile = number
        else:
            extent = Extent(*passes, in_bad=in_bad, phase="tiles")
            extent.first_tile = extent.last_tile = number
            found.append(extent)
    return tuple(found)
