# SPDX-License-Identifier: MIT
"""``cffpy.compile``, ``decompile``, ``edit``, ``bisect``: captures as text, changed, cut down."""

from __future__ import annotations

from collections.abc import Mapping
from io import BytesIO
from typing import TYPE_CHECKING

from cffpy.analysis.crash.opening import check_capture
from cffpy.api.arguments import expect, expect_all, expect_callable, given_edition, given_gpu
from cffpy.api.capture import expect_capture, read_content
from cffpy.api.places import draw_name_of
from cffpy.capture.gpu import Gpu
from cffpy.errors import CaptureError, UsageError
from cffpy.frame.places import DrawName, DrawRange, parse_draws
from cffpy.limits import Limits

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Collection, Iterable, Iterator
    from typing import BinaryIO

    from cffpy.analysis.bisect import Verdict
    from cffpy.analysis.edits import Edit
    from cffpy.api.capture import Capture
    from cffpy.container.damage import Damage


def compile_text(text: str | bytes, *, register_db: str | None = None) -> bytes:
    """The capture that a text of the packet assembly language describes (``cffpy help pm4asm``).

    Raises AssemblyError, with line and column, where the text has errors.
    """
    from cffpy.pm4asm.assemble import assemble

    expect("text", text, (str, bytes), "the text of a capture")
    data = text.encode() if isinstance(text, str) else text
    directory = given_edition(register_db)
    return bytes(assemble(BytesIO(data), "text", directory, Limits().stored_bytes))


def decompile(capture: Capture, *, submit: int | None = None) -> Iterator[str]:
    """A capture as text, in pieces: ``"".join(...)`` is what ``cffpy decompile`` writes.

    ``submit``: only this one. Damaged captures give what can be read.
    """
    from cffpy.pm4asm.decompile import decompile as pieces

    expect_capture("capture", capture)
    if submit is not None:
        expect("submit", submit, int, "the number of a submit")
    source = capture._source
    damage: list[Damage] = []
    return pieces(source.content, damage, _ignore, source.register_db, submit)


def edit(
    capture: Capture,
    *,
    set_registers: Mapping[str, int | str] | None = None,
    at_draw: str | int | None = None,
    nop_draws: Iterable[str | int] = (),
    truncate_after: str | int | None = None,
    drop_groups: Iterable[int] = (),
) -> bytes:
    """The decompressed bytes of the capture with changes, which are those of ``cffpy edit``.

    ``set_registers``: a register, or one field as in ``RB_DEPTH_CNTL.ZFUNC``, and its value; before
    ``at_draw`` only, where that is given. ``nop_draws``: "#5", "#5-58", "p0:5-58".
    ``truncate_after`` and ``at_draw``: a draw. Raises CaptureError where a change cannot be made.
    """
    from cffpy.analysis.edits import DropGroup, NopDraw, TruncateAfterDraw, edited
    from cffpy.pm4asm.register_edit import SetRegister

    expect_capture("capture", capture)
    if set_registers is not None:
        expect("set_registers", set_registers, Mapping, "values by the names of registers")
    draws_of = expect_all("nop_draws", nop_draws, (str, int), "draws")
    groups = expect_all("drop_groups", drop_groups, int, "numbers of groups")
    at = None if at_draw is None else _number(capture, draw_name_of(at_draw))
    edits: list[Edit] = [
        SetRegister(f"{name}={value}", at) for name, value in (set_registers or {}).items()
    ]
    edits += [DropGroup(group) for group in groups]
    edits += [NopDraw(_numbers(capture, _range(draws))) for draws in draws_of]
    if truncate_after is not None:
        edits.append(TruncateAfterDraw(_number(capture, draw_name_of(truncate_after))))
    if not edits:
        raise UsageError("no edit is given")
    source = capture._source
    data, _ = edited(source.content, edits, _ignore, source.register_db)
    return data


def _range(draws: str | int) -> DrawRange:
    return DrawRange(draws, draws) if isinstance(draws, int) else parse_draws(draws)


def _number(capture: Capture, name: DrawName) -> int:
    """The draw's number in the dump."""
    if name.pass_index is None:
        return name.number
    number = capture.draw(str(name)).dump_draw
    if number is None:
        raise CaptureError(f"draw {name} has no number in the dump")
    return number


def _numbers(capture: Capture, draws: DrawRange) -> Collection[int]:
    numbers = range(draws.first, draws.last + 1)
    if draws.pass_index is None:
        return numbers
    names = (DrawName(number, draws.pass_index) for number in numbers)
    return [_number(capture, name) for name in names]


def _ignore(_line: str) -> None:
    """Discard a warning: damage was reported where the capture was opened."""


def bisect(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO,
    is_bad: Callable[[bytes], bool | None],
    *,
    gpu: str | int | Gpu | None = None,
    register_db: str | None = None,
    limits: Limits | Mapping[str, int] | None = None,
) -> Verdict:
    """Find the pass, draw, draw-state group and packet with which a problem appears.

    ``is_bad`` gets the bytes of a capture (.rd) with fewer passes, draws, groups or packets, and
    returns whether the problem is there; None: it cannot be told. The capture itself is taken to
    have it. The result has ``text``, ``pass_index``, ``draw`` (as in "p0:8"), ``groups``,
    ``packets`` (GPU addresses) and ``is_exact``.
    The other arguments are those of ``open``.

    Raises what ``open`` raises, CaptureError where there are no draws, and what ``is_bad`` raises.
    """
    from cffpy.analysis.bisect import Bisection, Try

    expect_callable("is_bad", is_bad)
    content = check_capture(read_content(source, limits))
    directory, given = given_edition(register_db, knows_auto=True), given_gpu(gpu)
    search = Bisection(content, directory, given)
    answers: list[bool | None] = []
    while isinstance(now := search.next(answers), Try):
        answers.append(is_bad(search.capture(now)[0]))
    return now
