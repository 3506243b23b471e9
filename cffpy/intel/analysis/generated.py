# SPDX-License-Identifier: MIT
"""Indirect draws that a shader writes as commands (ANV, gen9 on): recognised, decoded, predicted.

A rectangle with three vertices runs a fragment shader that writes one draw for each item of the
indirect data: into space left open in the batch (inline), or into a ring of commands that is
entered by a jump. Its parameters are pushed as constants. Facts: anv_private.h and
genX_cmd_draw_generated_indirect.h of Mesa 25.0.7.
"""

from __future__ import annotations

from struct import Struct, pack, unpack
from typing import NamedTuple

from cffpy.frame.action import Generated
from cffpy.intel.decoder.batches import M48

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator
    from typing import Any

    from cffpy.intel.analysis.state import State
    from cffpy.intel.decoder.batches import BatchRunner

#: draw id address, indirect data, workaround instructions, stride, flags, MOCS, bytes of a draw,
#: draw base, maximal count, ring count, instance multiplier, address to generate more, end address,
#: commands, address of the count, count.
_PARAMETERS = Struct("<QQ2I8I4QI")

_INDEXED, _PREDICATED, _DRAW_ID, _BASES, _COUNT_BUFFER, _RING = 1, 2, 4, 8, 16, 32
_KNOWN_FLAGS = 0x1FF
_FLAG_NAMES = (
    (_INDEXED, "indexed"),
    (_PREDICATED, "predicated"),
    (_DRAW_ID, "draw id"),
    (_BASES, "base vertex and instance"),
    (_COUNT_BUFFER, "count in memory"),
    (_RING, "ring"),
)
_MOST_BYTES = 256
#: Draws of one call that are followed; hostile files may name four billion.
_MAX_DRAWS = 1 << 16
_DRAW, _DRAW_MASK, _PREDICATE_ENABLE = 0x7B000000, 0xFFFF0000, 1 << 8
_VERTEX_BUFFERS = 0x78080000


class Generation(NamedTuple):
    """The parameters of one call that generates draws.

    ``number``: among the calls of the capture. ``parameters``: their address. ``draws``: how many
    the call makes; ``is_count_known`` is false where only the GPU knows it: then the maximum.
    """

    number: int
    parameters: int
    draw_id_address: int
    indirect: int
    stride: int
    flags: int
    bytes_per_draw: int
    draw_base: int
    max_count: int
    ring_count: int
    instance_multiplier: int
    generate_more: int
    end: int
    commands: int
    count_address: int
    draws: int
    is_count_known: bool

    @property
    def is_ring(self) -> bool:
        """Whether commands are written to a ring, in passes of ``ring_count`` draws."""
        return bool(self.flags & _RING) and self.ring_count > 0

    @property
    def is_indexed(self) -> bool:
        """Whether the draws use an index buffer."""
        return bool(self.flags & _INDEXED)

    @property
    def flag_names(self) -> list[str]:
        """What the flags that are set say."""
        return [name for bit, name in _FLAG_NAMES if self.flags & bit]

    def describe(self) -> str:
        """What the kernel generates and where, as ``info`` says it."""
        where = f"ring of {self.ring_count}" if self.is_ring else "inline"
        known = "" if self.is_count_known else "up to "
        return (
            f"generation {self.number}: {where}, {known}{self.draws} of {self.max_count} draws,"
            f" commands at {self.commands:#x}, {self.bytes_per_draw} bytes each,"
            f" indirect data at {self.indirect:#x}, stride {self.stride},"
            f" {', '.join(self.flag_names) or 'no flags'}"
        )

    def document(self) -> dict[str, Any]:
        """As members of a JSON document."""
        return {
            **self._asdict(),
            "mode": "ring" if self.is_ring else "inline",
            "flag_names": self.flag_names,
        }


