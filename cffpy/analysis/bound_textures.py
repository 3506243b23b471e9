# SPDX-License-Identifier: MIT
"""BoundTextures: the textures and storage images that the programs of each action use (from a5xx).

Which slots these are, says ``analysis/inputs/uses.py``. Descriptors are loaded by CP_LOAD_STATE
(Gallium), or lie in bindless sets (turnip). Other than ``inputs.bindings``, this observer sees all
executions, in tiles too, and records no facts.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.inputs.descriptor_sets import BoundSets
from cffpy.analysis.inputs.uses import (
    STORAGE,
    TEXTURE,
    DrawUses,
    SlotRegisters,
    Use,
    slot_registers,
)
from cffpy.analysis.observer import Observer
from cffpy.analysis.registers import Remembered
from cffpy.analysis.texture_descriptors import Texture, read_texture, texture_dwords
from cffpy.capture.gpu import BINDLESS_STRIDE
from cffpy.cp.loadstate import (
    BINDLESS,
    LOAD_STATE_PACKETS,
    SSBO_0,
    TEXTURES,
    loaded_state,
    state_place,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from cffpy.analysis.inputs.uses import Owner
    from cffpy.analysis.registers import Programs
    from cffpy.analysis.walk import Walk
    from cffpy.frame.action import Action
    from cffpy.isa.operands import Descriptor
    from cffpy.pm4.reader import Payload

#: Textures that a load or a draw may have; distinct lists that are kept; bytes of programs that are
#: looked at, and of one program.
_MAX_TEXTURES, _MAX_LISTS = 256, 1 << 16
_MAX_LOOKED, _MAX_PROGRAM = 256 << 20, 1 << 20

#: What packets load -> the kind of slot.
_LOADED = {TEXTURES: TEXTURE, SSBO_0: STORAGE}


class BoundTexture(NamedTuple):
    """A texture of a draw. ``set``: the number of its bindless set, None for a loaded one.

    ``texture``: None where the descriptor was not captured. ``kind``: "texture", or "storage" for
    an image or buffer that the program reads or writes without a sampler.
    """

    stage: str
    set: int | None
    slot: int
    texture: Texture | None
    kind: str
    use: Use


#: The textures of a draw, and whether these are all that its programs may sample.
Bound = tuple[tuple[BoundTexture, ...], bool]


class BoundTextures(Observer):
    """Takes the textures of each draw and dispatch."""

    def __init__(self, walk: Walk, register_db: str | None = None) -> None:
        """``register_db``: directory of another edition."""
        self._walk = walk
        self._disassemblers = walk.disassemblers(register_db)
        #: Kind and stage -> slot -> dwords of the descriptor that was loaded last.
        self._loaded: dict[tuple[str, str], dict[int, tuple[int, ...]]] = {}
        #: The generation that they are of.
        self._generation = 0
        #: Of the buffers that the machine has: what programs name by address, and what draws use.
        self._programs: dict[int, frozenset[Descriptor] | None] = {}
        self._uses: dict[tuple[Programs, SlotRegisters], DrawUses] = {}
        self._drops = -1
        self._looked = 0
        #: What reads the registers of draws and of dispatches; made when they are first needed.
        self._registers: dict[bool, tuple[Remembered[SlotRegisters], BoundSets]] = {}
        self._textures: dict[tuple[int, ...], Texture | None] = {}
        self._lists: dict[Bound, Bound] = {}
        self._bound: dict[int, Bound] = {}
        #: Submit and address -> declared bytes from there to the end of its buffer; 0: no buffer.
        self._remaining: dict[tuple[int, int], int] = {}

    def of(self, action: Action) -> Bound:
        """The textures and storage of a draw or dispatch, and whether they are all it may read."""
        return self._bound.get(action.order, ((), False))

    def images(self, action: Action) -> Iterator[tuple[BoundTexture, Texture]]:
        """The textures of an action that are images and whose descriptors were captured.

        Without storage images.
        """
        for bound in self.of(action)[0]:
            texture = bound.texture
            if bound.kind == TEXTURE and texture is not None and texture.kind != "buffer":
                yield bound, texture

    def remaining(self, action: Action, address: int) -> int:
        """Declared bytes from an address of a texture to the end of its buffer; 0: no buffer."""
        return self._remaining.get((action.place.submit, address), 0)

    # -- while the machine runs -----------------------------------------------------------------

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        return dict.fromkeys(LOAD_STATE_PACKETS, self._load)

    def _load(self, payload: Payload) -> None:
        machine = self._walk.machine
        size = texture_dwords(machine.gpu.facts)
        if not payload.count or not size:
            return
        loaded = loaded_state(machine, payload)
        kind = _LOADED.get(loaded.kind)
        if kind is None or loaded.source == BINDLESS:
            return
        if kind == STORAGE and not machine.gpu.facts.has_bindless:
            return  # up to a5xx, storage has no descriptors of textures
        self._enter_generation()
        place = state_place(machine, payload, loaded)
        table = self._loaded.setdefault((kind, loaded.stage), {})
        for unit in range(min(loaded.units, _MAX_TEXTURES)):
            dwords: tuple[int, ...] = ()
            if place is not None:
                first = place[1] + unit * size
                dwords = tuple(place[0].data[first : first + size])
            if len(table) < _MAX_TEXTURES or loaded.first + unit in table:
                table[loaded.first + unit] = dwords

    def _enter_generation(self) -> None:
        if self._generation != self._walk.generation:
            self._generation = self._walk.generation
            for known in (self._loaded, self._programs, self._uses, self._registers):
                known.clear()

    def action(self, action: Action) -> None:
        """Take the textures of a draw or dispatch that may be executed."""
        is_drawn = action.kind in ("draw", "dispatch") and action.execution.is_possible
        if not is_drawn or not texture_dwords(self._walk.machine.gpu.facts):
            return
        self._enter_generation()
        registers, sets = self._readers(action.kind == "dispatch")
        uses = self._uses_of(action.programs, registers())
        bases = sets()
        used = [
            BoundTexture(stage, None if isinstance(owner, str) else owner, slot, texture, kind, use)
            for kind in (TEXTURE, STORAGE)
            for owner, slot, use in uses.named(kind)
            if use.reads or use.writes
            for texture in (self._texture(kind, owner, slot, uses.registers, bases),)
            for stage in use.stages
        ]
        bound: Bound = (
            tuple(used[:_MAX_TEXTURES]),
            uses.names_all(TEXTURE) and uses.names_all(STORAGE),
        )
        if len(self._lists) < _MAX_LISTS:
            self._bound[action.order] = self._lists.setdefault(bound, bound)
            self._look_up(action.place.submit, bound)

    def _look_up(self, submit: int, bound: Bound) -> None:
        """The rest of the buffers, while the submit's memory is available."""
        for descriptor in bound[0]:
            if (
                descriptor.texture is not None
                and (submit, descriptor.texture.address) not in self._remaining
            ):
                remaining = self._walk.machine.image.remaining(descriptor.texture.address)
                self._remaining[submit, descriptor.texture.address] = remaining

    # -- within ---------------------------------------------------------------------------------

    def _readers(self, is_compute: bool) -> tuple[Remembered[SlotRegisters], BoundSets]:
        readers = self._registers.get(is_compute)
        if readers is None:
            machine = self._walk.machine
            compute = slot_registers(machine.gpu.facts, is_compute)
            readers = Remembered(machine, compute), BoundSets(machine, is_compute)
            self._registers[is_compute] = readers
        return readers

    def _uses_of(self, shaders: Programs, registers: SlotRegisters) -> DrawUses:
        image = self._walk.machine.image
        if image.drops != self._drops:
            self._drops = image.drops
            self._programs.clear()
            self._uses.clear()
        known = self._uses.get((shaders, registers))
        if known is None:
            if len(self._uses) >= _MAX_LISTS:
                self._uses.clear()
            programs = tuple((stage, self._program(at)) for stage, at in shaders)
            names_uniform = self._walk.machine.gpu.facts.names_uniform_buffers
            known = DrawUses(programs, registers, names_uniform)
            self._uses[shaders, registers] = known
        return known

    def _program(self, address: int) -> frozenset[Descriptor] | None:
        """What the program at an address names; None where it was not captured."""
        if address not in self._programs:
            self._programs[address] = self._read_program(address)
        return self._programs[address]

    def _read_program(self, address: int) -> frozenset[Descriptor] | None:
        place = self._walk.machine.image.place(address)
        if place is None or self._looked > _MAX_LOOKED:
            return None
        words, index = place
        data = words.bytes(index, min(words.count - index, _MAX_PROGRAM // 4))
        self._looked += len(data)
        disassembler = self._disassemblers.ir3(self._walk.generation)
        code = data[: disassembler.listing(data, 0).instructions * 8]
        return disassembler.descriptors(code) if code else None

    def _texture(
        self,
        kind: str,
        owner: Owner,
        slot: int,
        registers: SlotRegisters,
        bases: Mapping[int, int],
    ) -> Texture | None:
        dwords: tuple[int, ...] = ()
        if isinstance(owner, str):
            dwords = self._loaded.get((kind, owner), {}).get(slot, ())
            table = registers.tables.get(owner)
            if kind == STORAGE and not dwords and table is not None:
                dwords = self._descriptor(table[0], slot)
        elif owner in bases:
            dwords = self._descriptor(bases[owner], slot)
        if dwords not in self._textures:
            if len(self._textures) >= _MAX_LISTS:
                self._textures.clear()
            self._textures[dwords] = read_texture(self._walk.machine, dwords)
        return self._textures[dwords]

    def _descriptor(self, base: int, slot: int) -> tuple[int, ...]:
        """The dwords of a descriptor of a set or table; none where it was not captured."""
        place = self._walk.machine.image.place(base + slot * BINDLESS_STRIDE * 4)
        if place is None:
            return ()
        return tuple(place[0].data[place[1] : place[1] + BINDLESS_STRIDE])
