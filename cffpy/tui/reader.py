# SPDX-License-Identifier: MIT
"""Reader: answers the browser's questions about a capture, in threads that can be stopped."""

from __future__ import annotations

import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path
from threading import Lock
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.lrz import lrz_of_passes
from cffpy.api.capture import open as open_capture
from cffpy.errors import CaptureError
from cffpy.frame.faces import columns
from cffpy.frame.facts import model_of
from cffpy.frame.register_state import StateValue
from cffpy.limits import VARIABLES
from cffpy.tui.marks import Marks, marks_file
from cffpy.tui.pictures import picture_page
from cffpy.views.passes import pass_lines
from cffpy.views.plain_text import headed_columns, visible
from cffpy.views.tiles import HEADINGS, RIGHT, table

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cffpy.analysis.lrz import PassLrz
    from cffpy.api.capture import Capture
    from cffpy.capture.gpu import Gpu
    from cffpy.frame.action import Action
    from cffpy.frame.faces import Column
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import Place
    from cffpy.frame.register_state import RegisterState, StateValue
    from cffpy.limits import Limits


def field_lines(capture: Capture, draw: Action, most: int) -> list[str]:
    """The lines of ``cffpy lines`` of a draw, without the columns that are the same in all."""
    lines: list[str] = []

    def take(text: str) -> None:
        if len(lines) < most:
            lines.extend(_shown(text))

    capture.write_lines(take, at=draw.name or f"#{draw.dump_draw}")
    return lines


def _shown(text: str) -> Iterator[str]:
    for line in text.splitlines():
        cells = line.split("\t")
        yield f"{cells[3]} {cells[7]}: {cells[8]} = {cells[10]}"


#: Lines of the dump of a draw that are shown at most.
MAX_DUMP_LINES = 200_000

#: Words of a buffer or of constants that are shown at most.
_SHOWN_WORDS = 64

#: Seconds between two polls of a process that dumps.
_POLL = 0.05

#: Which registers a page of state has.
CHANGED, THIS_PASS, ALL, DIFFERENT = "changed", "this pass", "all", "different"


class Stopped(Exception):
    """The answer is no longer wanted."""


#: The facts of a register that are columns of the state page.
_STATE_FACTS = ("register", "value", "decoded")


def state_columns() -> tuple[Column, ...]:
    """The columns of the state page: names and meanings are those of the facts."""
    declared = {column.name: column for column in columns(model_of(StateValue))}
    return tuple(declared[name] for name in _STATE_FACTS)


class StateRow(NamedTuple):
    """A register at a draw, as text: the values of ``state_columns`` first.

    ``other``: its value in the other capture; "" without one.
    """

    register: str
    value: str
    decoded: str
    written_by: str
    other: str
    #: (Field, bits, text) of each.
    fields: tuple[tuple[str, str, str], ...]


class Decoding(NamedTuple):
    """How a capture is decoded: the options of the command."""

    gpu: Gpu | None = None
    register_db: str | None = None
    limits: Limits | None = None

    @property
    def arguments(self) -> list[str]:
        """The same as arguments of ``cffpy dump``."""
        gpu, register_db, limits = self
        arguments = [] if gpu is None else [f"--gpu={gpu.gpu_id or gpu.generation}"]
        arguments += [] if register_db is None else [f"--edition={register_db}"]
        for name in VARIABLES:
            number = getattr(limits, name, None)
            arguments += [] if number is None else [f"--limit={name}={number}"]
        return arguments


