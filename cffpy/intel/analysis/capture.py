# SPDX-License-Identifier: MIT
"""Runs the commands of a file through a walk: AUB files, i915 error states, Xe devcoredumps."""

from __future__ import annotations

import re

from cffpy.container.damage import Damage
from cffpy.errors import UnsupportedGpu
from cffpy.frame.facts import described
from cffpy.intel.analysis.state import Submission
from cffpy.intel.container import aub
from cffpy.intel.container.error_state import (
    BATCH_BUFFER,
    ErrorState,
    SectionMemory,
    XeDevcoredump,
    is_error_state,
    is_xe_devcoredump,
    parameter,
)
from cffpy.intel.container.memory import LocatedMemory
from cffpy.intel.container.submissions import AubSubmissions
from cffpy.intel.decoder.groups import Database
from cffpy.intel.descriptions import store
from cffpy.intel.descriptions.rows import ENGINE_BITS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.container.open import Content
    from cffpy.intel.analysis.walk import Walk
    from cffpy.intel.container.memory import AddressSpace
    from cffpy.row_readers import BytesLike

    MakeWalk = Callable[[Database, AddressSpace, int], Walk]

AUB, ERROR_STATE, XE = "AUB file", "i915 error state", "Xe devcoredump"

_PCI_ID = re.compile(rb"PCI ID:\s*0x\s*([0-9a-fA-F]{1,4})")
_MAX_SUBMISSIONS = 1 << 16
#: The first generation with addresses of 48 bits.
_FIRST_64BIT = 80


@described(
    "device",
    pci_id="its PCI id",
    name="its marketing name",
    verx10="ten times its version: 125 for gen12.5",
)
class IntelDevice:
    """The GPU of a capture."""

    pci_id: int
    name: str
    verx10: int

    def __init__(self, pci_id: int, name: str, verx10: int) -> None:
        self.pci_id = pci_id
        self.name = name
        self.verx10 = verx10

    @property
    def generation(self) -> int:
        """Ten times its version: 125 for gen12.5. Other numbers than the generations of Adreno."""
        return self.verx10

    @property
    def is_64bit(self) -> bool:
        """Whether addresses take two dwords."""
        return self.generation >= _FIRST_64BIT

    def __repr__(self) -> str:
        return f"<IntelDevice {self.name}, generation {self.verx10}>"


class IntelRun:
    """What was found by running a file: its kind, device and submissions, and the walk.

    ``walk`` is None where no device is named. ``damage``: of the file, of its commands, and what
    limits leave out.
    """

    def __init__(self, kind: str) -> None:
        self.kind = kind
        self.application = ""
        self.device: IntelDevice | None = None
        self.walk: Walk | None = None
        self.submissions: list[Submission] = []
        self.damage: list[Damage] = []


def kind_of(data: BytesLike) -> str | None:
    """The kind of an Intel capture; None for other data."""
    if aub.is_aub(data):
        return AUB
    if is_xe_devcoredump(data):
        return XE
    return ERROR_STATE if is_error_state(data) else None


def run_capture(content: Content, make: MakeWalk, directory: str | None = None) -> IntelRun:
    """Run the commands of a file; ``make`` creates the walk once the device is known.

    Raises UnsupportedGpu for an unknown device. ``directory``: another edition of descriptions.
    """
    kind = kind_of(content.data) or AUB
    run = IntelRun(kind)
    {AUB: _run_aub, ERROR_STATE: _run_error_state, XE: _run_xe}[kind](run, content, make, directory)
    if run.walk is not None:
        if run.walk.is_exhausted and not run.walk.is_stopped:
            message = "too many commands: the rest is ignored"
            run.damage.append(Damage(None, message, limit="commands"))
        run.damage += [Damage(None, str(problem)) for problem in run.walk.problems]
    return run


def _device(pci_id: int, directory: str | None, name: str) -> IntelDevice:
    described = store.devices(directory).get(pci_id)
    if described is None:
        raise UnsupportedGpu(f"{name}: unknown device: PCI id {pci_id:#x}")
    return IntelDevice(pci_id, described[0], described[1])


