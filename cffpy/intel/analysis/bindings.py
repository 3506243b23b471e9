# SPDX-License-Identifier: MIT
"""What draws have bound, as bindings of the model: descriptors, and the data that draws read.

A slot of a stage is an entry of its binding table, a sampler of its array, or a buffer of
constants. What messages of the stage's kernels name is used; where a kernel computes what it
names, or was not captured, all of the stage may be used. Render targets are no bindings, but
attachments.

The commands do not say what a surface is for, so its kind follows from the messages that use it: a
surface that is sampled is a texture, one that is read as constants is a uniform buffer, all others
are storage. A buffer that nobody writes is a uniform buffer from gen12.5 on, where both are read in
the same way. An image that no message names counts as a texture, a buffer as a uniform buffer.
"""

from __future__ import annotations

from bisect import bisect_left
from struct import pack
from typing import NamedTuple

from cffpy.frame.binding import CLASSES, DESCRIPTORS, DescriptorText, Slot
from cffpy.frame.objects import ByField
from cffpy.intel.analysis.actions import is_program
from cffpy.intel.analysis.draw_state import DrawState
from cffpy.intel.analysis.state import command_structs
from cffpy.intel.analysis.surfaces import read_surface
from cffpy.intel.analysis.survey import survey
from cffpy.intel.decoder.kernels import CONSTANT, DATA, SAMPLED, SurfaceAccess
from cffpy.intel.decoder.text import field_values

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Collection, Iterator, Sequence

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.binding import Binding, BindingKind, Images
    from cffpy.frame.places import PacketLocation
    from cffpy.intel.analysis.anv import Descriptor, DescriptorSet
    from cffpy.intel.analysis.programs import BindingTable, KernelFacts
    from cffpy.intel.analysis.state import Instruction
    from cffpy.intel.analysis.surfaces import Sampler, Surface
    from cffpy.intel.analysis.survey import Survey, SurveyWalk
    from cffpy.intel.decoder.groups import Database

SURFACE, SAMPLER, RECORD = "RENDER_SURFACE_STATE", "SAMPLER_STATE", "record"

#: Bindings of all draws, and bytes of distinct data: limits for hostile captures.
_MAX_BINDINGS, _MAX_BYTES = 1 << 20, 1 << 28
#: Bytes of one buffer that are kept.
_MAX_DATA = 1 << 24
_SURFACE_SIZE = 64
#: Bytes of a record of a set up to gen12.0.
_RECORD_SIZE = 8
#: Bytes of an index by the value of Index Format.
_INDEX_SIZES = (1, 2, 4)
_FIRST_LSC = 125


class Contents(NamedTuple):
    """What is bound: see ``cffpy.frame.binding.Contents``."""

    data: memoryview | None
    address: int | None = None
    offset: int = 0
    points_at: int | None = None
    domain: str | None = None
    place: PacketLocation | None = None


class Flags(NamedTuple):
    """How a draw uses a slot: see the facts of ``Binding``."""

    is_enabled: bool | None
    is_used: bool
    is_sure: bool
    stages: tuple[str, ...]
    reads: bool
    writes: bool


class SurfaceText:
    """Decodes surface states and sampler states of a GPU: the ``Decoder`` of bindings."""

    def __init__(self, database: Database) -> None:
        self._database = database

    def descriptor(self, domain: str | None, dwords: Sequence[int]) -> DescriptorText:
        """What a descriptor says; nothing of a record of a set, which has no fields."""
        struct = None if domain is None else self._database.struct(domain)
        if struct is None or len(dwords) < struct.dwords:
            return DescriptorText({})
        values = field_values(self._database, struct, dwords[: struct.dwords])
        fields = ByField((value.name, value) for value in values)
        surface = None
        if domain == SURFACE:
            data = pack(f"<{len(dwords)}I", *dwords)
            surface = read_surface(self._database, data, 0)
        if surface is None or surface.is_null:
            return DescriptorText(fields)
        if not surface.is_buffer:
            return DescriptorText(fields, surface.format, surface.width, surface.height)
        if surface.pitch == 1:  # bytes, as of uniform buffers
            return DescriptorText(fields, surface.format)
        return DescriptorText(fields, surface.format, surface.width, 1, surface.width)


