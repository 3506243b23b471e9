# SPDX-License-Identifier: MIT
"""Bindings: what a draw has bound, and how it uses it.

A slot is **bound** if it has a descriptor, **enabled** if the count registers include it, **used**
if a program of the stages that run reads, samples or writes it, or may do so.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from cffpy.errors import UnknownName
from cffpy.formats import gallium_formats
from cffpy.frame.attachment import FORMATS, is_tiled, names_of_vulkan
from cffpy.frame.facts import Address, described, fact, model
from cffpy.frame.field import FieldValue
from cffpy.frame.objects import ModelObject, Shown
from cffpy.frame.places import PacketLocation

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence
    from typing import Protocol

    from cffpy.frame.pictures import CapturedImage, Picture

    class Contents(Protocol):
        """What is bound: the bytes of a descriptor, or of data that a draw reads."""

        @property
        def data(self) -> memoryview | None:
            """The captured bytes; None where there are none."""

        @property
        def address(self) -> int | None:
            """GPU address of the data."""

        @property
        def offset(self) -> int:
            """Bytes from ``address`` to the first of ``data``."""

        @property
        def points_at(self) -> int | None:
            """Where the image or buffer of a descriptor begins."""

        @property
        def domain(self) -> str | None:
            """What describes a descriptor in the register database."""

        @property
        def place(self) -> PacketLocation | None:
            """The packet that loaded it."""

    class Flags(Protocol):
        """How a draw uses a slot: see the facts of Binding."""

        @property
        def is_enabled(self) -> bool | None:
            """See ``Binding.enabled``."""

        @property
        def is_used(self) -> bool:
            """See ``Binding.used``."""

        @property
        def is_sure(self) -> bool:
            """See ``Binding.sure``."""

        @property
        def stages(self) -> tuple[str, ...]:
            """See ``Binding.stages``."""

        @property
        def reads(self) -> bool:
            """See ``Binding.reads``."""

        @property
        def writes(self) -> bool:
            """See ``Binding.writes``."""

    class Decoder(Protocol):
        """Decodes descriptors of the capture's GPU."""

        def descriptor(self, domain: str | None, dwords: Sequence[int]) -> DescriptorText:
            """What a descriptor of a domain says."""

    class Images(Protocol):
        """The images of the memory of a submit."""

        def texture(self, kind: str, domain: str | None, dwords: Sequence[int]) -> CapturedImage:
            """The image that a descriptor describes. Raises PictureError."""


#: What is bound. "storage size": the second part of the descriptors of storage up to a5xx; "uniform
#: data": what a uniform buffer holds, whose descriptor is a binding of its own.
BindingKind = Literal[
    "texture",
    "sampler",
    "storage",
    "storage size",
    "uniform buffer",
    "uniform data",
    "vertex buffer",
    "index buffer",
    "constants",
    "push constants",
]

#: Kinds that are descriptors; others are data that a draw reads.
DESCRIPTORS: tuple[BindingKind, ...] = (
    "texture",
    "sampler",
    "storage",
    "storage size",
    "uniform buffer",
)

#: Names of the field with the format: from a3xx on, and of a2xx.
FORMAT_FIELDS = ("FMT", "FORMAT")

#: Fields that a short text has.
_SHOWN = (*FORMAT_FIELDS, "WIDTH", "HEIGHT")


class DescriptorText(NamedTuple):
    """What a descriptor says. ``fields``: by name; the others are None where it does not say it."""

    fields: dict[str, FieldValue]
    format: str | None = None
    width: int | None = None
    height: int | None = None
    elements: int | None = None


_NOT_DESCRIBED = DescriptorText({})


def _word(field: FieldValue | None) -> str | None:
    """The text of a field that is a word; None without the field."""
    return None if field is None else field.text


class Slot(NamedTuple):
    """Where something is bound: see the facts of Binding."""

    kind: BindingKind
    stage: str | None
    bindless_set: int | None
    slot: int


