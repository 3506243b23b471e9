# SPDX-License-Identifier: MIT
"""Runs a Lua script beside a dump (-L). lupa is imported here only.

cffdump: script.c (mesa 25.0.7). What scripts see is in script_objects.lua; the functions here give
it registers, buffers and descriptions. Strings are bytes, as latin-1.
"""

from __future__ import annotations

import os

from cffpy.errors import ScriptError
from cffpy.regdb.database import Database
from cffpy.regdb.decode import Decoder
from cffpy.views.cffdump.output import argument_text
from cffpy.views.cffdump.quirks import COLOURS, reference_fields, reference_half
from cffpy.views.cffdump.script_elements import DeclaredElements

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from typing import Any

    from cffpy.capture.memory import Words
    from cffpy.cp.machine import Machine

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
            found = decoder.database.lookup(domain, offset, decoder.variants)
            value = read(offset)
            if found is None or found.type is None:
                return f"{value:08x}"
            return decoder.formatter(found.type).text(value)

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
        found = decoder.register(register)
        if found is None or found.type is None:
            return f"{value:08x}"
        return decoder.formatter(found.type).text(value)

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
