# SPDX-License-Identifier: MIT
"""The rows of the tables of a capture: one generator for each, which yields tuples.

Of Intel GPUs, ``registers`` and ``fields`` have instructions that set state: the last one of each
name stands where other GPUs have registers.
"""

from __future__ import annotations

from bisect import bisect_right
from itertools import compress
from typing import TYPE_CHECKING, Any, NamedTuple

from cffpy.analysis.pass_cost import costs_of_passes
from cffpy.frame.binding import CLASSES, DESCRIPTORS
from cffpy.frame.faces import row
from cffpy.intel.analysis.survey import pass_of
from cffpy.query.names import RegisterPlace
from cffpy.query.register_values import Cursor
from cffpy.regdb.registers import RegisterText
from cffpy.regdb.rows import offset_of
from cffpy.tables.schema import OF_ACTION, OF_BINDING, OF_DRAW, OF_SUMMARY, OF_WRITE, SCHEMA, TABLES

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Iterator

    from cffpy.analysis.inputs.bindings import Bindings
    from cffpy.analysis.lrz import PassLrz
    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.register_store.draws import DrawRegisters, WritePlace, WritePlaces
    from cffpy.analysis.shaders import ShaderCollector
    from cffpy.analysis.summary import CaptureSummary
    from cffpy.check.model import Finding
    from cffpy.frame.action import Action
    from cffpy.frame.barrier import Barrier
    from cffpy.frame.binding import Binding, BindingKind
    from cffpy.frame.faces import Column
    from cffpy.frame.gpu_query import GpuQuery
    from cffpy.frame.passes import Pass
    from cffpy.frame.render_mode import ModeChoice
    from cffpy.frame.stream_out import StreamOut
    from cffpy.frame.submit import Problem
    from cffpy.frame.visibility import PassVisibility
    from cffpy.intel.analysis.state_history import StateHistory
    from cffpy.regdb.database import Database
    from cffpy.tables.schema import Table

    Row = tuple[Any, ...]


class Decoded(NamedTuple):
    """What rows are made of. Each member is computed when a table needs it.

    ``intel_state``: of an Intel capture, in place of registers. ``truncate``: notes that rows were
    left out.
    """

    name: str
    digest: Callable[[], str]
    summary: Callable[[], CaptureSummary]
    finder: Callable[[], PassFinder]
    registers: Callable[[], DrawRegisters]
    intel_state: Callable[[], StateHistory] | None
    places: Callable[[], WritePlaces]
    database: Callable[[], Database | None]
    shaders: Callable[[], ShaderCollector]
    bindings: Callable[[], Bindings]
    visibility: Callable[[Pass], PassVisibility]
    lrz: Callable[[], list[PassLrz]]
    queries: Callable[[], list[GpuQuery]]
    stream_out: Callable[[], list[StreamOut]]
    barriers: Callable[[], list[Barrier]]
    mode_choices: Callable[[], Iterable[ModeChoice]]
    findings: Callable[[], list[Finding]]
    truncate: Callable[[str], None]
    problems: Callable[[], list[Problem]]


