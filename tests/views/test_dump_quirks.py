# SPDX-License-Identifier: MIT
"""Odd corners of the reference, each with the function of it that tells what is printed."""

from __future__ import annotations


def test_fields_of_another_chips_modes_are_shown_until_a_mode_is_known(pm4, shown) -> None:
    # cffdump: rnndec_varmatch asks only for the current variant, so that without one BV, BR and
    # LPAC, of a mode that a6xx does not have, are there as the others are (mesa 25.0.7)
    first, unknown, known = (
        line.split(b"\n")[1]
        for line in shown(
            630, [*pm4.type7(0x47, 0xFA000000, 0), *pm4.type7(0x47, 0xFF800000, 0),
                  *pm4.type7(0x47, 0x3A000000, 0)]
        ).split(b"\t\topcode:")[1:]
    )  # fmt: skip
    assert first == (
        b"\t\t\t{ MODE = 0xf | PRED_BIT = 0 | BINNING | SYSMEM | BV | LPAC | REG0 = 0 }"
    )
    assert unknown.endswith(b"| BINNING | GMEM | SYSMEM | BV | BR | LPAC | REG0 = 0 | 0x1800000 }")
    assert known == b"\t\t\t{ MODE = RENDER_MODE | BINNING | SYSMEM }"