@model("binding")
class Binding(ModelObject):
    """Something that a draw has bound: by a packet to a stage, or in a bindless set."""

    _where: Slot
    _contents: Contents
    #: None for what has no slot that registers or programs name: it is used.
    _flags: Flags | None = None
    #: Of textures of a3xx and storage of a5xx, whose descriptors have none: what has the address.
    _addressed: Contents | None = None
    #: None where nothing describes descriptors.
    _decoder: Decoder | None = field(default=None, repr=False)
    _images: Images | None = field(default=None, repr=False)
    _text: DescriptorText | None = field(default=None, init=False, repr=False)

    @fact()
    def kind(self) -> BindingKind:
        """What it is: a descriptor, or data that the draw reads. "storage size" is the second part
        of the descriptors of storage up to a5xx; "uniform data" what a uniform buffer holds.
        """
        return self._where.kind

    @fact()
    def stage(self) -> str | None:
        """The stage that a packet loaded it for. None in a bindless set, which all stages share,
        and of storage and textures of a2xx, which the stages of draws share.
        """
        return self._where.stage

    @fact()
    def bindless_set(self) -> int | None:
        """The number of its bindless set; None where a packet loaded it."""
        return self._where.bindless_set

    @fact()
    def slot(self) -> int:
        """Its index: among those of the stage, or in its set. Of constants, where they begin, in
        units of the constant file (a vec4 since a3xx); of push constants in dwords.
        """
        return self._where.slot

    @fact()
    def bound(self) -> bool:
        """Whether the slot has a descriptor, which a packet loaded, or which is in memory."""
        return not self.is_descriptor or self._contents.data is not None

    @fact()
    def enabled(self) -> bool | None:
        """Whether the count registers of a stage that runs include its slot. None where no register
        says so: up to a3xx, of samplers up to a5xx, of vertex buffers and constants.
        """
        return None if self._flags is None else self._flags.is_enabled

    @fact()
    def used(self) -> bool:
        """Whether a program of the draw's stages reads, samples or writes it, or may do so."""
        return self._flags is None or self._flags.is_used

    @fact()
    def sure(self) -> bool:
        """Whether an instruction names its slot. Else it may be that the draw uses it: an index is
        in a register, or a program was not captured.
        """
        return self._flags is not None and self._flags.is_sure

    @fact()
    def stages(self) -> tuple[str, ...]:
        """The stages whose programs use it, or may use it."""
        return () if self._flags is None else self._flags.stages

    @fact()
    def reads(self) -> bool:
        """Whether the draw reads or samples the memory, or may do so."""
        return self._flags is None or self._flags.reads

    @fact()
    def writes(self) -> bool:
        """Whether the draw writes the memory, or may do so: storage only."""
        return self._flags is not None and self._flags.writes

    @fact()
    def address(self) -> Address | None:
        """GPU address of the image, buffer or data; None without an address."""
        if not self.is_descriptor:
            return self._contents.address
        contents = self._contents if self._addressed is None else self._addressed
        return contents.points_at

    @fact(unit="bytes")
    def first_byte(self) -> int:
        """From the address to the first byte that the draw reads: of a vertex buffer, to the first
        vertex.
        """
        return self._contents.offset

    @fact(unit="bytes")
    def size(self) -> int | None:
        """How much of its data was captured, of what the draw can read; None where none was, and
        for descriptors.
        """
        data = self._contents.data
        return None if self.is_descriptor or data is None else len(data)

    @fact(enums=FORMATS)
    def format(self) -> str | None:
        """Format of the pixels or elements of a descriptor."""
        return self._decoded.format

    @fact()
    def gallium_formats(self) -> tuple[str, ...]:
        """The formats by Gallium's names: see ``Attachment.gallium_formats``."""
        fields = self.fields
        return gallium_formats(
            self.format,
            _word(fields.get("SWAP")),
            srgb="SRGB" in fields and bool(fields["SRGB"].value),
            tiled=is_tiled(_word(fields.get("TILE_MODE"))),
        )

    @fact()
    def vulkan_formats(self) -> tuple[str, ...]:
        """The same formats by Vulkan's names; those that Vulkan does not have are left out."""
        return names_of_vulkan(self.gallium_formats)

    @fact(unit="pixels")
    def width(self) -> int | None:
        """Width of the image of a descriptor; of a buffer texture the number of its elements."""
        return self._decoded.width

    @fact(unit="pixels")
    def height(self) -> int | None:
        """Height of the image of a descriptor; of a buffer texture 1."""
        return self._decoded.height

    @fact()
    def elements(self) -> int | None:
        """Elements of a buffer texture; None for what is none."""
        return self._decoded.elements

    @fact(name="dwords")
    def descriptor(self) -> tuple[Address, ...]:
        """The dwords of a descriptor; none of data."""
        return dwords_of(self._contents) if self.is_descriptor else ()

    @fact()
    def fields(self) -> dict[str, FieldValue]:
        """The fields of a descriptor by name; bits count from its first dword on. Empty where none
        is described.
        """
        return self._decoded.fields

    @fact()
    def place(self) -> PacketLocation | None:
        """The packet that loaded it; None in memory, and for what registers name."""
        return self._contents.place

    @property
    def is_descriptor(self) -> bool:
        """Whether it is a descriptor; otherwise it is data."""
        return self._where.kind in DESCRIPTORS

    @property
    def data(self) -> memoryview | None:
        """The captured bytes of the descriptor or of the data, from ``first_byte`` on; read only.

        Of a vertex buffer, only those that the draw can fetch. None where none were captured.
        """
        data = self._contents.data
        return None if data is None else data.toreadonly()

    @property
    def dwords(self) -> tuple[int, ...]:
        """The captured dwords of the descriptor or of the data."""
        return dwords_of(self._contents)

    @property
    def _decoded(self) -> DescriptorText:
        text = self._text
        if text is None:
            text = _NOT_DESCRIBED
            if self._decoder is not None and self.is_descriptor:
                text = self._decoder.descriptor(self._contents.domain, self.dwords)
            self._text = text
        return text

    @property
    def label(self) -> str:
        """Its slot with its stage or set: "0 of FS", "3 of set 1"."""
        number = self.bindless_set
        owner = self.stage if number is None else f"set {number}"
        return str(self.slot) if owner is None else f"{self.slot} of {owner}"


