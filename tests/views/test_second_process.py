# SPDX-License-Identifier: MIT
"""A second process that prints a part of a dump: output and messages stay the same."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from cffpy.container.open import open_bytes, open_capture
from cffpy.limits import Limits
from cffpy.views.cffdump import dump as dump_module
from cffpy.views.cffdump import second_process
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import DumpOptions
from cffpy.views.cffdump.packets import PacketTable
from cffpy.views.cffdump.second_process import SecondProcess
from cffpy.views.cffdump.summary import Summary
from tests.selection import first_always

pytestmark = [
    pytest.mark.skipif(sys.platform != "linux", reason="only Linux has a second process"),
    pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning"),
]

#: A dump: its text, its lines on standard error, and whether the second process's text was taken.
Dumped = tuple[bytes, list[str], bool]


@pytest.fixture(autouse=True)
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """Fork after the first stream, however little text there is."""
    monkeypatch.setattr(dump_module, "SHARED", -1)
    monkeypatch.setattr(second_process, "WORTH", 0)
    monkeypatch.setattr(second_process, "can_share", lambda: True)


@pytest.fixture
def dumped(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Dumped]:
    """``dumped(data, may_share, **options)``: dumps a capture."""
    taken: list[bool] = []
    original = SecondProcess.take_text

    def take_text(self: SecondProcess, write: Callable[[bytes], object]) -> bool:
        taken.append(original(self, write))
        return taken[-1]

    monkeypatch.setattr(SecondProcess, "take_text", take_text)

    def run(data: bytes, may_share: bool, **options: Any) -> Dumped:
        pieces: list[bytes] = []
        lines: list[str] = []
        taken.clear()
        dump = Dump(DumpOptions(**options), pieces.append, lines.append)
        dump.may_share = may_share
        dump.begin("data")
        dump.file(open_bytes(data, limits=Limits(depth=3)))
        return b"".join(pieces), lines, taken == [True]

    return run


def repeated(path: Path, times: int = 6) -> bytes:
    """A capture whose submits come several times."""
    return bytes(open_capture(str(path)).data) * times


@pytest.fixture
def no_child(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Checks that no process of a dump is left."""
    started: list[int] = []
    fork = os.fork

    def noted() -> int:
        started.append(fork())
        return started[-1]

    monkeypatch.setattr(os, "fork", noted)
    yield
    for process in started:
        with pytest.raises(ChildProcessError):
            os.waitpid(process, os.WNOHANG)


def check_same(dumped: Callable[..., Dumped], data: bytes, is_taken: bool, **options: Any) -> None:
    """A dump by two processes is that by one; ``is_taken``: both print a part."""
    alone, shared = dumped(data, False, **options), dumped(data, True, **options)
    assert shared[0] == alone[0]
    assert shared[1] == alone[1]
    assert (alone[2], shared[2]) == (False, is_taken)


@pytest.mark.parametrize(
    "name",
    first_always(
        [
            "a220-triangle",
            "a430-depth-good",
            "a630-triangle",
            "a660-frame-binning",
            "a740-state-groups",
        ]
    ),
)
@pytest.mark.parametrize(
    "options", first_always([{}, {"summary": True, "once": True}, {"allregs": True}])
)
def test_same_output(
    name: str, options: dict[str, Any], samples: Path, dumped: Callable[..., Dumped], no_child: None
) -> None:
    found = sorted(samples.glob(f"{name}*.rd*"))
    check_same(dumped, repeated(found[0]), True, **options)


def test_damage_is_reported_once(
    samples: Path, dumped: Callable[..., Dumped], no_child: None
) -> None:
    data = repeated(next(samples.glob("a630-triangle*.rd*")))
    check_same(dumped, data + b"\x05\0\0\0\x40\0\0\0short", True)
    assert dumped(data + b"\x05\0\0\0\x40\0\0\0short", True)[1]


@pytest.mark.parametrize("failing", first_always(["_write", "_state"]))
def test_a_second_process_that_fails_changes_nothing(
    failing: str,
    samples: Path,
    dumped: Callable[..., Dumped],
    monkeypatch: pytest.MonkeyPatch,
    no_child: None,
) -> None:
    first, original = os.getpid(), getattr(SecondProcess, failing)

    def fail(self: SecondProcess, *arguments: object) -> object:
        if os.getpid() != first:
            raise OSError("no room")
        return original(self, *arguments)

    monkeypatch.setattr(SecondProcess, failing, fail)
    check_same(dumped, repeated(next(samples.glob("a630-triangle*.rd*"))), False)


def test_another_state_is_noticed(
    samples: Path,
    dumped: Callable[..., Dumped],
    monkeypatch: pytest.MonkeyPatch,
    no_child: None,
) -> None:
    monkeypatch.setattr(Summary, "skip_registers", lambda self: self._last_values.update({8: 1}))
    check_same(dumped, repeated(next(samples.glob("a630-triangle*.rd*"))), False)


def test_the_variants_of_skipped_packets_are_selected(
    samples: Path,
    dumped: Callable[..., Dumped],
    monkeypatch: pytest.MonkeyPatch,
    no_child: None,
) -> None:
    first, second = (next(samples.glob(f"a630-{name}*.rd*")) for name in ("triangle", "indirect"))
    data = repeated(first, 1) + repeated(second)
    check_same(dumped, data, True)
    monkeypatch.setattr(PacketTable, "select", lambda *_: None)
    check_same(dumped, data, False)


def test_options_that_hide_text_and_a5xx_are_not_shared(
    samples: Path, dumped: Callable[..., Dumped]
) -> None:
    data = repeated(next(samples.glob("a630-triangle*.rd*")))
    check_same(dumped, data, False, draw=1)
    check_same(dumped, data, False, query=("RB_MRT[0].CONTROL",))
    check_same(dumped, repeated(next(samples.glob("a530-two-submits*.rd*"))), False)


def test_running_processes_are_counted(tmp_path: Path) -> None:
    path = tmp_path / "loadavg"
    path.write_text("0.20 0.18 0.12 3/80 11206\n")
    assert second_process.running(str(path)) == 3
    assert second_process.running(str(tmp_path / "missing")) == 1
    path.write_text("")
    assert second_process.running(str(path)) == 1


def test_processors_and_the_environment_decide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.undo()
    monkeypatch.delenv("CFFPY_PROCESSES", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    busy, idle = tmp_path / "busy", tmp_path / "idle"
    busy.write_text("0.20 0.18 0.12 2/80 11206\n")
    idle.write_text("0.20 0.18 0.12 1/80 11206\n")
    assert not second_process.can_share(str(busy))
    assert second_process.can_share(str(idle))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {1})
    assert not second_process.can_share(str(idle))
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})
    monkeypatch.setenv("CFFPY_PROCESSES", "1")
    assert not second_process.can_share(str(idle))
