# SPDX-License-Identifier: MIT
"""What surface states, depth buffers and sampler states in memory describe."""

from __future__ import annotations

from typing import NamedTuple

from cffpy.frame.attachment import SurfaceSize
from cffpy.frame.facts import Address, described, fact
from cffpy.intel.analysis.state import read_struct

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.intel.analysis.state import Instruction, State
    from cffpy.intel.decoder.batches import BatchRunner
    from cffpy.intel.decoder.groups import Command, Database

_TYPES = {0: "1D", 1: "2D", 2: "3D", 3: "cube", 4: "buffer", 5: "structured buffer", 7: "null"}
_BUFFERS = (4, 5)
_SIZES = ("width", "height", "depth", "samples", "levels", "first_layer")
_SCRATCH = 6

_FIELDS = (
    "Surface Type",
    "Surface Format",
    "Width",
    "Height",
    "Depth",
    "Surface Pitch",
    "Surface Base Address",
    "Number of Multisamples",
    "MIP Count / LOD",
    "Surface Array",
    "Minimum Array Element",
    "Auxiliary Surface Base Address",
)
#: Default values of these fields, which are not shown.
_PLAIN = ("", "0", "LINEAR", "AUX_NONE", "NONE", "false")


@described(
    "surface",
    like=(SurfaceSize,),
    names={"state_address": "state", "is_array": "array"},
    state_address="GPU address of its surface state; 0 for depth buffers",
    kind="2D, buffer, null, ...",
    format="format of the pixels",
    pitch="bytes of a row, or of an element of a buffer",
    address="its GPU address",
    samples="samples of a pixel",
    width="width in pixels; of a buffer its elements",
    height="height in pixels",
    is_array="whether it is an array",
    tiling="tile mode",
    aux="how it is compressed or cleared beside its main memory, as AUX_CCS_E; empty without that",
    aux_address="GPU address of that memory; 0 without it",
)
class Surface(NamedTuple):
    """An image or a buffer in memory."""

    state_address: Address
    kind: str
    format: str
    width: int
    height: int
    depth: int
    pitch: int
    address: Address
    samples: int
    levels: int
    is_array: bool
    first_layer: int
    tiling: str
    aux: str
    aux_address: Address

    @property
    def is_buffer(self) -> bool:
        """Whether it is a buffer."""
        return self.kind in (_TYPES[4], _TYPES[5], "scratch")

    @property
    def is_null(self) -> bool:
        """Whether reads give zero and writes are discarded."""
        return self.kind == "null"

    @fact("bytes")
    def size(self) -> int:
        """Bytes of a buffer; 0 for an image, whose size follows from its layout."""
        return self.width * self.pitch if self.is_buffer else 0

    @property
    def measures(self) -> SurfaceSize | None:
        """Its size, as facts; None where it is not known."""
        if not self.width:
            return None
        return SurfaceSize(
            self.width,
            self.height,
            self.depth,
            self.levels,
            self.first_layer,
            self.aux or None,
            self.aux_address or None,
            self.state_address or None,
        )

    def describe(self) -> str:
        """One line: format, size, address."""
        if self.is_null:
            return "null"
        if self.is_buffer:
            return f"{self.kind} {self.format} {self.size} bytes at {self.address:#x}"
        text = f"{self.kind} {self.format} {self.width}x{self.height}"
        if self.depth > 1:
            text += f"x{self.depth}"
        if self.samples > 1:
            text += f" {self.samples} samples"
        parts = [text, self.tiling.lower(), self.aux, f"at {self.address:#x}"]
        return " ".join(part for part in parts if part)


def read_surface(database: Database, data: bytes, address: int) -> Surface | None:
    """The surface whose RENDER_SURFACE_STATE ``data`` begins with; None where it is incomplete."""
    struct = database.struct("RENDER_SURFACE_STATE")
    state = None if struct is None else read_struct(struct, data)
    return None if state is None else _surface(database, state, address)


def depth_buffer(state: State) -> Surface | None:
    """The depth buffer of the current state; None where there is none."""
    command = state.get("3DSTATE_DEPTH_BUFFER")
    return None if command is None else _attachment(state, command)


def stencil_buffer(state: State) -> Surface | None:
    """The stencil buffer of the current state; None where there is none."""
    command = state.get("3DSTATE_STENCIL_BUFFER")
    if command is None:
        return None
    enabled, address = command.values("Stencil Buffer Enable", "Surface Base Address")
    if enabled == 0 or not address:
        return None
    stencil = _surface(state.database, command, 0)
    if stencil.is_null:
        return None
    stencil = stencil._replace(kind="stencil", format="R8_UINT")
    if command.values("Width")[0] is None:
        # before gen12 the instruction has neither type nor size: they are those of the depth buffer
        depth = depth_buffer(state) or stencil._replace(width=0, height=0)
        sizes = {name: getattr(depth, name) for name in _SIZES}
        stencil = stencil._replace(**sizes)
    return stencil


