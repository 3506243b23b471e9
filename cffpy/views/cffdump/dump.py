# SPDX-License-Identifier: MIT
"""Dumps files: opens a session for the text view and runs files through it.

cffdump: handle_file (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.capture.load import CommandStream, Identity
from cffpy.container.damage import Damage
from cffpy.container.open import Content
from cffpy.cp.session import Session, is_compositor
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.cffdump.output import Messages, Output, argument_text
from cffpy.views.cffdump.text import CffdumpSink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CaptureRecord
    from cffpy.container.rd import Section
    from cffpy.cp.machine import Machine

#: A second process may take a part after this many bytes of text, since small dumps are done by
#: then, and from the beginning if the decompressed file has at least this many bytes.
SHARED, LARGE = 2 << 20, 32 << 20


def _whole(sections: Iterator[Section], damage: list[Damage]) -> Iterator[Section]:
    """The sections before the first that is damaged.

    cffdump: parse_rd_section gives up the section in which decompression fails, but takes one that
    is cut short by a file's end (mesa 25.0.7)
    """
    for section in sections:
        if damage:
            return
        yield section


class Dump:
    """Prints captures. ``write`` takes bytes, ``complain`` a line for standard error."""

    def __init__(
        self,
        options: DumpOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None = None,
        gpu: Gpu | None = None,
        segments: bool = True,
    ) -> None:
        """``register_db``, ``gpu``, ``segments``: as for ``Session``."""
        self._options = options
        #: Whether a second process may print a part: there is one file only, and nothing but this
        #: dump runs in this process.
        self.may_share = False
        self._write = write
        self._complain = Messages(complain)
        self._view = self._make_view(options, write, self._complain, register_db)
        self._session = Session(
            self._view, warn=self._complain, register_db=register_db, gpu=gpu, segments=segments
        )

    @property
    def machine(self) -> Machine:
        """The machine that runs the command streams: its state and counters."""
        return self._session.machine

    @property
    def unknown_queries(self) -> list[str]:
        """The queried names that no register of the current generation has."""
        return self._view.unknown_queries

    def begin(self, name: str) -> None:
        """A file begins, whether it can be opened or not."""
        self._session.start_file()
        if not self._options.unit_test:
            self._view.put(f"Reading {argument_text(name)}...\n")
        self._view.output.flush()

    def file(self, content: Content) -> None:
        """Print the dump of an opened file, and report its damage."""
        damage: list[Damage] = []
        view, session = self._view, self._session
        sections = content.sections(damage, content.reference_size)
        # a dump that prints everything is bounded by its output
        session.set_limits(content, bounds_capture=not self._options.prints_all)
        try:
            if content.decompression_error:
                sections = _whole(sections, damage)
            records = session.records(sections, self._skips)
            may_share = self.may_share and not content.decompression_error and self._can_share()
            for record in records:
                if may_share and self._is_worth_sharing(record, content):
                    may_share = False
                    done = record.number + 1 if isinstance(record, CommandStream) else 0
                    if self._share(records, done, content):
                        for _ in sections:  # only for their damage
                            pass
            self._end_records()
        finally:
            view.output.flush()
        if content.decompression_error or any(item.reference_says_corrupt for item in damage):
            view.put("corrupt file\n")
            view.output.flush()
        for item in [*damage, *content.faults]:
            self._complain(f"{content.name}: {item}")

    def _can_share(self) -> bool:
        """Whether a second process can print a part of the dump with these options."""
        options = self._options
        hides = options.draw is not None or options.query or options.query_compare
        return not (hides or options.script or options.dump_shaders)

    def _is_worth_sharing(self, record: CaptureRecord, content: Content) -> bool:
        """Whether a second process may be worth it after this record."""
        if isinstance(record, CommandStream):
            return self._view.output.written > SHARED
        return isinstance(record, Identity) and len(content.data) > LARGE

    def _share(self, records: Iterator[CaptureRecord], done: int, content: Content) -> bool:
        """Have a second process print the last part of what follows ``done`` command streams.

        ``records``: the records that follow. Returns whether everything is printed now.
        """
        from cffpy.views.cffdump.second_process import SecondProcess, can_share  # lazy

        if not self._view.can_skip or not can_share():
            return False
        second = SecondProcess(self._view, self._session, self._complain)
        try:
            own = second.start(records, done, content)
            if own is None:
                return False
            for record in records:
                if isinstance(record, CommandStream) and record.number == own:
                    break
            self._view.output.flush()
            return second.has_same_state() and second.take_text(self._write)
        finally:
            second.end()

    def finish(self) -> None:
        """All files have been dumped."""

    def _end_records(self) -> None:
        """All records of a file have run."""

    def _make_view(
        self,
        options: DumpOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> CffdumpSink:
        return CffdumpSink(options, Output(write), complain, register_db)

    def _skips(self, process: str) -> bool:
        """Whether the streams of this process are skipped."""
        options = self._options
        if options.exe is not None:
            return not process.startswith(argument_text(options.exe))
        return not options.show_compositor and is_compositor(process)
