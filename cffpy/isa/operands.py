# SPDX-License-Identifier: MIT
"""What an ir3 instruction uses: descriptors, registers, constants and inputs, as values.

All of it comes from the decoded fields of the instruction (register_db/isa), so it is independent
of how a listing looks. What the fields do not determine is None: an index in a register, a
register addressed through a0.x, the number of coordinates that a texture instruction reads.

The descriptions give names and bits of fields, but not all of their meaning. The tables and
constants below supply the rest. Source: Mesa's instr-a3xx.h and ir3_compiler_nir.c (25.0.7).
"""

from __future__ import annotations

from cffpy.isa.interpret import Interpreter
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.isa.interpret import Scope, ShownField
    from cffpy.isa.rows import IsaRow

GPR = "r"
"""A general register; shared registers (r48 and up) are included."""
CONSTANT = "c"
ADDRESS = "a"
"""Component 0 is a0.x, component 1 is a1.x."""
PREDICATE = "p"
"""Components 0 to 3 are p0.x to p0.w."""
INPUT = "input"
"""Varyings of a fragment shader."""
TARGET = "rt"
"""Outputs to render targets, by alias.rt (a7xx)."""

TEXTURE = "texture"
SAMPLER = "sampler"
IBO = "ibo"
"""Images and storage buffers."""
UBO = "ubo"

_TEXTURE_CATEGORY = 5
_MEMORY_CATEGORY = 6

_A0, _P0 = 61, 62
"""Register numbers that are not general registers."""

_INTERPOLATIONS = ("bary.f", "flat.b")
"""SRC1 is the number of an input."""

_READS_DST = ("stl", "stlw", "stp")
"""Stores whose field DST holds an address."""

_WRITES_SRC1 = "ldib.b"
"""The load that shares its fields with the store stib.b."""

_TIED_SRC1 = "atomic.b."
"""Atomics that return the old value in the register that held the operand."""

_DATA_FIELDS = {
    "stg": ("SRC3",),
    "stg.a": ("SRC3",),
    "stl": ("SRC",),
    "stlw": ("SRC",),
    "stp": ("SRC",),
    "stc": ("SRC", "DST"),
    "stib.b": ("SRC1",),
    "ldib.b": ("SRC1",),
}
"""Operands of memory instructions that are SIZE or TYPE_SIZE components, unless DST alone is."""

_VEC4 = 4

_NO_GPR = 63 * 4
"""r63.x, which stands for no register."""

_QUERIES = ("get", "rget")
"""Texture instructions that read the descriptor, and no texel."""

_WRITE_MEMORY = ("st", "atomic")
_DO_NOT_READ_MEMORY = ("st", "resinfo")


class Descriptor(ValueObject):
    """A descriptor that an instruction uses.

    ``kind``: TEXTURE, SAMPLER, IBO or UBO. ``base``: the number of its bindless set; None if it is
    in a register. ``index``: its place in the set or, where it is not bindless, among the
    descriptors of its kind; None if it is in a register. ``reads``, ``writes``: what the
    instruction does with the memory that the descriptor names. An atomic does both, ``getsize``
    neither.
    """

    __slots__ = ("base", "index", "is_bindless", "kind", "reads", "writes")

    def __init__(
        self,
        kind: str,
        is_bindless: bool,
        base: int | None,
        index: int | None,
        reads: bool = True,
        writes: bool = False,
    ) -> None:
        self.kind = kind
        self.is_bindless = is_bindless
        self.base = base
        self.index = index
        self.reads = reads
        self.writes = writes


class Registers(ValueObject):
    """Consecutive components of one register file.

    ``first``: 4 x register + component; None if a0.x or a1.x is part of the address.
    ``count``: components; None if the instruction's fields do not determine it.
    """

    __slots__ = ("count", "file", "first", "is_half")

    def __init__(
        self, file: str, first: int | None, count: int | None = 1, is_half: bool = False
    ) -> None:
        self.file = file
        self.first = first
        self.count = count
        self.is_half = is_half


class Operands(ValueObject):
    """What one instruction uses. ``name``: the description's, "" for a word without a match.

    ``reads`` and ``writes`` are in the order of the text.
    """

    __slots__ = ("descriptors", "name", "reads", "writes")

    def __init__(
        self,
        name: str,
        reads: tuple[Registers, ...],
        writes: tuple[Registers, ...],
        descriptors: tuple[Descriptor, ...],
    ) -> None:
        self.name = name
        self.reads = reads
        self.writes = writes
        self.descriptors = descriptors