def uses_hiz(state: State) -> bool:
    """Whether the depth buffer has a hierarchical one."""
    command = state.get("3DSTATE_DEPTH_BUFFER")
    return command is not None and bool(command.values("Hierarchical Depth Buffer Enable")[0])


def _attachment(state: State, command: Instruction) -> Surface | None:
    surface = _surface(state.database, command, 0)
    return None if surface.is_null or not surface.address else surface


def _surface(database: Database, state: Command, address: int) -> Surface:
    values = [number or 0 for number in state.values(*_FIELDS)]
    kind, form, width, height, depth, pitch, base, samples, levels, array, layer, aux = values
    if kind in _BUFFERS or kind == _SCRATCH:
        # the number of elements less one is spread over the three sizes
        width = (width & 0x7F) | (height & 0x3FFF) << 7 | (depth & 0x7FF) << 21
        height = depth = 0
    return Surface(
        state_address=address,
        kind="scratch" if kind == _SCRATCH else _TYPES.get(kind, f"type {kind}"),
        format=_format(database, state, form),
        width=width + 1,
        height=height + 1,
        depth=depth + 1,
        pitch=pitch + 1,
        address=base & ((1 << 48) - 1 if database.ver >= 8 else 0xFFFFFFFF),
        samples=1 << samples,
        levels=levels + 1,
        is_array=bool(array),
        first_layer=layer,
        tiling=_first(state, "Tile Mode", "Tiled Resource Mode", "Tile Walk"),
        aux=_first(state, "Auxiliary Surface Mode"),
        aux_address=aux & ((1 << 48) - 1),
    )


def _format(database: Database, state: Command, number: int) -> str:
    text = state.text("Surface Format")
    if not text.isdecimal():
        return text
    return database.formats.get(number, f"format {number}").removeprefix("ISL_FORMAT_")


def _first(state: Command, *names: str) -> str:
    """The text of the first of these fields whose value is not the default."""
    texts = (text for name in names if (text := state.text(name)) not in _PLAIN)
    return next(texts, "").removeprefix("TILEWALK_")


#: Bytes from one sampler of a set to the next: ANV keeps room for border colours.
_SET_STRIDE = 32
#: Bytes of the samplers of one set that are read.
_MAX_SET = 1 << 14


class Sampler(NamedTuple):
    """A sampler of a stage or of a descriptor set, as its SAMPLER_STATE says.

    ``stage``: "" for one of a set. ``number``: its place in the array.
    """

    stage: str
    number: int
    address: int
    state: Command

    def describe(self) -> str:
        """Its filters for minification and magnification, and how coordinates wrap."""
        state = self.state
        filters = f"{state.text('Min Mode Filter')}/{state.text('Mag Mode Filter')}"
        wrap = "/".join(state.text(f"TC{axis} Address Control Mode") for axis in "XYZ")
        return f"{filters}, {wrap}"


def samplers_at(runner: BatchRunner, stage: str, address: int, count: int) -> list[Sampler]:
    """Up to ``count`` samplers of a stage that lie side by side."""
    struct = runner.database.struct("SAMPLER_STATE")
    return [] if struct is None else _read(runner, stage, address, 4 * struct.dwords, count)


def set_samplers(
    runner: BatchRunner, state: State, offset: int, others: Iterable[int]
) -> list[Sampler]:
    """The samplers of a direct descriptor set, at ``offset`` from the dynamic state base.

    Their number is not in the command stream: the array ends where that of another set begins
    (``others``: their offsets), with memory, or with the first sampler that is all zeros.
    """
    end = min((other for other in others if other > offset), default=offset + _MAX_SET)
    count = min(end - offset, _MAX_SET) // _SET_STRIDE
    return _read(runner, "", state.dynamic_base + offset, _SET_STRIDE, count)


def sampler_at(runner: BatchRunner, address: int) -> Sampler | None:
    """The sampler at an address; None where there is none in memory."""
    return next(iter(_read(runner, "", address, _SET_STRIDE, 1)), None)


def _read(runner: BatchRunner, stage: str, address: int, stride: int, count: int) -> list[Sampler]:
    """Up to ``count`` samplers from an address on."""
    struct = runner.database.struct("SAMPLER_STATE")
    samplers: list[Sampler] = []
    if struct is None:
        return samplers
    for number in range(count):
        place = address + number * stride
        data = runner.span(place, 4 * struct.dwords)
        state = read_struct(struct, data)
        if state is None or not any(data):
            break  # drivers round the number up
        samplers.append(Sampler(stage, number, place, state))
    return samplers