class Descriptor(Binding):
    """A texture, sampler, storage or uniform descriptor: ``.fields``, or a field: ``.FMT``."""

    __slots__ = ()

    @property
    def image(self) -> CapturedImage:
        """The image of a texture (a5xx to a7xx) or of storage (from a6xx on).

        Raises PictureError for other descriptors.
        """
        assert self._images is not None
        return self._images.texture(self.kind, self._contents.domain, self.dwords)

    def picture(self, level: int = 0, layer: int = 0, **options: Any) -> Picture:  # noqa: ANN401
        """The captured texels of a texture: ``picture().png()`` is a file.

        See ``CapturedImage.picture``, which raises PictureError and MissingLibrary.
        """
        return self.image.picture(level, layer, **options)

    def __getattr__(self, name: str) -> bool | int | float | str:
        """The value of a field. Raises UnknownName."""
        if name.startswith("_"):
            raise AttributeError(name)
        known = self.fields.get(name)
        if known is None:
            raise UnknownName(f"a {self.kind} has no field {name}; it has {', '.join(self.fields)}")
        return known.value

    def __repr__(self) -> str:
        shown = [f"{name} {self.fields[name].text}" for name in _SHOWN if name in self.fields]
        at = "" if self.address is None else f" at {self.address:#x}"
        return f"<{self.kind} {self.label}{at}{''.join(f', {part}' for part in shown)}>"

    def _repr_html_(self) -> str:
        from html import escape  # lazily: only notebooks ask

        from cffpy.frame.faces import html_table

        rows = [(value.name, value.text) for value in self.fields.values()]
        return f"<b>{escape(repr(self))}</b>{html_table(('field', 'value'), rows)}"


