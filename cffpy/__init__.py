# SPDX-License-Identifier: MIT
"""Decode Adreno GPU command-stream captures.

    import cffpy

    with cffpy.open("capture.rd.gz") as capture:
        for draw in capture.draws:
            print(draw.name, draw.state["RB_DEPTH_CNTL"].text)

The names in ``__all__`` are the public interface; everything else may change. They are imported
when they are first used, so that ``import cffpy`` costs next to nothing.
"""

from __future__ import annotations

from cffpy._version import __version__

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.analysis.bisect import Verdict
    from cffpy.analysis.crash.context import Evidence
    from cffpy.analysis.crash.model import CrashReport, Statement, Suspicion
    from cffpy.analysis.crash.position import CpPacket
    from cffpy.analysis.diff.model import PassPair
    from cffpy.analysis.layout_check.checks import LayoutCheck, LayoutChecks
    from cffpy.analysis.lrz import DrawLrz, PassLrz, Why
    from cffpy.analysis.pass_cost import PassCost
    from cffpy.analysis.register_store.register_state import (
        Change,
        CommandValue,
        RegisterState,
        StateValue,
    )
    from cffpy.analysis.register_store.store import Inherited
    from cffpy.analysis.summary import CaptureSummary
    from cffpy.analysis.visibility import Bin, PassVisibility, PipeStreams, StreamPart, VisibleEntry
    from cffpy.api.capture import (
        Capture,
        open,  # noqa: A004
    )
    from cffpy.api.capture import registers_of as registers
    from cffpy.api.comparison import Comparison, diff
    from cffpy.api.crash import Crash, open_crash
    from cffpy.api.edits import bisect, decompile, edit
    from cffpy.api.edits import compile_text as compile  # noqa: A004
    from cffpy.api.export import Decoding, Rows, export, sql
    from cffpy.api.find import FoundDraw, FoundFile, find
    from cffpy.api.intel import Intel
    from cffpy.api.microcode import Microcode, assemble_microcode, disassemble_microcode
    from cffpy.api.packets import Packet
    from cffpy.api.pictures import CapturedImage, NamedImage
    from cffpy.api.vertices import VertexAttribute
    from cffpy.capture.gpu import Gpu
    from cffpy.check.model import Finding, Lint
    from cffpy.errors import (
        CaptureError,
        CaptureIndexError,
        CffpyError,
        ContainerError,
        FilterError,
        IntelFileError,
        UnknownName,
        UnknownValue,
        UnsupportedGpu,
        UsageError,
    )
    from cffpy.frame.action import (
        Action,
        Blit,
        Clear,
        Copy,
        Dispatch,
        Draw,
        Event,
        Generated,
        Groups,
        IndexBuffer,
        Resolve,
    )
    from cffpy.frame.attachment import Attachment, Transfer, TransferEnd
    from cffpy.frame.binding import Binding, Constants, DataBuffer, Descriptor
    from cffpy.frame.density import Density
    from cffpy.frame.execution import PipeWait
    from cffpy.frame.field import FieldValue
    from cffpy.frame.geometry import Cell, Point, Rectangle, Size
    from cffpy.frame.objects import Selection
    from cffpy.frame.passes import (
        DrawTotal,
        Lrz,
        Operation,
        Pass,
        Pipe,
        Tile,
        TileVisibility,
        VisibleDraw,
    )
    from cffpy.frame.places import DrawName, PacketLocation
    from cffpy.frame.register_write import RegisterWrite
    from cffpy.frame.shader import CapturedShader, Naming, Shader, Shaders, SubmitUses
    from cffpy.frame.submit import Buffer, Memory, Problem, Stream, Submit
    from cffpy.image.picture import Picture
    from cffpy.index.build import BuildReport, build_index
    from cffpy.index.reader import Index, open_index
    from cffpy.index.tables import IndexedShader, RegisterValueCount
    from cffpy.isa.statistics import Statistics
    from cffpy.limits import Limits
    from cffpy.regdb.registers import FieldBits, Register, Registers, RegisterValue
    from cffpy.reports.report import Report, report

