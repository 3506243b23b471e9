# SPDX-License-Identifier: MIT
"""Source captures of mutants, as lists of sections that can be changed."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path
from random import Random

from cffpy.container.open import open_capture
from cffpy.container.rd import command_stream_address, gpu_address, iter_sections
from cffpy.container.section_types import SectionType
from cffpy.pm4asm.assemble import assemble

CHECKOUT = Path(__file__).resolve().parent.parent.parent

GENERATIONS = (2, 3, 4, 5, 6, 7)

#: Captures that are larger, as stored, are left alone.
_MAX_STORED = 40_000

#: Bytes that are kept of a buffer's contents, mostly: what matters are commands.
_SHORT_CONTENTS = 1 << 13


class Part:
    """A section whose header may have a wrong size. ``declared``: that size, or None."""

    __slots__ = ("declared", "payload", "type")

    def __init__(self, section_type: int, payload: bytes, declared: int | None = None) -> None:
        self.type = section_type
        self.payload = bytearray(payload)
        self.declared = declared

    def copy(self) -> Part:
        return Part(self.type, bytes(self.payload), self.declared)

    def header(self) -> bytes:
        size = len(self.payload) if self.declared is None else self.declared
        return (self.type & 0xFFFFFFFF).to_bytes(4, "little") + (size & 0xFFFFFFFF).to_bytes(
            4, "little"
        )


def file_bytes(parts: list[Part]) -> bytes:
    """The capture that the sections make."""
    return b"".join(piece for part in parts for piece in (part.header(), bytes(part.payload)))


def parse(data: bytes) -> list[Part]:
    """The sections of a capture."""
    return [Part(section.type, bytes(section.payload)) for section in iter_sections(data)]


def shared_folder() -> Path:
    """Folders with captures that are not part of the project; may be empty."""
    return Path(os.environ.get("CFFPY_SHARED") or CHECKOUT.parent / "shared") / "captures"


def generation_of(path: Path) -> int:
    """The generation in a capture's name, 0 if there is none."""
    found = re.search(r"(?:^|-)a([2-7])\d\d", path.name)
    return int(found[1]) if found else 7 if path.name.startswith("x1-") else 0


class Library:
    """Captures by generation; the same for the same files."""

    def __init__(self) -> None:
        found = sorted((CHECKOUT / "samples").glob("a*.pm4"))
        if shared_folder().is_dir():
            found += sorted(shared_folder().glob("*.rd.gz"))
        self.by_generation: dict[int, list[Path]] = {}
        for path in found:
            if 0 < path.stat().st_size <= _MAX_STORED:
                self.by_generation.setdefault(generation_of(path), []).append(path)

    def pick(self, rng: Random, generation: int | None = None) -> tuple[int, Path | None]:
        """A generation, all equally often, and a capture of it, mostly a small one.

        None: create one; sometimes, and where there is no capture.
        """
        generation = generation or rng.choice(GENERATIONS)
        paths = sorted(self.by_generation.get(generation, ()), key=lambda path: path.stat().st_size)
        if not paths or rng.random() < 0.1:
            return generation, None
        return generation, paths[int(len(paths) * rng.random() ** 3)]


@lru_cache(maxsize=12)
def _sections(path: Path) -> tuple[Part, ...]:
    if path.suffix != ".pm4":
        return tuple(parse(bytes(open_capture(str(path)).data)))
    with path.open("rb") as stream:
        return tuple(parse(assemble(stream, path.name, None, 1 << 26)))


def piece(rng: Random, path: Path) -> list[Part]:
    """A copy of some submits of a capture, with what names the GPU and the process."""
    parts = _sections(path)
    submits: list[list[Part]] = [[]]
    ended = False
    for part in parts:
        if part.type == SectionType.GPUADDR and ended:
            submits.append([])
            ended = False
        ended = ended or part.type == SectionType.CMDSTREAM_ADDR
        submits[-1].append(part)
    heads = [part for part in submits[0] if part.type not in _OF_A_SUBMIT]
    first = rng.randrange(len(submits))
    chosen = submits[first : first + rng.choice((1, 1, 2, 3))]
    kept = [part for submit in chosen for part in submit if part not in heads]
    copies = [part.copy() for part in [*heads, *kept]]
    if rng.random() < 0.95:
        _shorten(rng, copies)
    return copies


_OF_A_SUBMIT = (
    SectionType.GPUADDR,
    SectionType.BUFFER_CONTENTS,
    SectionType.CMDSTREAM_ADDR,
)


def _shorten(rng: Random, parts: list[Part]) -> None:
    """Cut long contents, but not of buffers in which streams begin."""
    streams = [
        command_stream_address(part.payload)[0]
        for part in parts
        if part.type == SectionType.CMDSTREAM_ADDR
    ]
    address = size = 0
    commands = rng.choice((1 << 13, 1 << 14, 1 << 16))
    for part in parts:
        if part.type == SectionType.GPUADDR:
            address, size = gpu_address(part.payload)
        elif part.type == SectionType.BUFFER_CONTENTS and len(part.payload) > _SHORT_CONTENTS:
            inside = [stream - address for stream in streams if 0 <= stream - address < size]
            del part.payload[max([_SHORT_CONTENTS, *(commands for _ in inside)]) :]