def captures(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for the file."""
    summary = decoded.summary()
    digest = [decoded.digest()] if table.has("digest") else []
    yield (decoded.name, *digest, SCHEMA, *_read(table, OF_SUMMARY, summary))


def _read(table: Table, columns: Iterable[Column], owner: object) -> list[Any]:
    """The values of those of an object's columns that the table has."""
    return [column.read(owner) for column in columns if table.has(column.name)]


def submits(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each submit."""
    for submit in decoded.summary().submits:
        yield (decoded.name, *row(submit, table.names))


def streams(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each command stream."""
    for stream in decoded.summary().streams:
        yield (decoded.name, *row(stream, table.names))


def buffers(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each buffer of a submit."""
    for submit in decoded.summary().submits:
        for buffer in submit.buffers:
            yield (decoded.name, *row(buffer, table.names))


def passes(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each pass."""
    for pass_ in decoded.finder().found.passes:
        yield (decoded.name, *row(pass_, table.names))


def waits(decoded: Decoded, table: Table) -> Iterator[Row]:
    """Waits of the pipes for each other."""
    for wait in decoded.finder().found.waits:
        yield (decoded.name, wait.pass_index, *row(wait, table.names))


def attachments(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each attachment of a pass."""
    for pass_ in decoded.finder().found.passes:
        for attachment in pass_.attachments:
            yield (decoded.name, pass_.index, *row(attachment, table.names))


def operations(decoded: Decoded, table: Table) -> Iterator[Row]:
    """Loads, clears and stores of passes."""
    for pass_ in decoded.finder().found.passes:
        for operation in pass_.operations:
            yield (decoded.name, pass_.index, *row(operation, table.names))


def tiles(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each tile of a pass."""
    for pass_ in decoded.finder().found.passes:
        for tile in pass_.tiles:
            yield (decoded.name, *row(tile, table.names))


def actions(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each action that is executed."""
    for action in decoded.finder().actions:
        yield (decoded.name, *row(action, table.names))


def draws(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each draw, dispatch and copy of the program."""
    for index, draw in enumerate(_program_draws(decoded)):
        yield (decoded.name, index, *row(draw, table.names))


def _program_draws(decoded: Decoded) -> Iterator[Action]:
    for pass_ in decoded.finder().found.passes:
        yield from pass_.draws


def targets(decoded: Decoded, table: Table) -> Iterator[Row]:
    """What the program's draws render to."""
    for draw in _program_draws(decoded):
        head = (decoded.name, *_read(table, OF_DRAW, draw))
        for target in draw.targets:
            yield (*head, *row(target, table.names))


def transfers(decoded: Decoded, table: Table) -> Iterator[Row]:
    """What actions copy, fill, clear, load and store."""
    for transfer in decoded.finder().found.transfers:
        head = (decoded.name, *_read(table, OF_ACTION, transfer))
        for moved in transfer.transfers:
            yield (*head, *row(moved, table.names))


class _Span(NamedTuple):
    """A value of a register and the draws, by index, between which it holds.

    ``order``: of the first of them, by ``Action.order``.
    """

    order: int
    first: int
    last: int
    value: int | None


def _registers(decoded: Decoded, text: RegisterText) -> Iterator[tuple[int, Iterator[_Span]]]:
    """All registers and their values; a value that is written again is one span."""
    drawn = decoded.registers()
    index_of = {draw.order: index for index, draw in enumerate(_program_draws(decoded))}
    for register in text.listed(drawn.all_registers()):
        upper = register + 1 if text.is_wide(register) else None
        cursor = Cursor(RegisterPlace(register, upper, False), int)
        cursor.attach(drawn)
        yield register, _spans(cursor, index_of)


def _spans(cursor: Cursor, index_of: dict[int, int]) -> Iterator[_Span]:
    first, start, held = None, 0, None
    for order, value in cursor.changes():
        index = index_of.get(order)
        if index is None or (first is not None and held == value):
            continue
        if first is not None:
            yield _Span(start, first, index - 1, held)
        first, start, held = index, order, value
    if first is not None:
        yield _Span(start, first, len(index_of) - 1, held)


#: Texts of a register's values that are kept.
_MAX_TEXTS = 1 << 12


def registers(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each value that a register has at draws."""
    made = [table.has(column.name) for column in TABLES["registers"].columns]
    rows = _register_rows if decoded.intel_state is None else _instruction_rows
    whole = rows(decoded, table)
    return whole if all(made) else (tuple(compress(row, made)) for row in whole)


#: In place of a text and a place that are not asked for.
_NO_TEXT = ""
_NO_PLACE: WritePlace | tuple[None, ...] = (None, None, None, None)


def _register_rows(decoded: Decoded, table: Table) -> Iterator[Row]:
    """Whole rows; what is costly is left out where the table does not have it."""
    database = decoded.database()
    if database is None:
        return
    has_text = table.has("decoded")
    text, drawn = RegisterText(database), decoded.registers()
    places = decoded.places() if any(map(table.has, OF_WRITE)) else None
    for register, spans in _registers(decoded, text):
        name, shown = text.name(register), _texts(text, register)
        orders, offset = drawn.changes(register)[0], offset_of(register)
        for order, first, last, value in spans:
            decoded_text = shown(value) if has_text else _NO_TEXT
            place = _NO_PLACE
            if places is not None:
                place = places.of(register, bisect_right(orders, order) - 1)
            yield decoded.name, name, offset, first, last, value, decoded_text, *place


def _instruction_rows(decoded: Decoded, table: Table) -> Iterator[Row]:
    """The same of an Intel capture."""
    assert decoded.intel_state is not None
    history, has_text = decoded.intel_state(), table.has("decoded")
    database = history.database
    if database is None:
        return
    for held, first, last in history.spans():
        offset = None if held.offset is None else held.offset // 4
        text = held.text(database) if has_text else _NO_TEXT
        command = held.command
        pass_ = pass_of(history.survey.passes, command)
        index = None if pass_ is None else pass_.index
        place = command.address, command.submit, index, None
        yield decoded.name, held.name, offset, first, last, held.value, text, *place


def _texts(text: RegisterText, register: int) -> Callable[[int | None], str]:
    """Decodes values of a register. Draws repeat them, so texts are kept."""
    decode = text.formatter(register)
    known: dict[int | None, str] = {None: "only the GPU knows"}

    def shown(value: int | None) -> str:
        text = known.get(value)
        if text is None:
            assert value is not None
            text = decode(value)
            if len(known) < _MAX_TEXTS:
                known[value] = text
        return text

    return shown


def fields(decoded: Decoded, table: Table) -> Iterator[Row]:
    """Fields of registers at draws."""
    if decoded.intel_state is not None:
        yield from _instruction_fields(decoded.name, decoded.intel_state(), table)
        return
    database = decoded.database()
    if database is None:
        return
    text = RegisterText(database)
    for register, spans in _registers(decoded, text):
        name = text.name(register)
        for _, first, last, value in spans:
            if value is None:
                continue
            for field in text.field_values(register, _dwords(register, value)):
                yield (decoded.name, name, first, last, *row(field, table.names))


def _instruction_fields(name: str, history: StateHistory, table: Table) -> Iterator[Row]:
    """The same of an Intel capture."""
    database = history.database
    if database is None:
        return
    for held, first, last in history.spans():
        for field in held.fields(database):
            yield (name, held.name, first, last, *row(field, table.names))


def _dwords(register: int, value: int) -> dict[int, int]:
    return {register: value & 0xFFFFFFFF, register + 1: value >> 32}


#: Rows of a capture.
_MAX_BINDINGS = 1 << 22


def _bindings(decoded: Decoded, kinds: Collection[BindingKind]) -> Iterator[tuple[Row, Binding]]:
    """The first columns of each change of a binding, up to ``last_draw``, and the binding."""
    if decoded.intel_state is None and decoded.database() is None:
        return
    index_of = {draw.order: index for index, draw in enumerate(_program_draws(decoded))}
    bindings = decoded.bindings()
    for number, span in enumerate(bindings.spans(kinds)):
        if number >= _MAX_BINDINGS:
            decoded.truncate(f"only the first {_MAX_BINDINGS:,} descriptors are in the table")
            return
        yield (decoded.name, index_of[span.first], index_of[span.last]), span.binding
    if bindings.left_out:
        text = f"some of {bindings.left_out:,} draws are not in the table"
        decoded.truncate(f"too many descriptors: {text}")


def descriptors(decoded: Decoded, table: Table) -> Iterator[Row]:
    """Descriptors that draws have bound; of bindless sets, descriptors that they use."""
    for head, descriptor in _bindings(decoded, DESCRIPTORS):
        yield (*head, *row(descriptor, table.names))


def descriptor_fields(decoded: Decoded, table: Table) -> Iterator[Row]:
    """Fields of the descriptors of ``descriptors``."""
    for head, descriptor in _bindings(decoded, DESCRIPTORS):
        where = _read(table, OF_BINDING, descriptor)
        for field in descriptor.fields.values():
            yield (*head, *where, *row(field, table.names))


def data_buffers(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each buffer that draws read data of."""
    for head, buffer in _bindings(decoded, [*CLASSES.keys() - {*DESCRIPTORS}]):
        yield (*head, *row(buffer, table.names))


def pipes(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each VSC pipe of a pass."""
    for pass_ in decoded.finder().found.passes:
        for pipe in decoded.visibility(pass_).pipes:
            yield (decoded.name, pass_.index, *row(pipe, table.names))


def bins(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each bin of a pipe."""
    for pass_ in decoded.finder().found.passes:
        for pipe in decoded.visibility(pass_).pipes:
            for bin_ in pipe.bins:
                yield (decoded.name, pass_.index, pipe.pipe.number, *row(bin_, table.names))


def visible_draws(decoded: Decoded, table: Table) -> Iterator[Row]:
    """Draws that are visible in tiles."""
    for pass_ in decoded.finder().found.passes:
        for tile in decoded.visibility(pass_).tiles:
            for draw in tile.draws:
                yield (decoded.name, pass_.index, tile.tile.number, *row(draw, table.names))


def shaders(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each distinct program."""
    for shader in decoded.shaders().shaders:
        listing = [shader.listing] if table.has("listing") else []
        yield (decoded.name, *row(shader, table.names), *listing)


def shader_draws(decoded: Decoded, _table: Table) -> Iterator[Row]:
    """Which draws run a program."""
    for number, shader in enumerate(decoded.shaders().shaders):
        for used in shader.where:
            for first, last in used.ranges:
                yield decoded.name, number, first, last


def lrz(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each draw: its use of LRZ."""
    for pass_lrz in decoded.lrz():
        for draw in pass_lrz.draws:
            yield (decoded.name, pass_lrz.pass_.index, *row(draw, table.names))


def queries(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each query of the driver."""
    for query in decoded.queries():
        yield (decoded.name, *row(query, table.names))


def query_counters(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each counter of a query."""
    for query in decoded.queries():
        for counter in query.counters:
            yield (decoded.name, query.number, *row(counter, table.names))


def query_draws(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each range of draws that a query counts."""
    for query in decoded.queries():
        for draws_of_pass in query.draws:
            yield (decoded.name, query.number, *row(draws_of_pass, table.names))


def stream_outputs(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each output that stream-out writes of a draw."""
    for written in decoded.stream_out():
        head = decoded.name, written.action.pass_index, written.action.number
        for output in written.outputs:
            yield (*head, *row(output, table.names))


def stream_out_buffers(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each buffer that a draw writes."""
    for written in decoded.stream_out():
        head = decoded.name, written.action.pass_index, written.action.number
        for buffer in written.buffers:
            yield (*head, *row(buffer, table.names))


def pass_costs(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each pass: the bytes that it moves."""
    for cost in costs_of_passes(decoded.finder().found):
        yield (decoded.name, *row(cost, table.names))


def barriers(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each barrier."""
    for barrier in decoded.barriers():
        yield (decoded.name, *row(barrier, table.names))


def mode_choices(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each render pass: why it is in its mode."""
    for choice in decoded.mode_choices():
        yield (decoded.name, *row(choice, table.names))


def findings(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each finding of a lint."""
    for finding in decoded.findings():
        yield (decoded.name, *row(finding, table.names))


def problems(decoded: Decoded, table: Table) -> Iterator[Row]:
    """A row for each damage, truncation and warning."""
    for problem in decoded.problems():
        yield (decoded.name, *row(problem, table.names))


def packet_row(line: str) -> Row:
    """A row of ``packets`` of a line of ``tables.lines`` without its end."""
    file, submit, level, gpuaddr, pipe, pass_index, draw, *rest = line.split("\t")
    return (
        file,
        _number(submit),
        _number(level),
        int(gpuaddr, 16),
        pipe or None,
        _number(pass_index),
        _number(draw),
        *rest,
    )


def _number(text: str) -> int | None:
    return int(text) if text else None


#: Table -> its rows; ``packets`` is made of lines.
ROWS: dict[str, Callable[[Decoded, Table], Iterator[Row]]] = {
    "captures": captures,
    "submits": submits,
    "streams": streams,
    "buffers": buffers,
    "passes": passes,
    "waits": waits,
    "attachments": attachments,
    "operations": operations,
    "tiles": tiles,
    "actions": actions,
    "draws": draws,
    "targets": targets,
    "transfers": transfers,
    "registers": registers,
    "fields": fields,
    "descriptors": descriptors,
    "descriptor_fields": descriptor_fields,
    "data_buffers": data_buffers,
    "shaders": shaders,
    "shader_draws": shader_draws,
    "pipes": pipes,
    "bins": bins,
    "visible_draws": visible_draws,
    "lrz": lrz,
    "queries": queries,
    "query_counters": query_counters,
    "query_draws": query_draws,
    "stream_outputs": stream_outputs,
    "stream_out_buffers": stream_out_buffers,
    "barriers": barriers,
    "mode_choices": mode_choices,
    "pass_costs": pass_costs,
    "findings": findings,
    "problems": problems,
}
