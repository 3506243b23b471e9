# SPDX-License-Identifier: MIT
"""The options of the reference, as one record."""

from __future__ import annotations

from typing import NamedTuple

#: Query modes: which draws a query prints.
QUERY_ALL, QUERY_WRITTEN, QUERY_DELTA = range(3)

#: Index behind any submit.
LAST_SUBMIT = 0x7FFFFFF


class DumpOptions(NamedTuple):
    """What to print. Field names follow the command line options."""

    summary: bool = False
    allregs: bool = False
    start: int = 0
    end: int = LAST_SUBMIT
    #: Print only what belongs to this draw; None: everything.
    draw: int | None = None
    exe: str | None = None
    query: tuple[str, ...] = ()
    query_mode: int = QUERY_ALL
    query_compare: bool = False
    once: bool = False
    textures: bool = False
    bindless: bool = False
    dump_shaders: bool = False
    show_compositor: bool = False
    unit_test: bool = False
    color: bool = False
