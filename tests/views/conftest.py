# SPDX-License-Identifier: MIT
"""Fixtures for text of the views: packets put together, captures around them, their dump."""

from __future__ import annotations

from collections.abc import Callable
from types import SimpleNamespace

import pytest

from cffpy.container.open import open_bytes
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions
from tests.builders import capture, type0, type3, type4, type7

RULE = b"#" * 60 + b"\n"


@pytest.fixture(scope="session")
def pm4() -> SimpleNamespace:
    """Builders of packets: ``pm4.type4(register, *values)``; each gives a list of dwords."""
    return SimpleNamespace(type0=type0, type3=type3, type4=type4, type7=type7)


def dump(*captures: bytes, **options: object) -> bytes:
    """What is printed for the captures, one after another, with --unit-test."""
    pieces: list[bytes] = []
    printer = Dump(DumpOptions(unit_test=True, **options), pieces.append, lambda line: None)
    for number, data in enumerate(captures):
        printer.begin(f"capture {number}")
        printer.file(open_bytes(data))
    return b"".join(pieces)


def body(text: bytes) -> bytes:
    """What one submit prints between its rules."""
    before, cmdstream, rest = text.partition(b"\ncmdstream[0]: ")
    assert cmdstream, before
    shown, rule, after = rest.partition(b" dwords\n")[2].partition(RULE)
    assert (rule, after) == (RULE, b"vertices: 0\n")
    return shown


@pytest.fixture(scope="session")
def make_capture() -> Callable[..., bytes]:
    """``make_capture(gpu, commands, {address: buffer})``: a capture file of one submit."""
    return capture


@pytest.fixture(scope="session")
def dump_captures() -> Callable[..., bytes]:
    """``dump_captures(file, ..., summary=True)``: everything that is printed."""
    return dump


@pytest.fixture(scope="session")
def shown() -> Callable[..., bytes]:
    """``shown(gpu, commands, {address: buffer}, summary=True)``: the text of the one submit."""

    def show(
        gpu: int,
        commands: list[int],
        buffers: dict[int, list[int] | bytes] | None = None,
        dwords: int | None = None,
        **options: object,
    ) -> bytes:
        return body(dump(capture(gpu, commands, buffers, dwords), **options))

    return show
