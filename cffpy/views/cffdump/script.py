# SPDX-License-Identifier: MIT
"""The dump with a Lua script (-L): calls the script's functions and prints nothing itself.

cffdump: script.c, rnnutil.c, and script_draw, script_packet and similar, where cffdec.c and
cffdump.c call them (mesa 25.0.7). What scripts see is in script_objects.lua; the functions here
give it registers, buffers and descriptions. Elements, fields and enum values are looked up in the
order of declaration, and all conditions are passed over, also conditions on the chip.

Strings are bytes, as latin-1. lupa is imported here only.
"""

from __future__ import annotations

import os

from cffpy.cp.loadstate import LOAD_STATE_PACKETS
from cffpy.errors import ScriptError
from cffpy.pm4.deviations import PACKET_DOMAINS
from cffpy.regdb import rows
from cffpy.regdb.database import Database
from cffpy.regdb.decode import Decoder
from cffpy.views.cffdump.details import cp_load_state_of_script
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.output import Output, argument_text
from cffpy.views.cffdump.quirks import COLOURS, reference_fields, reference_half
from cffpy.views.cffdump.text import CffdumpSink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping
    from typing import Any

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.capture.memory import Words
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Draw
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.rows import ElementRow, TypeRow, ValueRow
    from cffpy.views.cffdump.options import DumpOptions

    #: A table of the Lua runtime.
    Table = Any

#: The kind of a value as script_objects.lua names it; other types are objects.
_PLAIN = {
    rows.ENUM: "enum",
    rows.INLINE_ENUM: "enum",
    rows.HEX: "integer",
    rows.INT: "integer",
    rows.UINT: "integer",
    rows.FLOAT: "float",
    rows.BOOLEAN: "boolean",
}

#: The reference's numbers of types that are neither plain nor bitsets (enum rnnttype).
_NUMBERS = {rows.FIXED: 11, rows.UFIXED: 12, rows.REGID: 13}


class DeclaredElements:
    """The elements that a root file ("a6xx") and its imports declare."""

    def __init__(self, lua: Any, declared: Database) -> None:  # noqa: ANN401
        """``lua``: the runtime that the tables are for. ``declared``: ``Database.declared``."""
        self._lua = lua
        self._database = declared
        self._enums: dict[str, Table] = {}
        self._packets: dict[str, Table | None] = {}

    def register(self, name: str) -> Table | None:
        """The first element of the register domains with this name, as a table."""
        for domain in self._database.register_domains:
            for row in self._elements(domain):
                if row[1] == name:
                    return self._element(row)
        return None

    def packet(self, domain: str) -> Table | None:
        """Offset -> table of the first element there, of a packet's or structure's domain."""
        if domain not in self._packets:
            self._packets[domain] = self._of_domain(domain)
        return self._packets[domain]

    def _of_domain(self, domain: str) -> Table | None:
        if self._database.domain(domain) is None:
            return None
        first: dict[int, Table] = {}
        for row in self._elements(domain):
            offset = _offset(row)
            if offset not in first:
                first[offset] = self._element(row)
        return self._lua.table_from(first)

    def _elements(self, domain: str) -> Iterable[ElementRow]:
        return (self._database.domain(domain) or ((), None))[0]

    def _element(self, row: ElementRow) -> Table:
        if row[0] == rows.STRIPE:
            return self._lua.table(kind="stripe", offset=_offset(row))
        if row[0] == rows.ARRAY:
            return self._array(row)
        kind: TypeRow = row[7]
        element = self._lua.table(
            kind=_PLAIN.get(kind[0], "object"),
            offset=row[3],
            wide=row[6] == 2,
            shr=kind[4],
            number=_NUMBERS.get(kind[0], 0),
        )
        if kind[0] in rows.BITSETS:
            element.fields = self._lua.table_from(dict(self._fields(kind)))
        elif kind[0] in (rows.ENUM, rows.INLINE_ENUM):
            element.names = self._names(kind)
        return element

    def _array(self, row: ElementRow) -> Table:
        inside = row[7]
        array = self._lua.table(kind="array", offset=_offset(row), stride=row[5])
        if len(inside) == 1:
            array.single = self._element(inside[0])
        else:
            elements = {element[1]: self._element(element) for element in reversed(inside)}
            elements.pop(None, None)
            array.elements = self._lua.table_from(elements)
        return array

    def _fields(self, kind: TypeRow) -> Iterator[tuple[str, Table]]:
        for name, _, field in reversed(kind[7]):  # the first of a name counts
            low, high = field[2], field[3]
            made = self._lua.table(
                kind=_PLAIN.get(field[0], "object"),
                mask=(2 << min(high, 31)) - (1 << low) if low < 32 else 0,
                low=low,
                shr=field[4],
            )
            if field[0] in (rows.ENUM, rows.INLINE_ENUM):
                made.names = self._names(field)
            yield name, made

    def _names(self, kind: TypeRow) -> Table:
        """Number -> name of an enum's values; numbers are signed, of 64 bits."""
        if kind[0] == rows.INLINE_ENUM:
            return self._lua.table_from(_by_number(kind[7]))
        table = self._enums.get(kind[7])
        if table is None:
            table = self._lua.table_from(_by_number(self._database.enum(kind[7])))
            self._enums[kind[7]] = table
        return table


