# SPDX-License-Identifier: MIT
"""Checks texts of captures by one lint, and the samples of lints."""

from __future__ import annotations

import io
from pathlib import Path

from cffpy.check.model import Lint
from cffpy.check.registry import chosen_lints
from cffpy.check.runner import Checked, check_capture
from cffpy.container.open import open_bytes
from cffpy.pm4asm.assemble import assemble

CHECKOUT = Path(__file__).resolve().parents[2]
SAMPLES = CHECKOUT / "samples" / "lints"


def sample(name: str) -> str:
    """The text of a sample of lints: "CFF001-fires"."""
    return (SAMPLES / f"{name}.pm4").read_text("utf-8")


def checked_text(text: str, lint: str) -> Checked:
    """The result of one lint for the text of a capture."""
    content = open_bytes(assemble(io.BytesIO(text.encode()), "text"), "text")
    return check_capture(content, lambda _line: None, lints=chosen_lints([lint]))


def checked(name: str, lint: Lint) -> Checked:
    """The result of one lint for a sample."""
    return checked_text(sample(name), lint.id)
