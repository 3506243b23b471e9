# SPDX-License-Identifier: MIT
"""Names that another edition has for the same register, field or value.

Each edition that is based on another has a table of what it renames, ``aliases.tsv``: kind, what it
is within, old name, new name, generations. It is computed when the edition is imported
(``cffpy.regdb.compare``) and reviewed by hand. Names of array members have empty indices; a single
register that became an element of an array other than the first has an index. A half is a field of
a packet that became a part of one of 64 bits, a high dword is a register that did. The parts of
such a field or register ``X`` are known as ``X_LO`` and ``X_HI`` (``cffpy.regdb.catalog``,
``Database.find_named``).
"""

from __future__ import annotations

import os
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from cffpy.editions.folders import editions
from cffpy.errors import RegisterDbError
from cffpy.regdb.spelling import base_of_halves, names_of_halves

if TYPE_CHECKING:
    from cffpy.regdb.compare import EditionChange

TABLE = "aliases.tsv"
HEADER = "# kind\twithin\told name\tnew name\tgenerations\n"

_INDEX, _OPEN_INDEX = re.compile(r"\[[^\]]*\]"), re.compile(r"\[\]")
_COLUMNS = 5

#: Kinds of rows of fields.
_FIELD, _LOW_HALF, _HIGH_HALF = "field", "low half", "high half"
_HIGH_DWORD = "high dword"
_KINDS = frozenset(
    ("register", _FIELD, _LOW_HALF, _HIGH_HALF, _HIGH_DWORD, "enum", "value", "domain")
)

#: Indices of an array's first element, and of any.
_FIRST = ("[]", "[0]", "[0x0]")


class Alias(NamedTuple):
    """Two names of one thing. ``kind``, ``within``: see ``compare.EditionChange``."""

    kind: str
    within: str
    old: str
    new: str
    chips: tuple[str, ...]


class Aliases:
    """The other names that the installed editions have."""

    def __init__(self, rows: Iterable[Alias]) -> None:
        self._registers: dict[str, list[str]] = defaultdict(list)
        #: The same without indices; and arrays alone: "GRAS_CL_VPORT".
        self._plain: dict[str, set[str]] = defaultdict(set)
        self._arrays: dict[str, set[str]] = defaultdict(set)
        self._new_registers: dict[str, list[str]] = defaultdict(list)
        self._old_values: dict[tuple[str, str], str] = {}
        self._fields: dict[str, list[tuple[str, str]]] = defaultdict(list)
        self._values: dict[str, list[str]] = defaultdict(list)
        self._enums: dict[str, list[str]] = defaultdict(list)
        self._domains: dict[str, list[str]] = defaultdict(list)
        tables = {
            "register": self._registers,
            "value": self._values,
            "enum": self._enums,
            "domain": self._domains,
        }
        for row in rows:
            if row.kind == "register":
                self._new_registers[row.old].append(row.new)
            elif row.kind == "value":
                self._old_values[row.within, row.new] = row.old
            for name, other in ((row.old, row.new), (row.new, row.old)):
                if row.kind == "register":
                    self._plain[_plain(name)].add(_plain(other))
                    if "[" in name and "[" in other:
                        self._arrays[_head(name)].add(_head(other))
                if row.kind in tables and other not in tables[row.kind][name]:
                    tables[row.kind][name].append(other)
            self._add_field(row)
            if row.kind == _HIGH_DWORD:
                self._add_high_dword(row)

    def _add_high_dword(self, row: Alias) -> None:
        """The two registers together, and each of them, by the names of the 64-bit register."""
        base = row.old.removesuffix("_HI")
        low, high = names_of_halves(row.new)
        pairs = [(row.old, high)]
        if base != row.old:
            # before the name of the lower register, which is the first of two dwords
            pairs += [(base, row.new), (f"{base}_LO", low)]
        for name, other in pairs:
            if name != other:
                self._registers[name].insert(0, other)
                self._registers[other].insert(0, name)

    def _add_field(self, row: Alias) -> None:
        within = _plain(row.within)
        if row.kind == _FIELD:
            self._fields[row.old].append((within, row.new))
            self._fields[row.new].append((within, row.old))
        elif row.kind in (_LOW_HALF, _HIGH_HALF):
            part = names_of_halves(row.new)[row.kind == _HIGH_HALF]
            if row.old != part:
                self._fields[row.old].append((within, part))
                self._fields[part].append((within, row.old))
            base = base_of_halves(row.old)
            if row.kind == _LOW_HALF and base != row.new:
                self._fields[base].append((within, row.new))
                self._fields[row.new].append((within, base))

    @classmethod
    def installed(cls) -> Aliases:
        """Those of all installed editions. Raises RegisterDbError for a table that is wrong."""
        rows: list[Alias] = []
        for directory in editions().values():
            path = os.path.join(directory, TABLE)
            if os.path.exists(path):
                rows += read_table(path)
        return cls(rows)

    def registers(self, name: str) -> tuple[str, ...]:
        """Other names of a register; the indices of ``name`` are kept: ``RB_MRT[2].CONTROL``."""
        return _indexed(self._registers, name)

    def new_registers(self, name: str) -> tuple[str, ...]:
        """Names of a register in editions that renamed it, by its name before."""
        return _indexed(self._new_registers, name)

    def old_value(self, enum: str, name: str) -> str:
        """The name of an enum's value before it was renamed; ``name`` if it was not."""
        return self._old_values.get((enum, name), name)

    def fields(self, register: str, field: str) -> tuple[str, ...]:
        """Other names of a field of a register, packet or structure, by any name of the register.

        Of a packet also those of an address: for ``X``, ``X_LO`` and ``X_HI``, by the address's
        other name.
        """
        known = self._fields.get(field)
        if not known:
            return ()
        plain = _plain(register)
        registers = {plain, *self._plain.get(plain, ())}
        return tuple(dict.fromkeys(other for within, other in known if within in registers))

    def values(self, name: str) -> tuple[str, ...]:
        """Other names of an enum's value."""
        return tuple(self._values.get(name, ()))

    def enums(self, name: str) -> tuple[str, ...]:
        """Other names of an enum."""
        return tuple(self._enums.get(name, ()))

    def domains(self, name: str) -> tuple[str, ...]:
        """Other names of a packet, or of a structure in memory."""
        return tuple(self._domains.get(name, ()))

    def any(self, name: str) -> tuple[str, ...]:
        """Other names of whatever has this name, registers first.

        ``REGISTER.FIELD``: a field of a register, both by any name.
        """
        names = (
            *self.registers(name),
            *sorted(self._arrays.get(name, ())),
            *self._register_fields(name),
            *self.domains(name),
            *self.enums(name),
            *self.values(name),
        )
        return tuple(dict.fromkeys(names))

    def _register_fields(self, name: str) -> list[str]:
        register, _, field = name.rpartition(".")
        if not register:
            return []
        registers = (register, *self.registers(register))
        fields = (field, *self.fields(register, field))
        return [f"{register}.{other}" for register in registers for other in fields][1:]


