# SPDX-License-Identifier: MIT
"""Prints crash dumps: goes through the lines, copies or replaces each, runs the ring's commands.

crashdec: decode and the functions that it calls (mesa 25.0.7). The reference ends at the first line
that it cannot parse; here such a line is left out, with a message, and printing continues.
"""

from __future__ import annotations

from cffpy.capture.gpu import lookup_chip_id, lookup_gpu_id
from cffpy.capture.memory import Words
from cffpy.container.devcoredump import DeferredContents, Item, iter_items
from cffpy.cp.session import Session
from cffpy.pm4.reader import is_type4_or_type7
from cffpy.views.cffdump.output import Output
from cffpy.views.crashdec.blocks import BlockText
from cffpy.views.crashdec.hfi import HISTORY, QUEUES
from cffpy.views.crashdec.sink import CrashdecSink

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.container.open import Content
    from cffpy.views.crashdec.options import CrashdecOptions

#: Rings that a dump may have.
_RINGS = 5

#: Bytes of zeros that are added to the memory of buffers in all.
_ZEROS = 128 << 20


#: Lines of an item, by its key, where it is not one.
_LINES = {"data": 2, "end": 0}


#: A name of an indexed register that newer editions correct.
_CORRECTED = b"CP_BV_SQE_STAT_ADDR", b"CP_BV_SQE_STAT"


class _Ring:
    """A ring buffer. ``size`` is in bytes, ``rptr`` and ``wptr`` in dwords."""

    def __init__(self) -> None:
        self.iova = self.rptr = self.wptr = self.size = 0
        self.contents: DeferredContents | None = None