def find_generation(state: State, runner: BatchRunner, number: int) -> Generation | None:
    """The parameters of the call that a rectangle of three vertices runs; None for any other."""
    if state.database.ver < 9:
        return None
    for _slot, address, size in state.constants.get("PS", ()):
        if size >= _PARAMETERS.size:
            data = runner.span(address, _PARAMETERS.size)
            if len(data) == _PARAMETERS.size:
                call = _read(data, address, number, runner)
                if call is not None:
                    return call
    return None


def _read(data: bytes, address: int, number: int, runner: BatchRunner) -> Generation | None:
    (
        draw_id,
        indirect,
        _,
        _,
        stride,
        flags,
        _mocs,
        bytes_per_draw,
        draw_base,
        max_count,
        ring_count,
        multiplier,
        more,
        end,
        commands,
        count_address,
        _count,
    ) = _PARAMETERS.unpack(data)
    is_plausible = (
        not flags & ~_KNOWN_FLAGS
        and 28 <= bytes_per_draw <= _MOST_BYTES
        and not (bytes_per_draw | stride | commands | indirect) & 3
        and max_count > draw_base
        and indirect
        and (not flags & _RING or ring_count)
    )
    if not is_plausible or not runner.span(commands, 4):
        return None
    count, is_known = max_count, True
    if flags & _COUNT_BUFFER:
        stored = runner.span(count_address, 4)
        is_known = len(stored) == 4
        count = min(max_count, unpack("<I", stored)[0]) if is_known else max_count
    return Generation(
        number,
        address,
        draw_id & M48,
        indirect & M48,
        stride,
        flags,
        bytes_per_draw,
        draw_base,
        max_count,
        ring_count,
        multiplier or 1,
        more & M48,
        (end or commands + bytes_per_draw * (max_count - draw_base)) & M48,
        commands & M48,
        count_address & M48,
        min(max(count - draw_base, 0), _MAX_DRAWS),
        is_known,
    )


def generated_commands(
    call: Generation, runner: BatchRunner
) -> Iterator[tuple[Generated, bytes, int]]:
    """Each draw of a call: where it comes from, its commands, and their address.

    Commands that are not in memory are made of the indirect data. Where that is missing,
    too, the draw is left out.
    """
    for item in range(call.draws):
        slot = item % call.ring_count if call.is_ring else item
        ring_pass = item // call.ring_count if call.is_ring else 0
        address = call.commands + slot * call.bytes_per_draw
        stored = runner.span(address, call.bytes_per_draw)
        expected = _expected(call, runner, call.draw_base + item)
        is_filled = _is_filled(call, stored, expected)
        if not is_filled and expected is None:
            continue
        if not is_filled:
            assert expected is not None
            header = _DRAW | 5 | _PREDICATE_ENABLE * bool(call.flags & _PREDICATED)
            stored = pack("<7I", header, call.is_indexed << 8, *expected)
        yield Generated(call.number, item, ring_pass, not is_filled), stored, address


def _expected(call: Generation, runner: BatchRunner, item: int) -> tuple[int, ...] | None:
    """Vertices, first, instances, first instance, base of an item of the indirect data."""
    size = 20 if call.is_indexed else 16
    data = runner.span(call.indirect + item * call.stride, size)
    if len(data) < size:
        return None
    words = unpack(f"<{size // 4}I", data)
    base, first_instance = (words[3], words[4]) if call.is_indexed else (0, words[3])
    instances = words[1] * call.instance_multiplier & 0xFFFFFFFF
    return words[0], words[2], instances, first_instance, base


def _is_filled(call: Generation, stored: bytes, expected: tuple[int, ...] | None) -> bool:
    """Whether a slot has the commands of this item, not zeros or those of another call."""
    if len(stored) < call.bytes_per_draw:
        return False
    words = unpack(f"<{len(stored) // 4}I", stored)
    position = 0
    if words[0] & _DRAW_MASK == _VERTEX_BUFFERS:
        position = (words[0] & 0xFF) + 2
    if position + 7 > len(words) or words[position] & _DRAW_MASK != _DRAW:
        return False
    return expected is None or words[position + 2 : position + 7] == expected
