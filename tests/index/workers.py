# SPDX-License-Identifier: MIT
"""Tasks for workers of tests: one that dies where a capture's name says so."""

from __future__ import annotations

import os
import time

from cffpy.errors import CaptureIndexError
from cffpy.index.model import Done, Task
from cffpy.index.partition import build_part


def build_or_die(task: Task) -> Done:
    """As build_part; a capture called ``poison`` ends the process."""
    if any("poison" in one.name for one in task.captures):
        os._exit(9)
    return build_part(task)


def fail_or_sleep(task: Task) -> Done:
    """Task 0 fails, others take ten minutes."""
    if task.number:
        time.sleep(600)
    raise CaptureIndexError("no space")
