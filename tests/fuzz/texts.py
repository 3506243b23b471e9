# SPDX-License-Identifier: MIT
"""Mutants of texts: descriptions of registers, assembly, hex digits."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random

import cffpy
from tests.fuzz.captures import CHECKOUT

_TOKEN = re.compile(r"\w+|\s+|[^\w\s]")

_STRANGE = (
    *("0", "-1", "0x80000000", "0xffffffffffffffffffff", "1" * 5000, '"', "'", "\\", "#", "//"),
    *("{", "}", "(", ")", "[", "]", "..", "=", "\0", "\x1b[31m", "\u202e", "\ufeff", "\r"),
    *("import", "enum", "bitset", "domain", "array", "reg32", "pos", "a" * 3000, "%s%n", "=*", "@"),
)

#: Instructions and listings, one a line, to begin with.
_ASSEMBLY = (
    "add.f r0.x, r0.y, (neg)c1.z",
    "(sy)(ss)mad.f32 r1.x, r0.x, c2.y, r1.w",
    "mov.f32f32 r0.x, 0x3f800000",
    "sam (f32)(xyzw)r0.x, r1.z, s#0, t#0",
    "(rpt3)nop",
    "label: br !p0.x, #label",
    "ldg.u32 r0.x, g[r2.x+0], 1",
    "cov.f16f32 r2.y, hr0.x",
    "stib.b.untyped.1d.u32.1.imm r0.x, r1.x, 0",
    "end",
)


def mutated_text(rng: Random, text: str) -> str:
    """The text with tokens changed, moved, repeated, nested deeply, or cut."""
    tokens = _TOKEN.findall(text) or [""]
    for _ in range(rng.choice((1, 1, 3, 10))):
        at = rng.randrange(len(tokens))
        kind = rng.random()
        if kind < 0.3:
            tokens[at] = rng.choice(_STRANGE)
        elif kind < 0.5:
            tokens[at] = rng.choice(tokens)
        elif kind < 0.6:
            tokens.insert(at, rng.choice(_STRANGE))
        elif kind < 0.7:
            del tokens[at : at + rng.choice((1, 2, 10))]
        elif kind < 0.8:
            end = at + rng.choice((1, 5, 50))
            tokens[at:at] = tokens[at:end]
        elif kind < 0.85:
            tokens.insert(at, rng.choice("{([") * rng.choice((10, 1000, 100_000)))
        elif kind < 0.9:
            del tokens[at:]
        else:
            tokens[at] = chr(rng.choice((0, 7, 0x1B, 0x80, 0xE000, 0x10FFFF, 0x2028)))
        if not tokens:
            tokens = [""]
    return "".join(tokens)


def registers_text(rng: Random) -> str:
    """Some declarations of a file of the register database, changed."""
    path = rng.choice(sorted((CHECKOUT / "register_db" / "adreno").glob("*.regs")))
    blocks = path.read_text().split("\n\n")
    first = rng.randrange(len(blocks))
    chosen = blocks[first : first + rng.choice((3, 10, 30))]
    if rng.random() < 0.3:
        chosen += chosen[: len(chosen) // 2]  # contradicts itself
    return mutated_text(rng, "\n\n".join(chosen) + "\n")


def assembly_text(rng: Random) -> str:
    """Instructions, changed."""
    lines = [rng.choice(_ASSEMBLY) for _ in range(rng.randrange(1, 8))]
    return mutated_text(rng, "\n".join(lines) + "\n")


def hex_text(rng: Random) -> str:
    """Hex digits, mostly."""
    text = rng.randbytes(rng.choice((0, 1, 4, 16, 200, 5000))).hex()
    return mutated_text(rng, text) if rng.random() < 0.2 else text


def write_edition(rng: Random, folder: Path) -> None:
    """An edition with one file of registers, changed, and sometimes instruction sets."""
    (folder / "adreno").mkdir(parents=True)
    text = registers_text(rng)
    (folder / "adreno" / "a6xx.regs").write_bytes(text.encode("utf-8", "surrogatepass"))
    if rng.random() < 0.2:
        (folder / "isa").mkdir()
        source = CHECKOUT / "register_db" / "isa"
        changed = rng.choice(sorted(source.glob("*.isa"))).name
        for path in source.glob("*.isa"):
            content = path.read_text()
            if path.name == changed:
                content = mutated_text(rng, content)
            (folder / "isa" / path.name).write_bytes(content.encode("utf-8", "surrogatepass"))


@cache
def microcode_text() -> str:
    """The sample of microcode."""
    return (CHECKOUT / "samples" / "microcode" / "a6xx.asm").read_text()


@cache
def _firmware() -> bytes:
    return cffpy.assemble_microcode(microcode_text())


def firmware(rng: Random) -> bytes:
    """A firmware file with some bytes changed, cut or repeated, or random bytes."""
    if rng.random() < 0.2:
        return bytes(4) + rng.randbytes(rng.choice((0, 4, 64, 2000)))
    data = bytearray(_firmware())
    for _ in range(rng.choice((1, 2, 20))):
        at = rng.randrange(len(data))
        data[at : at + rng.choice((1, 1, 4))] = rng.randbytes(rng.choice((1, 1, 4)))
    data *= rng.choice((1, 1, 1, 3))
    return bytes(data[: rng.randrange(len(data))] if rng.random() < 0.2 else data)


@cache
def capture_texts() -> tuple[str, ...]:
    """The samples that are texts, in pieces that are fast to compile."""
    pieces = []
    for path in sorted((CHECKOUT / "samples").glob("*.pm4")):
        lines = path.read_text().splitlines(keepends=True)
        pieces.append("".join(lines[:300]))
    return tuple(pieces)
