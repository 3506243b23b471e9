# SPDX-License-Identifier: MIT
"""What one generation declares: its root file and the imports, merged by name.

Same names append: values of enums, fields of bitsets, elements of domains. What was declared first
comes first, and wins in lookups.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

from cffpy.errors import RegisterDbError
from cffpy.regdb.model import (
    Bitset,
    Condition,
    Declaration,
    Description,
    Domain,
    Enum,
    Import,
    Value,
)

CHIP = "chip"
"""The varset whose variants are the generations."""

_ROOT = re.compile(r"a([0-9])xx")
_CHIP = re.compile(r"A([0-9])XX")


@dataclass(slots=True)
class Merged:
    """Declarations by name, each with its parts in the order of merging."""

    root: str
    enums: dict[str, list[Enum]] = field(default_factory=dict)
    bitsets: dict[str, list[Bitset]] = field(default_factory=dict)
    domains: dict[str, list[Domain]] = field(default_factory=dict)

    def values(self, enum: str) -> list[Value]:
        """All values of an enum, regardless of conditions; [] for no such enum."""
        return [value for part in self.enums.get(enum, ()) for value in part.values]


def merge(files: Mapping[str, Description], root: str) -> Merged:
    """Merge the file ``root`` and all that it imports, each file once, at its first import."""
    merged = Merged(root)
    for _file, declaration in located(files, root):
        match declaration:
            case Enum():
                merged.enums.setdefault(declaration.name, []).append(declaration)
            case Bitset():
                merged.bitsets.setdefault(declaration.name, []).append(declaration)
            case Domain():
                merged.domains.setdefault(declaration.name, []).append(declaration)
    return merged


def located(files: Mapping[str, Description], root: str) -> Iterator[tuple[str, Declaration]]:
    """The declarations of ``root`` and its imports with their file, in the order of merging.

    Depth first: an import's declarations replace the import.
    """
    seen = {root}
    stack = [(root, iter(files[root].declarations))]
    while stack:
        file, declarations = stack[-1]
        declaration = next(declarations, None)
        if declaration is None:
            stack.pop()
        elif not isinstance(declaration, Import):
            yield file, declaration
        elif declaration.name not in files:
            message = f"import of '{declaration.name}', which is not there"
            raise RegisterDbError(message, f"{file}.regs", declaration.line)
        elif declaration.name not in seen:
            seen.add(declaration.name)
            stack.append((declaration.name, iter(files[declaration.name].declarations)))


def generations(files: Mapping[str, Description]) -> dict[str, str]:
    """The root file of each chip: ``{"A2XX": "a2xx", ..., "A7XX": "a6xx"}``.

    Chips are the values of the enum ``chip``; the root of chip N is the file aKxx of the largest
    K that is not above N.
    """
    roots = {int(match[1]): name for name in files if (match := _ROOT.fullmatch(name))}
    chips: dict[str, str] = {}
    for root in sorted(roots.values()):
        for value in merge(files, root).values(CHIP):
            match = _CHIP.fullmatch(value.name)
            if match is None or value.name in chips:
                continue
            below = [number for number in roots if number <= int(match[1])]
            if below:
                chips[value.name] = roots[max(below)]
    return dict(sorted(chips.items()))


def covered(condition: Condition, names: list[str]) -> int:
    """Bitmask of the positions in ``names`` that the condition's ranges cover.

    Raises KeyError with a name that a range gives and ``names`` lacks.
    """
    mask = 0
    for variants in condition.ranges:
        first = 0 if variants.first is None else _position(names, variants.first)
        last = len(names) - 1 if variants.last is None else _position(names, variants.last)
        for position in range(first, last + 1):
            mask |= 1 << position
    return mask


def _position(names: list[str], name: str) -> int:
    try:
        return names.index(name)
    except ValueError:
        raise KeyError(name) from None
