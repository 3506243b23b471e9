# SPDX-License-Identifier: MIT
"""Capture: an open file and its results. ``open`` makes one."""

from __future__ import annotations

import gc
import os
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from cffpy.api.arguments import (
    expect,
    expect_all,
    expect_callable,
    given_edition,
    given_gpu,
    given_limits,
)
from cffpy.api.intel_source import IntelSource, source_of
from cffpy.api.walking import ABANDONED
from cffpy.capture.gpu import Gpu
from cffpy.container.open import open_bytes, open_capture
from cffpy.errors import CaptureError, ContainerError, UsageError
from cffpy.frame.objects import Selection, Shown
from cffpy.frame.submit import Problem
from cffpy.limits import hint

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
    from types import TracebackType
    from typing import BinaryIO

    from cffpy.analysis.layout_check.checks import LayoutChecks
    from cffpy.analysis.lrz import PassLrz
    from cffpy.analysis.pass_cost import PassCost
    from cffpy.analysis.register_store.draws import DrawRegisters
    from cffpy.analysis.register_store.store import Inherited
    from cffpy.analysis.summary import CaptureSummary
    from cffpy.api.intel import Intel
    from cffpy.api.packets import Packet
    from cffpy.api.pictures import CapturedImage
    from cffpy.api.places import Scope
    from cffpy.api.source import Progress, Source
    from cffpy.check.model import Finding
    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.barrier import Barrier
    from cffpy.frame.device import DeviceReport
    from cffpy.frame.driver import Driver
    from cffpy.frame.gpu_query import GpuQuery
    from cffpy.frame.passes import Pass
    from cffpy.frame.places import Place
    from cffpy.frame.register_state import RegisterState
    from cffpy.frame.shader import Shaders
    from cffpy.frame.stream_out import StreamOut
    from cffpy.frame.submit import Buffer, Memory, Submit
    from cffpy.frame.timing import Timestamp
    from cffpy.limits import Limits, Truncation
    from cffpy.pm4.descriptions import Descriptions
    from cffpy.query.filters import Filter
    from cffpy.regdb.registers import Registers