#: Public name -> the module that has it, with the name there after a colon where it is another.
_MODULES = {
    "Action": "cffpy.frame.action",
    "Attachment": "cffpy.frame.attachment",
    "Bin": "cffpy.analysis.visibility",
    "Binding": "cffpy.frame.binding",
    "Blit": "cffpy.frame.action",
    "Buffer": "cffpy.frame.submit",
    "BuildReport": "cffpy.index.build",
    "Capture": "cffpy.api.capture",
    "CaptureError": "cffpy.errors",
    "CaptureIndexError": "cffpy.errors",
    "CaptureSummary": "cffpy.analysis.summary",
    "CapturedImage": "cffpy.api.pictures",
    "CapturedShader": "cffpy.frame.shader",
    "Cell": "cffpy.frame.geometry",
    "CffpyError": "cffpy.errors",
    "Change": "cffpy.analysis.register_store.register_state",
    "Clear": "cffpy.frame.action",
    "CommandValue": "cffpy.analysis.register_store.register_state",
    "Comparison": "cffpy.api.comparison",
    "Constants": "cffpy.frame.binding",
    "ContainerError": "cffpy.errors",
    "Copy": "cffpy.frame.action",
    "CpPacket": "cffpy.analysis.crash.position",
    "Crash": "cffpy.api.crash",
    "CrashReport": "cffpy.analysis.crash.model",
    "DataBuffer": "cffpy.frame.binding",
    "Decoding": "cffpy.api.export",
    "Density": "cffpy.frame.density",
    "Descriptor": "cffpy.frame.binding",
    "Dispatch": "cffpy.frame.action",
    "Draw": "cffpy.frame.action",
    "DrawLrz": "cffpy.analysis.lrz",
    "DrawName": "cffpy.frame.places",
    "DrawTotal": "cffpy.frame.passes",
    "Event": "cffpy.frame.action",
    "Evidence": "cffpy.analysis.crash.context",
    "FieldBits": "cffpy.regdb.registers",
    "FieldValue": "cffpy.frame.field",
    "FilterError": "cffpy.errors",
    "Finding": "cffpy.check.model",
    "FoundDraw": "cffpy.api.find",
    "FoundFile": "cffpy.api.find",
    "Generated": "cffpy.frame.action",
    "Gpu": "cffpy.capture.gpu",
    "Groups": "cffpy.frame.action",
    "Index": "cffpy.index.reader",
    "IndexBuffer": "cffpy.frame.action",
    "IndexedShader": "cffpy.index.tables",
    "Inherited": "cffpy.analysis.register_store.store",
    "Intel": "cffpy.api.intel",
    "IntelFileError": "cffpy.errors",
    "LayoutCheck": "cffpy.analysis.layout_check.checks",
    "LayoutChecks": "cffpy.analysis.layout_check.checks",
    "Limits": "cffpy.limits",
    "Lint": "cffpy.check.model",
    "Lrz": "cffpy.frame.passes",
    "Memory": "cffpy.frame.submit",
    "Microcode": "cffpy.api.microcode",
    "NamedImage": "cffpy.api.pictures",
    "Naming": "cffpy.frame.shader",
    "Operation": "cffpy.frame.passes",
    "Packet": "cffpy.api.packets",
    "PacketLocation": "cffpy.frame.places",
    "Pass": "cffpy.frame.passes",
    "PassCost": "cffpy.analysis.pass_cost",
    "PassLrz": "cffpy.analysis.lrz",
    "PassPair": "cffpy.analysis.diff.model",
    "PassVisibility": "cffpy.analysis.visibility",
    "Picture": "cffpy.image.picture",
    "Pipe": "cffpy.frame.passes",
    "PipeStreams": "cffpy.analysis.visibility",
    "PipeWait": "cffpy.frame.execution",
    "Point": "cffpy.frame.geometry",
    "Problem": "cffpy.frame.submit",
    "Rectangle": "cffpy.frame.geometry",
    "Register": "cffpy.regdb.registers",
    "RegisterState": "cffpy.analysis.register_store.register_state",
    "RegisterValue": "cffpy.regdb.registers",
    "RegisterValueCount": "cffpy.index.tables",
    "RegisterWrite": "cffpy.frame.register_write",
    "Registers": "cffpy.regdb.registers",
    "Report": "cffpy.reports.report",
    "Resolve": "cffpy.frame.action",
    "Rows": "cffpy.api.export",
    "Selection": "cffpy.frame.objects",
    "Shader": "cffpy.frame.shader",
    "Shaders": "cffpy.frame.shader",
    "Size": "cffpy.frame.geometry",
    "StateValue": "cffpy.analysis.register_store.register_state",
    "Statement": "cffpy.analysis.crash.model",
    "Statistics": "cffpy.isa.statistics",
    "Stream": "cffpy.frame.submit",
    "StreamPart": "cffpy.analysis.visibility",
    "Submit": "cffpy.frame.submit",
    "SubmitUses": "cffpy.frame.shader",
    "Suspicion": "cffpy.analysis.crash.model",
    "Tile": "cffpy.frame.passes",
    "TileVisibility": "cffpy.frame.passes",
    "Transfer": "cffpy.frame.attachment",
    "TransferEnd": "cffpy.frame.attachment",
    "UnknownName": "cffpy.errors",
    "UnknownValue": "cffpy.errors",
    "UnsupportedGpu": "cffpy.errors",
    "UsageError": "cffpy.errors",
    "Verdict": "cffpy.analysis.bisect",
    "VertexAttribute": "cffpy.api.vertices",
    "VisibleDraw": "cffpy.frame.passes",
    "VisibleEntry": "cffpy.analysis.visibility",
    "Why": "cffpy.analysis.lrz",
    "assemble_microcode": "cffpy.api.microcode",
    "bisect": "cffpy.api.edits",
    "build_index": "cffpy.index.build",
    "compile": "cffpy.api.edits:compile_text",
    "decompile": "cffpy.api.edits",
    "diff": "cffpy.api.comparison",
    "disassemble_microcode": "cffpy.api.microcode",
    "edit": "cffpy.api.edits",
    "export": "cffpy.api.export",
    "find": "cffpy.api.find",
    "open": "cffpy.api.capture",
    "open_crash": "cffpy.api.crash",
    "open_index": "cffpy.index.reader",
    "registers": "cffpy.api.capture:registers_of",
    "report": "cffpy.reports.report",
    "sql": "cffpy.api.export",
}

