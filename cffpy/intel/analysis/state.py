# SPDX-License-Identifier: MIT
"""The state at a point of a command stream: the last instruction of each kind, and registers.

Intel GPUs have few registers that matter to a draw: state is set by instructions (3DSTATE_...), so
state is the last instruction of each name. Instructions that set one of several items, such as a
vertex element, have a slot for each: ``3DSTATE_VF_INSTANCING[2]``. Some instructions point at
structures in memory, which are state, too: BLEND_STATE, viewports, the units of gen4 and gen5.
"""

from __future__ import annotations

from struct import unpack_from
from typing import NamedTuple

from cffpy.frame.places import ExecutedStream, PacketLocation
from cffpy.intel.decoder.groups import Command

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.frame.facts import Address
    from cffpy.intel.decoder.groups import Database, Group


class Submission:
    """A submission: its engine, where its commands begin, where the file has it.

    ``number``: among the submissions, each of which is a submit with one command stream.
    ``ndwords``: of its ring, or its batch in error states. ``offset``: in the file, None in error
    states.
    """

    #: No section names a GPU: a file has one.
    identity = None

    def __init__(
        self, number: int, engine: str, gpuaddr: int, ndwords: int, offset: int | None
    ) -> None:
        self.number = number
        self.engine = engine
        self.gpuaddr = gpuaddr
        self.ndwords = ndwords
        self.offset = offset

    @property
    def submit(self) -> int:
        """The number of the submission, as all captures have it for a submit."""
        return self.number

    def stream(self) -> ExecutedStream:
        """The commands of the ring, from which batches are called."""
        return ExecutedStream("submit", self, self.gpuaddr, self.ndwords, None)

    def __repr__(self) -> str:
        commands = f"{self.ndwords} dwords at {self.gpuaddr:#x}"
        return f"<Submission {self.number}: {self.engine}, {commands}>"


class InstructionPlace(PacketLocation):
    """An instruction's place. It has an address instead of words.

    An AUB file has its bytes at ``file_offset``. Error states and devcoredumps have them encoded:
    there is no offset; neither is there where a draw is predicted, or a command has written it.
    """

    __slots__ = ("_file_offset", "_gpuaddr")

    def __init__(self, stream: ExecutedStream, gpuaddr: int, file_offset: int | None) -> None:
        self.stream = stream
        self._gpuaddr = gpuaddr
        self._file_offset = file_offset

    @property
    def gpuaddr(self) -> Address:
        """The instruction's GPU address; 0 and on in the rings of classic files."""
        return self._gpuaddr

    @property
    def file_offset(self) -> Address | None:
        """Its offset in the decompressed file, in bytes; None: see the class."""
        return self._file_offset


_M32 = 0xFFFFFFFF

#: Instructions that set one item of several, and the field that says which.
_INDEXED = {
    "3DSTATE_VF_INSTANCING": "Vertex Element Index",
    "3DSTATE_SO_BUFFER": "SO Buffer Index",
}
STAGES = ("VS", "HS", "DS", "GS", "PS")
"""The stages of the 3D pipeline that have tables, in the order of the pipeline."""

#: Instructions that are not state: commands of the command streamer, flushes, actions.
_NO_STATE = ("MI_", "XY_", "PIPE_CONTROL", "MEDIA_STATE_FLUSH")

#: Where the registers of the render command streamer begin.
_STREAMER = 0x2000
_LOAD_VERTEX_BUFFERS = "3DSTATE_VERTEX_BUFFERS"


class Pointer(NamedTuple):
    """A field that points at a structure in memory.

    ``changes``: the field that says whether it is set; "" where it always is. ``is_general``: it
    counts from the general state base, else from that of dynamic state.
    """

    field: str
    struct: str
    changes: str = ""
    is_general: bool = False


_DEPTH_STENCIL = "DEPTH_STENCIL_STATE"