class Capture:
    """A capture that is open: a context manager. Made by ``cffpy.open``.

    Everything is computed when it is first asked for, once. What needs decoded commands (passes,
    draws, actions, problems, registers) comes from one walk over them.
    """

    def __init__(self, source: Source) -> None:
        """Use ``cffpy.open``."""
        self._source = source

    def close(self) -> None:
        """Release the file and all results. Objects that were taken from it may stop working.

        Runs the garbage collector, where it is enabled, after reports, comparisons, and questions
        about what draws have bound.
        """
        self._source.close()
        for name in self.__dict__.keys() - {"_source"}:
            del self.__dict__[name]
        if self._source.has_cycles and gc.isenabled():
            gc.collect()  # which counts few objects, and would leave them alone

    def __del__(self) -> None:
        source = self.__dict__.get("_source")
        if source is not None and not source.is_closed:
            ABANDONED.add(len(source.content.data))

    def __enter__(self) -> Capture:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    # -- the file -------------------------------------------------------------------------------

    @property
    def name(self) -> str:
        """The file's path, or its name if it has none."""
        return self._source.content.name

    @property
    def data(self) -> memoryview:
        """The decompressed file, read only."""
        return self._source.content.data

    @property
    def summary(self) -> CaptureSummary:
        """What ``cffpy info`` shows: the file, its sections, GPU, processes, submits, damage."""
        return self._source.summary

    @property
    def gpu(self) -> Gpu | None:
        """The GPU: ``name``, ``generation`` (7 for a7xx), ``gpu_id``, ``chip_id``.

        None where the capture does not tell it, and for Intel GPUs: see ``intel``.
        """
        found = self._source.given_gpu or self._source.summary.gpu_model
        return found if isinstance(found, Gpu) else None

    @property
    def driver(self) -> Driver:
        """The driver that wrote it, as far as its streams tell: ``name``, ``releases``, ``rule``,
        ``certainty``.
        """
        return self._source.driver()

    @property
    def timestamps(self) -> list[Timestamp]:
        """The packets that store the GPU's time, in the order of execution, with their values where
        memory was captured after them. Empty for Intel GPUs.
        """
        return Shown(self._source.timestamps())

    @property
    def intel(self) -> Intel | None:
        """What only captures of Intel GPUs have: device, submissions, kernels, state at actions.

        None for other captures.
        """
        source = self._source
        return source.intel if isinstance(source, IntelSource) else None

    @cached_property
    def submits(self) -> list[Submit]:
        """The submits in order."""
        found = self._source.summary.submits
        for one in found:
            one._answers = self._source
        return Shown(found)

    @property
    def buffers(self) -> list[Buffer]:
        """The buffers of all submits, submit by submit, in the order of the file."""
        return Shown(buffer for submit in self.submits for buffer in submit.buffers)

    @property
    def memory(self) -> Memory:
        """The memory of the last submit; that of another is ``submits[n].memory``."""
        memories = self._source.memories
        return memories[-1] if memories else self._source.memory(0)

    # -- the commands ---------------------------------------------------------------------------

    def walk(self, registers: bool = True) -> None:
        """Decode the commands now; otherwise they are when first asked for something of them.

        ``registers``: record the registers at the program's draws, too. Without them decoding takes
        a tenth less time, and less memory; asking for them later costs a second time.
        """
        self._source.walk(registers)

    @cached_property
    def passes(self) -> Selection[Pass]:
        """The render passes, and the groups of dispatches and copies between them, in order.

        ``passes.where("...")``: those for which, or for a draw of which, a filter holds.
        """
        found = self._source.model
        return Selection("passes", found.passes, found)

    @cached_property
    def draws(self) -> Selection[Action]:
        """The program's draws, dispatches and copies, each once: those of all passes, in order.

        ``draws.where("...")``: those for which a filter holds.
        """
        found = self._source.model
        return Selection("draws", chain.from_iterable(pass_.draws for pass_ in found.passes), found)

    @cached_property
    def actions(self) -> Selection[Action]:
        """Every execution of a draw, dispatch, blit, clear, load and store, in order.

        Also those that a condition skips; see ``Action.executed``. ``actions.where("...")``: those
        for which a filter holds.
        """
        found = self._source.model
        return Selection("actions", found.actions, found)

    @cached_property
    def transfers(self) -> list[Action]:
        """Every action that copies, fills, clears, loads or stores, in order: ``Action.transfers``.

        Among them are packets that copy memory (CP_MEM_TO_MEM, CP_MEMCPY), which ``actions`` does
        not have: their ``order`` is that of the action before them, their registers are not known.
        """
        return self._source.model.transfers

    @cached_property
    def lrz(self) -> list[PassLrz]:
        """LRZ of each render pass with draws: what each draw does with it, and why not.

        See ``lost_by``, ``lost_why``, ``paying``; of ``draws`` ``use``, ``reasons``. It costs
        a walk over the commands. Empty up to a4xx, which have no LRZ.
        """
        return Shown(self._source.lrz)

    @property
    def queries(self) -> list[GpuQuery]:
        """The queries of the driver, in the order of their begin: what they count, and the results.

        See ``kind``, ``draws``, ``counters``, ``value``, ``copies``. It costs a walk over the
        commands. Empty for captures of Intel GPUs.
        """
        return Shown(self._source.gpu_queries)

    @property
    def stream_out(self) -> list[StreamOut]:
        """The program's draws that stream-out (transform feedback) is on for, in order.

        See ``writes``, ``outputs``, ``buffers``. It costs a walk over the commands. Empty for
        captures of Intel GPUs, and of a2xx, which has none.
        """
        return Shown(self._source.stream_out)

    @property
    def layout_checks(self) -> LayoutChecks:
        """Textures, attachments, LRZ buffers and tiles, compared with the calculated layouts.

        See ``checks``: of each ``kind``, ``answer`` ("agrees", "differs", "not decidable"),
        ``differences``. It costs a walk over the commands.
        """
        return self._source.layout_checks

    @property
    def device(self) -> DeviceReport:
        """What the commands show of the GPU, compared with Mesa's table of devices.

        See ``device`` (the part that the file's id names), ``fitting`` (the parts that nothing
        contradicts), ``facts``, ``misfits``. It costs a walk over the commands.
        """
        return self._source.device

    @property
    def barriers(self) -> list[Barrier]:
        """Packets that clean caches, invalidate caches and wait, and the hazards that they guard.

        See ``guards``, ``hazards``. It costs two walks over the commands.
        """
        return self._source.barriers

    @property
    def costs(self) -> list[PassCost]:
        """The bytes that each render pass loads, stores, resolves and clears, by formula.

        See ``operations``, ``memory_bytes``, ``gmem_used``. What draws read and write is not known.
        """
        from cffpy.analysis.pass_cost import costs_of_passes

        return Shown(costs_of_passes(self._source.model))

    def check(self, select: Sequence[str] = (), ignore: Sequence[str] = ()) -> list[Finding]:
        """The findings of lints, as ``cffpy check`` lists them: ``lint``, ``severity``, ``count``.

        ``select``, ``ignore``: ids, names or patterns of lints. Each call costs a walk over the
        commands. Raises UsageError for a word that fits no lint.
        """
        from cffpy.check.registry import chosen_lints

        words = [
            expect_all(name, chosen, str, "ids, names or patterns of lints")
            for name, chosen in (("select", select), ("ignore", ignore))
        ]
        return Shown(self._source.check(chosen_lints(*words)).findings)

    def at(self, place: str | int) -> Any:  # noqa: ANN401
        """What is at a place, which is spelt as for the option ``--at`` of commands.

        "s2": a Submit. "p3": a Pass. "p3:17": a Draw. "#62", or the number 62: the Action that is
        draw 62 of the dump. "p3:5-9", "#5-9": a list of them. "p3:t5": a Tile. "p3:binning":
        the PassRun that is its binning run. "sh4": a CapturedShader. "0x10002018", "+0x1234",
        "stream 0 > IB 0x10002000 > 0x10002018": the first Packet that is executed there. Raises
        UsageError for a text that is no place, CaptureError where there is none.
        """
        from cffpy.analysis.packets import packets_from
        from cffpy.api.places import Scope, place_of
        from cffpy.frame import places

        name = place_of(place)
        if isinstance(name, places.PacketAddress | places.FileOffset | places.PacketPath):
            from cffpy.api.packets import Packet

            return Packet(self._source, next(iter(packets_from(self._source.packets(), name))))
        scope = Scope(self._source, name)
        if isinstance(name, places.SubmitName):
            return self.submits[name.number]
        if isinstance(name, places.PassName):
            return self.passes[name.number]
        if isinstance(name, places.TileName):
            return self.passes[name.pass_index].tiles[name.number]
        if isinstance(name, places.BinningName):
            return self.passes[name.pass_index].binning
        if isinstance(name, places.ShaderName):
            return self.shaders[name.number]
        if isinstance(name, places.DrawName):
            return self.draw(str(name))
        if name.pass_index is None:
            return scope.actions()
        return self.passes[name.pass_index].draws[name.first : name.last + 1]

    def _scope(self, place: str | int | Place | None, query: Filter | None = None) -> Scope:
        # What a place covers, and a filter holds for. Raises as ``at``.
        from cffpy.api.places import Scope, place_of

        return Scope(self._source, None if place is None else place_of(place), query)

    def draw(self, name: str | int) -> Action:
        """A draw by the name that commands take: "p0:8", or "#57" or 57 for draw 57 of the dump.

        Raises CaptureError where there is none, or where it is not executed.
        """
        from cffpy.analysis.passes.finder import find_draw
        from cffpy.api.places import draw_name_of

        return find_draw(self._source.walked.finder, draw_name_of(name))

    def state(self, name: str | int) -> RegisterState:
        """The registers at ``draw(name)``; raises as that does.

        The commands after the draw's pass are not decoded, unless that was done before.
        """
        from cffpy.api.places import draw_name_of

        return self._source.state_by_name(draw_name_of(name))

    def states(self, draws: Sequence[Action]) -> Iterator[RegisterState]:
        """The registers at several draws, one after the other; raises as ``Action.state`` does."""
        return self._source.states(draws)

    def image_at(
        self,
        gpuaddr: int,
        form: str,
        width: int,
        height: int,
        *,
        pitch: int | None = None,
        tile_mode: int = 0,
        submit: int | None = None,
    ) -> CapturedImage:
        """Any memory as an image: ``form`` as in "RGBA8"; ``image_at(...).picture().png()``.

        ``pitch``: bytes a row; None for that of a new image of the GPU. ``tile_mode``: 0 linear, 3
        TILE6_3. ``submit``: whose memory; None for the last. Raises CffpyError for an unknown
        format.
        """
        from cffpy.analysis.surfaces import view_at
        from cffpy.api.pictures import CapturedImage

        number = max(0, len(self._source.memories) - 1) if submit is None else submit
        view = view_at(self.gpu, gpuaddr, form, (width, height), pitch, tile_mode)
        return CapturedImage(view, self.gpu, self._source.memory(number), {})

    @property
    def inherited(self) -> list[Inherited]:
        """For each submit, the registers of earlier ones in force at its first draw or dispatch.

        ``submit``: its number; ``state``; ``registers``: offsets. A walk over the commands.
        """
        return self._source.inherited

    def packets(self) -> Iterator[Packet]:
        """The packets as they are executed: of a frame in tiles, many of them in each tile.

        Also those in blocks that a condition skips; see ``Packet.executed``. Each call decodes the
        commands again; the packets of one command stream are in memory at a time.
        """
        from cffpy.api.packets import Packet

        if self._source.walked.database is not None:
            for packet in self._source.packets():
                yield Packet(self._source, packet)

    @cached_property
    def shaders(self) -> Shaders:
        """The distinct shaders, as ``cffpy shaders`` lists them: a run over the commands.

        Those of one draw are ``Draw.shaders``.
        """
        from cffpy.frame.shader import Shaders

        found = self._source.collected
        return Shaders(self.name, found.shaders, found.left_out)

    @property
    def registers(self) -> Registers:
        """The registers of the capture's GPU, by name and by offset."""
        return self._source.registers

    def _take_draw_registers(self) -> DrawRegisters:
        # The registers at draws, which the capture no longer has then. All that decoding has found
        # is released; it is found again when it is asked for. Passes, draws and actions of this
        # capture must not be in use.
        found = self._source.draw_registers
        for name in ("passes", "draws", "actions", "transfers", "lrz"):
            self.__dict__.pop(name, None)
        self._source.forget("walk")
        return found

    def write_lines(
        self,
        emit: Callable[[str], object],
        only: Collection[str] = (),
        *,
        changed: bool = False,
        where: str | None = None,
        at: str | int | None = None,
    ) -> None:
        """Emit lines of text: one for each register write, dword of a packet, draw, instruction.

        ``emit`` is called with many lines at once, while commands are decoded. ``only``: some of
        "registers", "packets", "draws", "shaders"; all if it is empty. ``changed``: of register
        writes, those that change a value. ``where``: a filter; only lines of draws for which it
        holds. ``at``: only lines of draws of a place. ``cffpy help lines`` has the columns.
        """
        from cffpy.query.filters import Filter
        from cffpy.query.search import subjects
        from cffpy.tables.lines import KINDS, LineOptions

        unknown = set(only) - set(KINDS)
        if unknown:
            raise UsageError(f"there are no lines of {', '.join(sorted(unknown))}")
        draws = None
        if where is not None:
            bound = self._source.ask(Filter(where))
            model = self._source.walk(registers=False).finder.found
            asked = subjects(model.actions, model.passes)
            holding = [one.action for one in asked if bound is not None and bound.matches(one)]
            draws = frozenset(one.dump_draw for one in holding if one and one.dump_draw is not None)
        inside = self._scope(at).dump_draws
        if inside is not None:
            draws = inside if draws is None else draws & inside
        self._source.write_lines(LineOptions(only or KINDS, changed, draws), emit)

    @property
    def problems(self) -> list[Problem]:
        """Damage, what limits left out, and warnings, of the file and of its commands.

        Results may be incomplete for these reasons.
        """
        try:
            return self._source.walked.problems
        except CaptureError as problem:
            return [Problem("damage", str(problem)), *self._source.problems_of_file()]

    @property
    def truncated(self) -> list[Truncation]:
        """What limits left out of what was decoded so far: ``limit``, ``where``."""
        return self._source.content.truncated

    def to_dict(self, buffers: bool = False) -> dict[str, Any]:
        """The object of the file in the document of ``cffpy info --json``.

        ``buffers``: with those of each submit.
        """
        return self._source.summary.to_dict(buffers)

    def __repr__(self) -> str:
        if self._source.is_closed:
            return "<Capture, closed>"
        if self.intel is not None:
            return f"<Capture {self.name}: Intel>"
        gpu = self.gpu
        name = "unknown GPU" if gpu is None else gpu.name
        return f"<Capture {self.name}: {name}, {len(self.submits)} submits>"

    def _repr_html_(self) -> str:
        from cffpy.frame.faces import html_table

        rows = [
            (
                pass_.index,
                pass_.kind,
                pass_.mode,
                pass_.framebuffer,
                len(pass_.draws),
                len(pass_.tiles),
            )
            for pass_ in self.passes
        ]
        columns = ("pass", "kind", "mode", "framebuffer", "draws", "tiles")
        return html_table((self.name, *columns[1:]), rows)


