# SPDX-License-Identifier: MIT
"""A second process that prints the last part of a large dump while the first one prints the rest.

Text takes three to five times as long as running the commands. So where a processor is free, the
dump forks at the end of a command stream. The first process goes on printing. The second process
runs the next streams without text (``SkippingSink``), then prints those after them into a file.
Where its part ends, the first process compares the state of both at that place: if it is equal, it
writes the file's text, otherwise it continues alone. So the output does not depend on the second
process.

``SkippingSink`` leaves the text view in the state in which printing would have left it: values
shown last, current variants, IBs that were shown, open markers. Not for a5xx, whose summaries
change the address latch, and not with options that hide a part of the dump.
"""

from __future__ import annotations

import os
import sys

from cffpy.capture.load import CommandStream
from cffpy.container.rd import iter_sections
from cffpy.container.section_types import SectionType
from cffpy.cp.sink import NOTHING, Sink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from typing import BinaryIO, NoReturn

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CaptureRecord, Identity, Text
    from cffpy.capture.memory import Words
    from cffpy.container.open import Content
    from cffpy.cp.session import Session
    from cffpy.cp.sink import Draw, NestedStream, WriteOutcome
    from cffpy.cp.state import CpState
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database
    from cffpy.views.cffdump.output import Messages
    from cffpy.views.cffdump.text import CffdumpSink


class SkippingSink(Sink):
    """Passes on to ``view`` what changes its state. The caller discards what that prints."""

    def __init__(self, view: CffdumpSink) -> None:
        self._view = view
        self.attach(view.machine)

    # -- files, GPUs, problems ----------------------------------------------------------------

    def start_file(self) -> None:
        self._view.start_file()

    def bind(self, gpu: Gpu, database: Database) -> None:
        self._view.bind(gpu, database)

    def text(self, record: Text) -> None:
        self._view.text(record)

    def identity(self, record: Identity) -> None:
        self._view.identity(record)

    def command_stream(self, record: CommandStream, skipped: bool) -> bool:
        return self._view.command_stream(record, skipped)

    def submit(self, submit: CommandStream) -> None:
        self._view.submit(submit)

    def problem(self, line: str) -> None:
        self._view.problem(line)

    def follows_ambles(self, database: Database) -> bool:
        return self._view.follows_ambles(database)

    def refused(self, gpuaddr: int, reason: str) -> None:
        self._view.refused(gpuaddr, reason)

    def missing_stream(self, gpuaddr: int, ndwords: int) -> None:
        self._view.missing_stream(gpuaddr, ndwords)

    # -- packets ------------------------------------------------------------------------------

    def packet(self, opcode: int, payload: Payload, level: int) -> None:
        self._view.skip_packet(opcode, payload, level)

    def draw(self, draw: Draw, payload: Payload, level: int) -> None:
        if draw.counted:
            self._view.skip_draw()

    def indirect_buffer(self, gpuaddr: int, ndwords: int, level: int) -> bool:
        return self._view.indirect_buffer(gpuaddr, ndwords, level)

    def nested_stream(self, name: str, stream: NestedStream, payload: Payload, level: int) -> bool:
        return self._view.nested_stream(name, stream, payload, level)

    # -- registers ----------------------------------------------------------------------------

    def write(
        self, register: int, values: list[int], words: Words, index: int, level: int
    ) -> WriteOutcome:
        if self._view.skips_write(register, len(values)):
            return NOTHING
        return self._view.write(register, values, words, index, level)

    def write_done(self, words: Words, index: int, ndwords: int, level: int) -> None:
        self._view.write_done(words, index, ndwords, level)

    def begin_registers(self, always_shown: bool = False) -> None:
        self._view.begin_registers(always_shown)

    def end_registers(self) -> None:
        self._view.end_registers()

    def register(self, register: int, value: int, level: int) -> None:
        self._view.register(register, value, level)

    def set_constant(self, kind: int, index: int, payload: Payload, level: int) -> None:
        self._view.set_constant(kind, index, payload, level)


#: Bytes of text that are expected of the streams that are left, at least. Below, a fork and a copy
#: of the text cost more than they save.
WORTH = 8 << 20

#: Skipping a stream takes about this part of the time of printing it.
_SKIPPING = 0.25

#: Bytes of text in the file, at most.
_MOST = 1 << 30

_PIECE = 1 << 20
_LENGTH = 8  # bytes of the length of the state, in the pipe


def can_share(loadavg: str = "/proc/loadavg") -> bool:
    """Whether two processes of this program can run at once. CFFPY_PROCESSES=1 forbids it.

    ``loadavg``: the file in which Linux counts the processes that run.
    """
    if sys.platform != "linux" or os.environ.get("CFFPY_PROCESSES") == "1":
        return False
    if not (hasattr(os, "fork") and hasattr(os, "pread") and hasattr(os, "sched_getaffinity")):
        return False
    return len(os.sched_getaffinity(0)) > 1 and running(loadavg) < (os.cpu_count() or 1)


def running(path: str) -> int:
    """How many processes of the system run or could run now, this one included.

    Without a processor that is free, a second process takes a fifth more time instead of less. The
    load average would not tell: it lags by a minute.
    """
    try:
        with open(path, "rb", buffering=0) as file:
            return int(file.read(100).split()[3].split(b"/")[0])
    except (OSError, ValueError, IndexError):
        return 1


