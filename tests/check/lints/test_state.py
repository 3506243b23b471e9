# SPDX-License-Identifier: MIT
"""State that draws need, and constants."""

from __future__ import annotations

from tests.check.texts import CHECKOUT, checked_text, sample


def test_loads_for_a_program_without_constants() -> None:
    """turnip loads a vector of zeros then, with CONSTLEN 0: nothing is lost."""
    text = sample("CFF001-quiet")
    reads = "mov.f32f32 r0.x, c0.x"
    assert reads in text
    text = text.replace("CONSTLEN=4", "CONSTLEN=0")
    assert [one.severity for one in checked_text(text, "CFF001").findings] == ["error"]
    assert not checked_text(text.replace(reads, "mov.f32f32 r0.x, r1.x"), "CFF001").findings


def test_memory_of_targets_may_be_stale_in_gmem() -> None:
    """The vendor's driver writes where targets lie in memory for SYSMEM passes only."""
    text = (CHECKOUT / "samples" / "a640-vendor-frame.pm4").read_text("utf-8")
    assert not checked_text(text, "CFF003").findings


def test_constants_twice_of_an_old_generation() -> None:
    load = (
        "CP_LOAD_STATE4 STATE_SRC=SS4_DIRECT STATE_BLOCK=SB4_VS_SHADER NUM_UNIT=1"
        " STATE_TYPE=ST4_CONSTANTS\n    + 00000000 00000000 00000000 00000000\n"
    )
    draw = (
        "CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX"
        " NUM_INSTANCES=1 NUM_INDICES=3"
    )
    for packets, count in (
        (f"{load}    {load}    {draw}", 1),
        (f"{load}    {draw}\n    {load}", 0),
    ):
        text = (
            "pm4 1\ngpu_id 430\nbuffer commands 0x10001000 size 4096 {\n"
            f"  commands main at 0x10001000 {{\n    {packets}\n  }}\n}}\nstream main\n"
        )
        assert len(checked_text(text, "CFF002").findings) == count