#: Instructions that point at structures.
_POINTERS: dict[str, tuple[Pointer, ...]] = {
    "3DSTATE_VIEWPORT_STATE_POINTERS_CC": (Pointer("CC Viewport Pointer", "CC_VIEWPORT"),),
    "3DSTATE_VIEWPORT_STATE_POINTERS_SF_CLIP": (
        Pointer("SF Clip Viewport Pointer", "SF_CLIP_VIEWPORT"),
    ),
    "3DSTATE_VIEWPORT_STATE_POINTERS": (
        Pointer("Pointer to CLIP_VIEWPORT", "CLIP_VIEWPORT", "CLIP Viewport State Change"),
        Pointer("Pointer to SF_VIEWPORT", "SF_VIEWPORT", "SF Viewport State Change"),
        Pointer("Pointer to CC_VIEWPORT", "CC_VIEWPORT", "CC Viewport State Change"),
    ),
    "3DSTATE_SCISSOR_STATE_POINTERS": (Pointer("Scissor Rect Pointer", "SCISSOR_RECT"),),
    "3DSTATE_BLEND_STATE_POINTERS": (Pointer("Blend State Pointer", "BLEND_STATE"),),
    "3DSTATE_DEPTH_STENCIL_STATE_POINTERS": (
        Pointer("Pointer to DEPTH_STENCIL_STATE", _DEPTH_STENCIL),
    ),
    "3DSTATE_CC_STATE_POINTERS": (
        Pointer("Color Calc State Pointer", "COLOR_CALC_STATE", "Color Calc State Pointer Valid"),
        Pointer("Pointer to BLEND_STATE", "BLEND_STATE", "BLEND_STATE Change"),
        Pointer("Pointer to DEPTH_STENCIL_STATE", _DEPTH_STENCIL, "DEPTH_STENCIL_STATE Change"),
    ),
    "3DSTATE_CPS_POINTERS": (Pointer("Coarse Pixel Shading State Array Pointer", "CPS_STATE"),),
    "3DSTATE_PIPELINED_POINTERS": (
        Pointer("Pointer to VS State", "VS_STATE", is_general=True),
        Pointer("Pointer to GS State", "GS_STATE", "GS Enable", is_general=True),
        Pointer("Pointer to CLIP State", "CLIP_STATE", "Clip Enable", is_general=True),
        Pointer("Pointer to SF State", "SF_STATE", is_general=True),
        Pointer("Pointer to WM State", "WM_STATE", is_general=True),
        Pointer("Pointer to Color Calc State", "COLOR_CALC_STATE", is_general=True),
    ),
}


#: Structures in memory that are state.
STRUCTURES = frozenset(
    pointer.struct for pointers in _POINTERS.values() for pointer in pointers
) | {"BLEND_STATE_ENTRY"}


class Instruction(Command):
    """An instruction that was executed, at ``address`` (0 in classic files), in a stream.

    ``batch``: the address of the batch that it is in. ``after``: how many actions come before it.
    ``file_offset``: of its bytes, where the file has them as they are.
    """

    __slots__ = ("address", "after", "batch", "file_offset", "stream")

    def __init__(
        self,
        group: Group,
        data: bytes,
        address: int,
        stream: ExecutedStream,
        batch: int,
        after: int,
        file_offset: int | None,
    ) -> None:
        super().__init__(group, data)
        self.address = address
        self.stream = stream
        self.file_offset = file_offset
        self.batch = batch
        self.after = after

    @property
    def submit(self) -> int:
        """The number of its submission."""
        return self.stream._submitted.number

    @property
    def place(self) -> PacketLocation:
        """The place of the instruction: stream, address, offset in the file."""
        return InstructionPlace(self.stream, self.address, self.file_offset)

    @property
    def name(self) -> str:
        """The name of the instruction."""
        name: str = self.group.name
        return name


def sets_state(name: str) -> bool:
    """Whether an instruction of this name sets state that later actions use."""
    return not name.startswith(_NO_STATE)


