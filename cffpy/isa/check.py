# SPDX-License-Identifier: MIT
"""Checks instruction-set descriptions: each bit has one meaning, all names exist, no overlaps.

Descriptions that cannot be used are errors. Irregularities that Mesa's descriptions have and its
decoder accepts (overlapping patterns, missing fields in some templates) are notices.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator

from cffpy.editions.folders import instruction_files
from cffpy.errors import IsaError
from cffpy.findings import ERROR, NOTICE, Finding
from cffpy.isa.language import (
    Bitset,
    Case,
    EncodingField,
    Expression,
    File,
    SourceLocation,
    parse_file,
)
from cffpy.isa.resolve import Description, resolve, with_imports
from cffpy.isa.rows import Tree, field_names

_LOWEST = 200
_HIGHEST = 900
"""Range of generations x 100 that are resolved as a check; the end is excluded."""


def check_directory(directory: str) -> list[Finding]:
    """All findings of the .isa files of an edition, also of shared files, by file."""
    files: list[File] = []
    findings: set[Finding] = set()
    for path in instruction_files(directory):
        try:
            files.append(parse_file(path))
        except IsaError as problem:
            findings.add(_from_error(problem))
    if not findings:
        findings.update(check_files(files))
    return sorted(findings)


def check_files(files: Iterable[File]) -> list[Finding]:
    """All findings of these files. A file that no other imports is the root of a description."""
    files = list(files)
    imported = {name for file in files for name in file.imports}
    findings: set[Finding] = set()
    for file in files:
        if file.name in imported:
            continue
        try:
            group = with_imports(files, file.name)
            description = Description(group)
            for generation in range(_LOWEST, _HIGHEST, 100):
                resolve(group, generation)
        except IsaError as problem:
            findings.add(_from_error(problem))
            continue
        findings.update(_check(description))
    return sorted(findings)


def _from_error(problem: IsaError) -> Finding:
    message = str(problem)
    location = ":".join(str(p) for p in (problem.file, problem.line, problem.column) if p)
    text = message.removeprefix(f"{location}: ").split("\n")[0]
    return Finding(os.path.basename(problem.file), problem.line, ERROR, "wrong", text)


def _finding(location: SourceLocation, severity: str, kind: str, message: str) -> Finding:
    return Finding(os.path.basename(location.file), location.line, severity, kind, message)


def _check(description: Description) -> Iterator[Finding]:
    for leaf in description.leaves:
        yield from _check_bits(description, leaf)
    yield from _check_overlaps(description)
    yield from _check_names(description)
    yield from _check_unused(description)


def _check_bits(description: Description, leaf: Bitset) -> Iterator[Finding]:
    """Report bits of a leaf that are not in exactly one pattern, assert or default field."""
    size = description.size(leaf)
    owners: dict[int, str] = {}
    for bitset in reversed(description.chain(leaf)):
        default = bitset.default
        parts = [(p.low, p.high, f"pattern {p.bits}", p.location) for p in default.patterns]
        parts += [(p.low, p.high, f"assert {p.bits}", p.location) for p in default.asserts]
        parts += [
            (f.low, f.high, f"field {f.name}", f.location)
            for f in default.fields
            if f.expression is None
        ]
        for low, high, what, location in parts:
            for bit in range(low, high + 1):
                if bit in owners:
                    message = f"{leaf.name}: bit {bit} is in {owners[bit]} and in {what}"
                    yield _finding(location, ERROR, "bit-twice", message)
                    break
            for bit in range(low, high + 1):
                owners.setdefault(bit, what)
    missing = [bit for bit in range(size) if bit not in owners]
    if missing:
        message = f"{leaf.name}: bits without meaning: {_ranges(missing)}"
        yield _finding(leaf.location, ERROR, "bit-missing", message)


def _ranges(bits: list[int]) -> str:
    parts: list[list[int]] = []
    for bit in bits:
        if parts and parts[-1][1] == bit - 1:
            parts[-1][1] = bit
        else:
            parts.append([bit, bit])
    return ", ".join(f"{a}..{b}" if a != b else str(a) for a, b in parts)


def _check_overlaps(description: Description) -> Iterator[Finding]:
    """Report pairs of leaves of one root that can match the same word."""
    rows = []
    for leaf in description.leaves:
        match, mask, dontcare = description.masks(leaf)
        root = description.chain(leaf)[-1].name
        rows.append((leaf, root, match, mask & ~dontcare, description.generations(leaf)))
    for number, (leaf, root, match, test, (low, high)) in enumerate(rows):
        for other, other_root, other_match, other_test, (first, last) in rows[:number]:
            if root != other_root or (match ^ other_match) & test & other_test:
                continue
            begin, end = max(low, first), min(high, last)
            if begin <= end:
                until = "on" if end > _HIGHEST else f"to {end}"
                message = f"{leaf.name} overlaps {other.name} (generations {begin} {until})"
                yield _finding(leaf.location, NOTICE, "overlap", message)


def _tree(description: Description, expression: Expression | None) -> Tree | None:
    if expression is None:
        return None
    if expression.tree is not None:
        return expression.tree
    return description.expressions[expression.name].tree


def _shown_names(case: Case) -> list[str]:
    parts = (case.display or "").split("{")[1:]
    return [part.partition("}")[0].partition(":align=")[0] for part in parts]


def _check_names(description: Description) -> Iterator[Finding]:
    """Report names in templates and expressions that are no field or parameter."""
    handed: dict[str, set[str]] = {name: set() for name in description.roots}
    for bitset in description.bitsets:
        for field in _fields(bitset):
            handed.get(field.type, set()).update(p.known_as for p in field.parameters)
    for leaf in description.leaves:
        chain = description.chain(leaf)
        known = {field.name for bitset in chain for field in _fields(bitset)}
        known |= handed[chain[-1].name] | {"NAME", ""} | set(description.templates)
        for name, where, bitset in _used_names(description, chain):
            # an inherited derived field that is never shown may use fields that the leaf lacks
            if name not in known and (where != "expression" or bitset is leaf):
                message = f"{leaf.name}: no field {name} for a {where} of {bitset.name}"
                yield _finding(leaf.location, NOTICE, "no-field", message)


def _used_names(
    description: Description, chain: Iterable[Bitset]
) -> Iterator[tuple[str, str, Bitset]]:
    """(name, what uses it, bitset) of all field names that a leaf's chain mentions."""
    is_reached = True
    for bitset in chain:
        for case in bitset.cases:
            if is_reached:
                yield from ((name, "template", bitset) for name in _shown_names(case))
            trees = [_tree(description, case.expression)]
            trees += [_tree(description, field.expression) for field in case.fields]
            for tree in filter(None, trees):
                yield from ((name, "expression", bitset) for name in field_names(tree))
            for field in case.fields:
                yield from ((p.name, "parameter", bitset) for p in field.parameters)
        is_reached = is_reached and bitset.default.display is None


def _fields(bitset: Bitset) -> Iterator[EncodingField]:
    for case in bitset.cases:
        yield from case.fields


def _check_unused(description: Description) -> Iterator[Finding]:
    """Report unused enums and expressions."""
    types = {field.type for bitset in description.bitsets for field in _fields(bitset)}
    used = {
        expression.name
        for bitset in description.bitsets
        for case in bitset.cases
        for expression in (case.expression, *(field.expression for field in case.fields))
        if expression is not None
    }
    for name, enum in description.enums.items():
        if name not in types:
            yield _finding(enum.location, NOTICE, "unused", f"enum {name} is not used")
    for name, declared in description.expressions.items():
        if name not in used:
            yield _finding(declared.location, NOTICE, "unused", f"expression {name} is not used")