class Span(NamedTuple):
    """A binding, and the first and the last draw, by ``Action.order``, at which it holds."""

    binding: Binding
    first: int
    last: int


class DrawBindings:
    """What the program's draws have bound: a run over the commands.

    ``survey``: what else that has found. ``left_out``: draws that a limit left out. ``order`` is
    ``Action.order`` of a draw of the program.
    """

    def __init__(
        self, content: Content, directory: str | None, images: Images | None = None
    ) -> None:
        """``images``: makes images of descriptors, or says that there are none."""
        self.left_out = 0
        self._images = images
        self._of_draw: dict[int, tuple[Binding, ...]] = {}
        #: Draws with binding tables that are not in memory: their descriptors are not known.
        self._without_tables: set[int] = set()
        self._known: dict[tuple[object, ...], Binding] = {}
        self._lists: dict[tuple[int, ...], tuple[Binding, ...]] = {}
        self._decoder: SurfaceText | None = None
        self._left, self._bytes_left = _MAX_BINDINGS, _MAX_BYTES
        #: Data of the submission that runs, by address and size.
        self._data: tuple[int, dict[tuple[int, int], memoryview | None]] = (-1, {})
        self.survey: Survey = survey(content, directory, self._take)
        self._orders = sorted(self._of_draw)
        for kept in (self._known, self._lists, self._data[1]):
            kept.clear()

    # -- answers ---------------------------------------------------------------------------------

    def has(self, order: int) -> bool:
        """Whether a draw was recorded."""
        return order in self._of_draw

    def bindings_of(self, order: int) -> list[Binding]:
        """All that a draw has bound, by kind and slot; [] at a draw that was not recorded."""
        return list(self._of_draw.get(order, ()))

    def of_kind(
        self, order: int, kind: BindingKind, only_used: bool = True
    ) -> list[Binding] | None:
        """The bindings of one kind at a draw by their slots.

        None at a draw that was not recorded, and where a binding table was not captured.
        """
        bindings = self._of_draw.get(order)
        if bindings is None or (order in self._without_tables and kind in DESCRIPTORS):
            return None
        return [
            binding
            for binding in bindings
            if binding.kind == kind and (binding.used or not only_used)
        ]

    def lists(
        self, kind: BindingKind, only_used: bool = True
    ) -> Iterator[tuple[int, list[Binding] | None]]:
        """The draws at which ``of_kind`` may change, in their order, with its result from then."""
        before: tuple[object, bool] | None = None
        for order in self._orders:
            now = self._of_draw[order], order in self._without_tables
            if before is None or now[0] is not before[0] or now[1] != before[1]:
                before = now
                yield order, self.of_kind(order, kind, only_used)

    def spans(self, kinds: Collection[str]) -> Iterator[Span]:
        """The bindings of these kinds, one for each change."""
        held: dict[tuple[Slot, int], tuple[Binding, int]] = {}
        before: tuple[Binding, ...] = ()
        for order in self._orders:
            if self._of_draw[order] is before:
                continue
            before, now = self._of_draw[order], {}
            counts: dict[Slot, int] = {}
            for binding in before:
                if binding.kind in kinds:
                    # sets without a number may have several descriptors in one slot
                    counts[binding._where] = number = counts.get(binding._where, -1) + 1
                    now[binding._where, number] = binding
            for key in [*held]:
                binding, first = held[key]
                if key not in now or not _is_same(binding, now[key]):
                    del held[key]
                    last = self._orders[bisect_left(self._orders, order) - 1]
                    yield Span(binding, first, last)
            for key, one in now.items():
                held.setdefault(key, (one, order))
        for binding, first in held.values():
            yield Span(binding, first, self._orders[-1])

    # -- the run ---------------------------------------------------------------------------------

    def _take(self, walk: SurveyWalk, action: Action, command: Instruction) -> bool:
        if not is_program(action) or action.pass_index is None:
            return False
        if self._left <= 0 or self._bytes_left <= 0:
            self.left_out += 1
            return False
        if self._decoder is None:
            self._decoder = SurfaceText(walk.database)
        bindings = [self._binding(*row) for row in _ActionBindings(walk, action, command, self)]
        kinds = list(CLASSES)
        bindings.sort(key=lambda one: (kinds.index(one.kind), *_slot_order(one._where)))
        key = tuple(map(id, bindings))  # of objects that are kept
        known = self._lists.get(key)
        if known is None:
            known = self._lists[key] = tuple(bindings)
            self._left -= len(bindings)
        self._of_draw[action.order] = known
        if walk.uses[action.order].missing_tables:
            self._without_tables.add(action.order)
        return False

    def _binding(self, where: Slot, contents: Contents, flags: Flags | None) -> Binding:
        """The binding; the same object for the same contents."""
        place = contents.place
        from_ = None if place is None else (place.submit, place.gpuaddr)
        data = contents.data
        key = where, None if data is None else data.obj, contents[1:5], from_, flags
        binding = self._known.get(key)
        if binding is None:
            made = CLASSES[where.kind](where, contents, flags, None, self._decoder, self._images)
            binding = self._known[key] = made
            self._bytes_left -= 0 if data is None else len(data)
        return binding

    def data(self, walk: SurveyWalk, address: int, size: int) -> memoryview | None:
        """The captured bytes of a buffer from an address on; None where there are none."""
        submit, known = self._data
        if submit != walk.submit:
            known.clear()  # memory may have changed
            self._data = walk.submit, known
        key = address, min(size, _MAX_DATA)
        if key not in known:
            span = walk.span(*key)
            known[key] = memoryview(bytes(span)) if span else None
        return known[key]


