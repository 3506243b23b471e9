# SPDX-License-Identifier: MIT
"""Listings from recorded reference output; run as a program, it writes tests/vectors.

    python tests/isa/harvest.py SHARED

SHARED is the folder of reference material. Vectors are ``generation | hex | text``, a branch with
its offset in place of the label; programs are kept as listings.
"""

from __future__ import annotations

import json
import lzma
import re
import struct
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

VECTORS = Path(__file__).resolve().parent.parent / "vectors"

_LINE = re.compile(r"^(\t*):(\d):(\d{4,}):(\d{4,})\[([0-9a-f]{8})x_([0-9a-f]{8})x\] (.*)$")
_LABEL = re.compile(r"(?:l|fxn)(\d+):")
_TARGET = re.compile(r"#l(\d+)$")
_A2XX_LINE = re.compile(
    r"^\t*([0-9a-f]{2,}: [0-9a-f]{8} [0-9a-f]{8} [0-9a-f]{8}\t"
    r"|    [0-9a-f]{4} [0-9a-f]{4} [0-9a-f]{4}            \t| {26}\t)"
)
_A2XX_START = re.compile(r"^(\t*)(vertex|fragment) shader, start=")
_HEX_ROW = re.compile(r"^[0-9a-f]+:\t+[0-9a-f]{4,}: ((?:[0-9a-f]{8} ?)+)$")
_GENERATION = re.compile(r"(?:^|-)a([2-7])\d\d(?:-|$)")
_FROM_HARDWARE = {"dEQP": 6, "fd-clouds": 6, "shadow": 6, "x1-85": 7}
_PROGRAMS_PER_GENERATION = 5
_LARGEST_PROGRAM = 150


class Listing(NamedTuple):
    """One program as listed: its words are those of the raw columns."""

    source: str
    generation: int
    level: int
    words: tuple[int, ...]
    text: str

    @property
    def data(self) -> bytes:
        """The words as bytes."""
        return struct.pack(f"<{len(self.words)}Q", *self.words)


class OldProgram(NamedTuple):
    """One a2xx program; ``level`` is the reference's."""

    fragment: bool
    level: int
    data: bytes
    text: str


def generation_of(capture: str) -> int | None:
    """The generation in a capture's name."""
    found = _GENERATION.search(capture.replace(".", "-"))
    if found:
        return int(found[1])
    for start, generation in _FROM_HARDWARE.items():
        if capture.startswith(start):
            return generation
    return None


def logs(shared: Path) -> Iterator[tuple[str, int, list[str]]]:
    """(name, generation, lines) of the recorded outputs of one capture each."""
    for case in json.loads((shared / "reference" / "cases.json").read_text()):
        path = shared / "reference" / f"{case['name']}.log.xz"
        captures = case.get("captures") or [case.get("capture") or ""]
        generation = generation_of(captures[0])
        colour = "--color" in case["args"]
        if len(captures) == 1 and generation and path.exists() and not colour:
            with lzma.open(path) as file:
                yield case["name"], generation, file.read().decode("latin-1").split("\n")


def listings(shared: Path) -> Iterator[Listing]:
    """Every ir3 listing of every log, repeats included."""
    for name, generation, lines in logs(shared):
        place = 0
        while place < len(lines):
            start = place
            words: dict[int, int] = {}
            while found := _LINE.match(lines[place]):
                words[int(found[3])] = int(found[5] + found[6], 16)
                place += 1
            if place == start:
                place += 1
                continue
            if lines[place].endswith("Stats:"):
                place += 5
                level = len(lines[start]) - len(lines[start].lstrip("\t"))
                text = "\n".join(lines[start:place]) + "\n"
                yield Listing(name, generation, level, tuple(words.values()), text)


def old_programs(shared: Path) -> Iterator[OldProgram]:
    """Every a2xx program of every log; its words come from the packet's hex dump."""
    for _name, _generation, lines in logs(shared):
        for number, line in enumerate(lines):
            start = _A2XX_START.match(line)
            if not start:
                continue
            end = number + 1
            while _A2XX_LINE.match(lines[end]):
                end += 1
            dwords: list[int] = []
            row = end
            while found := _HEX_ROW.match(lines[row]):
                dwords += [int(dword, 16) for dword in found[1].split()]
                row += 1
            text = "\n".join(lines[number + 1 : end]) + "\n"
            level = len(text) - len(text.lstrip("\t")) - 1
            data = struct.pack(f"<{len(dwords)}I", *dwords)[12:]  # header, type, start and size
            yield OldProgram(start[2] == "fragment", level, data, text)


def vectors(listing: Listing) -> Iterator[tuple[int, str]]:
    """(word, text) of a listing's instructions; a branch shows its offset."""
    for line in listing.text.split("\n"):
        found = _LINE.match(line)
        if found and not _LABEL.fullmatch(found[7]):
            text = found[7]
            if target := _TARGET.search(text):
                text = f"{text[: target.start()]}#{int(target[1]) - int(found[3])}"
            yield int(found[5] + found[6], 16), text


def _write(shared: Path) -> None:
    by_generation: dict[int, dict[int, str]] = {}
    programs: dict[int, dict[tuple[int, ...], Listing]] = {}
    for listing in listings(shared):
        known = by_generation.setdefault(listing.generation, {})
        for word, text in vectors(listing):
            known.setdefault(word, text)
        programs.setdefault(listing.generation, {}).setdefault(listing.words, listing)
    for generation, known in sorted(by_generation.items()):
        rows = [f"{generation} | {word:016x} | {text}\n" for word, text in sorted(known.items())]
        (VECTORS / "ir3" / f"a{generation}xx.txt").write_text("".join(rows))
        print(f"a{generation}xx: {len(rows)} words")
        for number, listing in enumerate(_chosen(list(programs[generation].values()))):
            path = VECTORS / "ir3" / "programs" / f"a{generation}xx-{number}.txt"
            path.write_text(listing.text)
    seen: set[tuple[bool, bytes]] = set()
    for program in old_programs(shared):
        if (program.fragment, program.data) not in seen:
            seen.add((program.fragment, program.data))
            kind = "fragment" if program.fragment else "vertex"
            head = f"{kind} {program.level} {program.data.hex()}\n"
            path = VECTORS / "a2xx" / f"{len(seen):02}-{kind}.txt"
            path.write_text(head + program.text)
    print(f"a2xx: {len(seen)} programs")


def _chosen(programs: list[Listing]) -> list[Listing]:
    """Some programs: with errors, with labels, else the ones with most different names."""

    def interest(listing: Listing) -> tuple[int, ...]:
        names = set(re.findall(r"x\] (?:\(\w+\))*([a-z_0-9.]+)", listing.text))
        return ("\t; " in listing.text) * 50 + (": l" in listing.text) * 5 + len(names), 0

    small = [listing for listing in programs if len(listing.words) <= _LARGEST_PROGRAM]
    return sorted(small, key=interest, reverse=True)[:_PROGRAMS_PER_GENERATION]


if __name__ == "__main__":
    _write(Path(sys.argv[1]))
