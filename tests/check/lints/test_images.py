# SPDX-License-Identifier: MIT
"""Targets and textures."""

from __future__ import annotations

import pytest

from tests.check.texts import checked_text, sample
from tests.selection import first_always


@pytest.mark.parametrize(
    ("lint", "before", "after"),
    first_always(
        [
            ("CFF032", "WIDTH=64 HEIGHT=64", "WIDTH=0 HEIGHT=0"),
            ("CFF036", "SIZE = 36", "SIZE = 0"),
        ],
        names=3,
    ),
)
def test_null_descriptors_are_no_errors(lint: str, before: str, after: str) -> None:
    """Programs may bind nothing, with Vulkan's nullDescriptor; drivers write zeros."""
    text = sample(f"{lint}-fires")
    assert before in text
    assert [one.severity for one in checked_text(text, lint).findings] == ["error"]
    found = checked_text(text.replace(before, after), lint).findings
    assert [(one.severity, " is null: " in one._first.text) for one in found] == [("info", True)]