class State:
    """What instructions have set so far. It persists from one submission to the next."""

    def __init__(self, database: Database) -> None:
        self.database = database
        #: Slot -> the instruction that set it.
        self.slots: dict[str, Instruction] = {}
        #: Offset of a register -> its value, None where only the GPU knows it, and who wrote it.
        self.registers: dict[int, tuple[int | None, Instruction]] = {}
        #: Number of a vertex buffer -> its VERTEX_BUFFER_STATE, and the instruction.
        self.vertex_buffers: dict[int, tuple[Command, Instruction]] = {}
        #: Stage -> constant buffers: slot, address and bytes.
        self.constants: dict[str, list[tuple[int, int, int]]] = {}
        #: Stage -> the instruction that set them.
        self.constants_from: dict[str, Instruction] = {}
        #: Stage -> offset of its binding table from the base of tables.
        self.tables: dict[str, int] = {}
        #: Structure in memory -> what points at it, its offset from the base, the instruction.
        self.pointers: dict[str, tuple[Pointer, int, Instruction]] = {}
        #: Stage -> offset of its sampler states from the dynamic state base.
        self.samplers: dict[str, int] = {}
        self.general_base = 0
        self.surface_base = 0
        self.dynamic_base = 0
        self.instruction_base = 0
        self.bindless_base = 0
        self.pool_base = 0
        self.uses_256_byte_tables = False

    def copy(self) -> State:
        """A copy, which later instructions do not change."""
        copied = State.__new__(State)
        copied.__dict__.update(
            {
                name: dict(value) if isinstance(value, dict) else value
                for name, value in self.__dict__.items()
            }
        )
        return copied

    @property
    def table_base(self) -> int:
        """The base of offsets of binding tables."""
        return self.pool_base or self.surface_base

    @property
    def has_bases(self) -> bool:
        """Whether commands have set the bases. If not, all are 0, and addresses are offsets.

        A dump of a hang may lack the submission that sets them.
        """
        return "STATE_BASE_ADDRESS" in self.slots

    def get(self, slot: str) -> Instruction | None:
        """The instruction that set a slot, or None."""
        return self.slots.get(slot)

    def take(self, command: Instruction) -> None:
        """Follow what an instruction sets: slots, bases, tables, registers, constants."""
        name = command.name
        handler = _HANDLERS.get(name)
        if handler is not None:
            handler(self, command)
        for pointer in _POINTERS.get(name, ()):
            self._point(pointer, command)
        if not sets_state(name):
            return
        index = _INDEXED.get(name)
        slot = name if index is None else f"{name}[{command.number(index)}]"
        self.slots[slot] = command

    def _point(self, pointer: Pointer, command: Instruction) -> None:
        offset, is_set = command.values(pointer.field, pointer.changes)
        if offset is not None and (is_set is None or is_set):
            self.pointers[pointer.struct] = pointer, offset & _M32, command
        elif is_set is not None and pointer.is_general:  # a unit that is off
            self.pointers.pop(pointer.struct, None)

    # --- handlers -------------------------------------------------------------------------------

    def _base_address(self, command: Instruction) -> None:
        for attribute, name in (
            ("general_base", "General State"),
            ("surface_base", "Surface State"),
            ("dynamic_base", "Dynamic State"),
            ("instruction_base", "Instruction"),
            ("bindless_base", "Bindless Surface State"),
        ):
            base, modified = command.values(
                f"{name} Base Address", f"{name} Base Address Modify Enable"
            )
            if modified:
                setattr(self, attribute, _address(self.database, base))

    def _pool(self, command: Instruction) -> None:
        base, enabled = command.values(
            "Binding Table Pool Base Address", "Binding Table Pool Enable"
        )
        in_use = enabled or self.database.verx10 >= 125
        self.pool_base = _address(self.database, base) if in_use else 0

    def _load_immediate(self, command: Instruction) -> None:
        count = (command.group.length_of(command.dword(0)) - 1) // 2
        for number in range(max(count, 0)):
            offset, value = command.dword(2 * number + 1), command.dword(2 * number + 2)
            self._set_register(register_offset(command, offset & 0x7FFFFC), value, command)

    def _set_register(self, offset: int, value: int | None, command: Instruction) -> None:
        self.registers[offset] = value, command
        register = None if value is None else self.database.register_at(offset)
        if register is not None and register.name == "GT_MODE":
            names = ("Binding Table Alignment", "Binding Table Alignment Mask")
            alignment, mask = register.values((value or 0,), names, register.dwords)
            if mask:
                self.uses_256_byte_tables = bool(alignment)

    def _copy_register(self, command: Instruction) -> None:
        source, target = command.values("Source Register Address", "Destination Register Address")
        source = register_offset(command, source or 0, " Source")
        value = self.registers.get(source, (None, command))[0]
        self._set_register(register_offset(command, target or 0, " Destination"), value, command)

    def set_register(self, command: Instruction, value: int | None) -> None:
        """MI_LOAD_REGISTER_MEM: the value that memory held, None where it is unknown."""
        offset = command.number("Register Address")
        self._set_register(register_offset(command, offset), value, command)

    def _vertex_buffers(self, command: Instruction) -> None:
        for inner in command_structs(self.database, command, "VERTEX_BUFFER_STATE"):
            index = inner.values("Vertex Buffer Index")[0]
            self.vertex_buffers[index or 0] = inner, command

    def _table_pointer(self, command: Instruction) -> None:
        stage = command.name.rpartition("_")[2]
        self.tables[stage] = self._table_offset(command.dword(1))

    def _table_offset(self, value: int) -> int:
        if self.uses_256_byte_tables and self.database.verx10 < 125:
            return value << 3 & _M32
        return value

    def _gen4_table_pointers(self, command: Instruction) -> None:
        stages = ("VS", "GS", "CLIP", "SF", "PS") if self.database.ver < 6 else ("VS", "GS", "PS")
        for number, stage in enumerate(stages, 1):
            self.tables[stage] = command.dword(number)

    def _sampler_pointer(self, command: Instruction) -> None:
        self.samplers[command.name.rpartition("_")[2]] = command.dword(1)

    def _gen6_sampler_pointers(self, command: Instruction) -> None:
        for number, stage in enumerate(("VS", "GS", "PS"), 1):
            self.samplers[stage] = command.dword(number)

    def _constants(self, command: Instruction) -> None:
        stage = command.name.rpartition("_")[2]
        ranges = []
        for body in command_structs(self.database, command, "3DSTATE_CONSTANT_BODY"):
            for index in range(4):
                length, address = body.values(f"Read Length[{index}]", f"Buffer[{index}]")
                if length:
                    ranges.append((index, _address(self.database, address), 32 * length))
        self.constants[stage], self.constants_from[stage] = ranges, command

    def _all_constants(self, command: Instruction) -> None:
        ranges = []
        mask = command.number("Pointer Buffer Mask")
        slots = [number for number in range(4) if mask >> number & 1]
        bodies = command_structs(self.database, command, "3DSTATE_CONSTANT_ALL_DATA")
        for slot, body in zip(slots, bodies, strict=False):
            length, address = body.values(
                "Constant Buffer Read Length", "Pointer To Constant Buffer"
            )
            if length:
                ranges.append((slot, _address(self.database, address), 32 * length))
        updated = command.number("Shader Update Enable")
        for number, stage in enumerate(STAGES):
            if updated >> number & 1:
                self.constants[stage], self.constants_from[stage] = ranges, command