def _offset(row: ElementRow) -> int:
    offset = row[3]
    return offset[0] if isinstance(offset, tuple) else int(offset)


def _by_number(values: Iterable[ValueRow]) -> dict[int, str]:
    names: dict[int, str] = {}
    for name, number, _ in values:
        if number is not None:
            names.setdefault(number - (1 << 64) if number >> 63 else number, name)
    return names


_OBJECTS = os.path.join(os.path.dirname(__file__), "script_objects.lua")

_MISSING = "scripts need the package lupa: pip install 'cffpy[lua]'"

#: What the reference looks for in the name that rnn.init is given, in this order.
_GENERATIONS = ("a2", "a3", "a4", "a5", "a6", "a7")

_NO_DWORD = 0xFFFFFFFF


class Script:
    """A script that was loaded and run; ``call`` and ``packet`` call its functions."""

    def __init__(self, path: str, register_db: str | None, complain: Callable[[str], None]) -> None:
        """Raises ScriptError where lupa is missing or the script fails.

        ``register_db``: directory of another edition.
        """
        self._register_db = register_db
        self._complain = complain
        self._machine: Machine | None = None
        self._last_values: Callable[[], Mapping[int, int]] = dict
        self._decoders: dict[str, Decoder] = {}
        self._declared: dict[str, DeclaredElements] = {}
        self._failure: BaseException | None = None
        self._lua = _runtime()
        with open(_OBJECTS, encoding="ascii") as opened:
            source = opened.read()
        functions = {name: self._guarded(function) for name, function in self._functions().items()}
        self._exported = self._lua.execute(source, self._lua.table_from(functions))
        self._call, self._has = self._exported.call, self._exported.has
        self._check(self._exported.load(argument_text(path)))

    def attach(self, machine: Machine, last_values: Callable[[], Mapping[int, int]]) -> None:
        """The machine whose registers and memory the script reads, and values of summaries."""
        self._machine = machine
        self._last_values = last_values

    def call(self, name: str, *arguments: object) -> None:
        """Call a global function of the script, if there is one. Raises ScriptError."""
        self._check(self._call(name, *arguments))

    def packet(
        self,
        domain: str,
        decoder: Decoder,
        words: Words,
        index: int,
        count: int,
    ) -> None:
        """Call the function that is named as the domain, if there is one. Raises ScriptError.

        The packet or structure has ``count`` dwords from ``index`` on.
        """
        if not self._has(domain):
            return
        elements = self._elements(decoder.database).packet(domain)
        if elements is None:
            return

        def read(offset: int) -> int:
            if not count:
                # cffdump: rnn_val takes a packet without dwords for the registers (mesa 25.0.7)
                return self._value(offset)
            return words.get(index + offset) if offset < count else _NO_DWORD

        def text(offset: int) -> str:
            element = decoder.database.lookup(domain, offset, decoder.variants)
            value = read(offset)
            if element is None or element.type is None:
                return f"{value:08x}"
            return decoder.formatter(element.type).text(value)

        guarded = self._guarded
        self._check(self._exported.packet(domain, count, elements, guarded(read), guarded(text)))

    def flush(self) -> None:
        """Write what the script printed. Raises BrokenPipeError where the reader is gone."""
        if not self._exported.flush():
            raise BrokenPipeError

    # -- functions for script_objects.lua ---------------------------------------------------

    def _functions(self) -> dict[str, Callable[..., object]]:
        return {
            "open": self._open,
            "register_element": self._register_element,
            "register_name": lambda chip, register: self._decoders[chip].register_name(register),
            "register_text": self._register_text,
            "enum_name": self._enum_name,
            "value": self._value,
            "was_written": self._was_written,
            "last_value": lambda register: self._last_values().get(register, 0),
            "copy_registers": self._copy_registers,
            "buffer_base": self._buffer_base,
            "buffer_rest": self._buffer_rest,
            "check_signals": lambda *_: None,
        }

    def _open(self, name: str) -> str | None:
        for generation in _GENERATIONS:
            if generation in name:
                chip = f"{generation.upper()}XX"
                if chip not in self._decoders:
                    database = Database.open(chip, self._register_db)
                    decoder = Decoder(database, COLOURS, reference_fields, reference_half)
                    self._decoders[chip] = decoder
                return chip
        return None

    def _elements(self, database: Database) -> DeclaredElements:
        root = database.register_domains[0].lower()
        declared = self._declared.get(root)
        if declared is None:
            declared = DeclaredElements(self._lua, database.declared())
            self._declared[root] = declared
        return declared

    def _register_element(self, chip: str, name: str) -> object:
        return self._elements(self._decoders[chip].database).register(name)

    def _register_text(self, chip: str, register: int, value: int) -> str:
        decoder = self._decoders[chip]
        element = decoder.register(register)
        if element is None or element.type is None:
            return f"{value:08x}"
        return decoder.formatter(element.type).text(value)

    def _enum_name(self, chip: str, enum: str, number: int) -> str | None:
        decoder = self._decoders[chip]
        if enum not in decoder.database.enum_names():
            self._complain(f"no enum '{enum}'")
        return decoder.enum_name(enum, number)

    def _value(self, register: int) -> int:
        return 0 if self._machine is None else self._machine.state.value(register)

    def _was_written(self, register: int) -> bool:
        return self._machine is not None and self._machine.state.was_written(register)

    def _copy_registers(self) -> tuple[object, object, object]:
        """Registers' values, values at the last summary, and which were written, as tables."""
        table = self._lua.table_from
        if self._machine is None:
            return table({}), table({}), table({})
        state = self._machine.state
        written = state.rewritten | state.written_before
        return (
            table(state.registers),
            table(dict(self._last_values())),
            table(dict.fromkeys(written, True)),
        )

    def _buffer_base(self, address: int) -> int:
        buffer = None if self._machine is None else self._machine.image.find(address)
        return 0 if buffer is None else buffer.gpuaddr

    def _buffer_rest(self, address: int) -> int:
        if self._machine is None:
            return 0
        return self._machine.image.remaining(address) & 0xFFFFFFFF

    # -- errors -----------------------------------------------------------------------------

    def _guarded(self, function: Callable[..., object]) -> Callable[..., object]:
        """The function; an exception is kept, since Lua replaces it by an error."""

        def call(*arguments: object) -> object:
            try:
                return function(*arguments)
            except BaseException as problem:
                self._failure = self._failure or problem
                raise

        return call

    def _check(self, message: str | None) -> None:
        """Raise what went wrong in a call that returned ``message``."""
        if self._failure is not None:
            raise self._failure
        if message is not None:
            self.flush()
            raise ScriptError(os.fsdecode(message.encode("latin-1")))


