# SPDX-License-Identifier: MIT
"""The options of the reference, as one record."""

from __future__ import annotations

from cffpy.value_object import ValueObject

#: Query modes: which draws a query prints.
QUERY_ALL, QUERY_WRITTEN, QUERY_DELTA = range(3)

#: An index after any submit.
LAST_SUBMIT = 0x7FFFFFF


class DumpOptions(ValueObject):
    """What to print. Field names follow the command line options."""

    __slots__ = (
        "allregs",
        "bindless",
        "color",
        "draw",
        "dump_shaders",
        "end",
        "exe",
        "once",
        "query",
        "query_compare",
        "query_mode",
        "query_renamed",
        "script",
        "show_compositor",
        "start",
        "summary",
        "textures",
        "unit_test",
    )

    def __init__(
        self,
        summary: bool = False,
        allregs: bool = False,
        start: int = 0,
        end: int = LAST_SUBMIT,
        draw: int | None = None,
        exe: str | None = None,
        query: tuple[str, ...] = (),
        query_mode: int = QUERY_ALL,
        query_compare: bool = False,
        query_renamed: bool = False,
        once: bool = False,
        textures: bool = False,
        bindless: bool = False,
        dump_shaders: bool = False,
        show_compositor: bool = False,
        unit_test: bool = False,
        script: str | None = None,
        color: bool = False,
    ) -> None:
        self.summary = summary
        self.allregs = allregs
        self.start = start
        self.end = end
        #: Print only what belongs to this draw; None: everything.
        self.draw = draw
        self.exe = exe
        self.query = query
        self.query_mode = query_mode
        self.query_compare = query_compare
        #: Queried registers are also found by the names of other editions.
        self.query_renamed = query_renamed
        self.once = once
        self.textures = textures
        self.bindless = bindless
        self.dump_shaders = dump_shaders
        self.show_compositor = show_compositor
        self.unit_test = unit_test
        #: A Lua script, which silences the dump as a query does.
        self.script = script
        self.color = color

    @property
    def prints_all(self) -> bool:
        """Whether everything that runs is printed."""
        return not (self.summary or self.query or self.draw is not None or self.script)