class _StageUse(NamedTuple):
    """What the kernels of a stage use. ``knows_all``: all were captured."""

    accesses: frozenset[SurfaceAccess]
    samplers: frozenset[int]
    computes_samplers: bool
    uses_addresses: bool
    knows_all: bool

    @property
    def computes_entries(self) -> bool:
        """Whether a message uses an entry of the table that is computed, or may do so."""
        return not self.knows_all or any(
            access.entry is None and not access.is_bindless for access in self.accesses
        )

    @property
    def is_bindless(self) -> bool:
        """Whether a message uses a surface that is in no table, or may do so."""
        return not self.knows_all or any(access.is_bindless for access in self.accesses)


class _ActionBindings:
    """The bindings of an action, each as its slot, its contents and how it is used."""

    def __init__(
        self, walk: SurveyWalk, action: Action, command: Instruction, keeper: DrawBindings
    ) -> None:
        self._walk, self._action, self._keeper = walk, action, keeper
        self._used = DrawState(walk, action, command)
        self._stages = {
            program.stage: _stage_use([walk.kernels.facts(one) for _, one in program.kernels])
            for program in self._used.uses.programs
        }

    def __iter__(self) -> Iterator[tuple[Slot, Contents, Flags | None]]:
        used = self._used
        for table in used.uses.tables:
            yield from self._of_table(table)
        for sampler in used.samplers:
            yield self._stage_sampler(sampler)
        for descriptor_set in used.sets:
            yield from self._of_set(descriptor_set)
        if self._action.kind == "draw":
            yield from self._vertex_buffers()
            yield from self._index_buffer()
        for constants in used.constants:
            where = Slot("constants", constants.stage, None, constants.slot)
            place = self._walk.state.constants_from[constants.stage].place
            yield where, self._data(constants.address, constants.size, place=place), None
        for block in used.pushed:
            where = Slot("push constants", block.stage, None, 0)
            data = memoryview(block.client)
            yield where, Contents(data, block.address), None

    def _data(
        self, address: int, size: int, offset: int = 0, place: PacketLocation | None = None
    ) -> Contents:
        data = self._keeper.data(self._walk, address + offset, size)
        return Contents(data, address, offset, place=place)

    # -- descriptors -----------------------------------------------------------------------------

    def _of_table(self, table: BindingTable) -> Iterator[tuple[Slot, Contents, Flags | None]]:
        use = self._stages[table.stage]
        is_enabled = True if table.source == "driver" else None
        for entry in table.entries:
            surface = entry.surface
            if surface is None or entry.role:
                continue
            named = [access for access in use.accesses if access.entry == entry.number]
            accesses = named or ([*use.accesses] if use.computes_entries else [])
            kind = self._kind(surface, named)
            is_used = bool(named) or use.computes_entries
            flags = self._flags(kind, table.stage, is_used, bool(named), accesses, is_enabled)
            where = Slot(kind, table.stage, None, entry.number)
            yield where, self._descriptor(entry.state_address, surface), flags
            if kind == "uniform buffer" and is_used and surface.address:
                data = self._data(surface.address, surface.size)
                yield Slot("uniform data", table.stage, None, entry.number), data, flags

    def _kind(self, surface: Surface, named: Sequence[SurfaceAccess]) -> BindingKind:
        """What a surface is for; ``named``: what messages do with it that name it."""
        ways = {access.way for access in named}
        is_written = any(access.writes for access in named)
        if is_written or (DATA in ways and not surface.is_buffer):
            return "storage"
        if DATA in ways and self._walk.database.verx10 < _FIRST_LSC:
            return "storage"
        if CONSTANT in ways or DATA in ways:
            return "uniform buffer"
        if SAMPLED in ways and surface.format != "RAW":
            return "texture"
        return "uniform buffer" if surface.is_buffer else "texture"

    def _flags(
        self,
        kind: BindingKind,
        stage: str,
        is_used: bool,
        is_sure: bool,
        accesses: Sequence[SurfaceAccess],
        is_enabled: bool | None,
    ) -> Flags:
        is_read = any(access.reads for access in accesses) or not accesses
        is_written = any(access.writes for access in accesses) and kind == "storage"
        stages = (stage,) if is_used else ()
        return Flags(is_enabled, is_used, is_sure, stages, is_used and is_read, is_written)

    def _descriptor(self, address: int, surface: Surface) -> Contents:
        struct = self._walk.database.struct(SURFACE)
        size = _SURFACE_SIZE if struct is None else 4 * struct.dwords
        points_at = None if surface.is_null else surface.address
        data = memoryview(bytes(self._walk.span(address, size)))
        return Contents(data, points_at=points_at, domain=SURFACE)

    def _stage_sampler(self, sampler: Sampler) -> tuple[Slot, Contents, Flags]:
        use = self._stages[sampler.stage]
        is_sure = sampler.number in use.samplers
        is_used = is_sure or use.computes_samplers or not use.knows_all
        stages = (sampler.stage,) if is_used else ()
        flags = Flags(None, is_used, is_sure, stages, is_used, False)
        return Slot("sampler", sampler.stage, None, sampler.number), _sampler(sampler), flags

    def _of_set(
        self, descriptor_set: DescriptorSet
    ) -> Iterator[tuple[Slot, Contents, Flags | None]]:
        """The descriptors of a set. Offsets in it are computed: those of a kernel that is bindless
        may be used.
        """
        bindless = tuple(stage for stage, use in self._stages.items() if use.is_bindless)
        for descriptor in descriptor_set.descriptors:
            step = _SURFACE_SIZE if descriptor.kind == "surface" else _RECORD_SIZE
            slot = descriptor.offset // step
            yield self._of_record(
                descriptor, Slot("texture", None, descriptor_set.number, slot), bindless
            )
            known = descriptor.sampler_state
            if known is not None:
                where = Slot("sampler", None, descriptor_set.number, slot)
                yield where, _sampler(known), _may_use(bindless)
        for sampler in descriptor_set.samplers:
            where = Slot("sampler", None, descriptor_set.number, sampler.number)
            yield where, _sampler(sampler), _may_use(bindless)

    def _of_record(
        self, descriptor: Descriptor, where: Slot, bindless: tuple[str, ...]
    ) -> tuple[Slot, Contents, Flags]:
        surface = descriptor.surface
        if surface is None:  # an address and a range, which need no surface
            data = memoryview(pack("<QQ", descriptor.address, descriptor.size))
            contents = Contents(data, points_at=descriptor.address, domain=RECORD)
            stages = tuple(stage for stage, use in self._stages.items() if use.uses_addresses)
            return where._replace(kind="storage"), contents, _may_use(stages, True)
        is_storage = surface.is_buffer or descriptor.kind == "image"
        kind: BindingKind = "storage" if is_storage else "texture"
        contents = self._descriptor(surface.state_address, surface)
        return where._replace(kind=kind), contents, _may_use(bindless, is_storage)

    # -- data ------------------------------------------------------------------------------------

    def _vertex_buffers(self) -> Iterator[tuple[Slot, Contents, Flags]]:
        state = self._walk.state
        elements = state.get("3DSTATE_VERTEX_ELEMENTS")
        fetched: set[int] = set()
        if elements is not None:
            for element in command_structs(state.database, elements, "VERTEX_ELEMENT_STATE"):
                if element.number("Valid"):
                    fetched.add(element.number("Vertex Buffer Index"))
        stage = next(iter(self._stages), None)
        for buffer in self._used.vertex_buffers:
            is_used = elements is None or buffer.number in fetched
            stages = () if stage is None or not is_used else (stage,)
            flags = Flags(None, is_used, elements is not None and is_used, stages, is_used, False)
            place = state.vertex_buffers[buffer.number][1].place
            contents = self._data(buffer.address, buffer.size, place=place)
            yield Slot("vertex buffer", None, None, buffer.number), contents, flags

    def _index_buffer(self) -> Iterator[tuple[Slot, Contents, None]]:
        command = self._walk.state.get("3DSTATE_INDEX_BUFFER")
        if command is None or not self._action.indexed:
            return
        start, end, size, kind = (
            value or 0
            for value in command.values(
                "Buffer Starting Address", "Buffer Ending Address", "Buffer Size", "Index Format"
            )
        )
        start &= (1 << 48) - 1
        size = size or max(end + 1 - start, 0)
        step = _INDEX_SIZES[min(kind, 2)]
        offset = min(step * (self._action.first or 0), size)
        count = self._action.vertices
        length = size - offset if count is None else min(step * count, size - offset)
        contents = self._data(start, length, offset, command.place)
        yield Slot("index buffer", None, None, 0), contents, None