def register_offset(command: Command, offset: int, which: str = "") -> int:
    """The offset of a register; some commands count from the start of the command streamer's."""
    is_relative = command.number(f"Add CS MMIO Start Offset{which}")
    return offset + _STREAMER if is_relative else offset


def _address(database: Database, value: int | None) -> int:
    """An address of the GPU: 48 bits from gen8 on."""
    return (value or 0) & ((1 << 48) - 1 if database.ver >= 8 else _M32)


def command_structs(database: Database, command: Command, name: str) -> list[Command]:
    """The structs of this name inside an instruction, in their order."""
    struct = database.struct(name)
    if struct is None:
        return []
    group, words = command.group, command.words
    header = words[0] if words else 0
    return [
        struct_at(struct, words[field.dword : field.dword + struct.dwords])
        for field in group.fields(group.length_of(header), header)
        if field.argument == name
    ]


def struct_at(struct: Group, words: tuple[int, ...]) -> Command:
    """A struct of these dwords."""
    command = Command(struct, b"")
    command.words = words
    return command


def read_struct(struct: Group, data: bytes) -> Command | None:
    """A struct that ``data`` begins with; None where it is not complete."""
    size = 4 * struct.dwords
    if len(data) < size:
        return None
    return struct_at(struct, unpack_from(f"<{struct.dwords}I", data))


_HANDLERS: dict[str, Callable[[State, Instruction], None]] = {
    "STATE_BASE_ADDRESS": State._base_address,
    "3DSTATE_BINDING_TABLE_POOL_ALLOC": State._pool,
    "MI_LOAD_REGISTER_IMM": State._load_immediate,
    "MI_LOAD_REGISTER_REG": State._copy_register,
    _LOAD_VERTEX_BUFFERS: State._vertex_buffers,
    "3DSTATE_BINDING_TABLE_POINTERS": State._gen4_table_pointers,
    "3DSTATE_SAMPLER_STATE_POINTERS": State._gen6_sampler_pointers,
    "3DSTATE_CONSTANT_ALL": State._all_constants,
    **{f"3DSTATE_BINDING_TABLE_POINTERS_{stage}": State._table_pointer for stage in STAGES},
    **{f"3DSTATE_SAMPLER_STATE_POINTERS_{stage}": State._sampler_pointer for stage in STAGES},
    **{f"3DSTATE_CONSTANT_{stage}": State._constants for stage in STAGES},
}
