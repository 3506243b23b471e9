# SPDX-License-Identifier: MIT
"""Descriptor, DataBuffer, Constants: the bindings of a draw, decoded, with their memory."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING, Any

from cffpy.analysis.inputs.bindings import (
    address_keys,
    set_of,
    slot_of,
    slot_order,
    stage_of,
)
from cffpy.analysis.texture_descriptors import FORMAT_FIELDS
from cffpy.errors import UnknownName
from cffpy.pm4.deviations import PACKET_DOMAINS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from construct import Struct

    from cffpy.analysis.inputs.draw_descriptors import Flags
    from cffpy.analysis.inputs.facts import Fact, FactKey
    from cffpy.api.pictures import CapturedImage, Pictures
    from cffpy.frame.place import PacketLocation
    from cffpy.image.picture import Picture
    from cffpy.regdb.database import Database
    from cffpy.regdb.register_text import FieldValue


#: Fields that a short text has.
_SHOWN = (*FORMAT_FIELDS, "WIDTH", "HEIGHT")

#: Kinds of descriptors.
_DESCRIPTORS = ("texture", "sampler", "storage", "storage size", "uniform buffer")


class Binding:
    """Something that a draw has bound: by a packet to a stage, or in a bindless set."""

    __slots__ = ("_fact", "_flags", "_key")

    def __init__(self, key: FactKey, fact: Fact, flags: Flags | None = None) -> None:
        self._key = key
        self._fact = fact
        self._flags = flags

    @property
    def stage(self) -> str | None:
        """The stage that a packet loaded it for.

        None in a bindless set, which all stages share, and of storage and textures of a2xx, which
        those of draws share.
        """
        return stage_of(self._key)

    @property
    def stages(self) -> tuple[str, ...]:
        """The stages whose programs use it, or may use it."""
        use = None if self._flags is None else self._flags.use
        return () if use is None else use.stages

    @property
    def enabled(self) -> bool | None:
        """Whether the count registers of a stage that runs include its slot.

        None where no register says so: up to a3xx, of samplers up to a5xx, of vertex buffers and
        constants.
        """
        return None if self._flags is None else self._flags.is_enabled

    @property
    def used(self) -> bool:
        """Whether a program of the draw's stages reads, samples or writes it, or may do so."""
        return self._flags is None or self._flags.is_used

    @property
    def sure(self) -> bool:
        """Whether an instruction names its slot. Else ``used`` is that it may be.

        That is so where an index is in a register, or where a program was not captured.
        """
        use = None if self._flags is None else self._flags.use
        return use is not None and use.is_sure

    @property
    def reads(self) -> bool:
        """Whether the draw reads the memory, or may do so."""
        return self._flags is None or self._flags.reads

    @property
    def writes(self) -> bool:
        """Whether the draw writes the memory, or may do so: storage only."""
        return self._flags is not None and self._flags.writes

    @property
    def set(self) -> int | None:
        """The number of its bindless set; None where a packet loaded it."""
        return set_of(self._key)

    @property
    def slot(self) -> int:
        """Its index: of the stage's, or in its set."""
        return slot_of(self._key)

    @property
    def place(self) -> PacketLocation | None:
        """The packet that loaded it; None in a bindless set."""
        return self._fact.place

    @property
    def label(self) -> str:
        """Its slot with its stage or set: "0 of FS", "3 of set 1"."""
        owner = self.stage if self.set is None else f"set {self.set}"
        return str(self.slot) if owner is None else f"{self.slot} of {owner}"


