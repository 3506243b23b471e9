# SPDX-License-Identifier: MIT
"""What the descriptions say of a name: of Adreno's registers and packets, of Intel's instructions.

``regdb.lookup`` and ``intel.decoder.lookup`` make these objects, ``cffpy db`` shows them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from cffpy.findings import ERROR, NOTICE
from cffpy.frame.facts import Address, facts_of, model, stored

_NAME = "the name"
_KIND = "what the name is of; it decides the other members"
_CONDITION = (
    "variants that have it, by the enum that lists the variants; null where all of them have it"
)
_GENERATIONS = "the generations of GPUs that have it, as in A6XX or gfx9"


@model("described_name", eq=True, is_value=False)
class DescribedName:
    """A name of the descriptions that contains a text."""

    kind: str = stored(
        "register, array, domain, enum, bitset, field or value; of Intel: instruction, struct,"
        " register, field or value"
    )
    name: str = stored(_NAME)
    where: str = stored("what the name is a part of; empty for a name of its own")
    number: int | None = stored(
        "offset of a register (of Adreno in dwords, of Intel in bytes), lowest bit of a field,"
        " number of a value, opcode of an instruction"
    )
    generations: list[str] = stored(_GENERATIONS)


@model("described_value", eq=True, is_value=True)
class DescribedValue:
    """A value of an enum or of a field."""

    name: str = stored(_NAME)
    number: int | None = stored("the value; null where each variant has another one")
    condition: Mapping[str, list[str]] | None = stored(_CONDITION, default=None, is_sparse=True)


@model("described_type", eq=True, is_value=True)
class DescribedType:
    """The type of a register or of a field."""

    name: str = stored("its name")
    form: str = stored("how the bits are read: uint, fixed, enum, bitset, ...")
    low: int = stored("lowest bit")
    high: int = stored("highest bit")
    shr: int | None = stored(
        "bits that the value is shifted right by", is_sparse=True, default=None
    )
    radix: int | None = stored("bits of the fraction", is_sparse=True, default=None)
    selects_variant: bool | None = stored(
        "the value chooses the variant of what follows", is_sparse=True, default=None
    )
    fields: list[DescribedField] | None = stored(
        "the fields of a bitset", is_sparse=True, default=None
    )
    values: list[DescribedValue] | None = stored(
        "the values that have names", is_sparse=True, default=None
    )


@model("described_field", eq=True, is_value=True)
class DescribedField:
    """A field of a register, packet, bitset, instruction or struct."""

    name: str = stored(_NAME)
    condition: Mapping[str, list[str]] | None = stored(_CONDITION)
    type: DescribedType = stored("its type, with its bits")


@model("array_level", eq=True, is_value=True)
class ArrayLevel:
    """An array that a register is an element of."""

    name: str = stored(_NAME)
    start: int | None = stored(
        "offset of the first element in what is around the array, in dwords", is_sparse=True
    )
    starts: list[int] | None = stored(
        "the offset of each element, where these have no regular distance", is_sparse=True
    )
    length: int = stored("how many elements there are; 0: no end is known")
    stride: int = stored("distance of the elements in dwords")


@model("register_port", eq=True, is_value=True)
class RegisterPort:
    """What is behind a register whose writes are a sequence."""

    elements: int = stored("how many dwords there are")
    pointer: str | None = stored("the register that says which is written next")


@model("described_register", eq=True, is_value=False)
class DescribedRegister:
    """A register of Adreno, or a dword of a packet or structure."""

    kind: str = stored(_KIND, words=("register",))
    name: str = stored("the name, with the indices that were asked for")
    domain: str = stored("the domain that has it: a space of registers, a packet, a structure")
    offset: int | None = stored("its offset in the domain, in dwords")
    arrays: list[ArrayLevel] = stored("the arrays around it, the outermost first")
    condition: Mapping[str, list[str]] | None = stored(_CONDITION)
    width: int = stored("its bits")
    usage: list[str] = stored("what the driver uses it for, as in rp_blit")
    type: DescribedType = stored("its type")
    port: RegisterPort | None = stored(
        "where its writes go, one after the other", is_sparse=True, default=None
    )
    pointer_of: str | None = stored(
        "the port whose next element it names", is_sparse=True, default=None
    )
    #: None within another object.
    generations: list[str] | None = stored(_GENERATIONS, is_sparse=True, default=None)


@model("register_summary", eq=True, is_value=False)
class RegisterSummary:
    """A register or array within a larger one."""

    kind: str = stored("what it is", words=("register", "array"))
    name: str = stored("the name, with open indices")
    offset: int | None = stored("offset of the first one in the domain, in dwords")
    width: int | None = stored("bits of a register", is_sparse=True, default=None)
    type: str | None = stored("name of a register's type", is_sparse=True, default=None)


@model("described_array", eq=True, is_value=False)
class DescribedArray:
    """An array of registers."""

    kind: str = stored(_KIND, words=("array",))
    name: str = stored("the name, with the indices that were asked for")
    domain: str = stored("the domain that has it")
    offset: int | None = stored("its offset in the domain, in dwords")
    arrays: list[ArrayLevel] = stored("itself, and the arrays around it, the outermost first")
    condition: Mapping[str, list[str]] | None = stored(_CONDITION)
    index: str | None = stored("the enum of its indices")
    registers: list[RegisterSummary] = stored("what an element has")
    generations: list[str] = stored(_GENERATIONS)


@model("described_domain", eq=True, is_value=False)
class DescribedDomain:
    """A packet, a structure, or a space of registers, of which only a summary is shown."""

    kind: str = stored(_KIND, words=("domain",))
    name: str = stored(_NAME)
    registers: list[DescribedRegister | RegisterSummary] = stored("its registers or dwords")
    generations: list[str] = stored(_GENERATIONS)


@model("described_enum", eq=True, is_value=False)
class DescribedEnum:
    """An enum."""

    kind: str = stored(_KIND, words=("enum",))
    name: str = stored(_NAME)
    values: list[DescribedValue] = stored("its values")
    generations: list[str] = stored(_GENERATIONS)


@model("described_bitset", eq=True, is_value=False)
class DescribedBitset:
    """A bitset."""

    kind: str = stored(_KIND, words=("bitset",))
    name: str = stored(_NAME)
    fields: list[DescribedField] = stored("its fields")
    generations: list[str] = stored(_GENERATIONS)


@model("described_group", eq=True, is_value=False)
class DescribedGroup:
    """An instruction, struct or register of Intel."""

    kind: str = stored(_KIND, words=("instruction", "struct", "register"))
    name: str = stored(_NAME)
    length: int | None = stored("its dwords; null where they vary")
    fields: list[DescribedField] = stored("its fields; of a repeat those of one item")
    generations: list[str] = stored(_GENERATIONS)
    opcode: Address | None = stored(
        "bits of an instruction's first dword that tell it", is_sparse=True, default=None
    )
    mask: Address | None = stored("which bits these are", is_sparse=True, default=None)
    engines: list[str] | None = stored(
        "the engines that have an instruction", is_sparse=True, default=None
    )
    offset: int | None = stored("offset of a register in bytes", is_sparse=True, default=None)


#: What a name may be.
Description = (
    DescribedRegister
    | DescribedArray
    | DescribedDomain
    | DescribedEnum
    | DescribedBitset
    | DescribedGroup
)


@model("description_finding", eq=True, is_value=False)
class DescriptionFinding:
    """Something that is wrong in the descriptions."""

    file: str = stored("name of the file, as in a6xx.regs")
    line: int = stored("number of the line, from 1")
    severity: str = stored("how bad it is", words=(ERROR, NOTICE))
    kind: str = stored("a few words, the same for all findings of the kind")
    message: str = stored("what is wrong, in one line")


def add_description(known: list[Description], description: Description, generation: str) -> None:
    """Add what a generation has; where others have the same, its name is added to theirs."""
    for other in known:
        if _is_same(other, description):
            assert other.generations is not None
            other.generations.append(generation)
            return
    known.append(replace(description, generations=[generation]))


def _is_same(one: Description, other: Description) -> bool:
    """Whether both are equal but for the generations that have them."""
    facts = facts_of(type(one))
    return type(one) is type(other) and all(
        fact.get(one) == fact.get(other) for fact in facts if fact.name != "generations"
    )