def open(  # noqa: A001 - cffpy.open
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO,
    *,
    gpu: str | int | Gpu | None = None,
    register_db: str | None = None,
    limits: Limits | Mapping[str, int] | None = None,
    progress: Progress | None = None,
) -> Capture:
    """Open a capture: a path ("-": standard input), the bytes of a file, or a binary file object.

    Every compression and archive that the commands take is taken here. ``gpu``: decode for this
    GPU, such as "630" or "a7xx", instead of that of the file. ``register_db``: name or directory of
    another edition of the descriptions, or "auto": the one that the capture needs. ``limits``: as
    for ``--limit``, as in ``{"draws": 1000}``. ``progress(done, size)`` is called while commands
    are decoded, with bytes of the decompressed file; an exception that it raises ends the decoding.

    Raises ContainerError where the file cannot be read or is not a capture, UnsupportedGpu for an
    unknown ``gpu``, RegisterDbError where there is no such edition, UsageError for other arguments.
    Damage raises nothing: see ``Capture.problems``.
    """
    return open_sharing(None, source, gpu, register_db, limits, progress)


def open_sharing(
    descriptions: Descriptions | None,
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO,
    gpu: str | int | Gpu | None = None,
    register_db: str | None = None,
    limits: Limits | Mapping[str, int] | None = None,
    progress: Progress | None = None,
) -> Capture:
    """As ``open``. ``descriptions``: those that other captures use, too, if any."""

    def read() -> Content:
        return read_content(source, limits)

    return open_content(read, gpu, register_db, progress, descriptions)


