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
    from cffpy.analysis.crash.context import Evidence, RingCall
    from cffpy.analysis.crash.flight import AddressUse, TextureUse
    from cffpy.analysis.crash.model import (
        CrashReport,
        DrawData,
        DrawProgram,
        DumpHead,
        DumpLine,
        Fault,
        FaultUse,
        GmuSection,
        Hang,
        InFlight,
        LacksSection,
        PassSection,
        PositionSection,
        Rings,
        RingState,
        Section,
        ShadersSection,
        SnapshotSection,
        SnapshotSections,
        Statement,
        StatusSection,
        Suspicion,
    )
    from cffpy.analysis.crash.position import CpLevel, CpPacket
    from cffpy.analysis.crash.status import QueueState, SqeHandler, SqeState, StatusRegister
    from cffpy.analysis.diff.model import AppliedRule, Difference, Entry, Extent
    from cffpy.analysis.layout_check.checks import LayoutCheck, LayoutChecks
    from cffpy.analysis.layout_check.comparison import LayoutDifference
    from cffpy.analysis.lrz import PassLrz
    from cffpy.analysis.pass_cost import MovedBytes, PassCost
    from cffpy.analysis.register_store.store import Inherited
    from cffpy.analysis.summary import CaptureSummary, ReplayBuffer, SectionCount
    from cffpy.api.capture import (
        Capture,
        open,  # noqa: A004
    )
    from cffpy.api.capture import registers_of as registers
    from cffpy.api.comparison import Comparison, PassPair, diff
    from cffpy.api.crash import Crash, open_crash
    from cffpy.api.edits import bisect, decompile, edit
    from cffpy.api.edits import compile_text as compile  # noqa: A004
    from cffpy.api.export import Decoding, Rows, export, sql
    from cffpy.api.find import FoundDraw, FoundFile, find
    from cffpy.api.intel import Intel, IntelCrash
    from cffpy.api.microcode import Microcode, assemble_microcode, disassemble_microcode
    from cffpy.api.packets import Packet
    from cffpy.api.pictures import CapturedImage
    from cffpy.capture.gpu import Gpu
    from cffpy.check.model import Finding, Lint, LintError
    from cffpy.errors import (
        AssemblyError,
        CaptureError,
        CaptureIndexError,
        CffpyError,
        ContainerError,
        DslError,
        FilterError,
        IntelFileError,
        IsaError,
        MissingLibrary,
        RegisterDbError,
        StructError,
        UnknownName,
        UnknownValue,
        UnsupportedGpu,
        UsageError,
        VisibilityStreamError,
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
        StageProgram,
    )
    from cffpy.frame.attachment import Attachment, SurfaceSize, Transfer, TransferEnd
    from cffpy.frame.barrier import Barrier, Hazard, MemoryAccess
    from cffpy.frame.binding import Binding, Constants, DataBuffer, Descriptor, VertexAttribute
    from cffpy.frame.density import Density, ViewDensity, Viewport, ViewportPatch
    from cffpy.frame.device import DeviceFact, DeviceReport
    from cffpy.frame.driver import CalledStream, Driver, ProbableCall, StateGroup
    from cffpy.frame.execution import Executed, PipeSignal, PipeWait
    from cffpy.frame.field import FieldValue
    from cffpy.frame.geometry import Cell, Point, Rectangle, Size, Vector
    from cffpy.frame.gpu_query import GpuQuery, QueryCopy, QueryCounter, QueryDraws, QueryPredicate
    from cffpy.frame.lrz import DepthState, DrawLrz, Why
    from cffpy.frame.objects import Named, Selection
    from cffpy.frame.passes import (
        DrawTotal,
        Lrz,
        Operation,
        Pass,
        PassRun,
        Pipe,
        Tile,
        TileVisibility,
        VisibilityStreams,
        VisibleDraw,
    )
    from cffpy.frame.pictures import ImageView, NamedImage, Picture
    from cffpy.frame.places import (
        DrawName,
        DrawRange,
        ExecutedStream,
        PacketLocation,
        PacketPath,
        StreamCall,
    )
    from cffpy.frame.register import FieldBits, Register, RegisterValue
    from cffpy.frame.register_state import Change, CommandValue, RegisterState, StateValue
    from cffpy.frame.register_write import RegisterWrite
    from cffpy.frame.render_mode import ModeChoice
    from cffpy.frame.shader import CapturedShader, Naming, Shader, Shaders, SubmitUses
    from cffpy.frame.stream_out import StreamOut, StreamOutBuffer, StreamOutput
    from cffpy.frame.submit import Buffer, Memory, Problem, Stream, Submit
    from cffpy.frame.timing import TimeSpan, Timestamp
    from cffpy.frame.visibility import Bin, PassVisibility, PipeStreams, StreamPart, VisibleEntry
    from cffpy.image.texels import PictureError
    from cffpy.image.tiled import BankSwizzle
    from cffpy.index.build import BuildReport, Unread, build_index
    from cffpy.index.model import IndexedCapture
    from cffpy.index.reader import Index, open_index
    from cffpy.index.tables import IndexedShader, IndexedUse, RegisterValueCount
    from cffpy.intel.analysis.capture import IntelDevice
    from cffpy.isa.statistics import Statistics
    from cffpy.limits import Limits, Truncation
    from cffpy.regdb.registers import Registers
    from cffpy.reports.intel import IntelReport
    from cffpy.reports.report import Report, report

