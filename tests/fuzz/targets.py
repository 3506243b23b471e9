# SPDX-License-Identifier: MIT
"""The parsers of bytes and texts, as functions that accept any bytes.

The defined errors of a parser are caught; any other exception is a bug.
``SEEDS`` has initial inputs for coverage-guided fuzzing (``python -m tests.fuzz.guided``).
"""

from __future__ import annotations

import gzip
import io
import json
from collections.abc import Callable
from contextlib import suppress
from functools import cache, lru_cache
from pathlib import Path
from random import Random

import cffpy
from cffpy.analysis.queries import find_passes
from cffpy.container.open import open_bytes
from cffpy.container.rd import iter_sections
from cffpy.container.section_types import SectionType
from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_stream_section,
    gpu_id_section,
)
from cffpy.errors import CaptureError, CffpyError
from cffpy.intel.analysis.capture import AUB
from cffpy.intel.descriptions.compile import compile_descriptions
from cffpy.intel.descriptions.language import parse_text as parse_gen
from cffpy.intel.views.aubinator.aub import AubDump
from cffpy.intel.views.aubinator.context import SURFACES, VB_DATA, DecodeOptions
from cffpy.intel.views.aubinator.error_dump import ErrorStateDump, XeDump
from cffpy.intel.views.aubinator.kernels import KernelText
from cffpy.isa.ir3 import Ir3Disassembler
from cffpy.isa.language import parse_text as parse_isa
from cffpy.limits import Limits
from cffpy.pm4asm.assemble import assemble
from cffpy.query.filters import Filter
from cffpy.regdb.compile import compile_generation
from cffpy.regdb.database import Database
from cffpy.regdb.language import parse_text
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.crashdec.dump import CrashDump
from cffpy.views.crashdec.options import CrashdecOptions
from cffpy.vsc.pipe import decode_pipe
from tests.builders import type7
from tests.crash_dumps import CP_NOP, IB2, call, hang
from tests.fuzz import texts
from tests.fuzz.captures import CHECKOUT
from tests.fuzz.inputs import FILTERS
from tests.intel import aub_files, frames

_GPUS = (200, 320, 430, 540, 630, 740)
_BASE = 0x100000
_CONTENTS = SectionType.BUFFER_CONTENTS


def container(data: bytes) -> None:
    """Compression and sections."""
    with suppress(CffpyError):
        list(iter_sections(open_bytes(data, limits=Limits(bytes=1 << 20)).data, []))


