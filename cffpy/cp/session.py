# SPDX-License-Identifier: MIT
"""Session: runs captures for one sink. Chooses the GPU, opens its database, drives the machine.

One session takes all files of a call: the GPU's identity and the decoding state are kept from file
to file, as in the reference. ``Session.run`` runs a file; ``Session.records`` is the same as a
generator, for callers that work between the records.
"""

from __future__ import annotations

from cffpy.capture.gpu import Gpu, guess, lookup_chip_id, lookup_gpu_id, named_gpu
from cffpy.capture.load import CommandStream, Identity, Text, read_records
from cffpy.capture.memory import MemoryImage
from cffpy.container.section_types import SectionType
from cffpy.cp.packets import TABLE
from cffpy.cp.runner import Runner
from cffpy.errors import UnsupportedGpu
from cffpy.regdb.database import Database

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from cffpy.capture.load import CaptureRecord
    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.container.rd import Section
    from cffpy.cp.sink import Sink
    from cffpy.pm4.descriptions import Descriptions

#: Processes whose submits are skipped by default.
_COMPOSITORS = ("fdperf", "chrome", "surfaceflinger", "X")


def is_compositor(process: str) -> bool:
    """Whether a process of this name is one of them."""
    return process.startswith(_COMPOSITORS)


def _runner(sink: Sink, image: MemoryImage, segments: bool) -> Runner:
    if not sink.takes_writes_at_once:
        return Runner(sink, image, TABLE, segments=segments)
    from cffpy.cp.replaying import ReplayingRunner  # lazy: a dump does without

    return ReplayingRunner(sink, image, TABLE)