class Reader:
    """An open capture. Its methods may be called from any thread; one runs at a time."""

    def __init__(
        self,
        path: str,
        decoding: Decoding,
        progress: Callable[[str, int, int], None] | None = None,
    ) -> None:
        """``progress(path, done, size)`` is called while commands are decoded.

        Raises CffpyError as ``cffpy.open`` does.
        """
        self.path = path
        self._decoding = decoding
        self._progress = progress
        self._lock = Lock()
        self._is_stopped: Callable[[], bool] = _never
        #: LRZ by index of the pass, once a page needs it.
        self._lrz: dict[int, PassLrz] | None = None
        gpu, register_db, limits = decoding
        self.capture: Capture = open_capture(
            path, gpu=gpu, register_db=register_db, limits=limits, progress=self._report
        )

    @contextmanager
    def asking(self, is_stopped: Callable[[], bool]) -> Iterator[Capture]:
        """The capture, for one question. Raises Stopped when ``is_stopped`` and decoding runs."""
        with self._lock:
            if is_stopped():
                raise Stopped
            self._is_stopped = is_stopped
            try:
                yield self.capture
            finally:
                self._is_stopped = _never

    def _report(self, done: int, size: int) -> None:
        if self._is_stopped():
            raise Stopped
        if self._progress is not None:
            self._progress(self.path, done, size)

    # -- questions ------------------------------------------------------------------------------

    def passes(self, is_stopped: Callable[[], bool]) -> list[Pass]:
        """The passes: a walk without registers."""
        with self.asking(is_stopped) as capture:
            capture.walk(registers=False)
            return list(capture.passes)

    def draw_at(self, place: Place, is_stopped: Callable[[], bool]) -> Action:
        """The first draw of a place. Raises CaptureError where there is none."""
        with self.asking(is_stopped) as capture:
            start = capture._scope(place).start
            draws = [] if start is None else capture.passes[start[0]].draws
            if start is None or not draws:
                raise CaptureError(f"no draw in {place}")
            return draws[start[1] or 0]

    def matching(self, expression: str, is_stopped: Callable[[], bool]) -> set[int]:
        """``order`` of the draws for which a filter holds. Raises FilterError."""
        with self.asking(is_stopped) as capture:
            return {draw.order for draw in capture.draws.where(expression)}

    def pass_page(self, pass_: Pass, is_stopped: Callable[[], bool]) -> list[str]:
        """What ``cffpy passes`` prints of a pass, and its tiles."""
        with self.asking(is_stopped) as capture:
            if self._lrz is None:
                self._lrz = {lrz.pass_.index: lrz for lrz in lrz_of_passes(capture._source.model)}
            found = self._lrz.get(pass_.index)
            is_lost = found is not None and found.lost_by is not None
            lines = list(pass_lines(pass_, found if is_lost else None))
            lines += [f"  {line}" for line in capture._source.pass_lines(pass_)]
            if pass_.tiles:
                lines += ["", "tiles, in the order of execution:"]
                lines += headed_columns([HEADINGS, *table(pass_.tiles)], RIGHT)
            return [visible(line) for line in lines]

    def shader_page(self, draw: Action, is_stopped: Callable[[], bool]) -> list[str]:
        """The listings of a draw's shaders."""
        with self.asking(is_stopped):
            lines: list[str] = []
            addresses = draw.program_addresses
            shaders = draw.shaders
            for stage, gpuaddr in addresses.items():
                shader = shaders.get(stage)
                lines.append(f"{stage} at {gpuaddr:#x}{'' if shader else ': not captured'}")
                lines += [] if shader is None else shader.listing.expandtabs(4).split("\n")
            return [visible(line) for line in lines] or ["no shader runs"]

    def binding_page(self, draw: Action, is_stopped: Callable[[], bool]) -> list[str]:
        """The descriptors, buffers and constants of a draw."""
        with self.asking(is_stopped) as capture:
            lines: list[str] = []
            for binding in (*draw.textures, *draw.samplers, *draw.storage):
                lines.append(repr(binding)[1:-1])
                lines += [f"    {name}: {field.text}" for name, field in binding.fields.items()]
            for buffer in (*draw.vertex_buffers, *draw.uniform_buffers, *draw.constants):
                lines.append(repr(buffer)[1:-1])
                lines += _word_lines(buffer.data, buffer.first_byte)
            lines += capture._source.uses_lines(draw)
            return [visible(line) for line in lines] or ["nothing is bound, as far as it is known"]

    def picture_page(
        self, node: Action | Pass, size: tuple[int, int], is_stopped: Callable[[], bool]
    ) -> list[str]:
        """The captured textures and attachments. ``size``: characters and lines of a picture."""
        with self.asking(is_stopped):
            lines = []
            for line in picture_page(node.images, *size):
                if is_stopped():
                    raise Stopped
                lines.append(line)
            return lines or ["no texture and no attachment"]

    def marks(self, is_stopped: Callable[[], bool]) -> Marks:
        """The marks that were made in this capture before."""
        with self.asking(is_stopped) as capture:
            return Marks(Path(self.path).name, marks_file(capture._source.content.data))

    def state_page(
        self,
        draw: Action,
        which: str,
        is_stopped: Callable[[], bool],
        other: RegisterState | None = None,
    ) -> list[StateRow]:
        """The registers at a draw. ``other``: of its counterpart, for DIFFERENT."""
        with self.asking(is_stopped):
            state = draw.state
            if which == CHANGED:
                chosen: Iterable[StateValue] = [change.now for change in state.changed]
            elif which == THIS_PASS:
                chosen = [value for value in state.values() if value.origin == "this pass"]
            else:
                chosen = state.values()
            rows = [_state_row(value, other) for value in chosen]
        if which == DIFFERENT:
            rows = [row for row in rows if row.other not in ("", f"{row.value} {row.decoded}")]
        return rows

    def state_of(self, draw: Action, is_stopped: Callable[[], bool]) -> RegisterState:
        """The registers at a draw, decoded as far as comparing needs."""
        with self.asking(is_stopped):
            return draw.state

    def dump_page(self, draw: Action, is_stopped: Callable[[], bool]) -> list[str]:
        """What ``cffpy dump --annotate`` prints of a draw: a process, which can be ended.

        Of a capture that the dump does not read, the fields of its instructions.
        """
        with self.asking(is_stopped) as capture:
            if not capture._source.has_dump:
                return field_lines(capture, draw, MAX_DUMP_LINES)
        number = draw.dump_draw
        if number is None:
            return ["the dump does not number this command"]
        command = [sys.executable, "-m", "cffpy", "dump", "--annotate", "--no-color", "--no-pager"]
        command += [*self._decoding.arguments, f"--draw={number}"]
        with subprocess.Popen(
            [*command, "--", self.path],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        ) as process:
            return _read_lines(process, is_stopped)