def _stage_use(kernels: Sequence[KernelFacts | None]) -> _StageUse:
    known = [kernel for kernel in kernels if kernel is not None]
    return _StageUse(
        frozenset().union(*(kernel.accesses for kernel in known)),
        frozenset().union(*(kernel.samplers for kernel in known)),
        any(kernel.computes_samplers for kernel in known),
        any(kernel.uses_addresses for kernel in known) or len(known) < len(kernels),
        len(known) == len(kernels),
    )


def _may_use(stages: tuple[str, ...], writes: bool = False) -> Flags:
    """Of what kernels may use, if there are any that can."""
    is_used = bool(stages)
    return Flags(None, is_used, False, stages, is_used, is_used and writes)


def _sampler(sampler: Sampler) -> Contents:
    words = sampler.state.words
    return Contents(memoryview(pack(f"<{len(words)}I", *words)), domain=SAMPLER)


def _slot_order(where: Slot) -> tuple[str, int, int]:
    number = where.bindless_set
    return where.stage or "", -1 if number is None else number, where.slot


def _is_same(binding: Binding, other: Binding) -> bool:
    """Whether a binding goes on: contents and use are the same, whichever packet loaded it."""
    if binding is other:
        return True
    mine, its = binding._contents, other._contents
    facts = ("data", "address", "offset", "points_at", "domain")
    same = all(getattr(mine, name) == getattr(its, name) for name in facts)
    return same and binding._flags == other._flags