class Session:
    """Owns the machine, the memory image and the sink, and runs captures through them."""

    def __init__(
        self,
        sink: Sink,
        *,
        warn: Callable[[str], None],
        register_db: str | None = None,
        gpu: Gpu | None = None,
        segments: bool = True,
        descriptions: Descriptions | None = None,
    ) -> None:
        """``warn`` takes a line: the GPU is unknown, and which generation is decoded instead.

        ``register_db``: directory of another edition. ``gpu``: decode for this GPU, whatever
        the files name. ``segments``: False turns the memo of cffpy.cp.segment off.
        ``descriptions``: in place of ``register_db``, descriptions that other sessions use, too.
        """
        self.image = MemoryImage()
        self.machine = _runner(sink, self.image, segments)
        self._sink = sink
        self._warn = warn
        self._register_db = register_db
        self._descriptions = descriptions
        self._gpu_id = 0
        self._chip_id = 0
        self._given = gpu
        self._gpu = gpu
        self._databases: dict[str, Database] = {}
        #: For other editions: what the code's names are looked up in.
        self._names: dict[str, Database | None] = {}
        #: Whether the current file's GPU is known: later sections that name one are ignored.
        self._is_identified = gpu is not None
        #: Whether the current file names a GPU of another generation, too.
        self._is_mixed = False

    def start_file(self) -> None:
        """A file begins, whether it can be opened or not."""
        self._is_identified = self._given is not None
        self._is_mixed = False
        self.machine.problems.clear()
        self._reset()

    def run(
        self,
        content: Content,
        skips: Callable[[str], bool] = is_compositor,
        watch: Callable[[Iterable[Section]], Iterable[Section]] = iter,
    ) -> list[Damage]:
        """Run a file's submits. Returns the damage of the file and of its commands.

        ``skips``: whether the submits of a process are skipped, by its name. ``watch`` returns
        the sections that it is given, and sees each before it takes effect. Raises UnsupportedGpu
        for a stream whose generation is not known.
        """
        damage: list[Damage] = []
        self.set_limits(content)
        self.start_file()
        for _ in self.records(watch(content.sections(damage)), skips):
            pass
        return self.finish(content, damage)

    def set_limits(self, content: Content, bounds_capture: bool = True) -> None:
        """Set the limits for a file. Call it before ``start_file`` binds a GPU.

        ``bounds_capture``: whether all that runs is bounded together, not only each submit.
        """
        limits = content.limits.of_capture(len(content.data))
        self.machine.set_limits(limits, bounds_capture)

    def records(
        self,
        sections: Iterable[Section],
        skips: Callable[[str], bool] = is_compositor,
        on_unknown_gpu: Callable[[str], None] | None = None,
    ) -> Iterator[CaptureRecord]:
        """Run a file's records: the only loop over them. Yields each when it has taken effect.

        The sink's ``text``, ``identity`` and ``command_stream`` come before the effect.
        ``skips``: as for ``run``. ``on_unknown_gpu`` takes the message of UnsupportedGpu, which is
        raised without it; that stream is not run.
        """
        skipped = False
        for record in read_records(sections, self.image):
            sink = self._sink  # use_sink may have changed it
            if isinstance(record, CommandStream):
                if sink.command_stream(record, skipped):
                    try:
                        self._submit(record)
                    except UnsupportedGpu as problem:
                        if on_unknown_gpu is None:
                            raise
                        on_unknown_gpu(str(problem))
                sink.command_stream_done(record)
            elif isinstance(record, Text):
                sink.text(record)
                if record.type == SectionType.CMD:
                    skipped = skips(record.text)
            else:
                if not self._is_identified:
                    sink.identity(record)
                    self._identify(record)
                self._note_other(record)
            yield record

    def finish(self, content: Content, sections: Iterable[Damage]) -> list[Damage]:
        """A file has run: note in ``content`` what limits left out of its commands.

        Returns all its damage: of its ``sections``, of its compression, of commands.
        """
        content.note_truncated(self.machine.problems.truncated)
        return [*sections, *content.faults, *self.machine.problems.damage]

    def use_sink(self, sink: Sink, segments: bool) -> None:
        """Call another sink from now on; see ``Runner``. Between records only."""
        self._sink = sink
        self.machine.use_sink(sink, segments)

    def use_gpu(self, gpu: Gpu) -> None:
        """Decode for this GPU from now on, as where a section names it."""
        self._gpu = gpu
        self._is_identified = True
        self._reset()

    # -- the GPU ----------------------------------------------------------------------------

    def _identify(self, record: Identity) -> None:
        """Take the GPU's name from a section."""
        if record.chip_id is not None:
            self._chip_id = record.chip_id
        elif record.gpu_id:
            self._gpu_id = record.gpu_id
        else:  # cffdump: handle_file ignores a GPU id of 0, but not over a chip id of 0
            return
        # cffdump: fd_dev_info_raw: an old GPU id still matches before a new chip id
        # (mesa 25.0.7)
        self._gpu = lookup_gpu_id(self._gpu_id) or (
            lookup_chip_id(self._chip_id) if self._chip_id else None
        )
        if self._gpu is not None:
            self._is_identified = True
            self._reset()

    def _note_other(self, record: Identity) -> None:
        """Warn once of a section that names another generation than the file is decoded as."""
        gpu = self._gpu
        if gpu is None or self._given is not None or self._is_mixed:
            return
        other = named_gpu(record)
        if other is not None and other.generation != gpu.generation:
            self._is_mixed = True
            self._warn(
                f"the file also names {other.name}: all its commands are decoded as {gpu.name}'s"
            )

    def _submit(self, record: CommandStream) -> None:
        self.machine.problems.stream = record.number
        if self._gpu is None:
            if self.image.place(record.gpuaddr) is None:
                # cffdump: dump_commands prints NULL cmd buffer! for any GPU (mesa 25.0.7)
                self.machine.run_submit(record.gpuaddr, record.ndwords)
                return
            self._guess()
        self._sink.submit(record)
        self.machine.run_submit(record.gpuaddr, record.ndwords)

    def _guess(self) -> None:
        """Take the generation from an unknown id: a stream is about to run."""
        gpu = guess(self._gpu_id, self._chip_id)
        if gpu is None:
            named = "the file names none before its first command stream"
            if self._gpu_id or self._chip_id:
                named = f"GPU id {self._gpu_id}, chip id {self._chip_id:#x}"
            raise UnsupportedGpu(f"unknown GPU ({named}): name one with --gpu, e.g. --gpu 630")
        self._warn(f"GPU {gpu.name} is not known: decoded as a{gpu.generation}xx")
        self._gpu = gpu
        self._reset()

    def _open_database(self, gpu: Gpu) -> Database:
        shared = self._descriptions
        if shared is not None:
            self._names[gpu.chip] = shared.names(gpu)
            return shared.database(gpu)
        database = Database.open(gpu.chip, self._register_db)
        if database.directory is not None:
            from cffpy.pm4.descriptions import known_names

            self._names[gpu.chip] = known_names(database)
        return database

    def _reset(self) -> None:
        """cffdump: cffdec_init: at a file's start and when its GPU is known (mesa 25.0.7)."""
        self.machine.state.start_file()
        self._sink.start_file()
        gpu = self._gpu
        if gpu is None:
            return
        database = self._databases.get(gpu.chip)
        if database is None:
            database = self._databases[gpu.chip] = self._open_database(gpu)
            for domain, _ in gpu.facts.descriptors.values():
                if database.domain(domain) is None:
                    self._warn(f"the descriptions have no {domain}: its fields are not shown")
        self.machine.bind(gpu, database, self._names.get(gpu.chip))
        self._sink.bind(gpu, database)