__all__ = (
    "Action",
    "Attachment",
    "Bin",
    "Binding",
    "Blit",
    "Buffer",
    "BuildReport",
    "Capture",
    "CaptureError",
    "CaptureIndexError",
    "CaptureSummary",
    "CapturedImage",
    "CapturedShader",
    "Cell",
    "CffpyError",
    "Change",
    "Clear",
    "CommandValue",
    "Comparison",
    "Constants",
    "ContainerError",
    "Copy",
    "CpPacket",
    "Crash",
    "CrashReport",
    "DataBuffer",
    "Decoding",
    "Density",
    "Descriptor",
    "Dispatch",
    "Draw",
    "DrawLrz",
    "DrawName",
    "DrawTotal",
    "Event",
    "Evidence",
    "FieldBits",
    "FieldValue",
    "FilterError",
    "Finding",
    "FoundDraw",
    "FoundFile",
    "Generated",
    "Gpu",
    "Groups",
    "Index",
    "IndexBuffer",
    "IndexedShader",
    "Inherited",
    "Intel",
    "IntelFileError",
    "LayoutCheck",
    "LayoutChecks",
    "Limits",
    "Lint",
    "Lrz",
    "Memory",
    "Microcode",
    "NamedImage",
    "Naming",
    "Operation",
    "Packet",
    "PacketLocation",
    "Pass",
    "PassCost",
    "PassLrz",
    "PassPair",
    "PassVisibility",
    "Picture",
    "Pipe",
    "PipeStreams",
    "PipeWait",
    "Point",
    "Problem",
    "Rectangle",
    "Register",
    "RegisterState",
    "RegisterValue",
    "RegisterValueCount",
    "RegisterWrite",
    "Registers",
    "Report",
    "Resolve",
    "Rows",
    "Selection",
    "Shader",
    "Shaders",
    "Size",
    "StateValue",
    "Statement",
    "Statistics",
    "Stream",
    "StreamPart",
    "Submit",
    "SubmitUses",
    "Suspicion",
    "Tile",
    "TileVisibility",
    "Transfer",
    "TransferEnd",
    "UnknownName",
    "UnknownValue",
    "UnsupportedGpu",
    "UsageError",
    "Verdict",
    "VertexAttribute",
    "VisibleDraw",
    "VisibleEntry",
    "Why",
    "__version__",
    "assemble_microcode",
    "bisect",
    "build_index",
    "compile",
    "decompile",
    "diff",
    "disassemble_microcode",
    "edit",
    "export",
    "find",
    "open",
    "open_crash",
    "open_index",
    "registers",
    "report",
    "sql",
)


def __getattr__(name: str) -> object:
    """Import a public name when it is first used."""
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'cffpy' has no attribute {name!r}")
    import gc
    from importlib import import_module

    place, _, inside = module.partition(":")
    was_enabled = gc.isenabled()
    gc.disable()  # modules are kept: the search for cycles takes a tenth of importing them
    try:
        found: object = getattr(import_module(place), inside or name)
    finally:
        if was_enabled:
            if not gc.get_freeze_count():
                gc.freeze()  # they count as old: the next search would take 3 ms for them
                gc.unfreeze()
            gc.enable()
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
