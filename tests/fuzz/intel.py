# SPDX-License-Identifier: MIT
"""Command lines for captures of Intel GPUs: mutants of AUB files, error states, devcoredumps.

Half of the mutants have other commands and state in the memory of a sound file; of the others the
bytes of the file itself are changed.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from random import Random
from struct import pack_into, unpack_from
from typing import TYPE_CHECKING

from tests.intel import aub_files, frames

if TYPE_CHECKING:
    from tests.fuzz.commands import Files

    Memory = dict[int, bytes]

FILE_NAME = "intel.dump"
"""What mutants are called."""
AUB, I915, XE = "AUB", "i915", "Xe"

#: Devices of gen4, gen7, gen9, gen11, gen12, gen12.5 and Xe2.
_DEVICES = (0x2A02, 0x0166, 0x1912, 0x1912, 0x1912, 0x8A52, 0x9A49, 0x56A0, 0x64A0)

#: Values of dwords: limits, instructions that jump, end or draw, addresses of the frame.
_DWORDS = (
    *(0, 1, 2, 0xFF, 0x7FFF, 0x80000000, 0x7FFFFFFF, 0xFFFFFFFF),
    *(0x05000000, 0x18800101, 0x18C00101, 0x10000002, 0x7B000005, 0x7A000004, 0x61010011),
    *(
        0x78000005,
        0x782A0000,
        0x11000001,
        0x0D000000,
        0x78080003,
        0xEFFE,
        0xFFFF0000,
        0x100000,
        0x3C0001000,
    ),
)

#: Analyses; FILE and ORIGINAL stand for the mutant and what it was made of.
_ANALYSES = (
    ["info", "FILE"],
    ["info", "--json", "FILE"],
    ["draws", "--all", "FILE"],
    ["draws", "--all", "--json", "FILE"],
    ["draws", "--csv", "--pass", "0", "FILE"],
    ["passes", "FILE"],
    ["passes", "--json", "FILE"],
    ["passes", "--pass", "0", "FILE"],
    ["state", "--at", "#0", "FILE"],
    ["state", "--at", "p0:4", "FILE", "3DSTATE_V*"],
    ["state", "--at", "#1", "--json", "FILE"],
    ["crash", "FILE"],
    ["crash", "--json", "FILE"],
    ["lines", "FILE"],
    ["lines", "--jsonl", "FILE"],
    ["diff", "FILE", "ORIGINAL"],
    ["diff", "--json", "ORIGINAL", "FILE"],
    ["diff", "FILE@p0:1", "FILE@p0:3"],
    ["report", "--json", "FILE"],
    ["report", "-o", "OUT", "FILE"],
    ["report", "--json", "--compare", "ORIGINAL", "FILE"],
    ["report", "-o", "OUT", "--compare", "FILE", "ORIGINAL"],
)

#: Options of both of the reference's tools; each is taken as often as not.
_OPTIONS = (
    ["--headers"],
    ["--no-offsets"],
    ["--color=always"],
    ["--follow-stores"],
    ["--kernel-names"],
    ["--dump-kernels", "OUT"],
    ["--limit", "commands=100"],
    ["--limit", "bytes=1000"],
)
_ENVIRONMENTS: tuple[dict[str, str], ...] = (
    {},
    {"INTEL_DECODE": "all"},
    {"INTEL_DECODE": "+surfaces,+vb-data"},
    {"INTEL_DECODE": "+accumulate,-offsets"},
    {"INTEL_DECODE": "-full", "INTEL_DECODE_FILTERS": "3DPRIMITIVE,3DSTATE_PS"},
)


@cache
def _memory() -> Memory:
    return frames.batches()


@cache
def _seeds(kind: str) -> list[bytes]:
    """Whole files of a kind."""
    if kind == AUB:
        return [*aub_files.seeds(), frames.frame(), aub_files.file(_memory(), frames.BATCH, 0x64A0)]
    first, second = aub_files.error_states()
    return [first, frames.hang()] if kind == I915 else [second, frames.xe_hang()]


def _changed_memory(rng: Random) -> Memory:
    """The frame, with dwords of commands and state changed, inserted or left out."""
    memory = dict(_memory())
    for _ in range(rng.choice((1, 1, 2, 8))):
        address = frames.BATCH if rng.random() < 0.5 else rng.choice(list(memory))
        data = bytearray(memory[address])
        at = rng.randrange(0, len(data) - 3, 4)
        if rng.random() < 0.1:
            del data[at : at + 4 * rng.randrange(4)]
        elif rng.random() < 0.1:
            data[at:at] = data[: 4 * rng.randrange(16)]
        else:
            old = unpack_from("<I", data, at)[0]
            new = rng.choice((old ^ 1 << rng.randrange(32), old + 64, rng.choice(_DWORDS)))
            pack_into("<I", data, at, new & 0xFFFFFFFF)
        memory[address] = bytes(data).ljust(4, b"\0")
    return memory


def _changed_file(rng: Random, seed: bytes) -> bytes:
    data = bytearray(seed)
    for _ in range(rng.choice((1, 2, 6))):
        at = rng.randrange(len(data))
        piece = rng.choice(
            (b"", b"\xff\xff\xff\xff", b"\0\0\0\0", rng.randbytes(2), bytes(data[:64]))
        )
        if rng.random() < 0.5:
            at, piece = at & ~3, rng.randbytes(4)
            data[at : at + 4] = piece
        else:
            data[at : at + rng.choice((0, 2, 4, 40))] = piece
    return bytes(data[: rng.randrange(len(data))] if rng.random() < 0.1 else data)


def mutant(rng: Random, kind: str) -> bytes:
    """A mutant of a file of this kind."""
    if rng.random() < 0.5:
        return _changed_file(rng, rng.choice(_seeds(kind)))
    memory, device = _changed_memory(rng), rng.choice(_DEVICES)
    if kind == AUB:
        return aub_files.file(memory, frames.BATCH, device, rng.random() < 0.3)
    return (frames.hang if kind == I915 else frames.xe_hang)(memory, device)


def line_of(kind: str) -> Callable[[Random, Files], list[str]]:
    """Command lines for mutants of this kind: the reference's tools, and analyses."""

    def line(rng: Random, files: Files) -> list[str]:
        path, original = files.folder / FILE_NAME, files.folder / "original.dump"
        path.write_bytes(mutant(rng, kind))
        if rng.random() < 0.4:
            files.environment.update(rng.choice(_ENVIRONMENTS))
            chosen = [one for one in _OPTIONS if rng.random() < 0.2]
            words = ["aubinator" if kind == AUB else "aubinator-error-decode", "FILE"]
            if rng.random() < 0.1:
                chosen.append(["--max-vbo-lines=2"] if kind == AUB else ["--all-bb"])
            words[1:1] = [word for option in chosen for word in option]
        else:
            words = rng.choice(_ANALYSES)
        if any("ORIGINAL" in word for word in words):
            original.write_bytes(_seeds(kind)[-1])
        places = {"FILE": path, "ORIGINAL": original, "OUT": files.folder / "out"}
        found = []
        for word in words:
            name, colon, part = word.partition(":")
            found.append(f"{places[name]}{colon}{part}" if name in places else word)
        return found

    return line