def renames(changes: Mapping[str, Sequence[EditionChange]]) -> list[Alias]:
    """The aliases that a comparison of two editions finds, sorted by kind and name."""
    chips: dict[tuple[str, str, str, str], list[str]] = defaultdict(list)
    for chip, aliases in changes.items():
        for change in aliases:
            names = (change.within or "-", change.old, change.new)
            if change.change == "renamed" and all(map(_is_name, names)):
                chips[change.kind, change.within, change.old, change.new].append(chip)
    return [Alias(*key, tuple(names)) for key, names in sorted(chips.items())]


def table_text(rows: Iterable[Alias]) -> str:
    """The text of a table."""
    lines = ("\t".join((*row[:4], " ".join(row.chips))) for row in rows)
    return HEADER + "".join(f"{line}\n" for line in lines)


def read_table(path: str) -> list[Alias]:
    """The rows of a table. Raises RegisterDbError with the line."""
    with open(path, encoding="utf-8") as file:
        return list(_rows(file, path))


def _rows(lines: Iterable[str], path: str) -> Iterator[Alias]:
    for number, line in enumerate(lines, 1):
        if line.startswith("#") or not line.strip():
            continue
        columns = line.rstrip("\n").split("\t")
        if len(columns) != _COLUMNS or columns[0] not in _KINDS:
            raise RegisterDbError(
                "a row has kind, within, old name, new name and generations", path, number
            )
        kind, within, old, new, chips = columns
        yield Alias(kind, within, old, new, tuple(chips.split()))


def _is_name(text: str) -> bool:
    # dwords without a name are called by their number
    return not text[:1].isdigit()


def _plain(name: str) -> str:
    """The name of a register without indices."""
    return _INDEX.sub("", name)


def _head(name: str) -> str:
    """The name of the array that a register is in."""
    return name.partition("[")[0]


def _indexed(table: Mapping[str, list[str]], name: str) -> tuple[str, ...]:
    indices = _INDEX.findall(name)
    pattern, element = _INDEX.sub("[]", name), _INDEX.sub(_decimal, name)
    others = (_with_indices(other, indices) for other in table.get(pattern, ()))
    known = [other for other in others if other is not None]
    return (*(table.get(element, ()) if element != pattern else ()), *known)


def _decimal(index: re.Match[str]) -> str:
    """An index in decimal, for the table: ``[10]`` for ``[0xa]``."""
    try:
        return f"[{int(index[0][1:-1], 0)}]"
    except ValueError:
        return index[0]


def _with_indices(name: str, indices: Sequence[str]) -> str | None:
    """The name with these indices: a single register is the first element; None for others."""
    rest = iter(indices)
    indexed = _OPEN_INDEX.sub(lambda _match: next(rest, "[0]"), name)
    return indexed if all(index in _FIRST for index in rest) else None