def _new_walk(
    run: IntelRun, content: Content, memory: AddressSpace, make: MakeWalk, directory: str | None
) -> Walk:
    assert run.device is not None  # the caller has checked that
    budget = content.limits.of_capture(len(content.data)).analysed_dwords
    return make(Database(run.device.verx10, directory), memory, budget)


def _engine_name(bit: int) -> str:
    return next((name for name, number in ENGINE_BITS.items() if number == bit), "unknown")


def _run_aub(run: IntelRun, content: Content, make: MakeWalk, directory: str | None) -> None:
    memory = LocatedMemory(len(content.data))
    submissions = AubSubmissions(content.data, memory)
    memory.data_offset = lambda: submissions.data_offset
    for item in submissions.items():
        if isinstance(item, aub.Identity):
            if run.walk is not None:
                continue  # a second identity changes nothing
            run.device = _device(item.pci_id, directory, content.name)
            run.application = item.application
            run.walk = _new_walk(run, content, memory, make, directory)
            submissions.ver = run.walk.database.ver
        elif not isinstance(item, aub.Comment) and run.walk is not None:
            walk = run.walk
            submission = Submission(
                walk.submit + 1,
                _engine_name(item.engine),
                item.address,
                len(item.data) // 4,
                item.offset,
            )
            if len(run.submissions) < _MAX_SUBMISSIONS:
                run.submissions.append(submission)
            walk.engine, walk.data_offset = item.engine, item.data_offset
            walk.begin_submission(submission)
            walk.run_data(item.data, item.address, item.is_ring, item.following)
            if walk.is_exhausted:
                break
    run.damage += submissions.damage


def _run_error_state(
    run: IntelRun, content: Content, make: MakeWalk, directory: str | None
) -> None:
    state = ErrorState(content)
    for line in state.lines():
        match = _PCI_ID.search(line)
        if match is not None and run.device is None:
            run.device = _device(int(match[1], 16), directory, content.name)
    run.damage += state.damage
    if run.device is None:
        run.damage.append(Damage(None, "no line names the PCI ID of the device"))
        return
    memory = SectionMemory(state.sections)
    run.walk = _new_walk(run, content, memory, make, directory)
    for section in state.sections:
        if section.kind == BATCH_BUFFER:
            run.walk.engine = ENGINE_BITS[_ring_engine(section.ring)]
            _run_batch(run, section.data[: section.end], section.address)


def _ring_engine(ring: str) -> str:
    """The engine of a ring's name: "rcs0", "blt"."""
    for start, engine in (("bcs", "blitter"), ("blt", "blitter"), ("ccs", "compute")):
        if ring.startswith(start):
            return engine
    return "video" if ring.startswith(("vcs", "vecs", "bsd", "vebox")) else "render"


def _run_batch(run: IntelRun, data: BytesLike, address: int) -> None:
    walk = run.walk
    assert walk is not None  # the caller has checked that
    if walk.is_exhausted or len(run.submissions) >= _MAX_SUBMISSIONS:
        return
    number = walk.submit + 1
    engine = _engine_name(walk.engine)
    run.submissions.append(Submission(number, engine, address, len(data) // 4, None))
    walk.begin_submission(run.submissions[-1])
    walk.run_data(data, address, from_ring=False)


def _run_xe(run: IntelRun, content: Content, make: MakeWalk, directory: str | None) -> None:
    dump = XeDevcoredump(content)
    for _, line in dump.lines():
        number = parameter(line, b"PCI ID")
        if number is not None and run.device is None:
            run.device = _device(number & 0xFFFFFFFF, directory, content.name)
    run.damage += dump.damage
    if run.device is None:
        run.damage.append(Damage(None, "no line names the PCI ID of the device"))
        return
    memory = SectionMemory(dump.areas, only_ppgtt=True)
    run.walk = _new_walk(run, content, memory, make, directory)
    for address in dump.batches:
        area = memory.find(address)
        if area is not None:
            _run_batch(run, area.data[address - area.address : area.end], address)