#: Public name -> the module that has it, with the name there after a colon where it is another.
_MODULES = {
    "Action": "cffpy.frame.action",
    "AddressUse": "cffpy.analysis.crash.flight",
    "AppliedRule": "cffpy.analysis.diff.model",
    "AssemblyError": "cffpy.errors",
    "Attachment": "cffpy.frame.attachment",
    "BankSwizzle": "cffpy.image.tiled",
    "Bin": "cffpy.frame.visibility",
    "Barrier": "cffpy.frame.barrier",
    "Binding": "cffpy.frame.binding",
    "Blit": "cffpy.frame.action",
    "Buffer": "cffpy.frame.submit",
    "BuildReport": "cffpy.index.build",
    "CalledStream": "cffpy.frame.driver",
    "Capture": "cffpy.api.capture",
    "CaptureError": "cffpy.errors",
    "CaptureIndexError": "cffpy.errors",
    "CaptureSummary": "cffpy.analysis.summary",
    "CapturedImage": "cffpy.api.pictures",
    "CapturedShader": "cffpy.frame.shader",
    "Cell": "cffpy.frame.geometry",
    "CffpyError": "cffpy.errors",
    "Change": "cffpy.frame.register_state",
    "Clear": "cffpy.frame.action",
    "CommandValue": "cffpy.frame.register_state",
    "Comparison": "cffpy.api.comparison",
    "Constants": "cffpy.frame.binding",
    "ContainerError": "cffpy.errors",
    "Copy": "cffpy.frame.action",
    "CpLevel": "cffpy.analysis.crash.position",
    "CpPacket": "cffpy.analysis.crash.position",
    "Crash": "cffpy.api.crash",
    "CrashReport": "cffpy.analysis.crash.model",
    "DataBuffer": "cffpy.frame.binding",
    "Decoding": "cffpy.api.export",
    "Density": "cffpy.frame.density",
    "DepthState": "cffpy.frame.lrz",
    "Descriptor": "cffpy.frame.binding",
    "DeviceFact": "cffpy.frame.device",
    "DeviceReport": "cffpy.frame.device",
    "Difference": "cffpy.analysis.diff.model",
    "Dispatch": "cffpy.frame.action",
    "Draw": "cffpy.frame.action",
    "DrawData": "cffpy.analysis.crash.model",
    "DrawLrz": "cffpy.frame.lrz",
    "DrawName": "cffpy.frame.places",
    "DrawProgram": "cffpy.analysis.crash.model",
    "DrawRange": "cffpy.frame.places",
    "DrawTotal": "cffpy.frame.passes",
    "Driver": "cffpy.frame.driver",
    "DslError": "cffpy.errors",
    "DumpHead": "cffpy.analysis.crash.model",
    "DumpLine": "cffpy.analysis.crash.model",
    "Entry": "cffpy.analysis.diff.model",
    "Event": "cffpy.frame.action",
    "Evidence": "cffpy.analysis.crash.context",
    "Executed": "cffpy.frame.execution",
    "ExecutedStream": "cffpy.frame.places",
    "Extent": "cffpy.analysis.diff.model",
    "Fault": "cffpy.analysis.crash.model",
    "FaultUse": "cffpy.analysis.crash.model",
    "FieldBits": "cffpy.frame.register",
    "FieldValue": "cffpy.frame.field",
    "FilterError": "cffpy.errors",
    "Finding": "cffpy.check.model",
    "FoundDraw": "cffpy.api.find",
    "FoundFile": "cffpy.api.find",
    "Generated": "cffpy.frame.action",
    "GmuSection": "cffpy.analysis.crash.model",
    "Gpu": "cffpy.capture.gpu",
    "GpuQuery": "cffpy.frame.gpu_query",
    "Groups": "cffpy.frame.action",
    "Hang": "cffpy.analysis.crash.model",
    "Hazard": "cffpy.frame.barrier",
    "ImageView": "cffpy.frame.pictures",
    "InFlight": "cffpy.analysis.crash.model",
    "Index": "cffpy.index.reader",
    "IndexBuffer": "cffpy.frame.action",
    "IndexedCapture": "cffpy.index.model",
    "IndexedShader": "cffpy.index.tables",
    "IndexedUse": "cffpy.index.tables",
    "Inherited": "cffpy.analysis.register_store.store",
    "Intel": "cffpy.api.intel",
    "IntelCrash": "cffpy.api.intel",
    "IntelDevice": "cffpy.intel.analysis.capture",
    "IntelFileError": "cffpy.errors",
    "IntelReport": "cffpy.reports.intel",
    "IsaError": "cffpy.errors",
    "LacksSection": "cffpy.analysis.crash.model",
    "LayoutCheck": "cffpy.analysis.layout_check.checks",
    "LayoutChecks": "cffpy.analysis.layout_check.checks",
    "LayoutDifference": "cffpy.analysis.layout_check.comparison",
    "Limits": "cffpy.limits",
    "Lint": "cffpy.check.model",
    "LintError": "cffpy.check.model",
    "Lrz": "cffpy.frame.passes",
    "Memory": "cffpy.frame.submit",
    "MemoryAccess": "cffpy.frame.barrier",
    "Microcode": "cffpy.api.microcode",
    "MissingLibrary": "cffpy.errors",
    "ModeChoice": "cffpy.frame.render_mode",
    "MovedBytes": "cffpy.analysis.pass_cost",
    "Named": "cffpy.frame.objects",
    "NamedImage": "cffpy.frame.pictures",
    "Naming": "cffpy.frame.shader",
    "Operation": "cffpy.frame.passes",
    "Packet": "cffpy.api.packets",
    "PacketLocation": "cffpy.frame.places",
    "PacketPath": "cffpy.frame.places",
    "Pass": "cffpy.frame.passes",
    "PassCost": "cffpy.analysis.pass_cost",
    "PassLrz": "cffpy.analysis.lrz",
    "PassPair": "cffpy.api.comparison",
    "PassRun": "cffpy.frame.passes",
    "PassSection": "cffpy.analysis.crash.model",
    "PassVisibility": "cffpy.frame.visibility",
    "Picture": "cffpy.frame.pictures",
    "PictureError": "cffpy.image.texels",
    "Pipe": "cffpy.frame.passes",
    "PipeSignal": "cffpy.frame.execution",
    "PipeStreams": "cffpy.frame.visibility",
    "PipeWait": "cffpy.frame.execution",
    "Point": "cffpy.frame.geometry",
    "PositionSection": "cffpy.analysis.crash.model",
    "ProbableCall": "cffpy.frame.driver",
    "Problem": "cffpy.frame.submit",
    "QueryCopy": "cffpy.frame.gpu_query",
    "QueryCounter": "cffpy.frame.gpu_query",
    "QueryDraws": "cffpy.frame.gpu_query",
    "QueryPredicate": "cffpy.frame.gpu_query",
    "QueueState": "cffpy.analysis.crash.status",
    "Rectangle": "cffpy.frame.geometry",
    "Register": "cffpy.frame.register",
    "RegisterDbError": "cffpy.errors",
    "RegisterState": "cffpy.frame.register_state",
    "RegisterValue": "cffpy.frame.register",
    "RegisterValueCount": "cffpy.index.tables",
    "RegisterWrite": "cffpy.frame.register_write",
    "Registers": "cffpy.regdb.registers",
    "ReplayBuffer": "cffpy.analysis.summary",
    "Report": "cffpy.reports.report",
    "Resolve": "cffpy.frame.action",
    "RingCall": "cffpy.analysis.crash.context",
    "RingState": "cffpy.analysis.crash.model",
    "Rings": "cffpy.analysis.crash.model",
    "Rows": "cffpy.api.export",
    "Section": "cffpy.analysis.crash.model",
    "SectionCount": "cffpy.analysis.summary",
    "Selection": "cffpy.frame.objects",
    "Shader": "cffpy.frame.shader",
    "Shaders": "cffpy.frame.shader",
    "ShadersSection": "cffpy.analysis.crash.model",
    "Size": "cffpy.frame.geometry",
    "SnapshotSection": "cffpy.analysis.crash.model",
    "SnapshotSections": "cffpy.analysis.crash.model",
    "SqeHandler": "cffpy.analysis.crash.status",
    "SqeState": "cffpy.analysis.crash.status",
    "StageProgram": "cffpy.frame.action",
    "StateGroup": "cffpy.frame.driver",
    "StateValue": "cffpy.frame.register_state",
    "Statement": "cffpy.analysis.crash.model",
    "Statistics": "cffpy.isa.statistics",
    "StatusRegister": "cffpy.analysis.crash.status",
    "StatusSection": "cffpy.analysis.crash.model",
    "Stream": "cffpy.frame.submit",
    "StreamCall": "cffpy.frame.places",
    "StreamOut": "cffpy.frame.stream_out",
    "StreamOutBuffer": "cffpy.frame.stream_out",
    "StreamOutput": "cffpy.frame.stream_out",
    "StreamPart": "cffpy.frame.visibility",
    "StructError": "cffpy.errors",
    "Submit": "cffpy.frame.submit",
    "SubmitUses": "cffpy.frame.shader",
    "SurfaceSize": "cffpy.frame.attachment",
    "Suspicion": "cffpy.analysis.crash.model",
    "TextureUse": "cffpy.analysis.crash.flight",
    "Tile": "cffpy.frame.passes",
    "TileVisibility": "cffpy.frame.passes",
    "TimeSpan": "cffpy.frame.timing",
    "Timestamp": "cffpy.frame.timing",
    "Transfer": "cffpy.frame.attachment",
    "TransferEnd": "cffpy.frame.attachment",
    "Truncation": "cffpy.limits",
    "UnknownName": "cffpy.errors",
    "UnknownValue": "cffpy.errors",
    "Unread": "cffpy.index.build",
    "UnsupportedGpu": "cffpy.errors",
    "UsageError": "cffpy.errors",
    "Vector": "cffpy.frame.geometry",
    "Verdict": "cffpy.analysis.bisect",
    "VertexAttribute": "cffpy.frame.binding",
    "ViewDensity": "cffpy.frame.density",
    "Viewport": "cffpy.frame.density",
    "ViewportPatch": "cffpy.frame.density",
    "VisibilityStreamError": "cffpy.errors",
    "VisibilityStreams": "cffpy.frame.passes",
    "VisibleDraw": "cffpy.frame.passes",
    "VisibleEntry": "cffpy.frame.visibility",
    "Why": "cffpy.frame.lrz",
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
    "AddressUse",
    "AppliedRule",
    "AssemblyError",
    "Attachment",
    "BankSwizzle",
    "Barrier",
    "Bin",
    "Binding",
    "Blit",
    "Buffer",
    "BuildReport",
    "CalledStream",
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
    "CpLevel",
    "CpPacket",
    "Crash",
    "CrashReport",
    "DataBuffer",
    "Decoding",
    "Density",
    "DepthState",
    "Descriptor",
    "DeviceFact",
    "DeviceReport",
    "Difference",
    "Dispatch",
    "Draw",
    "DrawData",
    "DrawLrz",
    "DrawName",
    "DrawProgram",
    "DrawRange",
    "DrawTotal",
    "Driver",
    "DslError",
    "DumpHead",
    "DumpLine",
    "Entry",
    "Event",
    "Evidence",
    "Executed",
    "ExecutedStream",
    "Extent",
    "Fault",
    "FaultUse",
    "FieldBits",
    "FieldValue",
    "FilterError",
    "Finding",
    "FoundDraw",
    "FoundFile",
    "Generated",
    "GmuSection",
    "Gpu",
    "GpuQuery",
    "Groups",
    "Hang",
    "Hazard",
    "ImageView",
    "InFlight",
    "Index",
    "IndexBuffer",
    "IndexedCapture",
    "IndexedShader",
    "IndexedUse",
    "Inherited",
    "Intel",
    "IntelCrash",
    "IntelDevice",
    "IntelFileError",
    "IntelReport",
    "IsaError",
    "LacksSection",
    "LayoutCheck",
    "LayoutChecks",
    "LayoutDifference",
    "Limits",
    "Lint",
    "LintError",
    "Lrz",
    "Memory",
    "MemoryAccess",
    "Microcode",
    "MissingLibrary",
    "ModeChoice",
    "MovedBytes",
    "Named",
    "NamedImage",
    "Naming",
    "Operation",
    "Packet",
    "PacketLocation",
    "PacketPath",
    "Pass",
    "PassCost",
    "PassLrz",
    "PassPair",
    "PassRun",
    "PassSection",
    "PassVisibility",
    "Picture",
    "PictureError",
    "Pipe",
    "PipeSignal",
    "PipeStreams",
    "PipeWait",
    "Point",
    "PositionSection",
    "ProbableCall",
    "Problem",
    "QueryCopy",
    "QueryCounter",
    "QueryDraws",
    "QueryPredicate",
    "QueueState",
    "Rectangle",
    "Register",
    "RegisterDbError",
    "RegisterState",
    "RegisterValue",
    "RegisterValueCount",
    "RegisterWrite",
    "Registers",
    "ReplayBuffer",
    "Report",
    "Resolve",
    "RingCall",
    "RingState",
    "Rings",
    "Rows",
    "Section",
    "SectionCount",
    "Selection",
    "Shader",
    "Shaders",
    "ShadersSection",
    "Size",
    "SnapshotSection",
    "SnapshotSections",
    "SqeHandler",
    "SqeState",
    "StageProgram",
    "StateGroup",
    "StateValue",
    "Statement",
    "Statistics",
    "StatusRegister",
    "StatusSection",
    "Stream",
    "StreamCall",
    "StreamOut",
    "StreamOutBuffer",
    "StreamOutput",
    "StreamPart",
    "StructError",
    "Submit",
    "SubmitUses",
    "SurfaceSize",
    "Suspicion",
    "TextureUse",
    "Tile",
    "TileVisibility",
    "TimeSpan",
    "Timestamp",
    "Transfer",
    "TransferEnd",
    "Truncation",
    "UnknownName",
    "UnknownValue",
    "Unread",
    "UnsupportedGpu",
    "UsageError",
    "Vector",
    "Verdict",
    "VertexAttribute",
    "ViewDensity",
    "Viewport",
    "ViewportPatch",
    "VisibilityStreamError",
    "VisibilityStreams",
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
