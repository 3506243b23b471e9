# SPDX-License-Identifier: MIT
"""Structs of packets -> the packed rows of each generation (store.py says what they are)."""

from __future__ import annotations

import marshal
from collections.abc import Iterable, Sequence
from typing import Any

from cffpy.pm4.packets import SAME_AS, domain_struct, varsets
from cffpy.pm4.structs import FIRST_64BIT, undescribed
from cffpy.regdb.database import Database
from cffpy.row_readers import dwords_of
from cffpy.struct_rows import entry_of, rows_of


def compile_chips(chips: Sequence[str]) -> dict[str, dict[str, bytes]]:
    """The packets of each chip, lowest first.

    A packet that a generation's descriptions lack is taken from the next generation that has it:
    some packets are described from a later generation on than they are used.
    """
    found: dict[str, dict[str, bytes]] = {}
    later: dict[str, bytes] = {}
    for chip in reversed(chips):
        own = {name: _packed(structure) for name, structure in structs_of(Database.open(chip))}
        later = found[chip] = {**later, **own}
    return {chip: found[chip] for chip in chips}


def structs_of(database: Database) -> Iterable[tuple[str, Any]]:
    """Each packet and structure of a generation: its name, or ``NAME:VARIANT``, and its Struct."""
    for domain in database.domain_names():
        for suffix, variants in _variants(database, domain):
            structure = domain_struct(database, domain, variants)
            if structure is not None:
                yield domain + suffix, structure
    for name, domain in SAME_AS.items():
        structure = domain_struct(database, domain, {})
        if structure is not None:
            yield name, structure
    yield from undescribed(database.chip >= FIRST_64BIT).items()


def _variants(database: Database, domain: str) -> Iterable[tuple[str, dict[str, int]]]:
    """No variant, then each variant of each enum that decides what the domain holds."""
    yield "", {}
    for varset in varsets(database, domain):
        for position, (name, *_) in enumerate(database.enum(varset)):
            yield f":{name}", {varset: position}


def _packed(structure: Any) -> bytes:  # noqa: ANN401  (construct has no types)
    rows = rows_of(structure)
    entry = 0 if entry_of(structure) is None else max(map(dwords_of, rows))
    return marshal.dumps((rows, entry))
