# SPDX-License-Identifier: MIT
"""How two facts under one key differ, in words: fields of descriptors, words of data, listings."""

from __future__ import annotations

import re
import struct
from difflib import unified_diff
from itertools import islice
from typing import TYPE_CHECKING

from cffpy.analysis.diff.model import Difference
from cffpy.analysis.diff.rules import (
    FACT_CATEGORIES,
    OTHER,
    Category,
    descriptor_category,
    is_address_field,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.diff.facts import Fact, FactKey
    from cffpy.analysis.diff.side import Side
    from cffpy.regdb.subjects import RegisterSubject

#: Lines of a shader's difference, and words of data, that are kept.
_MAX_LINES = 2000
_MAX_WORDS = 64

#: What stands before an instruction in a listing: numbers, and its words in brackets.
_NUMBERS = re.compile(r"^\s*:?[\w:]*\[[\w]*\]\s*|^\s*[0-9a-f]{1,4}:\s")

_LABEL = re.compile(r"\bl\d+\b")

#: Bytes.
_INSTRUCTION, _A2XX_INSTRUCTION = 8, 12

#: Stands for the value of a field that one of two generations does not have.
NO_FIELD = "-"


def key_text(key: FactKey) -> str:
    """A fact's name: ``texture FS 0``, ``uniform data set 1 slot 2``."""
    if len(key) == 3 and str(key[1]).startswith("set "):
        return f"{key[0]} {key[1]} slot {key[2]}"
    if key[0] == "draw":
        return str(key[1])
    return " ".join(str(part) for part in key)


def differences(
    key: FactKey,
    good: Fact | None,
    bad: Fact | None,
    sides: tuple[Side, Side],
    with_addresses: bool = False,
) -> Iterator[Difference]:
    """What differs between two facts, ``with_addresses`` in constants, too."""
    category = FACT_CATEGORIES.get(str(key[0]), OTHER)
    name = key_text(key)
    places = None if good is None else good.place, None if bad is None else bad.place
    if good is None or bad is None:
        texts = ("there", "missing") if bad is None else ("missing", "there")
        yield Difference(name, *texts, category, *places)
    elif good.domain is not None and good.domain == bad.domain:
        for field, about, one, other in _field_pairs(str(key[0]), good, bad, sides):
            images = _image(key, good, sides[0]), _image(key, bad, sides[1])
            yield Difference(f"{name}: {field}", one, other, about, *places, images=images)
    elif key[0] == "shader":
        one, other = (_listing(side, fact) for side, fact in zip(sides, (good, bad), strict=True))
        lines = unified_diff(_instructions(one), _instructions(other), "good", "bad", lineterm="")
        texts = _shader_text(good, one, sides[0]), _shader_text(bad, other, sides[1])
        yield Difference(name, *texts, category, *places, tuple(islice(lines, _MAX_LINES)))
    elif good.data is not None and bad.data is not None:
        words = _data_words(key, good, bad, None if with_addresses else sides)
        if words:
            yield _data_difference(name, category, good, bad, words)
    else:
        yield Difference(name, str(good.digest), str(bad.digest), category, *places)


def _image(key: FactKey, fact: Fact, side: Side) -> int | None:
    """What a descriptor is of; a3xx keeps the addresses of textures elsewhere."""
    address = side.facts.get(("texture address", *key[1:])) if key[0] == "texture" else None
    return fact.points_at if address is None else address.points_at


def _listing(side: Side, fact: Fact) -> str:
    known = side.recording.listings
    return known.get(fact.digest, "") if isinstance(fact.digest, bytes) else ""


def _instructions(listing: str) -> list[str]:
    """A listing without what shifts: numbers and words of instructions, numbers in labels."""
    labels: dict[str, str] = {}

    def renamed(match: re.Match[str]) -> str:
        return labels.setdefault(match[0], f"label{len(labels)}")

    return [_LABEL.sub(renamed, _NUMBERS.sub("", line).strip()) for line in listing.splitlines()]


def _shader_text(fact: Fact, listing: str, side: Side) -> str:
    if not listing or not isinstance(fact.digest, bytes):
        return "not captured"
    size = _A2XX_INSTRUCTION if side.recording.generation == 2 else _INSTRUCTION
    instructions = 0 if fact.data is None else len(fact.data) // size
    return f"{instructions} instructions, digest {fact.digest.hex()[:8]}"


def _field_pairs(
    kind: str, good: Fact, bad: Fact, sides: tuple[Side, Side]
) -> Iterator[tuple[str, Category, str, str]]:
    """Name, category and both values of the fields that differ, but for addresses."""
    assert good.domain is not None
    texts: list[dict[str, str]] = []
    subjects: dict[str, RegisterSubject] = {}
    for side, fact in zip(sides, (good, bad), strict=True):
        assert fact.data is not None
        dwords = fact.data[: len(fact.data) // 4 * 4].cast("I").tolist()
        fields = side.text.descriptor_fields(good.domain, dwords)
        texts.append({field.name: field.text for field in fields})
        for field in fields:
            subjects[field.name] = side.descriptor_subject(good.domain, field.dword)
    for name in dict.fromkeys([*texts[0], *texts[1]]):  # two generations may have other fields
        one, other = (of.get(name, NO_FIELD) for of in texts)
        if one != other and not is_address_field(subjects[name], name):
            yield name, descriptor_category(kind, subjects[name], name), one, other


def _data_words(key: FactKey, good: Fact, bad: Fact, sides: tuple[Side, Side] | None) -> list[int]:
    """Offsets of the words that differ; of constants without those that are addresses.

    Up to a5xx, drivers put the addresses of uniform buffers there. ``sides``: whose addresses;
    None: addresses count.
    """
    one, other = bytes(good.data or b""), bytes(bad.data or b"")
    words = [
        offset
        for offset in range(0, max(len(one), len(other)), 4)
        if one[offset : offset + 4] != other[offset : offset + 4]
    ]
    if sides is None or key[0] != "constants":
        return words
    return [
        offset
        for offset in words
        if not all(
            _is_pointer(data, offset, side) for data, side in zip((one, other), sides, strict=True)
        )
    ]


def _is_pointer(data: bytes, offset: int, side: Side) -> bool:
    """Whether an address begins here: of 32 or of 64 bits."""
    bits = 32 if side.recording.generation < 5 else 64
    part = data[offset : offset + bits // 8]
    return len(part) == bits // 8 and side.is_address(int.from_bytes(part, "little"))


def _data_difference(
    name: str, category: Category, good: Fact, bad: Fact, words: list[int]
) -> Difference:
    one, other = bytes(good.data or b""), bytes(bad.data or b"")
    size = max(len(one), len(other))
    first = words[0]
    details = tuple(
        f"+{offset:#x}: {_word(one, offset)} → {_word(other, offset)}"
        for offset in words[:_MAX_WORDS]
    )
    if len(words) > _MAX_WORDS:
        details = (*details, f"and {len(words) - _MAX_WORDS} more words")
    count = f"{len(words)} of {size // 4} words" if len(words) > 1 else f"offset {first:#x}"
    place = f"{name} ({count})"
    return Difference(
        place, _word(one, first), _word(other, first), category, good.place, bad.place, details
    )


def _word(data: bytes, offset: int) -> str:
    part = data[offset : offset + 4]
    if len(part) < 4:
        return part.hex() or "missing"
    return word_text(int.from_bytes(part, "little"))


def word_text(word: int) -> str:
    """A word as hex, and as the number that it would be if it is a float of usual size."""
    number: float = struct.unpack("<f", word.to_bytes(4, "little"))[0]
    usual = 1e-6 < abs(number) < 1e9
    return f"{word:08x} ({number:g})" if usual else f"{word:08x}"
