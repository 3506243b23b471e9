# SPDX-License-Identifier: MIT
"""Text -> capture: runs the statements in order, then fills in the values of labels.

What refers to a label that comes later is built twice: first with 0, for its size, and at the end
with the label's place. A unit without labels is built once, however often it is there.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import BinaryIO

from cffpy.capture.gpu import Gpu, guess, parse_gpu
from cffpy.container.writer import dwords_bytes
from cffpy.errors import AssemblyError, CffpyError, UnsupportedGpu
from cffpy.pm4asm.contents import ProgramProblem, Programs, is_row, row_bytes
from cffpy.pm4asm.fields import Vocabulary
from cffpy.pm4asm.model import Call, Line, SourceProblem, Statement
from cffpy.pm4asm.packets import Builder, is_packet
from cffpy.pm4asm.read import parse_line, read_line
from cffpy.pm4asm.sections import Image, Sections
from cffpy.pm4asm.values import label_value, nearest
from cffpy.regdb.database import Database

#: Longest line, in bytes.
LONGEST_LINE = 1 << 18
#: Lines of a unit at most: more than the longest packet has dwords.
_LONGEST_UNIT = 1 << 15
#: Units, and lines, that are remembered. Most texts repeat the same few thousand.
_MEMO = 1 << 14
#: Longest unit that the memo keeps, in characters.
_MEMO_UNIT = 4096
#: Characters of a line that an error shows.
_LONGEST_SHOWN = 200


class _Pending:
    """A unit that uses a label before its definition: where its dwords are, to be built again."""

    __slots__ = ("lines", "offset", "size", "vocabulary")

    def __init__(
        self, lines: Sequence[Line], offset: int, size: int, vocabulary: Vocabulary | None
    ) -> None:
        self.lines = lines
        self.offset = offset
        self.size = size
        self.vocabulary = vocabulary


def assemble(
    stream: BinaryIO, file: str, register_db: str | None = None, limit: int = 4 << 30
) -> bytearray:
    """The capture's bytes, not compressed. Raises AssemblyError with file, line and column.

    ``limit``: bytes of the capture at most.
    """
    return _Assembly(file, register_db, limit).run(stream)


class _Assembly:
    def __init__(self, file: str, register_db: str | None, limit: int) -> None:
        self._file = file
        self._register_db = register_db
        self._image = Image(limit)
        self._sections = Sections(self._image, self._resolve)
        self._vocabularies: dict[str, tuple[Vocabulary, Builder, dict[str, bytes]]] = {}
        self._vocabulary: Vocabulary | None = None
        self._builder: Builder | None = None
        self._memo: dict[str, bytes] = {}
        self._parsed: dict[str, Statement] = {}
        self._programs: dict[int, Programs] = {}
        self._gpu_is_given = False
        self._ids = [0, 0]
        #: Whether the unit asked for a label, for one that is not known, and whether that is an
        #: error.
        self._waits = self._asked = False
        self._is_final = False
        self._pending: list[_Pending] = []
        self._line = Line(1, "")

    def run(self, stream: BinaryIO) -> bytearray:
        lines = read_lines(stream, self._file)
        try:
            self._run(lines)
            self._image.finish()
            self._is_final = True
            for pending in self._pending:
                self._fill_in(pending)
        except ProgramProblem as problem:
            raise self._error(str(problem), problem.line, problem.column) from None
        except SourceProblem as problem:
            raise self._error(str(problem), self._line, problem.column) from None
        return self._image.output

    def _error(self, message: str, line: Line, column: int) -> AssemblyError:
        column = max(column, 1)
        if len(line.text) <= _LONGEST_SHOWN:
            message = f"{message}\n{line.text}\n{' ' * (column - 1)}^"
        return AssemblyError(message, self._file, line.number, column + line.indent)

    # -- first pass -------------------------------------------------------------------------

    def _run(self, lines: Iterator[Line]) -> None:
        image = self._image
        for unit in units(lines, self._file):
            self._line = unit[0]
            text = self._line.text
            if image.program is not None:
                self._program_line(unit)
                continue
            if is_row(text):
                image.add(row_bytes(text))
                if len(unit) > 1:
                    raise SourceProblem("+ belongs to packets, and this is data", 1)
                continue
            key = text if len(unit) == 1 else "\n".join([line.text for line in unit])
            known = self._memo.get(key)
            if known is not None:
                image.add(known)
                continue
            self._unit(unit, key)

    def _program_line(self, unit: Sequence[Line]) -> None:
        image = self._image
        assert image.program is not None
        if unit[0].text != "}":
            if len(unit) > 1:
                raise SourceProblem("a program has no continued line", 1)
            image.program.append(unit[0])
            return
        vocabulary, _ = self._names()
        generation = vocabulary.gpu.generation
        if vocabulary.gpu.facts.instruction_set != "ir3":
            raise SourceProblem("ir3 starts with a3xx: write the program as data", 1)
        programs = self._programs.get(generation)
        if programs is None:
            programs = self._programs[generation] = Programs(generation, self._isa(generation))
        image.add(programs.build(image.program))
        image.close()

    def _isa(self, generation: int) -> str | None:
        from cffpy.pm4.descriptions import instruction_edition

        return instruction_edition(self._register_db, generation)

    def _unit(self, unit: Sequence[Line], key: str) -> None:
        statements = self._statements(unit)
        head = statements[0]
        if head.kind == "gpu":
            self._gpu(head)
        elif is_packet(head.kind):
            self._packet(unit, statements, key)
        elif len(unit) > 1:
            self._line = unit[1]
            raise SourceProblem("nothing to go on with: + belongs to packets", 1)
        else:
            image = self._image
            offset = len(image.output)
            self._waits = False
            self._sections.run(head)
            if self._waits:
                self._wait(unit, offset, len(image.output) - offset)
            if head.kind in ("gpu_id", "chip_id"):
                self._identified(head)

    def _statements(self, unit: Sequence[Line]) -> list[Statement]:
        statements = []
        for line in unit:
            text = line.text
            statement = self._parsed.get(text)
            if statement is None:
                self._line = line
                if text[0] == "+" and is_row(text[1:].lstrip()):  # needs no grammar
                    statements.append(Statement("more_row", (text[1:],)))
                    continue
                statement = read_line(text)
                if statement is None:
                    statement = parse_line(text, self._file, line.number, line.indent)
                    if len(self._parsed) >= _MEMO:
                        self._parsed.clear()
                    if len(text) <= _MEMO_UNIT:
                        self._parsed[text] = statement
            statements.append(statement)
        self._line = unit[0]
        return statements

    def _packet(self, unit: Sequence[Line], statements: Sequence[Statement], key: str) -> None:
        image = self._image
        image.check_content()
        self._waits = False
        data = self._build(unit, statements)
        offset = len(image.output)
        image.add(data)
        if self._waits:
            self._wait(unit, offset, len(data))
        elif len(key) <= _MEMO_UNIT and not self._asked:
            if len(self._memo) >= _MEMO:
                self._memo.clear()
            self._memo[key] = data

    def _build(self, unit: Sequence[Line], statements: Sequence[Statement]) -> bytes:
        _, builder = self._names()
        self._asked = False
        try:
            return dwords_bytes(builder.build(statements[0], statements[1:], self._resolve))
        except SourceProblem:
            self._line = unit[min(builder.row, len(unit) - 1)]
            raise

    def _wait(self, unit: Sequence[Line], offset: int, size: int) -> None:
        self._pending.append(_Pending(list(unit), offset, size, self._vocabulary))

    # -- second pass ------------------------------------------------------------------------

    def _fill_in(self, pending: _Pending) -> None:
        statements = self._statements(pending.lines)
        if is_packet(statements[0].kind):
            assert pending.vocabulary is not None
            self._set_vocabulary(pending.vocabulary.gpu)
            data = self._build(pending.lines, statements)
        else:
            data = self._sections.stream_section(statements[0])
        assert len(data) == pending.size
        self._image.output[pending.offset : pending.offset + pending.size] = data

    # -- names ------------------------------------------------------------------------------

    def _resolve(self, call: Call) -> int:
        if call.function == "reg":
            return self._names()[0].register_of(call)
        self._asked = True
        label = self._image.labels.get(call.name)
        if label is not None and (label.is_complete or call.function != "sizeof"):
            return label_value(call, label.address, label.dwords)
        if self._is_final:
            near = nearest(call.name, self._image.labels)
            raise SourceProblem(f"no label {call.name}{near}", call.column)
        self._waits = True
        return 0

    def _names(self) -> tuple[Vocabulary, Builder]:
        if self._vocabulary is None or self._builder is None:
            raise SourceProblem("say first which GPU this is for, such as: gpu a6xx", 1)
        return self._vocabulary, self._builder

    def _gpu(self, head: Statement) -> None:
        try:
            gpu = parse_gpu(str(head.parts[0]))
        except UnsupportedGpu as problem:
            raise SourceProblem(str(problem), getattr(head.parts[0], "column", 1)) from None
        self._use(gpu, is_given=True)

    def _identified(self, head: Statement) -> None:
        number = head.parts[0]
        value = int(getattr(number, "integer", 0))
        self._ids[head.kind == "chip_id"] = value
        if not self._gpu_is_given:
            gpu = guess(*self._ids)
            if gpu is not None:
                self._use(gpu, is_given=False)

    def _use(self, gpu: Gpu, is_given: bool) -> None:
        self._gpu_is_given = self._gpu_is_given or is_given
        self._set_vocabulary(gpu)

    def _set_vocabulary(self, gpu: Gpu) -> None:
        known = self._vocabularies.get(gpu.chip)
        if known is None:
            try:
                database = Database.open(gpu.chip, self._register_db)
            except CffpyError as problem:
                raise SourceProblem(str(problem), 1) from None
            vocabulary = Vocabulary(gpu, database)
            known = self._vocabularies[gpu.chip] = (vocabulary, Builder(vocabulary), {})
        self._vocabulary, self._builder, self._memo = known


def read_lines(stream: BinaryIO, file: str) -> Iterator[Line]:
    """The lines that are not empty. Raises AssemblyError for one too long, or no UTF-8."""
    number = 0
    while line := stream.readline(LONGEST_LINE + 1):
        number += 1
        if len(line) > LONGEST_LINE and not line.endswith(b"\n"):
            raise AssemblyError(f"a line of more than {LONGEST_LINE} bytes", file, number, 1)
        try:
            whole = line.decode("utf-8").rstrip()
        except UnicodeDecodeError as problem:
            raise AssemblyError("not UTF-8 text", file, number, problem.start + 1) from None
        text = whole.lstrip()
        indent = len(whole) - len(text)
        if "//" in text and '"' not in text:
            text = text.partition("//")[0].rstrip()
        if text and not text.startswith("//"):
            yield Line(number, text, indent)


def units(lines: Iterator[Line], file: str) -> Iterator[list[Line]]:
    """The statements, each with its continuation lines."""
    unit: list[Line] = []
    for line in lines:
        if line.text[0] == "+":
            if not unit:
                raise AssemblyError("nothing to go on with", file, line.number, 1 + line.indent)
            if len(unit) >= _LONGEST_UNIT:
                raise AssemblyError(
                    "too many lines that begin with +", file, line.number, 1 + line.indent
                )
            unit.append(line)
            continue
        if unit:
            yield unit
        unit = [line]
    if unit:
        yield unit
