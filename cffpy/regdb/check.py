# SPDX-License-Identifier: MIT
"""Checks an edition: what cannot be compiled or read is an error, what looks wrong is a notice.

Mesa's own descriptions have overlapping registers and bits with two names on purpose, so these are
notices. Two items only collide if their conditions can hold at once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice

from cffpy.errors import RegisterDbError
from cffpy.findings import ERROR, NOTICE, Finding
from cffpy.regdb.compile import (
    BUILTIN_TYPES,
    CHIP,
    Merged,
    compile_generation,
    covered,
    generations,
    located,
    merge,
    read_directory,
)
from cffpy.regdb.language import (
    Array,
    Bitfield,
    Bitset,
    Condition,
    Declaration,
    Description,
    Domain,
    Element,
    Enum,
    Import,
    Register,
    Stripe,
    Subject,
    Type,
    Value,
)
from cffpy.regdb.subjects import ENGINES, ROLES, TOPICS

MAX_LEAVES = 1 << 17
"""Registers of one domain that are unrolled at most; Mesa's largest domain has 2,600."""

_UNBOUNDED_REPEATS = 1


@dataclass(frozen=True, slots=True)
class Leaf:
    """One register at one place; ``offset`` in dwords from the start of the domain."""

    name: str
    offset: int
    register: Register
    conditions: tuple[Condition, ...]


def leaves(elements: Sequence[Element]) -> Iterator[Leaf]:
    """All registers; of an unbounded array the first repeat, and at most MAX_LEAVES in all."""
    return islice(_leaves(elements, "", 0, ()), MAX_LEAVES)


def _leaves(
    elements: Sequence[Element], prefix: str, base: int, around: tuple[Condition, ...]
) -> Iterator[Leaf]:
    for element in elements:
        if not _has_register(element):
            continue  # whose repeats would count without an end
        own = around if element.condition is None else (*around, element.condition)
        for index, offset in _places(element):
            match element:
                case Register():
                    yield Leaf(_name(prefix, element, index), base + offset, element, own)
                case Array():
                    inner = f"{_name(prefix, element, index)}."
                    yield from _leaves(element.elements, inner, base + offset, own)
                case Stripe():
                    yield from _leaves(element.elements, prefix, base + offset, own)


def _has_register(element: Element) -> bool:
    return isinstance(element, Register) or any(_has_register(inner) for inner in element.elements)


def _places(element: Element) -> Iterator[tuple[int, int]]:
    if isinstance(element, Array) and len(element.offsets) > 1:
        yield from enumerate(element.offsets)
        return
    start = element.offsets[0] if isinstance(element, Array) else element.offset
    for index in range(element.length or _UNBOUNDED_REPEATS):
        yield index, start + index * element.stride


def _name(prefix: str, element: Register | Array, index: int) -> str:
    repeated = isinstance(element, Array) or element.length != 1
    return f"{prefix}{element.name}[{index}]" if repeated else f"{prefix}{element.name}"


_MAX_WIDTH = 64

# The most registers at one dword that a further one is compared with.
_MAX_SHARERS = 16

# Masks by varset: where an item is in force.
_Masks = Mapping[str, int]


def check_directory(directory: str) -> list[Finding]:
    """All findings of an edition, by file and line.

    Raises RegisterDbError for a directory that is not an edition, or a file that is wrong.
    """
    return check_files(read_directory(directory))


def check_files(files: Mapping[str, Description]) -> list[Finding]:
    """All findings of these files (by name without extension), by file and line."""
    findings: set[Finding] = set()
    for name, description in files.items():
        for declaration in description.declarations:
            if isinstance(declaration, Import) and declaration.name not in files:
                message = f"import of '{declaration.name}', which is not there"
                place = (f"{name}.regs", declaration.line)
                findings.add(Finding(*place, ERROR, "missing import", message))
    if findings:
        return sorted(findings)  # whatever the missing file declares would seem to be wrong
    chips = generations(files)
    reached: set[str] = set()
    roots = [*dict.fromkeys(chips.values())]
    for root in [*roots, *(name for name in files if name not in roots)]:
        if root in reached:
            continue
        checker = _Checker(merge(files, root), [chip for chip in chips if chips[chip] == root])
        for name, declaration in located(files, root):
            reached.add(name)
            checker.declaration(f"{name}.regs", declaration)
        findings |= checker.findings
    if not any(finding.severity == ERROR for finding in findings):
        findings |= set(_compile_errors(files, chips))
    return sorted(findings)


