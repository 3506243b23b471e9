# SPDX-License-Identifier: MIT
"""Opens captures of Intel GPUs."""

from __future__ import annotations

from typing import Any

import cffpy


def open_intel(source: Any, **options: Any) -> cffpy.Intel:
    """What only the Intel capture has."""
    found = cffpy.open(source, **options).intel
    assert found is not None
    return found