class SecondProcess:
    """The second process of a dump. After ``start`` call ``end``, whatever happens."""

    def __init__(self, view: CffdumpSink, session: Session, messages: Messages) -> None:
        """``messages``: takes all lines for standard error."""
        self._view = view
        self._session = session
        self._messages = messages
        self._pid = 0
        self._pipe = -1
        self._file: BinaryIO | None = None
        #: Bytes in the file: of the state, then of text.
        self._size = 0
        self._state_size = 0

    def start(self, records: Iterator[CaptureRecord], done: int, content: Content) -> int | None:
        """Fork after the first ``done`` command streams, if that is worth it.

        ``records``: what follows. Returns the number of the last stream that is left to the
        first process; None where there is no second one.
        """
        left = _streams(content) - done
        if left < 2 or self._view.output.written * left < WORTH * done:
            return None
        own = done - 1 + _first_part(left)
        import tempfile  # lazy: most dumps are small

        self._view.output.flush()  # else both would write it
        try:
            self._file = tempfile.TemporaryFile(buffering=0)  # noqa: SIM115 - closed by ``end``
            self._pipe, its_end = os.pipe()
            self._pid = os.fork()
        except OSError:
            return None
        if not self._pid:
            self._run(records, own, its_end)
        os.close(its_end)
        return own

    def has_same_state(self) -> bool:
        """Whether the second process began to print in the state in which the first one is now.

        Waits until it begins.
        """
        assert self._file is not None
        size = self._state_size = int.from_bytes(_read(self._pipe, _LENGTH), "little")
        state = self._state()
        return size == len(state) and os.pread(self._file.fileno(), size, 0) == state

    def take_text(self, write: Callable[[bytes], object]) -> bool:
        """Wait until it has printed all; write its text and its lines for standard error.

        False, and nothing is written, if it has failed. Call ``has_same_state`` before.
        """
        assert self._file is not None
        lines = bytearray()
        while piece := os.read(self._pipe, _PIECE):
            lines += piece
        pid, self._pid = self._pid, 0
        if os.waitpid(pid, 0)[1]:
            return False
        self._file.seek(self._state_size)
        while text := self._file.read(_PIECE):
            write(text)
        for line in lines.decode("utf-8", "surrogatepass").split("\0")[:-1]:
            self._messages(line)
        return True

    def end(self) -> None:
        """Kill the second process if it still runs, and release its file."""
        if self._pid:
            os.kill(self._pid, 9)
            os.waitpid(self._pid, 0)
            self._pid = 0
        if self._pipe >= 0:
            os.close(self._pipe)
            self._pipe = -1
        if self._file is not None:
            self._file.close()

    # -- in the second process ------------------------------------------------------------------

    def _run(self, records: Iterator[CaptureRecord], skipped: int, pipe: int) -> NoReturn:
        """Skip the streams up to the number ``skipped``, print the following streams, and exit."""
        code = 1
        try:
            view, session, lines = self._view, self._session, list[str]()
            first = os.getppid()
            self._messages.redirect(lines.append)
            view.output.redirect(_discard)
            session.use_sink(SkippingSink(view), segments=False)
            for record in records:
                _check(first)
                if isinstance(record, CommandStream) and record.number == skipped:
                    break
            view.output.redirect(self._write)
            session.use_sink(view, segments=True)
            state = self._state()
            self._write(state)
            os.write(pipe, len(state).to_bytes(_LENGTH, "little"))
            lines.clear()  # the first process has printed the lines of its own streams
            for _ in records:
                _check(first)
            view.output.flush()
            text = "".join(f"{line}\0" for line in lines).encode("utf-8", "surrogatepass")
            while text:
                text = text[os.write(pipe, text) :]
            code = 0
        finally:
            os._exit(code)

    def _write(self, text: bytes) -> None:
        """Write text to the file. Raises OSError where there is no room for it."""
        assert self._file is not None
        self._size += len(text)
        if self._size > _MOST:
            raise OSError("too much text")
        view = memoryview(text)
        while view:
            view = view[self._file.write(view) :]

    # -- in both ----------------------------------------------------------------------------------

    def _state(self) -> bytes:
        """All that the text of the following commands depends on."""
        machine = self._session.machine
        return repr((_values(machine.state), machine.problems.lines, self._view.state())).encode()


def _first_part(streams: int) -> int:
    """How many of some streams the first process prints, so that both end at the same time."""

    def seconds(own: int) -> float:
        return max(own, streams - own + _SKIPPING * own)

    middle = int(streams / (2 - _SKIPPING))
    return min(range(max(1, middle), min(streams, middle + 2)), key=seconds)


def _streams(content: Content) -> int:
    """How many command streams a capture has."""
    sections = iter_sections(content.data)
    return sum(section.type == SectionType.CMDSTREAM_ADDR for section in sections)


def _values(state: CpState) -> list[object]:
    values: list[object] = []
    for name in state.__slots__:
        value = getattr(state, name)
        if isinstance(value, dict):
            value = sorted(value.items())
        elif isinstance(value, set):
            value = sorted(value)
        elif name == "groups":
            value = [
                group and [getattr(group, field) for field in group.__slots__] for group in value
            ]
        values.append(value)
    return values


def _read(pipe: int, size: int) -> bytes:
    """``size`` bytes; fewer where the other end was closed."""
    data = b""
    while len(data) < size and (piece := os.read(pipe, size - len(data))):
        data += piece
    return data


def _check(first: int) -> None:
    """Raise OSError if the first process has ended: nobody waits for the text."""
    if os.getppid() != first:
        raise OSError("the first process has ended")


def _discard(_text: bytes) -> None:
    """Write nothing."""
