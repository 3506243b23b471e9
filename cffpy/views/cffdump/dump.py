# SPDX-License-Identifier: MIT
"""Dumps files: the lines around the command streams, and which streams are decoded.

cffdump: handle_file (mesa 25.0.7). One Dump takes all files of a call: the GPU's identity and the
decoding state live on from file to file.
"""

from __future__ import annotations

from cffpy.capture.gpu import Gpu, guess, lookup_chip_id, lookup_gpu_id
from cffpy.capture.load import Identity, Submit, Text, read_records
from cffpy.capture.memory import MemoryImage
from cffpy.container.damage import Damage
from cffpy.container.open import Content
from cffpy.container.rd import SectionType, iter_sections
from cffpy.cp.machine import Machine
from cffpy.errors import UnsupportedGpu
from cffpy.regdb.database import Database
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.cffdump.text import CffdumpSink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

_RULE = "############################################################\n"

#: Processes that are passed over unless --exe or --show-compositor says otherwise.
_COMPOSITORS = ("fdperf", "chrome", "surfaceflinger", "X")


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
        """``register_db``: directory of another edition. ``gpu``: decode for it, whatever a file

        says that it is of.
        """
        self._options = options
        self._complain = complain
        self._register_db = register_db
        self._image = MemoryImage()
        self._view = CffdumpSink(options, write, complain)
        self._machine = Machine(self._view, self._image)
        self._machine.keeps_groups = options.query_compare
        self._view.machine = self._machine
        self._gpu_id = 0
        self._chip_id = 0
        self._given = gpu
        self._gpu = gpu
        self._databases: dict[str, Database] = {}

    def begin(self, name: str) -> None:
        """A file begins, whether it can be opened or not."""
        self._reset()
        if not self._options.unit_test:
            self._view.put(f"Reading {name}...\n")
        self._view.flush()

    def file(self, content: Content) -> None:
        """Decode one opened file."""
        damage: list[Damage] = []
        data = content.data[: content.reference_size]
        accepted = self._given is not None
        skipped = False
        view = self._view
        try:
            for record in read_records(iter_sections(data, damage), self._image):
                if isinstance(record, Submit):
                    if self._options.start <= record.number <= self._options.end:
                        self._submit(record, skipped)
                elif isinstance(record, Text):
                    skipped = self._text(record, skipped)
                elif not accepted:
                    accepted = self._identity(record)
        finally:
            view.flush()
        if content.decompression_error or any(item.reference_says_corrupt for item in damage):
            view.put("corrupt file\n")
            view.flush()
        for item in damage:
            self._complain(f"{content.name}: {item}")
        if content.damage is not None:
            self._complain(f"{content.name}: {content.damage}")

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
            return not process.startswith(options.exe)
        return not options.show_compositor and process.startswith(_COMPOSITORS)

    def _submit(self, submit: Submit, skipped: bool) -> None:
        view = self._view
        if not view.quiet2:
            view.put(f"{_RULE}cmdstream[{submit.number}]: {_signed(submit.ndwords)} dwords\n")
        if not skipped:
            if self._gpu is None:
                self._guess()
            self._machine.run_submit(submit.gpuaddr, submit.ndwords)
        if not view.quiet2:
            # cffdump: handle_file prints a counter of its own, which nothing counts (mesa 25.0.7)
            view.put(f"{_RULE}vertices: 0\n")

    # -- the GPU ----------------------------------------------------------------------------

    def _identity(self, record: Identity) -> bool:
        """Take the GPU's name from a section; True once the GPU is known."""
        view = self._view
        if record.chip_id or not record.gpu_id:
            if not record.chip_id:
                return False
            self._chip_id = record.chip_id
            if not view.quiet2:
                view.put(f"chip_id: 0x{record.chip_id:x}\n")
        else:
            self._gpu_id = record.gpu_id
            if not view.quiet2:
                view.put(f"gpu_id: {_signed(record.gpu_id)}\n")
        # cffdump: fd_dev_info_raw: an old GPU id still matches before a new chip id
        # (mesa 25.0.7)
        gpu = lookup_gpu_id(self._gpu_id) or (
            lookup_chip_id(self._chip_id) if self._chip_id else None
        )
        if gpu is None:
            self._gpu = None
            return False
        self._gpu = gpu
        self._reset()
        return True

    def _guess(self) -> None:
        """A command stream comes and no GPU is known: go by the generation that the id shows."""
        gpu = guess(self._gpu_id, self._chip_id)
        if gpu is None:
            named = f"GPU id {self._gpu_id}, chip id {self._chip_id:#x}"
            raise UnsupportedGpu(f"unknown GPU ({named}): name one with --gpu, e.g. --gpu 630")
        self._complain(f"GPU {gpu.name} is not known: decoded as a{gpu.generation}xx")
        self._gpu = gpu
        self._reset()

    def _reset(self) -> None:
        """cffdump: cffdec_init: at a file's start and when its GPU is known."""
        self._machine.state.start_file()
        self._view.start_file()
        gpu = self._gpu
        if gpu is None:
            return
        database = self._databases.get(gpu.chip)
        if database is None:
            database = self._databases[gpu.chip] = Database.open(gpu.chip, self._register_db)
        self._machine.bind(gpu, database)
        self._view.bind(gpu, database)


def _signed(value: int) -> int:
    return value - (1 << 32) if value & 0x80000000 else value
