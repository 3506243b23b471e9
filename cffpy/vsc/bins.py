# SPDX-License-Identifier: MIT
"""Bitfields of bins: which bit belongs to which bin. Nothing else decides that.

A bitfield is kept as the number that its bits spell in the stream, most significant bit first, as
the format writes all its numbers. ``slot_bit`` says which bit of that number belongs to the bin
that the driver selects by VSC_N = slot (CP_SET_BIN_DATA5): bit ``slot``. So the bit written last
is slot 0.

This is an inference. The document of the format does not say it, its example covers all bins
or none, and no capture with written streams was available. It is supported by VSC_STATE[pipe], the
VSC's own register with a bit for each bin of a pipe, in which slot n is bit n: both Mesa drivers
test bit VSC_N there (CP_REG_TEST before a tile's loads and stores). If hardware proves otherwise,
``slot_bit`` is the one place to change. ``as_written`` gives the bits themselves, which are beyond
doubt.
"""

from __future__ import annotations

from collections.abc import Iterable

#: What VSC_SIZE of CP_SET_BIN_DATA5 can hold. VSC_N and VSC_STATE have room for 32 bins.
MAX_BINS = 63


def check_bin_count(bin_count: int) -> None:
    """Raise ValueError unless a pipe can have ``bin_count`` bins."""
    if not 1 <= bin_count <= MAX_BINS:
        raise ValueError(f"a VSC pipe has 1 to {MAX_BINS} bins, not {bin_count}")


def slot_bit(slot: int) -> int:
    """The bitfield in which only the bin of this slot is set."""
    return 1 << slot


def slots(bins: int, bin_count: int) -> tuple[int, ...]:
    """The slots of the bins that are set, ascending."""
    return tuple([slot for slot in range(bin_count) if bins & slot_bit(slot)])


def as_written(bins: int, bin_count: int) -> str:
    """The bits of a bitfield in the order of the stream, without the bit before them."""
    return f"{bins:0{bin_count}b}"


def count_per_slot(counts: Iterable[tuple[int, int]], bin_count: int) -> list[int]:
    """The sum for each slot of the counts whose bitfield has its bin; pairs of (bins, count)."""
    sums: dict[int, int] = {}
    for bins, count in counts:
        sums[bins] = sums.get(bins, 0) + count
    return [
        sum([count for bins, count in sums.items() if bins & slot_bit(slot)])
        for slot in range(bin_count)
    ]