def _never() -> bool:
    return False


def _read_lines(process: subprocess.Popen[bytes], is_stopped: Callable[[], bool]) -> list[str]:
    """The lines of a process, read in another thread so that this one can end it."""
    from threading import Thread

    lines: list[str] = []
    assert process.stdout is not None
    stream = process.stdout

    def read() -> None:
        for line in stream:
            text = line.decode("utf-8", "replace").rstrip("\n").expandtabs(2)
            if len(lines) == MAX_DUMP_LINES:
                lines.append(f"... more than {MAX_DUMP_LINES} lines")
                process.kill()
                break
            lines.append(visible(text))

    thread = Thread(target=read, daemon=True)
    thread.start()
    while thread.is_alive():
        if is_stopped():
            process.kill()
            thread.join()
            raise Stopped
        thread.join(_POLL)
    return lines


def _state_row(value: StateValue, other: RegisterState | None) -> StateRow:
    write = value.written_by
    return StateRow(
        visible(value.name),
        _number(value),
        visible(value.text),
        "" if write is None else visible(f"{write.packet}, {write.place}"),
        "" if other is None else _other_text(other, value),
        tuple(
            (field.name, f"{field.high}:{field.low}", visible(field.text))
            for field in value.fields.values()
        ),
    )


def _other_text(other: RegisterState, value: StateValue) -> str:
    same = other.same(value)
    return f"{_number(same)} {visible(same.text)}"


def _number(value: StateValue) -> str:
    if value.register_offset is None:
        return ""
    return "?" if value.value is None else f"{value.value:#x}"


def _word_lines(data: memoryview | None, offset: int) -> Iterator[str]:
    """The first dwords of a buffer, also as floats; a vertex buffer may have millions.

    ``offset``: of the first byte.
    """
    if data is None:
        return
    count = len(data) // 4
    shown = data[: 4 * min(count, _SHOWN_WORDS)].cast("B")
    dwords, floats = shown.cast("I"), shown.cast("f")
    for start in range(0, len(dwords), 4):
        words = " ".join(f"{word:08x}" for word in dwords[start : start + 4])
        numbers = " ".join(f"{number:.6g}" for number in floats[start : start + 4])
        yield f"    {offset + 4 * start:04x}: {words:36} {numbers}"
    if count > _SHOWN_WORDS:
        yield f"    ... {count - _SHOWN_WORDS} more dwords"
