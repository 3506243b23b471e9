# SPDX-License-Identifier: MIT
"""What the commands of ``cffpy index`` write with --json."""

from __future__ import annotations

from typing import Annotated, TypedDict

from cffpy.document_types import Digest

_Captures = Annotated[int, "how many captures have it"]
_FirstCapture = Annotated[str, "the first capture that has it"]
_Generation = Annotated[int, "generation of the GPU: 7 for a7xx"]
_Register = Annotated[str, "name of the register"]
_Value = Annotated[int | None, "the value; null where only the GPU knows it"]
_Decoded = Annotated[str | None, "the value as cffpy state shows it"]
_Draws = Annotated[int, "how many draws have it"]
_Stage = Annotated[str, "VS, HS, DS, GS, FS or CS"]
_Instructions = Annotated[int | None, "listed instructions"]
_Full = Annotated[int | None, "full registers"]


class BuildDocument(TypedDict):
    """What a build of an index did: cffpy index build --json."""

    index: Annotated[str, "folder or URL of the index"]
    snapshot: Annotated[int, "number of the published state"]
    captures: Annotated[int, "captures in the index now"]
    decoded: Annotated[int, "captures that this build decoded"]
    failed: Annotated[int, "captures of these that could not be decoded"]
    damaged: Annotated[int, "captures of these that have problems"]
    resumed: Annotated[int, "captures that an earlier, unfinished build decoded"]
    unchanged: Annotated[int, "captures that are as they were"]
    removed: Annotated[int, "captures that are gone"]
    bytes: Annotated[int, "size of the decoded captures in bytes"]
    seconds: Annotated[float, "processor time of all tasks"]
    elapsed: Annotated[float, "wall-clock time in seconds"]
    problems: Annotated[list[list[str]], "inputs that could not be read, each with the reason"]
    failures: Annotated[list[list[str]], "captures that could not be decoded, with the reason"]
    notes: Annotated[list[str], "what else happened, in words"]


class IndexedValue(TypedDict):
    """A value of a register."""

    generation: _Generation
    register: _Register
    offset: Annotated[int, "offset of the register in dwords"]
    value: _Value
    decoded: _Decoded
    captures: _Captures
    draws: _Draws
    first_capture: _FirstCapture


class ValuesDocument(TypedDict):
    """Values of registers in an index: cffpy index values --json."""

    register: Annotated[str, "the name or pattern that was asked for"]
    values: Annotated[list[IndexedValue], "the values"]


class IndexedPlace(TypedDict):
    """A capture that has a program."""

    capture: Annotated[str, "the capture"]
    shader: Annotated[int, "number of the program in it"]
    uses: Annotated[int, "draws and dispatches that run it there"]


class IndexedProgram(TypedDict):
    """A program of an index."""

    digest: Annotated[Digest, "SHA-256 of its instructions"]
    stage: _Stage
    bytes: Annotated[int, "size in bytes"]
    instructions: _Instructions
    half: Annotated[int | None, "half registers"]
    full: _Full
    constlen: Annotated[int | None, "constants in vectors of 4 dwords"]
    ss: Annotated[int | None, "instructions with (ss)"]
    sy: Annotated[int | None, "instructions with (sy)"]
    captures: _Captures
    uses: Annotated[int, "draws and dispatches that run it, of all captures"]
    first_capture: _FirstCapture
    first_shader: Annotated[int, "number of the program in that capture"]
    listing: Annotated[str | None, "its instructions as text"]
    places: Annotated[list[IndexedPlace], "the first captures that have it"]


class ProgramsDocument(TypedDict):
    """Programs of an index and where they are used: cffpy index shader --json."""

    programs: Annotated[list[IndexedProgram], "the programs whose digest begins as asked"]


class ProcessCount(TypedDict):
    """Captures of a process."""

    process: Annotated[str | None, "name of the process"]
    captures: _Captures


class RareValue(TypedDict):
    """A value that one capture alone has, of a register with few values."""

    generation: _Generation
    register: _Register
    value: _Value
    decoded: _Decoded
    capture: Annotated[str, "the capture"]


class StagePrograms(TypedDict):
    """The programs of a stage."""

    stage: _Stage
    programs: Annotated[int, "how many there are"]
    uses: Annotated[int, "draws and dispatches that run them"]
    smallest: Annotated[float | None, "fewest instructions of a program"]
    median: Annotated[float | None, "median of their instructions"]
    largest: Annotated[float | None, "most instructions of a program"]
    full: Annotated[float | None, "most full registers of a program"]