def packets(data: bytes) -> None:
    """The first byte chooses the generation and the analysis, the rest are commands."""
    choice = data[0] if data else 0
    gpu = _GPUS[(choice & 0x3F) % len(_GPUS)]
    commands = data[1:].ljust(4 * (len(data) // 4 + 1), b"\0")
    sections = [gpu_id_section(gpu), *buffer_sections(_BASE, commands)]
    sections.append(command_stream_section(_BASE, len(commands) // 4))
    content = open_bytes(capture_bytes(sections))
    with suppress(CffpyError):
        if choice & 0x80:
            find_passes(content, lambda line: None)
        else:
            _dump(gpu, bool(choice & 0x40)).file(content)


@cache
def _dump(_gpu: int, is_summary: bool) -> Dump:
    """Dumps one file after the other, since opening a generation's descriptions takes long."""
    options = DumpOptions(unit_test=True, summary=is_summary, allregs=is_summary)
    return Dump(options, lambda text: None, lambda line: None)


def visibility(data: bytes) -> None:
    """The first byte is the number of bins, the second splits draw and primitive stream."""
    bins = (data[0] if data else 0) % 63 + 1
    split = 2 + (data[1] if len(data) > 1 else 0)
    found = decode_pipe(data[2:split], data[split:], bins)
    found.primitives_per_bin  # noqa: B018 - worked out when it is asked for
    decode_pipe(data[2:], None, bins, [None] * 4, [3] * 4, len(data))


def capture_text(data: bytes) -> None:
    """A text of the packet assembly language."""
    with suppress(CffpyError):
        assemble(io.BytesIO(data), "text.pm4", None, 1 << 20)


def filter_text(data: bytes) -> None:
    """An expression of a filter, parsed and bound to a generation."""
    with suppress(CffpyError, UnicodeDecodeError):
        Filter(data.decode("utf-8")).bind(Database.open("A6XX"))


def registers(data: bytes) -> None:
    """A file of the register database, parsed and compiled alone."""
    with suppress(CffpyError, UnicodeDecodeError):
        description = parse_text(data.decode("utf-8"), "text.regs")
        compile_generation({"a6xx": description}, "A6XX", "a6xx")


def instructions(data: bytes) -> None:
    """A file of instruction descriptions."""
    with suppress(CffpyError, UnicodeDecodeError):
        parse_isa(data.decode("utf-8"), "text.isa")


def intel_aub(data: bytes) -> None:
    """An AUB file, with all that can be printed of it."""
    content = open_bytes(data, "fuzz", Limits(commands=1 << 14, bytes=1 << 24))
    for flags in (0xFFFFFFFE, 0x1E | SURFACES | VB_DATA):
        with suppress(CffpyError):
            AubDump(DecodeOptions(flags), lambda text: None, KernelText(True)).file(content, "fuzz")


def intel_analysis(data: bytes) -> None:
    """Any file of Intel: actions, passes, the state of some actions."""
    with suppress(CaptureError):
        capture = cffpy.open(data, limits=Limits(commands=1 << 14, bytes=1 << 24))
        assert capture.intel is not None
        json.dumps([capture.to_dict(), *(one.to_dict() for one in capture.passes)])
        for state in capture.states(capture.draws[::7]):
            json.dumps(state.to_dict())
            state.uses_lines()
        if capture.intel.kind != AUB:
            json.dumps(capture.intel.crash.to_dict())
            capture.intel.crash.lines()


def intel_error_state(data: bytes) -> None:
    """An i915 error state, or an Xe devcoredump."""
    content = open_bytes(data, "fuzz", Limits(commands=1 << 14, bytes=1 << 24))
    error_state = ErrorStateDump(DecodeOptions(), 0xE, lambda text: None)
    error_state.all_batches = True
    for dump in (error_state, XeDump(DecodeOptions(), 0xE, lambda text: None)):
        with suppress(CffpyError):
            dump.file(content)


def intel_files() -> list[bytes]:
    """Files of each kind to begin with."""
    return [frames.frame(), frames.hang(), *aub_files.seeds(), *aub_files.error_states()]


def intel_descriptions(data: bytes) -> None:
    """A .gen file."""
    text = data.decode("utf-8", "replace")
    with suppress(CffpyError):
        compile_descriptions({"fuzz": parse_gen(text)})


class _EnoughText(Exception):
    """The text of a dump is longer than what a run may take."""


class _Measure:
    """Ends a dump after many characters: 800 bytes can declare zeros for a gigabyte of text."""

    def __init__(self) -> None:
        self._left = 1 << 22

    def __call__(self, text: str) -> None:
        self._left -= len(text)
        if self._left < 0:
            raise _EnoughText


def crash_dump(data: bytes) -> None:
    """A crash dump."""
    options = CrashdecOptions(summary=bool(data[:1] < b"\x80"), verbose=data[-1:] == b" ")
    with suppress(CffpyError, _EnoughText):
        CrashDump(options, _Measure(), lambda line: None).file(open_bytes(data))


@lru_cache(maxsize=2)
def _disassembler(generation: int) -> Ir3Disassembler:
    return Ir3Disassembler(generation)


def program(data: bytes) -> None:
    """A shader binary of ir3."""
    _disassembler(6 + (data[0] & 1 if data else 0)).disassemble(data[1:], 0)


def microcode(data: bytes) -> None:
    """A firmware file; the first byte chooses the generation, and whether it is a text."""
    choice = data[0] if data else 0
    gpu = f"a{5 + (choice & 0x7F) % 3}xx"
    with suppress(CffpyError):
        if choice & 0x80:
            cffpy.assemble_microcode(data[1:].decode("latin-1"), gpu)
        else:
            found = cffpy.disassemble_microcode(bytes(4) + data[1:], gpu)
            whole = len(data[1:]) // 4 * 4
            assert cffpy.assemble_microcode(found.text)[4:] == data[1 : 1 + whole]


def _first_lines(path: Path, count: int) -> bytes:
    return b"".join(path.read_bytes().splitlines(keepends=True)[:count])


def _commands() -> list[bytes]:
    """Commands of the samples, by the text's compiler."""
    found = []
    for path in sorted((CHECKOUT / "samples").glob("a*.pm4")):
        with path.open("rb") as stream:
            sections = list(iter_sections(bytes(assemble(stream, path.name))))
        chosen = _GPUS.index(min(_GPUS, key=lambda gpu: abs(gpu // 100 - int(path.name[1]))))
        found += [
            bytes([chosen]) + bytes(one.payload[:2000]) for one in sections if one.type == _CONTENTS
        ]
    return found


def _containers() -> list[bytes]:
    made = capture_bytes([gpu_id_section(630), command_stream_section(_BASE, 4)])
    return [made, gzip.compress(made)]


def _texts(folder: str, pattern: str) -> list[bytes]:
    return [_first_lines(path, 150) for path in sorted((CHECKOUT / folder).glob(pattern))]


#: Name -> the parser, and what makes its seeds.
TARGETS: dict[str, tuple[Callable[[bytes], None], Callable[[], list[bytes]]]] = {
    "container": (container, _containers),
    "packets": (packets, _commands),
    "visibility": (visibility, lambda: [bytes.fromhex("04049d45800002000000f9628000")]),
    "capture_text": (capture_text, lambda: _texts("samples", "*.pm4")),
    "filter": (
        filter_text,
        lambda: [text.encode() for text in FILTERS],
    ),
    "registers": (registers, lambda: _texts("register_db/adreno", "*.regs")),
    "instructions": (instructions, lambda: _texts("register_db/isa", "*.isa")),
    "intel_aub": (intel_aub, aub_files.seeds),
    "intel_error_state": (intel_error_state, aub_files.error_states),
    "intel_analysis": (intel_analysis, intel_files),
    "intel_descriptions": (intel_descriptions, lambda: _texts("register_db/intel", "gen45.gen")),
    "crash_dump": (crash_dump, lambda: [hang(call(IB2, 2) + type7(CP_NOP, 1), 2, [0, 0], 1)]),
    "microcode": (
        microcode,
        lambda: (
            [b"\1" + texts.firmware(Random(number)) for number in range(3)]
            + [b"\x81" + texts.microcode_text().encode()]
        ),
    ),
    "program": (program, lambda: [bytes.fromhex("00" + "0000000000000003")]),
}