def _runtime() -> Any:  # noqa: ANN401  (lupa has no types)
    """A Lua 5.4, the reference's version. Modules written in C can be loaded."""
    try:
        import lupa

        with lupa.allow_lua_module_loading():
            from lupa.lua54 import LuaRuntime
    except ImportError:
        raise ScriptError(_MISSING) from None
    return LuaRuntime(
        encoding="latin-1",
        unpack_returned_tuples=True,
        register_eval=False,
        register_builtins=False,
    )


class ScriptedSink(CffdumpSink):
    """The text view of a dump with ``script``."""

    uses_segments = False

    def __init__(
        self,
        script: Script,
        options: DumpOptions,
        output: Output,
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> None:
        super().__init__(options, output, complain, register_db)
        self._script = script
        self._domains: list[str | None] = []
        self._runs_submit = False

    def attach(self, machine: Machine) -> None:
        super().attach(machine)
        self._script.attach(machine, self.last_values)

    def bind(self, gpu: Gpu, database: Database) -> None:
        super().bind(gpu, database)
        names = self.machine.packet_labels
        self._domains = [name and PACKET_DOMAINS.get(name, name) for name in names]
        for opcode, name in enumerate(names):
            if name in LOAD_STATE_PACKETS:
                self._details[opcode] = cp_load_state_of_script

    def submit(self, submit: CommandStream) -> None:
        super().submit(submit)
        self._runs_submit = True
        self.call("start_submit")

    def command_stream_done(self, record: CommandStream) -> None:
        if self._runs_submit:
            self._runs_submit = False
            self.call("end_submit")
        super().command_stream_done(record)

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        domain = self._domains[opcode]
        if domain:
            self._pass_structure(domain, payload.words, payload.index, payload.count)
        super().packet(opcode, payload, level)

    def fields(self, domain: str, words: Words, index: int, count: int, level: int) -> None:
        self._pass_structure(domain, words, index, count)
        super().fields(domain, words, index, count, level)

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        self.call("draw", draw.label, float(draw.num_indices))
        super().draw(draw, payload, level)

    def call(self, name: str, *arguments: object) -> None:
        """Call a function of the script. What was printed before is written first."""
        self.output.flush()
        self._script.call(name, *arguments)

    def _pass_structure(self, domain: str, words: Words, index: int, count: int) -> None:
        self.output.flush()
        self._script.packet(domain, self.decoder, words, index, count)


class ScriptedDump(Dump):
    """Runs a script over captures; ``options.script`` is its path."""

    _view: ScriptedSink

    def begin(self, name: str) -> None:
        super().begin(name)
        self._view.call("start_cmdstream", argument_text(name))

    def finish(self) -> None:
        self._view.call("finish")
        self._script.flush()

    def _end_records(self) -> None:
        self._view.call("end_cmdstream")

    def _make_view(
        self,
        options: DumpOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> ScriptedSink:
        assert options.script is not None
        self._script = script = Script(options.script, register_db, complain)

        def write_behind_script(data: bytes) -> None:
            script.flush()
            write(data)

        return ScriptedSink(script, options, Output(write_behind_script), complain, register_db)
