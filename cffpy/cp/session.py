# SPDX-License-Identifier: MIT
"""Session: runs captures for one sink. Chooses the GPU, opens its database, drives the machine.

One session takes all files of a call: the GPU's identity and the decoding state live on from file
to file, as the reference's do. Who shows the sections of a file steps through its records and calls
``identify`` and ``submit``; who only wants to look on calls ``run``.
"""

from __future__ import annotations

from cffpy.capture.gpu import Gpu, guess, lookup_chip_id, lookup_gpu_id
from cffpy.capture.load import CommandStream, Identity, Text, read_records
from cffpy.capture.memory import MemoryImage
from cffpy.container.rd import SectionType
from cffpy.cp.machine import Machine
from cffpy.errors import UnsupportedGpu
from cffpy.regdb.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.container.rd import Section
    from cffpy.cp.sink import Sink

#: Processes whose submits are passed over unless somebody asks for them.
_COMPOSITORS = ("fdperf", "chrome", "surfaceflinger", "X")


def is_compositor(process: str) -> bool:
    """Whether a process of this name is one of them."""
    return process.startswith(_COMPOSITORS)


class Session:
    """A machine over captures, and what it needs. ``complain`` takes a line of warning."""

    def __init__(
        self,
        sink: Sink,
        complain: Callable[[str], None],
        register_db: str | None = None,
        gpu: Gpu | None = None,
    ) -> None:
        """``register_db``: directory of another edition.

        ``gpu``: decode for it, whatever a file says that it is of.
        """
        self.image = MemoryImage()
        self.machine = Machine(sink, self.image)
        self._sink = sink
        self._complain = complain
        self._register_db = register_db
        self._gpu_id = 0
        self._chip_id = 0
        self._given = gpu
        self._gpu = gpu
        self._databases: dict[str, Database] = {}
        #: Whether the current file's GPU is known: later sections that name one are passed over.
        self.identified = gpu is not None

    def start_file(self) -> None:
        """A file begins, whether it can be opened or not."""
        self.identified = self._given is not None
        self.machine.problems.clear()
        self._reset()

    def identify(self, record: Identity) -> None:
        """Take the GPU's name from a section."""
        if record.chip_id is not None:
            self._chip_id = record.chip_id
        elif record.gpu_id:
            self._gpu_id = record.gpu_id
        else:  # cffdump: handle_file passes over a GPU id of 0, but not over a chip id of 0
            return
        # cffdump: fd_dev_info_raw: an old GPU id still matches before a new chip id
        # (mesa 25.0.7)
        self._gpu = lookup_gpu_id(self._gpu_id) or (
            lookup_chip_id(self._chip_id) if self._chip_id else None
        )
        if self._gpu is not None:
            self.identified = True
            self._reset()

    def submit(self, record: CommandStream) -> None:
        """Run a submit's commands. Raises UnsupportedGpu where nothing tells the generation."""
        if self._gpu is None:
            self._guess()
        self.machine.problems.stream = record.number
        self._sink.submit(record)
        self.machine.run_submit(record.gpuaddr, record.ndwords)

    def run(
        self,
        content: Content,
        skips: Callable[[str], bool] = is_compositor,
        watch: Callable[[Iterable[Section]], Iterable[Section]] = iter,
    ) -> list[Damage]:
        """Run a file's submits; the damage that was met, of the file and of its commands.

        ``skips``: whether the submits of the process of this name are passed over. ``watch`` passes
        the sections on, for who wants to see them before what they say is done.
        """
        damage: list[Damage] = []
        skipped = False
        self.start_file()
        for record in read_records(watch(content.sections(damage)), self.image):
            if isinstance(record, CommandStream):
                if not skipped:
                    self.submit(record)
            elif isinstance(record, Text):
                if record.type == SectionType.CMD:
                    skipped = skips(record.text)
            elif not self.identified:
                self.identify(record)
        return self.damage(content, damage)

    def damage(self, content: Content, sections: Iterable[Damage]) -> list[Damage]:
        """All damage of a file that ran: of its ``sections``, of its compression, of commands."""
        return [*sections, *content.faults, *self.machine.problems.damage]

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
        """cffdump: cffdec_init: at a file's start and when its GPU is known (mesa 25.0.7)."""
        self.machine.state.start_file()
        self._sink.start_file()
        gpu = self._gpu
        if gpu is None:
            return
        database = self._databases.get(gpu.chip)
        if database is None:
            database = self._databases[gpu.chip] = Database.open(gpu.chip, self._register_db)
        self.machine.bind(gpu, database)
        self._sink.bind(gpu, database)