def _compile_errors(
    files: Mapping[str, Description], chips: Mapping[str, str]
) -> Iterable[Finding]:
    for chip, root in chips.items():
        try:
            compile_generation(files, chip, root)
        except RegisterDbError as problem:
            yield Finding(f"{root}.regs", 1, ERROR, "compile", f"for {chip}: {problem}")


@dataclass(slots=True)
class _Checker:
    # Checks declarations as one root file and its imports see them.
    merged: Merged
    chips: Sequence[str]
    findings: set[Finding] = field(default_factory=set)
    file: str = ""

    def declaration(self, file: str, declaration: Declaration) -> None:
        self.file = file
        start = self.start()
        match declaration:
            case Enum(name, values):
                masks = self.within(start, declaration.condition, declaration.line)
                self.values(f"enum {name}", values, masks)
            case Bitset(name, fields):
                masks = self.within(start, declaration.condition, declaration.line)
                self.fields(f"bitset {name}", fields, _MAX_WIDTH, masks)
            case Domain(name, elements):
                masks = self.within(start, declaration.condition, declaration.line)
                if declaration.width != 32:
                    message = f"domain {name}: width {declaration.width}, only 32 is supported"
                    self.add(ERROR, "width", declaration.line, message)
                self.elements(name, elements, masks)
                self.overlaps(name, elements, masks)

    def add(self, severity: str, kind: str, line: int, message: str) -> None:
        self.findings.add(Finding(self.file, line, severity, kind, message))

    # ---- conditions

    def start(self) -> _Masks:
        names = [value.name for value in self.merged.values(CHIP)]
        mask = sum(1 << place for place, name in enumerate(names) if name in self.chips)
        return {CHIP: mask} if mask else {}

    def within(self, masks: _Masks, condition: Condition | None, line: int) -> _Masks:
        if condition is None:
            return masks
        names = [value.name for value in self.merged.values(condition.varset)]
        if not names:
            message = f"condition on '{condition.varset}', which is not an enum"
            self.add(ERROR, "varset", line, message)
            return masks
        try:
            own = covered(condition, names)
        except KeyError as missing:
            message = f"the enum '{condition.varset}' has no value {missing.args[0]}"
            self.add(ERROR, "variant", line, message)
            return masks
        if not own:
            self.add(ERROR, "range", line, f"range of '{condition.varset}' that holds nothing")
        return {**masks, condition.varset: masks.get(condition.varset, own) & own}

    # ---- enums, fields, types

    def values(self, where: str, values: Sequence[Value], masks: _Masks) -> None:
        scoped = [(value, self.within(masks, value.condition, value.line)) for value in values]
        numbers: dict[int, list[tuple[Value, _Masks]]] = {}
        for value, own in scoped:
            if value.number is None:
                continue
            for other, others in numbers.get(value.number, ()):
                if _coincide(own, others):
                    message = f"{where}: {value.number:#x} is {other.name} and {value.name}"
                    self.add(NOTICE, "value twice", value.line, message)
                    break
            numbers.setdefault(value.number, []).append((value, own))

    def fields(self, where: str, fields: Sequence[Bitfield], width: int, masks: _Masks) -> None:
        earlier: list[tuple[Bitfield, _Masks]] = []
        for item in fields:
            own = self.within(masks, item.condition, item.line)
            name = f"{where}: field {item.name}"
            if item.high >= width:
                message = f"{name}: bits {item.low}..{item.high} of {width}"
                self.add(ERROR, "width", item.line, message)
            for other, others in earlier:
                if item.low <= other.high and other.low <= item.high and _coincide(own, others):
                    message = f"{name} and field {other.name} share bits"
                    self.add(NOTICE, "bits twice", item.line, message)
                    break
            earlier.append((item, own))
            self.subject(name, item.subject, item.line)
            self.type(name, item.type, item.line, item.high - item.low + 1, own)

    def type(self, where: str, kind: Type, line: int, width: int, masks: _Masks) -> None:
        name = kind.name
        if name is not None and not self.known_type(name):
            self.add(ERROR, "unknown type", line, f"{where}: unknown type '{name}'")
        self.fields(where, kind.fields, width, masks)
        self.values(where, kind.values, masks)
        if name is not None and name not in self.merged.enums:
            highest = [
                part.high for bitset in self.merged.bitsets.get(name, ()) for part in bitset.fields
            ]
            if highest and max(highest) >= width:
                message = f"{where}: bitset {name} has bits beyond its {width}"
                self.add(NOTICE, "width", line, message)

    def known_type(self, name: str) -> bool:
        return name in self.merged.enums or name in self.merged.bitsets or name in BUILTIN_TYPES

    def subject(self, where: str, subject: Subject, line: int) -> None:
        for word, given, known in (
            ("about", (subject.topic,), TOPICS),
            ("role", subject.roles, ROLES),
            ("engine", (subject.engine,), ENGINES),
        ):
            for value in given:
                if value is not None and value not in known:
                    listed = ", ".join(known)
                    message = f"{where}: {word} '{value}' is not one of {listed}"
                    self.add(ERROR, "subject", line, message)

    # ---- domains

    def elements(self, where: str, elements: Sequence[Element], masks: _Masks) -> None:
        for element in elements:
            own = self.within(masks, element.condition, element.line)
            name = f"{where}.{element.name}"
            match element:
                case Register():
                    self.register(name, element, own)
                case Array() | Stripe():
                    if isinstance(element, Array):
                        self.subject(name, element.subject, element.line)
                    self.repeated(name, element)
                    self.elements(name, element.elements, own)

    def register(self, where: str, register: Register, masks: _Masks) -> None:
        low, high = register.bits or (0, register.width - 1)
        if high >= register.width:
            self.add(ERROR, "range", register.line, f"{where}: bits {low}..{high}")
        if register.length != 1 and not register.stride:
            self.add(ERROR, "stride", register.line, f"{where}: repeated, but has no stride")
        self.subject(where, register.subject, register.line)
        self.type(where, register.type, register.line, register.width, masks)

    def repeated(self, where: str, repeated: Array | Stripe) -> None:
        offsets = len(repeated.offsets) if isinstance(repeated, Array) else 1
        if offsets > 1 and repeated.length != offsets:
            message = f"{where}: {offsets} offsets for {repeated.length} repeats"
            self.add(ERROR, "range", repeated.line, message)
        if repeated.length != 1 and offsets == 1 and not repeated.stride:
            self.add(ERROR, "stride", repeated.line, f"{where}: repeated, but has no stride")
        index = repeated.index if isinstance(repeated, Array) else None
        if index is not None and index not in self.merged.enums:
            message = f"{where}: index by '{index}', which is not an enum"
            self.add(ERROR, "unknown type", repeated.line, message)

    def overlaps(self, domain: str, elements: Sequence[Element], masks: _Masks) -> None:
        taken: dict[int, list[tuple[Leaf, _Masks]]] = {}
        known: dict[tuple[Condition, ...], _Masks] = {(): masks}
        reported: set[tuple[int, int]] = set()
        for leaf in leaves(elements):
            own = known.get(leaf.conditions)
            if own is None:
                own = masks
                for condition in leaf.conditions:
                    own = self.within(own, condition, leaf.register.line)
                known[leaf.conditions] = own
            for dword in range(leaf.offset, leaf.offset + leaf.register.width // 32):
                for other, others in taken.get(dword, ())[:_MAX_SHARERS]:
                    pair = (id(other.register), id(leaf.register))
                    if other.register is leaf.register or pair in reported:
                        continue
                    if _coincide(own, others):
                        reported.add(pair)
                        message = f"{domain}: {other.name} and {leaf.name} are both at {dword:#x}"
                        self.add(NOTICE, "overlap", leaf.register.line, message)
                taken.setdefault(dword, []).append((leaf, own))


def _coincide(first: _Masks, second: _Masks) -> bool:
    return all(first.values()) and all(
        mask and mask & first.get(varset, mask) for varset, mask in second.items()
    )