class LargeProgram(TypedDict):
    """One of the programs with most instructions."""

    digest: Annotated[Digest, "SHA-256 of its instructions"]
    stage: _Stage
    instructions: _Instructions
    captures: _Captures
    uses: Annotated[int, "draws and dispatches that run it"]
    capture: _FirstCapture


_WithPass = TypedDict("_WithPass", {"pass": Annotated[int, "number of the pass"]})


class LargePass(_WithPass):
    """One of the passes with most draws."""

    capture: Annotated[str, "the capture"]
    mode: Annotated[str | None, "sysmem or gmem"]
    width: Annotated[int | None, "width of the framebuffer in pixels"]
    height: Annotated[int | None, "height of the framebuffer in pixels"]
    tiles: Annotated[int | None, "how many tiles are executed"]
    draws: Annotated[int, "draws of the program"]


class LintCount(TypedDict):
    """Findings of a lint."""

    lint: Annotated[str, "id of the lint"]
    name: Annotated[str, "name of the lint"]
    severity: Annotated[str, "error, warning or info"]
    findings: Annotated[int, "how many findings there are"]
    captures: Annotated[int, "how many captures have one"]


class StatsDocument(TypedDict):
    """Statistics of an index: cffpy index stats --json."""

    index: Annotated[str, "folder or URL of the index"]
    snapshot: Annotated[int, "number of the published state"]
    time: Annotated[str, "when it was published"]
    captures: Annotated[int, "captures in the index"]
    status: Annotated[dict[str, int], "captures by what became of them"]
    gpus: Annotated[dict[str, int], "captures by the name of their GPU"]
    drivers: Annotated[dict[str, int], "captures by their driver"]
    editions: Annotated[dict[str, int], "captures by the edition that they are decoded with"]
    bytes: Annotated[int, "size of all captures in bytes"]
    draws: Annotated[int, "draws of all captures"]
    partitions: Annotated[int, "files of the index"]
    registers: Annotated[int, "registers that have a value"]
    register_values: Annotated[int, "distinct values of all registers"]
    processes: Annotated[list[ProcessCount], "captures by process"]
    rare_values: Annotated[list[RareValue], "values that one capture alone has"]
    programs: Annotated[list[StagePrograms], "programs by stage"]
    largest_programs: Annotated[list[LargeProgram], "programs with most instructions"]
    largest_passes: Annotated[list[LargePass], "passes with most draws"]
    lints: Annotated[list[LintCount], "findings by lint"]


class NewValue(TypedDict):
    """A value that only the new index has."""

    generation: _Generation
    register: _Register
    value: _Value
    decoded: _Decoded
    captures: _Captures
    draws: _Draws
    first_capture: _FirstCapture


class NewFinding(_WithPass):
    """A finding that is new in a capture that both indexes have."""

    capture: Annotated[str, "the capture below its input"]
    full_name: Annotated[str, "the capture"]
    severity: Annotated[str, "error, warning or info"]
    lint: Annotated[str, "id of the lint"]
    draw: Annotated[str | None, "the draw by the name that commands take"]
    text: Annotated[str, "what is wrong"]
    count: Annotated[int, "how many places there are"]


class ComparedPrograms(TypedDict):
    """The programs of a stage in both indexes."""

    stage: _Stage
    old_programs: Annotated[int, "programs of the old index"]
    new_programs: Annotated[int, "programs of the new index"]
    only_new: Annotated[int, "programs that only the new index has"]
    only_old: Annotated[int, "programs that only the old index has"]
    old_instructions: Annotated[float | None, "median of the instructions in the old index"]
    new_instructions: Annotated[float | None, "median of the instructions in the new index"]
    old_full: Annotated[float | None, "most full registers in the old index"]
    new_full: Annotated[float | None, "most full registers in the new index"]


class CompareDocument(TypedDict):
    """What is new in the second of two indexes: cffpy index compare --json."""

    old: Annotated[str, "folder or URL of the old index"]
    new: Annotated[str, "folder or URL of the new index"]
    added: Annotated[list[str], "captures that only the new index has"]
    removed: Annotated[list[str], "captures that only the old index has"]
    status: Annotated[list[list[str]], "captures whose status changed, with the old and the new"]
    values: Annotated[list[NewValue], "values of registers that only the new index has"]
    findings: Annotated[list[NewFinding], "findings of lints that are new"]
    lints: Annotated[dict[str, list[int]], "old and new number of findings, by id of the lint"]
    programs: Annotated[list[ComparedPrograms], "programs by stage"]