class Descriptor(Binding):
    """A texture, sampler or storage descriptor: ``.fields``, or a field as attribute: ``.FMT``."""

    __slots__ = ("_address", "_fields", "_pictures", "_text")

    def __init__(
        self,
        key: FactKey,
        fact: Fact,
        text: StructureText,
        pictures: Pictures,
        address: Fact | None = None,
        flags: Flags | None = None,
    ) -> None:
        super().__init__(key, fact, flags)
        self._text = text
        self._pictures = pictures
        #: Of textures of a3xx and storage of a5xx: the fact with the address.
        self._address = address
        self._fields: dict[str, FieldValue] | None = None

    @property
    def kind(self) -> str:
        """One of "texture", "sampler", "storage", "storage size", "uniform buffer"."""
        return str(self._key[0])

    @property
    def dwords(self) -> tuple[int, ...]:
        """Its dwords."""
        return dwords_of(self._fact)

    @property
    def fields(self) -> dict[str, FieldValue]:
        """Its fields by name; bits count from its first dword on. Empty where none is described."""
        if self._fields is None:
            self._fields = self._text.fields(self._fact.domain, self.dwords)
        return self._fields

    @property
    def gpuaddr(self) -> int | None:
        """Where the image or buffer that it describes begins; None without an address."""
        fact = self._fact if self._address is None else self._address
        return fact.points_at

    @property
    def bound(self) -> bool:
        """Whether its slot has a descriptor: packets loaded it, or it is in memory."""
        return self._fact.data is not None

    @property
    def elements(self) -> int | None:
        """Elements of a buffer texture (a5xx to a7xx); None for other descriptors.

        WIDTH has the low 15 bits of the number, HEIGHT the others.
        """
        return self._pictures.elements(self._fact.domain, self.dwords)

    @property
    def image(self) -> CapturedImage:
        """The image of a texture (a5xx to a7xx) or of storage (from a6xx on).

        Raises PictureError for other descriptors.
        """
        return self._pictures.texture(self.kind, self._fact.domain, self.dwords)

    def picture(self, level: int = 0, layer: int = 0, **options: Any) -> Picture:  # noqa: ANN401
        """The captured texels of a texture: ``picture().png()`` is a file.

        See ``CapturedImage.picture``, which raises PictureError and MissingLibrary.
        """
        return self.image.picture(level, layer, **options)

    def __getattr__(self, name: str) -> bool | int | float | str:
        """The value of a field. Raises UnknownName."""
        if name.startswith("_"):
            raise AttributeError(name)
        field = self.fields.get(name)
        if field is None:
            raise UnknownName(f"a {self.kind} has no field {name}; it has {', '.join(self.fields)}")
        return field.value

    def to_dict(self) -> dict[str, Any]:
        """Its place and its fields as text."""
        return {
            "kind": self.kind,
            "stage": self.stage,
            "set": self.set,
            "slot": self.slot,
            "bound": self.bound,
            "enabled": self.enabled,
            "used": self.used,
            "sure": self.sure,
            "reads": self.reads,
            "writes": self.writes,
            "address": None if self.gpuaddr is None else f"{self.gpuaddr:#x}",
            "fields": {name: field.text for name, field in self.fields.items()},
        }

    def __repr__(self) -> str:
        shown = [self._shown(name) for name in _SHOWN if name in self.fields]
        at = "" if self.gpuaddr is None else f" at {self.gpuaddr:#x}"
        return f"<{self.kind} {self.label}{at}{''.join(f', {one}' for one in shown)}>"

    def _shown(self, name: str) -> str:
        return f"{name} {self.fields[name].text}"

    def _repr_html_(self) -> str:
        from cffpy.frame.notebook import table

        rows = [(field.name, field.text) for field in self.fields.values()]
        return f"<b>{escape(repr(self))}</b>{table(('field', 'value'), rows)}"


class DataBuffer(Binding):
    """Captured data that a draw reads: a vertex buffer, or what a uniform buffer holds."""

    __slots__ = ()

    @property
    def kind(self) -> str:
        """One of "vertex buffer", "uniform data"."""
        return str(self._key[0])

    @property
    def gpuaddr(self) -> int | None:
        """GPU address of its first byte."""
        return self._fact.address

    @property
    def offset(self) -> int:
        """Bytes from ``gpuaddr`` to the first of ``data``: of a vertex buffer, to the first vertex.

        That is the one with which the draw begins, or the base of its indices.
        """
        return self._fact.offset

    @property
    def data(self) -> memoryview | None:
        """Its captured bytes from ``offset`` on, read only; None where none were captured.

        Of a vertex buffer, only those that the draw can fetch; None where that is not known.
        """
        data = self._fact.data
        return None if data is None else data.toreadonly()

    @property
    def dwords(self) -> tuple[int, ...]:
        """Its captured dwords."""
        return dwords_of(self._fact)

    @property
    def floats(self) -> tuple[float, ...]:
        """Its captured dwords as floats."""
        return floats_of(self._fact)

    def __repr__(self) -> str:
        size = "not captured" if self.data is None else f"{len(self.data)} bytes"
        at = "" if self.gpuaddr is None else f" at {self.gpuaddr:#x}"
        from_ = f" from {self.offset:#x} on" if self.offset else ""
        return f"<{self.kind} {self.label}{at}, {size}{from_}>"