def open_content(
    read: Callable[[], Content],
    gpu: str | int | Gpu | None = None,
    register_db: str | None = None,
    progress: Progress | None = None,
    descriptions: Descriptions | None = None,
) -> Capture:
    """As ``open_sharing``. ``read`` returns the content of the file, as ``read_content`` does."""
    directory, given = given_edition(register_db, knows_auto=True), given_gpu(gpu)
    if progress is not None:
        expect_callable("progress", progress)
    ABANDONED.collect()
    return Capture(source_of(read(), given, directory, progress, descriptions))


def expect_capture(name: str, value: object) -> None:
    """Raise UsageError for what is no capture. ``name``: of the argument."""
    expect(name, value, Capture, "a capture that cffpy.open has opened")


def read_content(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO,
    limits: Limits | Mapping[str, int] | None,
) -> Content:
    """The decompressed bytes of what ``open`` takes. Raises ContainerError, UsageError."""
    return _content(source, given_limits(limits))


def _content(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO, limits: Limits
) -> Content:
    if isinstance(source, bytes | bytearray | memoryview):
        return open_bytes(bytes(source), "data", limits)
    if isinstance(source, str | os.PathLike):
        return open_capture(os.fspath(source), limits)
    if not hasattr(source, "read"):
        raise UsageError(f"cannot open a {type(source).__name__}: a path, bytes or a binary file")
    name = str(getattr(source, "name", "data"))
    try:
        data = source.read(limits.stored_bytes + 1)
    except OSError as problem:
        raise ContainerError(f"{name}: {problem.strerror or problem}") from None
    if not isinstance(data, bytes | bytearray):
        raise UsageError(f"{name}: the file object is not binary")
    if len(data) > limits.stored_bytes:
        raise ContainerError(f"{name}: more than {limits.stored_bytes} bytes {hint('bytes')}")
    return open_bytes(bytes(data), name, limits)


def registers_of(gpu: str | int, *, register_db: str | None = None) -> Registers:
    """The registers of a GPU without a capture: ``cffpy.registers("630")``, "a7xx".

    Raises UnsupportedGpu, or RegisterDbError for an edition that does not exist.
    """
    from cffpy.capture.gpu import parse_gpu
    from cffpy.regdb.database import Database
    from cffpy.regdb.registers import Registers

    expect("gpu", gpu, (str, int), 'a GPU, as in "630" or "a7xx"')
    directory = given_edition(register_db)
    return Registers(Database.open(parse_gpu(str(gpu)).chip, directory))