class DataBuffer(Binding):
    """Captured data that a draw reads: a vertex or index buffer, or what a uniform buffer holds."""

    __slots__ = ()

    @property
    def floats(self) -> tuple[float, ...]:
        """Its captured dwords as floats."""
        data = self._contents.data
        return () if data is None else tuple(data[: len(data) // 4 * 4].cast("B").cast("f"))

    def __repr__(self) -> str:
        size = "not captured" if self.size is None else f"{self.size} bytes"
        at = "" if self.address is None else f" at {self.address:#x}"
        from_ = f" from {self.first_byte:#x} on" if self.first_byte else ""
        return f"<{self.kind} {self.label}{at}, {size}{from_}>"


class Constants(DataBuffer):
    """Constants that packets loaded into a stage's constant file, or push constants."""

    __slots__ = ()


def dwords_of(contents: Contents) -> tuple[int, ...]:
    """The whole dwords of captured bytes."""
    data = contents.data
    return () if data is None else tuple(data[: len(data) // 4 * 4].cast("B").cast("I"))


#: The class of each kind.
CLASSES: Mapping[BindingKind, type[Descriptor | DataBuffer]] = {
    **dict.fromkeys(DESCRIPTORS, Descriptor),
    "uniform data": DataBuffer,
    "vertex buffer": DataBuffer,
    "index buffer": DataBuffer,
    "constants": Constants,
    "push constants": Constants,
}


class Bound:
    """All bindings of one draw, by kind, then by stage or set and slot."""

    def __init__(self, bindings: Iterable[Binding]) -> None:
        self.bindings: list[Binding] = Shown(bindings)

    def of(self, *kinds: BindingKind, only_used: bool = True) -> list[Binding]:
        """The bindings of these kinds."""
        return Shown(
            binding
            for binding in self.bindings
            if binding.kind in kinds and (binding.used or not only_used)
        )

    def descriptors(self, *kinds: BindingKind) -> list[Descriptor]:
        """The descriptors of these kinds that the draw uses."""
        return Shown(binding for binding in self.of(*kinds) if isinstance(binding, Descriptor))

    def all_descriptors(self) -> list[Descriptor]:
        """All descriptors, used or not."""
        bindings = self.of(*DESCRIPTORS, only_used=False)
        return Shown(binding for binding in bindings if isinstance(binding, Descriptor))

    def buffers(self, *kinds: BindingKind) -> list[DataBuffer]:
        """The data of these kinds that the draw reads."""
        return Shown(binding for binding in self.of(*kinds) if isinstance(binding, DataBuffer))

    def constants(self) -> list[Constants]:
        """Constants and push constants."""
        bindings = self.of("constants", "push constants")
        return Shown(binding for binding in bindings if isinstance(binding, Constants))


@described(
    "attribute",
    number="number of the attribute",
    format='format of its values by the name in the register database, as in "FMT6_32_32_FLOAT"',
    buffer="slot of the vertex buffer that it is in",
    offset="from the begin of a vertex, in bytes",
    stride="from one vertex to the next, in bytes; None where it is not known",
    instanced="there is one value for each instance, not for each vertex",
    swap="the order of the components, as COLOR_SWAP: WZYX is the usual one; None where it is not"
    " known",
    scaled="integers that the program gets as floats; false where it is not known",
)
class VertexAttribute(NamedTuple):
    """An attribute that a draw fetches: see ``Draw.vertex_buffers``."""

    number: int
    format: str
    buffer: int
    offset: int
    stride: int | None
    instanced: bool = False
    swap: str | None = None
    scaled: bool = False

    @fact()
    def gallium_formats(self) -> tuple[str, ...]:
        """The formats by Gallium's names: see ``Attachment.gallium_formats``."""
        names = gallium_formats(self.format, self.swap, is_colour=True)
        return tuple(_SCALED.sub(r"\1SCALED", name) for name in names) if self.scaled else names

    @fact()
    def vulkan_formats(self) -> tuple[str, ...]:
        """The same formats by Vulkan's names; those that Vulkan does not have are left out."""
        return names_of_vulkan(self.gallium_formats)


#: The kinds of integers: UINT and SINT.
_SCALED = re.compile(r"(?<=_)([US])INT$")
