# SPDX-License-Identifier: MIT
"""Programs that are not enabled."""

from __future__ import annotations

from tests.check.texts import checked_text, sample


def test_programs_that_no_command_is_about() -> None:
    text = sample("CFF046-fires")
    text = text.replace("    SP_VS_CONFIG = { }\n", "")
    (found,) = checked_text(text, "CFF046").findings
    assert (found.severity, found._first.text) == ("error", "no VS and no FS program is enabled")
    (found,) = checked_text(text.replace("    SP_FS_CONFIG = { }\n", ""), "CFF046").findings
    assert (found.severity, found._first.text) == (
        "warning",
        "no VS and no FS program is enabled: SP_VS_CONFIG and SP_FS_CONFIG were never written",
    )
