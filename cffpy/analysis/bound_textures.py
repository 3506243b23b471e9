# SPDX-License-Identifier: MIT
"""BoundTextures: the textures that the program of each draw can sample (a5xx to a7xx).

Descriptors are loaded by CP_LOAD_STATE (Gallium), or lie in bindless sets, of which the
instructions of the programs name the slots that are used (turnip).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.observer import Observer
from cffpy.analysis.texture_descriptors import Texture, read_texture, texture_dwords
from cffpy.capture.generations import BINDLESS_STRIDE
from cffpy.cp.loadstate import (
    BINDLESS,
    LOAD_STATE_PACKETS,
    TEXTURES,
    loaded_state,
    state_place,
)
from cffpy.isa.operands import TEXTURE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cffpy.analysis.actions import Action
    from cffpy.analysis.walk import Walk
    from cffpy.cp.sink import Payload

#: Low bits of a base that are not part of the address: the size of descriptors.
_BASE_FLAGS = 3
_MAX_PREFETCHES = 8

#: Textures that a load or a draw may have; distinct lists that are kept; bytes of programs that are
#: looked at, and of one program.
_MAX_TEXTURES, _MAX_LISTS = 256, 1 << 16
_MAX_LOOKED, _MAX_PROGRAM = 256 << 20, 1 << 20


class BoundTexture(NamedTuple):
    """A texture of a draw. ``set``: the number of its bindless set, None for a loaded one.

    ``texture``: None where the descriptor was not captured.
    """

    stage: str
    set: int | None
    slot: int
    texture: Texture | None


#: The textures of a draw, and whether these are all that its programs may sample.
Bound = tuple[tuple[BoundTexture, ...], bool]


class BoundTextures(Observer):
    """Takes the textures of each draw and dispatch."""

    def __init__(self, walk: Walk, register_db: str | None = None) -> None:
        """``register_db``: directory of another edition."""
        self._walk = walk
        self._disassemblers = walk.disassemblers(register_db)
        #: Stage -> slot -> dwords of the descriptor that was loaded last.
        self._loaded: dict[str, dict[int, tuple[int, ...]]] = {}
        #: The generation that they are of.
        self._generation = 0
        #: Of the buffers that the machine has: address of a program -> set and slot, or slot, of
        #: the textures that it names; and whether it names more than that.
        self._slots: dict[int, tuple[frozenset[tuple[int | None, int]], bool]] = {}
        self._drops = -1
        self._looked = 0
        self._textures: dict[tuple[int, ...], Texture | None] = {}
        self._lists: dict[Bound, Bound] = {}
        self._bound: dict[int, Bound] = {}

    def of(self, action: Action) -> Bound:
        """The textures of a draw or dispatch, and whether they are all that it may sample."""
        return self._bound.get(action.order, ((), False))

    # -- while the machine runs -----------------------------------------------------------------

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Packets that load descriptors."""
        return dict.fromkeys(LOAD_STATE_PACKETS, self._load)

    def _load(self, payload: Payload) -> None:
        machine = self._walk.machine
        size = texture_dwords(machine.gpu.facts)
        if not payload.count or not size:
            return
        loaded = loaded_state(machine, payload)
        if loaded.kind != TEXTURES or loaded.source == BINDLESS:
            return
        if self._generation != self._walk.generation:
            self._generation = self._walk.generation
            self._loaded.clear()
        place = state_place(machine, payload, loaded)
        table = self._loaded.setdefault(loaded.stage, {})
        for unit in range(min(loaded.units, _MAX_TEXTURES)):
            dwords: tuple[int, ...] = ()
            if place is not None:
                first = place[1] + unit * size
                dwords = tuple(place[0].data[first : first + size])
            if len(table) < _MAX_TEXTURES or loaded.first + unit in table:
                table[loaded.first + unit] = dwords

    def action(self, action: Action) -> None:
        """Take the textures of a draw or dispatch that may be executed."""
        is_drawn = action.kind in ("draw", "dispatch") and action.executed.is_possible
        if not is_drawn or not texture_dwords(self._walk.machine.gpu.facts):
            return
        found: dict[tuple[str, int | None, int], Texture | None] = {}
        is_complete = True
        for stage, address in action.shaders:
            slots, knows_all = self._program(address)
            is_complete &= knows_all
            for number, slot in slots:
                found[stage, number, slot] = self._texture(stage, number, slot)
        for number, slot in self._prefetched() if action.kind == "draw" else ():
            found["FS", number, slot] = self._texture("FS", number, slot)
        bound: Bound = (
            tuple(BoundTexture(*key, texture) for key, texture in found.items())[:_MAX_TEXTURES],
            is_complete,
        )
        if len(self._lists) < _MAX_LISTS:
            self._bound[action.order] = self._lists.setdefault(bound, bound)

    # -- within ---------------------------------------------------------------------------------

    def _program(self, address: int) -> tuple[frozenset[tuple[int | None, int]], bool]:
        """Set and slot of the textures that the program at an address names."""
        image = self._walk.machine.image
        if image.drops != self._drops:
            self._drops = image.drops
            self._slots.clear()
        known = self._slots.get(address)
        if known is None:
            known = self._slots[address] = self._read_program(address)
        return known

    def _read_program(self, address: int) -> tuple[frozenset[tuple[int | None, int]], bool]:
        place = self._walk.machine.image.place(address)
        if place is None or self._looked > _MAX_LOOKED:
            return frozenset(), False
        words, index = place
        data = words.bytes(index, min(words.count - index, _MAX_PROGRAM // 4))
        self._looked += len(data)
        disassembler = self._disassemblers.ir3(self._walk.generation)
        code = data[: disassembler.listing(data, 0).instructions * 8]
        slots: set[tuple[int | None, int]] = set()
        is_complete = bool(code)
        for descriptor in disassembler.descriptors(code):
            if descriptor.kind != TEXTURE:
                continue
            if descriptor.index is None or (descriptor.is_bindless and descriptor.base is None):
                is_complete = False
                continue
            slots.add((descriptor.base if descriptor.is_bindless else None, descriptor.index))
        return frozenset(slots), is_complete

    def _prefetched(self) -> Iterator[tuple[int | None, int]]:
        """Set and slot of what is sampled before the fragment program starts (a6xx and later)."""
        reader = self._walk.registers
        count = reader.field("SP_FS_PREFETCH_CNTL", "COUNT") or 0
        for index in range(min(count, _MAX_PREFETCHES)):
            command = f"SP_FS_PREFETCH[{index}].CMD"
            number = reader.field(command, "TEX_ID")
            if number is None:
                continue
            if reader.flag(command, "BINDLESS"):
                slot = reader.field(f"SP_FS_BINDLESS_PREFETCH[{index}].CMD", "TEX_ID")
                if slot is not None:
                    yield number, slot
            else:
                yield None, number

    def _texture(self, stage: str, number: int | None, slot: int) -> Texture | None:
        if number is None:
            loaded = self._loaded if self._generation == self._walk.generation else {}
            dwords = loaded.get(stage, {}).get(slot, ())
        else:
            dwords = self._of_set(stage, number, slot)
        if dwords not in self._textures:
            if len(self._textures) >= _MAX_LISTS:
                self._textures.clear()
            self._textures[dwords] = read_texture(self._walk.machine, dwords)
        return self._textures[dwords]

    def _of_set(self, stage: str, number: int, slot: int) -> tuple[int, ...]:
        """The dwords of a descriptor of a bindless set; none where it was not captured."""
        prefix = "SP_CS_BINDLESS_BASE" if stage == "CS" else "SP_BINDLESS_BASE"
        base = self._walk.registers.address(f"{prefix}[{number}].DESCRIPTOR")
        if not base:
            return ()
        address = (base & ~_BASE_FLAGS) + slot * BINDLESS_STRIDE * 4
        place = self._walk.machine.image.place(address)
        if place is None:
            return ()
        return tuple(place[0].data[place[1] : place[1] + BINDLESS_STRIDE])
