# SPDX-License-Identifier: MIT
"""Dumps files: the lines around the command streams, and which streams are decoded.

cffdump: handle_file (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.c_numbers import signed32
from cffpy.capture.load import CommandStream, Identity, Text, read_records
from cffpy.container.damage import Damage
from cffpy.container.open import Content
from cffpy.container.rd import SectionType
from cffpy.cp.session import Session, is_compositor
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.cffdump.output import argument_text
from cffpy.views.cffdump.text import CffdumpSink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from cffpy.capture.gpu import Gpu
    from cffpy.container.rd import Section
    from cffpy.cp.machine import Machine

_RULE = "############################################################\n"


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
    ) -> None:
        """``register_db``: directory of another edition.

        ``gpu``: decode for it, whatever a file says that it is of.
        """
        self._options = options
        self._complain = complain
        self._view = self._make_view(options, write, complain, register_db)
        self._session = Session(self._view, complain, register_db, gpu)
        self._view.machine = self.machine
        self.machine.problems.told = self._view.complain
        self.machine.keeps_groups = options.query_compare
        self.machine.streams_repeat = not (options.once or options.query_compare)

    @property
    def machine(self) -> Machine:
        """What runs the command streams: its switches and counters."""
        return self._session.machine

    def begin(self, name: str) -> None:
        """A file begins, whether it can be opened or not."""
        self._session.start_file()
        if not self._options.unit_test:
            self._view.put(f"Reading {argument_text(name)}...\n")
        self._view.output.flush()

    def file(self, content: Content) -> None:
        """Decode one opened file."""
        damage: list[Damage] = []
        skipped = False
        view, session = self._view, self._session
        sections = content.sections(damage, content.reference_size)
        if not self._options.prints_all:  # else its output grows with what runs
            self.machine.nesting.limit_capture(len(content.data))
        try:
            if content.decompression_error:
                sections = _whole(sections, damage)
            for record in read_records(sections, session.image):
                if isinstance(record, CommandStream):
                    if self._options.start <= record.number <= self._options.end:
                        self._submit(record, skipped)
                elif isinstance(record, Text):
                    skipped = self._text(record, skipped)
                elif not session.identified:
                    self._identity(record)
        finally:
            view.output.flush()
        if content.decompression_error or any(item.reference_says_corrupt for item in damage):
            view.put("corrupt file\n")
            view.output.flush()
        for item in [*damage, *content.faults]:
            self._complain(f"{content.name}: {item}")

    def _make_view(
        self,
        options: DumpOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> CffdumpSink:
        return CffdumpSink(options, write, complain, register_db)

    # -- sections ---------------------------------------------------------------------------

    def _text(self, record: Text, skipped: bool) -> bool:
        view = self._view
        if record.type == SectionType.TEST:
            if not view.quiet1:
                view.put(f"test: {record.text}\n")
        elif record.type == SectionType.CMD:
            if not view.quiet2:
                view.put(f"cmd: {record.text}\n")
            return self._skips(record.text)
        elif not view.quiet2:
            stage = "vertex" if record.type == SectionType.VERT_SHADER else "fragment"
            view.put(f"{stage} shader:\n{record.text}\n")
        return skipped

    def _skips(self, process: str) -> bool:
        """Whether the streams of this process are passed over."""
        options = self._options
        if options.exe is not None:
            return not process.startswith(argument_text(options.exe))
        return not options.show_compositor and is_compositor(process)

    def _submit(self, submit: CommandStream, skipped: bool) -> None:
        view = self._view
        if not view.quiet2:
            view.put(f"{_RULE}cmdstream[{submit.number}]: {signed32(submit.ndwords)} dwords\n")
        if not skipped:
            self._session.submit(submit)
        if not view.quiet2:
            # cffdump: handle_file prints a counter of its own, which nothing counts (mesa 25.0.7)
            view.put(f"{_RULE}vertices: 0\n")

    def _identity(self, record: Identity) -> None:
        if not self._view.quiet2:
            if record.chip_id is not None:
                self._view.put(f"chip_id: 0x{record.chip_id:x}\n")
            elif record.gpu_id:
                self._view.put(f"gpu_id: {signed32(record.gpu_id)}\n")
        self._session.identify(record)