class OperandReader:
    """Reads the operands of words of one generation."""

    def __init__(self, isa: IsaRow) -> None:
        self._isa = Interpreter(isa, "#instruction")
        self._generation: int = isa["generation"]

    def read(self, word: int) -> Operands:
        """The operands of one word."""
        shown = self._isa.render(word)
        if shown.scope is None:
            return Operands("", (), (), ())
        instruction = _Instruction(self._isa, word, shown.scope, shown.fields)
        return Operands(
            instruction.name,
            tuple(instruction.reads),
            tuple(instruction.writes),
            tuple(instruction.descriptors(self._generation)),
        )


class _Instruction:
    """The parts of one decoded word."""

    def __init__(self, isa: Interpreter, word: int, scope: Scope, fields: list[ShownField]) -> None:
        self._isa = isa
        self._category = word >> 61
        self._scope = scope
        self._fields = {field.name: field for field in fields}
        self.name = isa.name(scope)
        self.reads: list[Registers] = []
        self.writes: list[Registers] = []
        #: Flags that were shown and apply to the next register.
        self._is_half = self._is_repeated = False
        for field in fields:
            self._take(field)
        self._add_implied()

    def _value(self, name: str) -> int | None:
        return self._isa.value(self._scope, name)

    # registers

    def _take(self, field: ShownField) -> None:
        """Add what a field of the instruction reads or writes."""
        self._note_flag(field)
        if field.scope is None or not field.name.startswith(("DST", "SRC")):
            if field.name == "SSBO":
                self._add_found(field, is_written=False)
            return
        is_written = field.name.startswith("DST") and self.name not in _READS_DST
        if field.name == "SRC1" and self.name in _INTERPOLATIONS:
            self._add_input(field)
            return
        if field.name == "SRC1" and self.name.startswith(_TIED_SRC1):
            self._add_found(field, is_written=True)
        if field.name == "SRC1" and self.name == _WRITES_SRC1:
            is_written = True
        self._add_found(field, is_written)

    def _note_flag(self, field: ShownField) -> None:
        if "HALF" in field.name:
            self._is_half = bool(field.value)
        elif field.name.startswith("SRC") and field.name.endswith("_R"):
            self._is_repeated = bool(field.value)

    def _add_found(self, field: ShownField, is_written: bool) -> None:
        register = self._find(field)
        if register is not None:
            file, first = register
            is_repeated = is_written or self._is_repeated
            operands = self.writes if is_written else self.reads
            for offset, count in self._extents(field.name, is_repeated):
                start = None if first is None else first + offset
                operands.append(Registers(file, start, count, self._is_half))
            if first is None:
                through = 1 if file == CONSTANT and is_written else 0
                self.reads.append(Registers(ADDRESS, through))
        self._is_half = self._is_repeated = False

    def _find(self, field: ShownField) -> tuple[str, int | None] | None:
        """File and component of the register that a field shows; None for an immediate."""
        if field.scope is None:
            return None
        shown = {inner.name: inner.value for inner in field.fields}
        leaf = self._isa.name(field.scope)
        if leaf.endswith("relative-const") or leaf == "#const-dst-a1":
            self._note_flags(field)
            return CONSTANT, None
        if leaf.endswith("relative-gpr") or (
            leaf == "#cat1-dst" and self._isa.value(field.scope, "DST_REL")
        ):
            self._note_flags(field)
            return GPR, None
        if leaf == "#const-dst-imm":
            return CONSTANT, shown["OFFSET"]
        if "SWIZ" in shown:
            self._note_flags(field)
            return self._numbered(field.scope, shown)
        for inner in field.fields:
            self._note_flag(inner)
            register = self._find(inner)
            if register is not None:
                return register
        return None

    def _note_flags(self, field: ShownField) -> None:
        for inner in field.fields:
            self._note_flag(inner)

    def _numbered(self, scope: Scope, shown: dict[str, int]) -> tuple[str, int]:
        component = shown["SWIZ"]
        if "RT" in shown:
            return TARGET, shown["RT"] * 4 + component
        if "CONST" in shown:
            return CONSTANT, shown["CONST"] * 4 + component
        number = self._isa.value(scope, "GPR") or 0
        if self._isa.value(scope, "SRC_CONST"):
            return CONSTANT, number * 4 + component
        if "GPR" not in shown:  # the display names it, because it is not a general register
            return ADDRESS if number == _A0 else PREDICATE, component
        return GPR, number * 4 + component

    def _extents(self, name: str, is_repeated: bool) -> Iterator[tuple[int, int | None]]:
        """(offset, number) of components from the register that a field names."""
        if self._category not in (_TEXTURE_CATEGORY, _MEMORY_CATEGORY):
            yield 0, 1 + ((self._value("REPEAT") or 0) if is_repeated else 0)
        elif name == "DST" and "WRMASK" in self._fields:
            yield from _runs(self._fields["WRMASK"].value)
        elif self._category == _MEMORY_CATEGORY and name in self._data_fields():
            size = self._value("SIZE")
            yield 0, self._value("TYPE_SIZE") if size is None else size
        else:
            yield 0, None

    def _data_fields(self) -> tuple[str, ...]:
        if self.name.startswith(_TIED_SRC1):
            return ("SRC1",)
        return _DATA_FIELDS.get(self.name, ("DST",))

    def _add_input(self, field: ShownField) -> None:
        repeat = self._value("REPEAT") or 0
        immediate = next((inner.value for inner in field.fields if inner.name == "IMMED"), None)
        self._note_flags(field)
        count = 1 + (repeat if self._is_repeated else 0)
        self._is_repeated = False
        self.reads.append(Registers(INPUT, immediate, count))
        if immediate is None:
            self._add_found(field, is_written=False)

    def _add_implied(self) -> None:
        """Add registers that the display writes as fixed text, without showing a field."""
        for name in ("COMP1", "COMP2"):
            if name in self._fields:
                self.reads.append(Registers(PREDICATE, self._fields[name].value))
        if self._category == 1 and not any(name.startswith("DST") for name in self._fields):
            self.writes.append(Registers(ADDRESS, (self._value("DST") or 0) & 3))  # mova, mova1
        if self.name == "ldlv":
            self.reads.append(Registers(INPUT, self._value("OFF"), self._value("SIZE")))
        elif self.name == "stsc":
            self.writes.append(Registers(CONSTANT, self._value("DST"), self._value("SIZE")))
        elif self.name == "ldc.k":
            size = self._value("LOAD_SIZE")
            self.writes.append(Registers(CONSTANT, None, None if size is None else size * _VEC4))
            self.reads.append(Registers(ADDRESS, 1))
        if self._uses_a1():
            self.reads.append(Registers(ADDRESS, 1))

    # descriptors

    def _uses_a1(self) -> bool:
        return self._category == _TEXTURE_CATEGORY and bool(self._value("A1"))

    def descriptors(self, generation: int) -> Iterator[Descriptor]:
        """The descriptors that the instruction uses."""
        if self._category == _TEXTURE_CATEGORY:
            yield from self._sampled(generation)
        elif self._category == _MEMORY_CATEGORY:
            if "SSBO" in self._fields:
                if not self._is_dummy():
                    yield self._in_memory(IBO, "SSBO")
            elif self.name in ("ldc", "ldc.k"):
                yield self._in_memory(UBO, "SRC2")

    def _is_dummy(self) -> bool:
        """Whether a query writes to no register: compilers insert such to wait (a7xx)."""
        return self.name.startswith("resinfo") and [write.first for write in self.writes] == [
            _NO_GPR
        ]

    def _sampled(self, generation: int) -> Iterator[Descriptor]:
        """Sampler and texture of a texture instruction.

        The instruction holds one base. With a1.x it is the texture's, and the low bits of a1.x are
        the sampler's. An index that the instruction does not hold is in a register, too.
        """
        is_bindless = bool(self._value("S2EN_BINDLESS") and self._value("BINDLESS"))
        base = self._shown_number("BASE") if is_bindless else None
        if self._value("HAS_SAMP"):
            own_base = None if self._uses_a1() else base
            yield Descriptor(SAMPLER, is_bindless, own_base, self._shown_number("SAMP"))
        if self._value("HAS_TEX"):
            reads = not self.name.startswith(_QUERIES)
            yield Descriptor(TEXTURE, is_bindless, base, self._shown_number("TEX"), reads)

    def _in_memory(self, kind: str, name: str) -> Descriptor:
        is_bindless = bool(self._value("BINDLESS"))
        base = self._shown_number("BASE") if is_bindless else None
        index = _number("IMMED", self._fields[name].fields)
        writes = self.name.startswith(_WRITE_MEMORY)
        reads = not self.name.startswith(_DO_NOT_READ_MEMORY)
        return Descriptor(kind, is_bindless, base, index, reads, writes)

    def _shown_number(self, name: str) -> int | None:
        """The number that the text shows for a field of any nested bitset."""
        return _number(name, list(self._fields.values()))


def _number(name: str, fields: list[ShownField]) -> int | None:
    for field in fields:
        if field.name == name and field.scope is None:
            return int(field.value)
        number = _number(name, field.fields)
        if number is not None:
            return number
    return None


def _runs(mask: int) -> Iterator[tuple[int, int]]:
    """(first, number) of the runs of ones in a write mask of four components."""
    first = None
    for position in range(5):
        if mask >> position & 1:
            if first is None:
                first = position
        elif first is not None:
            yield first, position - first
            first = None
