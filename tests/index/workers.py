# SPDX-License-Identifier: MIT
"""Tasks for workers of tests: some die, others look at what processes have imported."""

from __future__ import annotations

import os
import signal
import sys
import time
from collections.abc import Callable
from typing import TypeVar

from cffpy.errors import CaptureIndexError
from cffpy.index.model import Call, Done, Task
from cffpy.index.partition import build_part

Result = TypeVar("Result")


def call_here(work: Callable[[], Result]) -> Result:
    return work()


def build_or_die(task: Task, call: Call = call_here) -> Done:
    """As build_part; a capture called ``poison`` ends the process."""
    if any("poison" in one.name for one in task.captures):
        os._exit(9)
    return build_part(task, call)


def build_or_die_apart(task: Task, call: Call = call_here) -> Done:
    """As build_part; a capture called ``poison`` kills the process that runs a part of the task."""
    if any("poison" in one.name for one in task.captures):
        call(lambda: os.kill(os.getpid(), signal.SIGKILL))
    return build_part(task, call)


def build_and_look(task: Task, call: Call = call_here) -> Done:
    """As build_part; raises what the process of each part, and this one, have imported."""
    found: list[list[str]] = []

    def libraries() -> list[str]:
        return [name for name in ("duckdb", "pyarrow") if name in sys.modules]

    def looking(work: Callable[[], Result]) -> Result:
        result, imported = call(lambda: (work(), libraries()))
        found.append(imported)
        return result

    build_part(task, looking)
    raise CaptureIndexError(f"{found} {libraries()}")


def fail_or_sleep(task: Task, call: Call = call_here) -> Done:
    """Task 0 fails, others take ten minutes."""
    if task.number:
        time.sleep(600)
    raise CaptureIndexError("no space")
