# SPDX-License-Identifier: MIT
"""Rows of bytes: zeros that the dump omits print as zeros that it has."""

from __future__ import annotations

import pytest

from cffpy.views.crashdec.hexdump import hex_and_characters
from tests.selection import first_always


@pytest.mark.parametrize("size", [0, 3, 16, 70000, 3 * 65536, 2 * 65536 + 20, 2 * 65536 + 32])
@pytest.mark.parametrize("captured", first_always([0, 3, 65536, 65536 + 256], 2))
def test_omitted_zeros(size: int, captured: int) -> None:
    contents = (b"\x01abc" * captured)[: min(size, captured)]
    whole = contents.ljust(size, b"\0")
    assert "".join(hex_and_characters(contents, size, 1)) == "".join(
        hex_and_characters(whole, size, 1)
    )


def test_rows_of_zeros() -> None:
    text = "".join(hex_and_characters(b"", 36, 2))
    assert text == (
        f"\t\t{'-' * 47}\n\t\t36 (0x24) bytes\n"
        "\t\t000000: 00000000 00000000 00000000 00000000\t|................|\n"
        "\t\t000010: 00000000 00000000 00000000 00000000\t|................|\n"
        f"\t\t000020: 00000000{' ' * 27}\t|....|\n"
    )