class CrashDump:
    """Prints one dump. ``write`` takes bytes, ``complain`` a line for standard error."""

    def __init__(
        self,
        options: CrashdecOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None = None,
    ) -> None:
        self._options = options
        self._complain = complain
        self._view = self._make_view(options, write, complain, register_db)
        self._session = Session(self._view, warn=complain, register_db=register_db, segments=False)
        self._blocks = BlockText(self._view, options, complain, register_db)
        self._rings = [_Ring() for _ in range(_RINGS)]
        self._ring = self._rings[0]
        self._iova = self._size = 0
        self._fault: int | None = None
        self._history = [[-1] * HISTORY for _ in range(QUEUES)]
        self._name = ""
        self._zeros = _ZEROS
        #: Lines so far.
        self._lines = 0
        #: Whether lines or parts of the dump were left out.
        self.is_damaged = False

    def _make_view(
        self,
        options: CrashdecOptions,
        write: Callable[[bytes], object],
        complain: Callable[[str], None],
        register_db: str | None,
    ) -> CrashdecSink:
        """What prints the commands."""
        return CrashdecSink(options, Output(write), complain, register_db)

    def file(self, content: Content) -> None:
        """Print an opened dump."""
        self._session.set_limits(content)
        self._session.start_file()
        view = self._view
        sections = {
            "": self._heading,
            "fault-info": self._fault_info,
            "bos": self._buffer,
            "ringbuffer": self._ringbuffer,
            "gmu-log": self._gmu_log,
            "gmu-hfi": self._gmu_hfi,
            "registers": self._registers,
            "registers-gmu": self._gmu_registers,
            "indexed-registers": self._indexed,
            "shader-blocks": self._shader_block,
            "clusters": self._cluster,
            "debugbus": self._debugbus,
        }
        try:
            for item in iter_items(content.data):
                self._lines += _LINES.get(item.key, 1)
                if item.pattern:
                    self._skip(f"line {self._lines} is not of the form {item.pattern!r}")
                    if item.key == "revision":
                        self._copy(item)
                    continue
                if item.key == "begin":
                    self._begin(item)
                if item.key == "end" and item.section != "registers":
                    continue
                if not sections[item.section](item):
                    break
                view.output.flush_if_full()
        finally:
            view.output.flush()

    # -- what all sections do ---------------------------------------------------------------

    def _skip(self, message: str) -> None:
        self.is_damaged = True
        self._complain(f"{message}: skipped")

    def _copy(self, item: Item) -> bool:
        self._view.put(item.line.decode("latin-1"))
        return True

    def _data(self, item: Item) -> tuple[bytes, int]:
        """The contents of a block without zeros at its end, and the bytes that it declares."""
        assert item.block is not None
        return item.block.contents(), item.block.declared

    def _contents(self, item: Item) -> DeferredContents:
        """The contents of a block with the zeros at its end, as far as they are within bounds."""
        assert item.block is not None
        size = item.block.declared
        missing = max(0, size - item.block.size)
        if missing > self._zeros:
            self._skip(f"line {self._lines}: of {missing} bytes of zeros all but {self._zeros}")
            size -= missing - self._zeros
            missing = self._zeros
        self._zeros -= missing
        return DeferredContents(item.block, size)

    def _begin(self, item: Item) -> None:
        self._size = self._iova = 0
        self._ring = self._rings[0]
        self._history = [[-1] * HISTORY for _ in range(QUEUES)]
        self._blocks.begin(item.section)

    def _add(self, iova: int, contents: DeferredContents) -> None:
        """Memory, which is decoded when it is read."""
        image = self._session.image
        image.add(iova, contents.declared, contents)  # type: ignore[arg-type]

    # -- sections ---------------------------------------------------------------------------

    def _heading(self, item: Item) -> bool:
        self._copy(item)
        return item.key != "revision" or self._revision(item)

    def _revision(self, item: Item) -> bool:
        """The line that names the GPU; False if it is unknown."""
        number, core, major, minor, patch = [int(value) for value in item.values]
        chip_id = (core << 24 | major << 16 | minor << 8 | patch) & 0xFFFFFFFF
        gpu = lookup_gpu_id(number) or lookup_chip_id(chip_id)
        if gpu is None:
            self._view.put("Unsupported device\n")
            return False
        self._view.put(f"Got chip_id=0x{chip_id:x}\n")
        self._session.use_gpu(gpu)
        self._blocks.use_gpu(gpu, number)
        return True

    def _fault_info(self, item: Item) -> bool:
        if item.key == "fault":
            self._fault = int(item.values[0])
        return self._copy(item)

    def _buffer(self, item: Item) -> bool:
        if item.key == "iova":
            self._iova = int(item.values[0])
        elif item.key == "size":
            self._size = int(item.values[0])
            self._put_range()
        elif item.key == "data":
            contents = self._contents(item)
            if self._options.verbose:
                self._blocks.hex(bytes(contents.view()), self._size)
            self._add(self._iova, contents)
        else:
            return self._copy(item)
        return True

    def _put_range(self) -> None:
        start, size, fault = self._iova, self._size, self._fault
        end = start + size & 0xFFFFFFFFFFFFFFFF
        mark = ""
        if fault is not None and start <= fault:
            if fault < end:
                mark = "\t=="
            elif fault < (end + size & 0xFFFFFFFFFFFFFFFF):
                mark = "\t>="
        self._view.put(
            f"  - iova: 0x{start:016x}-0x{end:016x}{mark}\n    size: {size} (0x{size:x})\n"
        )

    def _ringbuffer(self, item: Item) -> bool:
        ring = self._ring
        if item.key == "id":
            number = int(item.values[0])
            if not 0 <= number < _RINGS:
                self._skip(f"line {self._lines}: ring {number}")
                self._ring = _Ring()
            else:
                self._ring = self._rings[number]
        elif item.key in ("iova", "rptr", "wptr", "size"):
            setattr(ring, item.key, int(item.values[0]))
        elif item.key == "data":
            ring.contents = self._contents(item)
            self._add(ring.iova, ring.contents)
            return True
        return self._copy(item)

    def _gmu_log(self, item: Item) -> bool:
        if item.key != "data":
            return self._copy(item)
        self._blocks.hex(*self._data(item))
        return True

    def _gmu_hfi(self, item: Item) -> bool:
        if item.key == "iova":
            self._iova = int(item.values[0])
        elif item.key == "history":
            queue = int(item.values[0])
            if queue < QUEUES:
                self._history[queue] = [int(value) for value in item.values[1:]]
            else:
                self._skip(f"line {self._lines}: queue {queue}")
        elif item.key == "data":
            contents, size = self._data(item)
            self._blocks.queues(contents, size, self._iova, self._history)
            return True
        return self._copy(item)

    def _registers(self, item: Item) -> bool:
        if item.key == "begin":
            return self._copy(item)
        if item.key == "end":
            self._run()
        elif self._needs_gpu():
            offset, value = [int(value) for value in item.values]
            self._session.machine.state.set_register(offset // 4, value)
            self._blocks.register(offset // 4, value)
        return True

    def _gmu_registers(self, item: Item) -> bool:
        if item.key == "begin":
            return self._copy(item)
        if self._needs_gpu():
            offset, value = [int(value) for value in item.values]
            self._blocks.gmu_register(offset // 4, value)
        return True

    def _cluster(self, item: Item) -> bool:
        if item.key == "location" and not self._view.position.rules.knows_locations:
            self._skip(f"line {self._lines} is a location, which this edition does not know")
            return True
        if item.key != "register":
            return self._copy(item)
        if self._needs_gpu():
            offset, value = [int(value) for value in item.values]
            self._blocks.register(offset // 4, value)
        return True

    def _indexed(self, item: Item) -> bool:
        if item.key == "name":
            self._name = item.name
        elif item.key == "data":
            if self._needs_gpu():
                self._blocks.indexed(self._name, *self._data(item))
            return True
        if self._view.position.rules.knows_new_names:
            # crashdec: popline corrects the name in the line, too (mesa 25.3)
            self._view.put(item.line.replace(*_CORRECTED, 1).decode("latin-1"))
            return True
        return self._copy(item)

    def _shader_block(self, item: Item) -> bool:
        if item.key == "type":
            self._name = item.name
        elif item.key == "data":
            if self._needs_gpu():
                self._blocks.shader(self._name, item)
            return True
        return self._copy(item)

    def _debugbus(self, item: Item) -> bool:
        if item.key != "data":
            return self._copy(item)
        if self._options.verbose:
            self._blocks.hex(*self._data(item))
        return True

    def _needs_gpu(self) -> bool:
        """Whether the GPU is known; else the line is skipped."""
        if self._view.generation:
            return True
        self._skip(f"line {self._lines}: the dump does not say which GPU it is of")
        return False

    # -- the command stream -----------------------------------------------------------------

    def _run(self) -> None:
        """crashdec: dump_cmdstream: the ring from a little before its read pointer."""
        if not self._needs_gpu():
            return
        session, view = self._session, self._view
        position = view.position
        base = self._value64("CP_RB_BASE")
        text = f"got rb_base={base:x}\n"
        for number in (1, 2):
            level = position.levels[number]
            level.wanted = self._value64(f"CP_IB{number}_BASE")
            level.left = self._left(number)
            text += f"IB{number}: {level.wanted:x}, {level.left}\n"
        view.put(text)
        state = session.machine.state
        state.written_before.clear()
        state.rewritten.clear()
        view.start_file()
        position.start_stream()
        for ring in self._rings:
            if ring.iova != base or not ring.size:
                continue
            view.put("found ring!\n")
            if ring.contents is None or ring.size < 4:
                self._skip("the ring has no data: its commands")
                continue
            self._run_ring(ring, bytes(ring.contents.view()))
            if self._options.verbose:
                return

    def _run_ring(self, ring: _Ring, contents: bytes) -> None:
        view, machine = self._view, self._session.machine
        rules = view.position.rules
        ring_dwords = ring.size >> 2
        words = Words(ring.iova, memoryview(contents))
        count = ring_dwords
        start = 0
        if not self._options.verbose:
            rptr = self._read_pointer(ring_dwords) if rules.reads_ring_registers else ring.rptr
            given = self._options.look_back
            look_back = rules.look_back if given is None else given
            start = _modulo(ring_dwords, rptr, -look_back)
            for _ in range(min(look_back, ring_dwords)):
                if not machine.is_64bit or is_type4_or_type7(words.get(start)):
                    break
                start = (start + 1) % ring_dwords
            count = _modulo(ring_dwords, ring.wptr, -start)
            view.put(f"got cmdszdw={count}\n")
            end = start + count
            copy = contents[4 * start : 4 * end]
            if end > ring_dwords:
                copy += contents[: 4 * (end - ring_dwords)]
            words = Words(0, memoryview(copy))
            view.position.enter_ring(words, count, _modulo(ring_dwords, ring.wptr, -rptr))
        view.ring_start, view.ring_dwords = start, ring_dwords
        view.position.look_ahead(machine, words, 0, count)
        machine.run(words, 0, count, 0)
        view.position.ring_copy = None

    def _read_pointer(self, ring_dwords: int) -> int:
        """crashdec: dump_cmdstream: the register, where the SQE reads on a6xx (mesa 25.3)."""
        machine = self._session.machine
        rptr = machine.state.value(machine.names.register_offset("CP_RB_RPTR"))
        if not machine.gpu.facts.ring_pointer_is_of_roq:
            return rptr
        waiting = machine.state.value(machine.names.register_offset("CP_ROQ_AVAIL_RB")) >> 16
        return _modulo(ring_dwords, rptr, -waiting)

    def _value64(self, name: str) -> int:
        """The value of a register that has 64 bits from a5xx on."""
        machine = self._session.machine
        register = machine.names.register_offset(name)
        value = machine.state.value(register)
        return value | machine.state.value(register + 1) << 32 if machine.is_64bit else value

    def _left(self, number: int) -> int:
        """Dwords of an IB that the CP has not executed: not fetched, or fetched and waiting."""
        machine = self._session.machine
        if machine.gpu.generation not in (6, 7):
            return 0
        database, state = machine.names, machine.state
        left = state.value(database.register_offset(f"CP_IB{number}_REM_SIZE"))
        waiting = state.value(database.register_offset(f"CP_ROQ_AVAIL_IB{number}")) >> 16
        return left + max(0, waiting - 1) & 0xFFFFFFFF


def _modulo(ring_dwords: int, place: int, distance: int) -> int:
    """A dword of the ring at a distance from another, as the reference counts in 32 bits."""
    return (ring_dwords + place + distance & 0xFFFFFFFF) % ring_dwords
