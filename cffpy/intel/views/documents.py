# SPDX-License-Identifier: MIT
"""The types of the JSON documents that only Intel captures have; their schemas are made of them."""

from __future__ import annotations

from typing import Annotated, Any, Literal, NotRequired, TypedDict

from cffpy.document_types import Facts, Of

_ACTION = Of("cffpy.frame.action:Action")
_Address = Annotated[int, "GPU address"]
_Fields = Annotated[dict[str, str], "names and values of its fields, as text"]


class SurfaceDocument(TypedDict):
    """An image or a buffer in memory; a null surface has only the first members."""

    kind: Annotated[str, "2D, buffer, null, ..."]
    format: Annotated[str, "format of the pixels"]
    address: _Address
    state: NotRequired[Annotated[int, "GPU address of the surface state"]]
    size: NotRequired[Annotated[int, "bytes of a buffer"]]
    pitch: NotRequired[Annotated[int, "bytes of a row, or of an element of a buffer"]]
    width: NotRequired[Annotated[int, "width in pixels"]]
    height: NotRequired[Annotated[int, "height in pixels"]]
    depth: NotRequired[Annotated[int, "layers, or the depth of a 3D image"]]
    samples: NotRequired[Annotated[int, "samples of a pixel"]]
    levels: NotRequired[Annotated[int, "levels of detail"]]
    array: NotRequired[Annotated[bool, "it is an array"]]
    first_layer: NotRequired[Annotated[int, "the layer that counts as the first one"]]
    tiling: NotRequired[Annotated[str, "tile mode"]]
    aux: NotRequired[Annotated[str, "how it is compressed, as AUX_CCS_E; empty without that"]]
    aux_address: NotRequired[Annotated[int, "GPU address of that memory; 0 without it"]]


class EntryDocument(TypedDict):
    """An entry of a binding table."""

    index: Annotated[int, "its number"]
    offset: Annotated[int, "the offset that the table has"]
    state: Annotated[int, "GPU address of the surface state"]
    heap: Annotated[str, "the heap of ANV that this lies in; empty for other drivers"]
    role: Annotated[Literal["render target", ""], "what it is for"]
    surface: Annotated[SurfaceDocument | None, "the surface; null where its state is not in memory"]


class BindingTableDocument(TypedDict):
    """The binding table of a stage."""

    stage: Annotated[str, "the stage"]
    offset: Annotated[int, "its offset from the base of tables"]
    address: _Address
    length: Annotated[int, "how many entries it has"]
    length_source: Annotated[Literal["driver", "kernel", "guess"], "how that is known"]
    in_first_gigabyte: Annotated[
        bool | None, "it lies in the gigabyte that ANV keeps for tables; null for other drivers"
    ]
    entries: Annotated[list[EntryDocument], "its entries"]


class KernelDocument(TypedDict):
    """A kernel of a stage."""

    stage: Annotated[str, "the stage"]
    width: Annotated[str, "SIMD8, ...; empty where it is not chosen"]
    address: _Address
    size: Annotated[int | None, "bytes; null where it is not in memory"]


class SamplerDocument(TypedDict):
    """A sampler."""

    stage: NotRequired[Annotated[str, "the stage"]]
    number: Annotated[int, "its place in the array"]
    address: _Address
    fields: _Fields


class DescriptorDocument(TypedDict):
    """A descriptor of a set."""

    offset: Annotated[int, "bytes from the start of the set"]
    kind: Annotated[Literal["buffer", "sampled image", "image", "surface"], "what it leads to"]
    address: _Address
    size: Annotated[int, "bytes of a buffer"]
    sampler: Annotated[int, "GPU address of its sampler; 0 without one"]
    surface: Annotated[SurfaceDocument | None, "the surface; null for a buffer"]
    sampler_fields: Annotated[
        dict[str, str] | None, "the fields of its sampler; null where that is not in memory"
    ]


class SetDocument(TypedDict):
    """A descriptor set."""

    set: Annotated[int | None, "its number; null where only a binding table refers to it"]
    address: _Address
    size: Annotated[int, "bytes; 0 where they are not known"]
    source: Annotated[str, "what refers to it"]
    descriptors: Annotated[list[DescriptorDocument], "its descriptors"]
    samplers: Annotated[list[SamplerDocument], "the array of samplers of a direct set"]


class PushConstantsDocument(TypedDict):
    """The push constants of a stage, as ANV lays them out."""

    stage: Annotated[str, "the stage"]
    address: _Address
    first: Annotated[int, "first byte that the stage reads"]
    size: Annotated[int, "bytes that the stage reads"]
    client: Annotated[str, "the program's own data in hexadecimal"]
    set_offsets: Annotated[list[int], "offsets of descriptor sets"]
    sampler_offsets: Annotated[list[int], "offsets of the samplers of sets"]
    dynamic_offsets: Annotated[list[int], "offsets of dynamic buffers"]


