# SPDX-License-Identifier: MIT
"""Registers in sections of KGSL snapshots that pack runs: several forms, told apart by their sums.

A section has one of these forms; nothing in it says which. One fits if its dwords come out exactly
and all registers are within the GPU's. Facts: the public sources of the kernel driver, as named
with each form. The others are described for some kernels only, and no source of them was found.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

_FLAG = 1 << 31

#: Registers lie below this offset, in dwords.
_END_OF_REGISTERS = 1 << 20

#: Registers of a section at most.
_MOST = 1 << 20

#: Register and value.
Registers = list[tuple[int, int]]
#: Of a header's dword and the next one: first register, number of registers, dwords of the header.
_Form = Callable[[int, int], tuple[int, int, int]]


def packed_registers(dwords: tuple[int, ...]) -> Registers | None:
    """Registers of ``registers v2`` (0x0202) and of the GMU (0x1601); None where no form fits.

    ``registers v2`` has no header (adreno_snapshot_registers_v2 in adreno_snapshot.c). Where the
    first dword is the number of registers that follow, it counts as that: ``registers`` begin so.
    """
    if not dwords:
        return []
    forms = (_single_is_flagged, _run_is_flagged)
    counted = [_read(dwords[1:], form) for form in forms]
    with_count = (one for one in counted if one is not None and len(one) == dwords[0])
    plain = (_read(dwords, form) for form in forms)
    return next((one for one in (*with_count, *plain, *counted) if one is not None), None)


def cluster_registers(dwords: tuple[int, ...]) -> Registers | None:
    """Registers of a cluster; None where no form fits."""
    return _first(dwords, (_run_has_end, _run_is_flagged, _count_is_flagged, _single_is_flagged))


def _first(dwords: tuple[int, ...], forms: Iterable[_Form]) -> Registers | None:
    return next((found for form in forms if (found := _read(dwords, form)) is not None), None)


def _read(dwords: tuple[int, ...], form: _Form) -> Registers | None:
    found: Registers = []
    index, end = 0, len(dwords)
    while index < end:
        if index + 1 >= end:
            return None
        first, count, header = form(dwords[index], dwords[index + 1])
        index += header
        last = index + count
        if count <= 0 or last > end or first + count > _END_OF_REGISTERS or last > _MOST:
            return None
        found += zip(range(first, first + count), dwords[index:last], strict=True)
        index = last
    return found


def _single_is_flagged(first: int, second: int) -> tuple[int, int, int]:
    """A run is its first register and a count of two and more.

    adreno_snapshot_registers_v2: BIT(31) | register for one, else register and count.
    """
    if first & _FLAG:
        return first ^ _FLAG, 1, 1
    return first, second if second > 1 else 0, 2


def _run_is_flagged(first: int, second: int) -> tuple[int, int, int]:
    """A run is its first register, flagged, and a count. No source was found."""
    return (first ^ _FLAG, second, 2) if first & _FLAG else (first, 1, 1)


def _run_has_end(first: int, second: int) -> tuple[int, int, int]:
    """A run is its first register, flagged, and its last.

    gen8_snapshot_registers in adreno_gen8_snapshot.c: register for one, else BIT(31) | first, last.
    """
    if first & _FLAG:
        return first ^ _FLAG, second - (first ^ _FLAG) + 1, 2
    return first, 1, 1


def _count_is_flagged(first: int, second: int) -> tuple[int, int, int]:
    """A run is a count, flagged, and its first register. No source was found."""
    return (second, first ^ _FLAG, 2) if first & _FLAG else (first, 1, 1)
