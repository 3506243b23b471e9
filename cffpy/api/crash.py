# SPDX-License-Identifier: MIT
"""Crash: a GPU crash dump, what hangs and possible causes. Made by ``cffpy.open_crash``."""

from __future__ import annotations

from functools import cached_property
from typing import TYPE_CHECKING, Any

from cffpy.analysis.crash.report import analyse_crash
from cffpy.api.arguments import given_edition, given_gpu
from cffpy.api.capture import Capture, read_content
from cffpy.api.capture import open as open_capture
from cffpy.capture.gpu import Gpu

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping
    from typing import BinaryIO

    from cffpy.analysis.crash.model import CrashReport, Suspicion
    from cffpy.analysis.crash.position import CpPacket
    from cffpy.container.open import Content
    from cffpy.limits import Limits


class Crash:
    """A crash dump that was read. Made by ``cffpy.open_crash``."""

    def __init__(self, report: CrashReport, register_db: str | None, gpu: Gpu | None) -> None:
        """Use ``cffpy.open_crash``."""
        #: What hangs, and all else that is known, as facts: ``report.hang``, ``report.in_flight``.
        self.report = report
        self._register_db = register_db
        self._gpu = gpu

    @property
    def gpu(self) -> Gpu | None:
        """The GPU; None where the dump does not tell it."""
        return self.report.context.gpu

    @property
    def fault_address(self) -> int | None:
        """The address of the page fault; None where the dump reports none."""
        return self.report.fault.address

    @property
    def packet(self) -> CpPacket | None:
        """The packet that the CP is at; None where it is unknown."""
        return self.report.hang.packet

    @property
    def suspicions(self) -> list[Suspicion]:
        """Possible causes of the hang, the likeliest first."""
        return self.report.suspicious

    @property
    def problems(self) -> list[str]:
        """Damage of the file, and lines that were skipped, as their section has another form."""
        return self.report.problems

    @cached_property
    def capture(self) -> Capture:
        """The capture that ``extract`` returns, opened."""
        return open_capture(self.extract(), gpu=self._gpu, register_db=self._register_db)

    def extract(self) -> bytes:
        """A capture (.rd): the dump's memory, and the IBs that the ring has called as submits."""
        from cffpy.analysis.crash.position import extracted

        return extracted(self.report.context)

    def lines(self) -> list[str]:
        """The page of ``cffpy crash``."""
        from cffpy.views.crash import lines

        return list(lines(self.report))

    def to_dict(self) -> dict[str, Any]:
        """The document of ``cffpy crash --json``, without its schema."""
        return self.report.to_dict()

    def __repr__(self) -> str:
        packet = self.packet
        at = "position unknown" if packet is None else f"at {packet.name} {packet.gpuaddr:#x}"
        name = "unknown GPU" if self.gpu is None else self.gpu.name
        return f"<Crash {self.report.file}: {name}, {at}>"


def open_crash(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO,
    *,
    gpu: str | int | Gpu | None = None,
    register_db: str | None = None,
    limits: Limits | Mapping[str, int] | None = None,
) -> Crash:
    """Read a GPU crash dump (devcoredump or KGSL snapshot); the arguments are those of ``open``.

    ``cffpy.open`` takes crash dumps, too, as the capture of what was executed up to the crash.

    Raises ContainerError where the file cannot be read or is not a crash dump, UnsupportedGpu for
    an unknown ``gpu``, RegisterDbError where there is no such edition. Damage raises nothing.
    """
    return crash_of(read_content(source, limits), gpu, register_db)


def crash_of(content: Content, gpu: str | int | Gpu | None, register_db: str | None) -> Crash:
    """As ``open_crash``, of a file that was read."""
    directory, given = given_edition(register_db), given_gpu(gpu)
    return Crash(analyse_crash(content, directory, given), directory, given)
