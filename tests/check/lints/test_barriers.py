# SPDX-License-Identifier: MIT
"""Waits, cache events, signals between the pipes."""

from __future__ import annotations

from tests.check.texts import checked_text, sample


def test_a_value_that_a_pipe_may_miss() -> None:
    """BR writes over the value that BV waits for, and does not wait until BV has seen it."""
    text = sample("CFF050-quiet")
    (store,) = (line for line in text.splitlines() if "PAYLOAD_0=0x1" in line)
    again = store.replace("PAYLOAD_0=0x1", "PAYLOAD_0=0x2")
    (found,) = checked_text(text.replace(store, f"{store}\n{again}"), "CFF050").findings
    assert found._first.text == (
        "BV waits for on-chip value 0x4 = 0x1, and BR may write over it before, "
        "at stream 0 > 0x100001050 +0x92"
    )