class Constants(DataBuffer):
    """Constants that packets loaded into a stage's constant file, or push constants.

    ``slot`` is where they begin: of a stage in units of the constant file (a vec4 since a3xx), of
    push constants in dwords.
    """

    __slots__ = ()


class StructureText:
    """Decodes structures by a database."""

    def __init__(self, database: Database) -> None:
        from cffpy.regdb.register_text import RegisterText

        self._database = database
        self._text = RegisterText(database)
        #: By packet and variants.
        self._structs: dict[tuple[str, tuple[tuple[str, int], ...]], Struct] = {}

    def packet_fields(self, name: str, dwords: tuple[int, ...]) -> dict[str, FieldValue]:
        """The fields of a packet by name."""
        return self.fields(PACKET_DOMAINS.get(name, name), dwords)

    def packet_struct(self, name: str, dwords: tuple[int, ...]) -> Struct:
        """The construct Struct of a packet's dwords, in the variants that its fields choose."""
        from cffpy.pm4.packets import payload_struct  # lazy: construct

        variants = self._text.variants(PACKET_DOMAINS.get(name, name), dwords)
        key = name, tuple(variants.items())
        if key not in self._structs:
            self._structs[key] = payload_struct(self._database, name, variants)
        return self._structs[key]

    def other_fields(self, packet: str, field: str) -> tuple[str, ...]:
        """The names of a packet's field in other installed editions."""
        return self._database.other_fields(PACKET_DOMAINS.get(packet, packet), field)

    def fields(self, domain: str | None, dwords: tuple[int, ...]) -> dict[str, FieldValue]:
        """The fields of a structure of ``domain`` by name."""
        if domain is None:
            return {}
        return {field.name: field for field in self._text.structure_fields(domain, dwords)}


class Bound:
    """All bindings of one draw, by kind."""

    def __init__(
        self,
        facts: Iterable[tuple[FactKey, Fact]],
        text: StructureText,
        pictures: Pictures,
        flags: Callable[[FactKey], Flags | None],
    ) -> None:
        """``flags``: how the draw uses what a key is about."""
        self.facts: Mapping[FactKey, Fact] = dict(facts)
        self.flags = flags
        self._text = text
        self._pictures = pictures

    def binding(self, key: FactKey) -> Descriptor | DataBuffer:
        """The binding for one of ``facts``, by its key."""
        fact = self.facts[key]
        if fact.domain is None and key[0] not in _DESCRIPTORS:
            return DataBuffer(key, fact, self.flags(key))
        places = (self.facts[one] for one in address_keys(key) if one in self.facts)
        address = next(places, None)
        return Descriptor(key, fact, self._text, self._pictures, address, self.flags(key))

    def descriptors(self, *kinds: str, only_used: bool = True) -> list[Descriptor]:
        """The descriptors of these kinds, by stage or set and slot."""
        found = [
            self.binding(key)
            for key, fact in self._sorted(kinds, only_used)
            if fact.domain is not None or fact.data is not None
        ]
        return [one for one in found if isinstance(one, Descriptor)]

    def all_descriptors(self) -> list[Descriptor]:
        """All, used or not, by kind, stage or set, and slot."""
        return self.descriptors(*_DESCRIPTORS, only_used=False)

    def buffers(self, *kinds: str) -> list[DataBuffer]:
        """The data of these kinds that the draw reads, by stage or set and slot."""
        return [DataBuffer(key, fact, self.flags(key)) for key, fact in self._sorted(kinds)]

    def constants(self) -> list[Constants]:
        """Constants and push constants."""
        return [Constants(key, fact) for key, fact in self._sorted(("constants", "push constants"))]

    def _sorted(self, kinds: tuple[str, ...], only_used: bool = True) -> list[tuple[FactKey, Fact]]:
        found = [
            (key, fact)
            for key, fact in self.facts.items()
            if key[0] in kinds
            and not (only_used and (flags := self.flags(key)) is not None and not flags.is_used)
        ]
        return sorted(found, key=lambda pair: (kinds.index(str(pair[0][0])), slot_order(pair[0])))


def dwords_of(fact: Fact) -> tuple[int, ...]:
    """The whole dwords of a fact's bytes."""
    data = fact.data
    return () if data is None else tuple(data[: len(data) // 4 * 4].cast("B").cast("I"))


def floats_of(fact: Fact) -> tuple[float, ...]:
    """The same as floats."""
    data = fact.data
    return () if data is None else tuple(data[: len(data) // 4 * 4].cast("B").cast("f"))