class VertexBufferDocument(TypedDict):
    """A vertex buffer."""

    number: Annotated[int, "its number"]
    address: _Address
    size: Annotated[int, "bytes"]
    pitch: Annotated[int, "bytes from one vertex to the next"]


class ConstantBufferDocument(TypedDict):
    """Constants that are pushed to a stage."""

    stage: Annotated[str, "the stage"]
    slot: Annotated[int, "the slot"]
    address: _Address
    size: Annotated[int, "bytes"]


class UsesDocument(TypedDict):
    """What an action uses."""

    batch: Annotated[int, "GPU address of its batch"]
    kernels: Annotated[list[KernelDocument], "its kernels"]
    binding_tables: Annotated[list[BindingTableDocument], "the tables of its stages"]
    missing_tables: Annotated[list[str], "stages whose tables are not in memory"]
    descriptor_sets: Annotated[list[SetDocument], "the sets that it refers to"]
    push_constants: Annotated[list[PushConstantsDocument], "those of its stages"]
    samplers: Annotated[list[SamplerDocument], "those of its stages"]
    vertex_buffers: Annotated[list[VertexBufferDocument], "its vertex buffers"]
    constants: Annotated[list[ConstantBufferDocument], "constants that are pushed"]


class SlotDocument(TypedDict):
    """The instruction that set a slot of the state."""

    address: _Address
    submit: Annotated[int, "number of its submission"]
    batch: Annotated[int, "GPU address of its batch"]
    fields: _Fields


class RegisterDocument(TypedDict):
    """A register, and the instruction that wrote it."""

    offset: Annotated[int, "its offset in bytes"]
    name: Annotated[str, "its name; empty where it has no description"]
    value: Annotated[int | None, "the value; null where only the GPU knows it"]
    address: _Address
    submit: Annotated[int, "number of its submission"]


class StateDocument(UsesDocument):
    """What an action of an Intel capture uses: cffpy state --json."""

    action: Annotated[Facts, "the action", _ACTION]
    has_bases: Annotated[bool, "commands set the bases; if not, addresses are offsets"]
    state: Annotated[dict[str, SlotDocument], "the instructions that set state, by slot"]
    registers: Annotated[list[RegisterDocument], "the registers"]


class StatesDocument(TypedDict):
    """What several actions of an Intel capture use: cffpy state --where --json."""

    states: Annotated[list[StateDocument], "an object for each action"]


class DeviceDocument(TypedDict):
    """A GPU."""

    pci_id: Annotated[int, "its PCI id"]
    name: Annotated[str, "its name"]
    verx10: Annotated[int, "ten times its version: 125 for gen12.5"]


class PositionDocument(TypedDict):
    """The instruction that the command streamer is at."""

    name: Annotated[str, "its name"]
    address: _Address
    batch: Annotated[int, "GPU address of its batch"]
    action: Annotated[int, "how many actions come before it"]


class FaultDocument(TypedDict):
    """A page fault."""

    address: _Address
    is_global: Annotated[bool, "the address is of the GGTT"]
    line: Annotated[int, "line of the dump"]
    words: Annotated[list[str], "what the register says"]
    uses: Annotated[list[str], "what the actions use there"]
    is_captured: Annotated[bool, "it lies in a buffer of the dump"]


class CrashDocument(TypedDict):
    """The report on an error state or devcoredump of an Intel GPU: cffpy crash --json."""

    kind: Annotated[str, "what the file is"]
    gpu: Annotated[DeviceDocument | None, "the GPU; null where no line names it"]
    reason: Annotated[str, "the line that says why"]
    process: Annotated[str, "the line that names the process"]
    engine: Annotated[str | None, "the engine that hangs"]
    acthd: Annotated[int | None, "the address that its command streamer has reached"]
    position: Annotated[PositionDocument | None, "the instruction there"]
    before: Annotated[list[Facts], "the actions before the one in flight", _ACTION]
    in_flight: Annotated[Facts | None, "the action in flight", _ACTION]
    next: Annotated[Facts | None, "the action after it", _ACTION]
    fault: Annotated[FaultDocument | None, "the page fault"]
    not_done: Annotated[dict[str, list[str]], "units that are not done, by register"]
    has_bases: Annotated[bool | None, "commands set the bases; null where no action is known"]
    binding_tables: Annotated[list[BindingTableDocument], "those of the action in flight"]
    missing_tables: Annotated[list[str], "its stages whose tables are not in memory"]
    damage: Annotated[list[str], "damage and what limits left out, in words"]


class ChangeDocument(TypedDict):
    """An instruction that changed since the draw before."""

    slot: Annotated[str, "its slot of the state"]
    address: _Address
    fields: Annotated[list[list[str]], "name, text before and text now of each field"]


class ReportActionDocument(TypedDict):
    """An action of a report."""

    action: Annotated[Facts, "the action", _ACTION]
    counts: Annotated[str, "how much it draws or computes, as text"]
    what: Annotated[str, "what it is, as text"]
    uses: Annotated[UsesDocument | None, "what it uses; null for work of the driver"]
    changes: Annotated[list[ChangeDocument], "what changed since the draw before"]


class FlushDocument(TypedDict):
    """What is flushed or waited for."""

    address: _Address
    does: Annotated[list[str], "what it does, in words"]


_PassFacts = TypedDict(
    "_PassFacts", {"pass": Annotated[Facts, "the pass", Of("cffpy.frame.passes:Pass")]}
)


class ReportPassDocument(_PassFacts):
    """A pass of a report."""

    hiz: Annotated[bool, "hierarchical depth is on"]
    draws: Annotated[list[int], "numbers of its actions"]
    flushes: Annotated[list[FlushDocument], "what is flushed before it"]
    lines: Annotated[list[str], "the pass as text"]


class SurfaceUseDocument(TypedDict):
    """An action that uses a surface."""

    action: Annotated[int, "its number"]
    draw: Annotated[str | None, "its name"]


_As = TypedDict("_As", {"as": Annotated[str, "the way to the surface"]})


class NamedUseDocument(SurfaceUseDocument, _As):
    """An action that uses a surface, and how."""


class ReportSurfaceDocument(SurfaceDocument):
    """A surface of a report."""

    text: Annotated[str, "the surface in one line"]
    uses: Annotated[list[NamedUseDocument], "what uses it"]


class BatchDocument(TypedDict):
    """A batch that is run."""

    submit: Annotated[int, "number of the submission"]
    address: _Address
    runs: Annotated[int, "how often it is run"]
    actions: Annotated[list[int], "numbers of the actions in it"]


class ComparedDocument(TypedDict):
    """A difference from another capture."""

    what: Annotated[str, "what differs"]
    other: Annotated[str, "its text in the other capture"]
    this: Annotated[str, "its text in this one"]
    draws: Annotated[list[Any], "pairs of an action here and the name of that in the other"]
    count: Annotated[int, "how many draws have it"]


class ComparisonDocument(TypedDict):
    """What differs from another capture."""

    other: Annotated[str, "name of the other capture"]
    damage: Annotated[list[str], "damage of the other, in words"]
    summary: Annotated[str, "how much is compared, in one line"]
    missing: Annotated[list[str], "draws of the other alone, in words"]
    added: Annotated[list[int], "actions of this capture alone"]
    entries: Annotated[list[ComparedDocument], "the differences"]


class ReportDocument(TypedDict):
    """Everything that the page of an Intel capture shows: cffpy report --json."""

    info: Annotated[Facts, "the file", Of("cffpy.analysis.summary:CaptureSummary")]
    batches: Annotated[list[BatchDocument], "the batches that are run"]
    passes: Annotated[list[ReportPassDocument], "the passes"]
    draws: Annotated[list[ReportActionDocument], "the actions"]
    surfaces: Annotated[list[ReportSurfaceDocument], "all surfaces"]
    comparison: Annotated[ComparisonDocument | None, "what differs from another capture"]
    cut: Annotated[list[str], "what was left out, in words"]


class HitDocument(TypedDict):
    """A name that contains the text."""

    kind: Annotated[str, "what it names"]
    name: Annotated[str, "the name"]
    where: Annotated[str, "the instruction, struct or register that has it"]
    generations: Annotated[list[str], "generations that have it, as gfx9"]


class DbSearchDocument(TypedDict):
    """Names in the descriptions of Intel GPUs: cffpy db search --gpu --json."""

    text: Annotated[str, "what was searched for"]
    found: Annotated[list[HitDocument], "the names"]


class NamedNumber(TypedDict):
    """A value of a field that has a name."""

    number: Annotated[int, "the value"]
    name: Annotated[str, "its name"]


class GroupFieldDocument(TypedDict):
    """A field of an instruction, struct or register."""

    name: Annotated[str, "its name"]
    low: Annotated[int, "its lowest bit"]
    high: Annotated[int, "its highest bit"]
    type: Annotated[str, "its type, or the struct that it holds"]
    values: Annotated[list[NamedNumber], "its values with names"]


class GroupDocument(TypedDict):
    """An instruction, a struct or a register."""

    kind: Annotated[str, "instruction, struct, enum or register"]
    name: Annotated[str, "its name"]
    length: Annotated[int | None, "its dwords; null where they vary"]
    opcode: NotRequired[Annotated[str, "bits of an instruction's first dword"]]
    mask: NotRequired[Annotated[str, "which bits of it these are"]]
    engines: NotRequired[Annotated[list[str], "the engines that have it"]]
    offset: NotRequired[Annotated[int | None, "offset of a register in bytes"]]
    fields: Annotated[list[GroupFieldDocument], "its fields"]
    generations: Annotated[list[str], "generations that have it, as gfx9"]


class DbShowDocument(TypedDict):
    """An instruction, struct or register of Intel GPUs: cffpy db show --gpu --json."""

    name: Annotated[str, "the name"]
    found: Annotated[list[GroupDocument], "what has this name"]
