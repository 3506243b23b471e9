# SPDX-License-Identifier: MIT
"""Assembles instructions (ir3, afuc) and programs: runs the disassembler's plan backwards.

A template is matched against the text, part by part, with backtracking; each part that prints a
value sets bits. Values of expressions are kept as conditions and solved at the end over the bits
that are still open. Bits that the text does not determine come from the description's ``encode``
lines, otherwise they are 0. Every result is disassembled: it must print the same text, without
errors. A program is a text, a listing, or in hexadecimal.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias

from cffpy.errors import IsaError
from cffpy.isa.interpret import BRANCH_MARK
from cffpy.isa.plan import add_plan
from cffpy.isa.render import Renderer
from cffpy.isa.rows import chosen_part, evaluate
from cffpy.isa.store import ir3_generation, load

if TYPE_CHECKING:
    from cffpy.isa.ir3 import Ir3Disassembler

_ROOT = "#instruction"
_SHOWN = 80
"""Characters of a wrong text that the error shows, at most."""
_TRIALS = 1 << 14
"""Values of open bits that are tried for one condition, at most."""
_MEMO = 1 << 16
"""Texts in the memo, at most."""
_RAW = re.compile(r"raw 0x([0-9a-fA-F]{1,16})|no match: ([0-9a-f]{16})")
"""A word that is not an instruction: in the syntax of Mesa's assembler, and in a listing's."""
_OF_DESCRIPTION = ("no field ", "no match: FIELD")
"""Errors that are caused by the description, not by the word."""
_NUMBER = {
    "uint": re.compile(r"[0-9]{1,20}"),
    "int": re.compile(r"-?[0-9]{1,20}"),
    "hex": re.compile(r"[0-9a-f]{1,16}"),
    "offset": re.compile(r"[+-][0-9]{1,20}"),
    "uoffset": re.compile(r"\+[0-9]{1,20}"),
    "float": re.compile(r"-?([0-9]{1,40}\.[0-9]{1,20}|inf|nan)"),
    "bool": re.compile(r"[0-9]{1,20}"),
    "bool_inv": re.compile(r"[0-9]{1,20}"),
}
_TARGET = re.compile(r"(-?[0-9]{1,20})|([A-Za-z_]\w*)")
_NUMBERED_LABEL = re.compile(r"(?:l|fxn)([0-9]{1,20})")
_EMPTY_IS_ZERO = ("offset", "uoffset")


class _Bits(NamedTuple):
    """What is known about the word: bits, and conditions on value nodes (node, value, width)."""

    mask: int
    value: int
    conditions: tuple[tuple[int, int | bool, int], ...]


_Case: TypeAlias = tuple[int, tuple[tuple[int, int, int], ...], int]
"""A case of a display node: condition or -1, asserts, sequence or -1."""
_State: TypeAlias = tuple[int, _Bits]
"""Position in the text, and what is known."""


class Assembler:
    """Assembles instructions of one generation (3 ... 8) and instruction set."""

    def __init__(
        self, generation: int, directory: str | None = None, instruction_set: str = "ir3"
    ) -> None:
        number = ir3_generation(generation)
        self._generation = number
        isa = load(instruction_set, number, directory)
        self._renderer = Renderer(isa, _ROOT)
        lenient = add_plan(isa, lenient=True)
        self._nodes: tuple[tuple[Any, ...], ...] = lenient["nodes"]
        self._masks: tuple[int, ...] = lenient["masks"]
        self._leaves = lenient["plans"][_ROOT]["leaves"]
        self._presets: list[int] = [isa["presets"].get(row[0], 0) for row in isa["roots"][_ROOT][1]]
        self._enums = isa["enums"]
        self._literals: dict[int, list[tuple[str, ...]]] = {}
        self._words: dict[str, int] = {}
        self._text = ""
        self._index = 0
        self._labels: Mapping[str, int] = {}

    def assemble(self, text: str, index: int = 0, labels: Mapping[str, int] | None = None) -> int:
        r"""The word of one instruction; ``index``: its number in the program.

        ``labels`` gives instruction numbers to names; ``l12`` is 12 without being there.
        ``text`` is as the listing prints it, without the raw columns; errors after ``\t; `` are
        ignored. ``raw 0x...`` is that word. Raises IsaError when no instruction prints so.
        """
        text = text.partition("\t; ")[0].strip()
        word = self._words.get(text)
        if word is None:
            word = self._find(text, index, labels or {})
            if "#" not in text:  # the same at any place: no branch target
                if len(self._words) >= _MEMO:
                    self._words.clear()
                self._words[text] = word
        return word

    def _find(self, text: str, index: int, labels: Mapping[str, int]) -> int:
        raw = _RAW.fullmatch(text)
        if raw:
            return int(raw[1] or raw[2], 16)
        self._text, self._index, self._labels = text, index, labels
        for word in self._candidates():
            if self._prints(word):
                return word
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
        raise IsaError(f"not an instruction of generation {self._generation // 100}: {shown!r}")

    def _candidates(self) -> Iterator[int]:
        """Words that fit the text according to the plan."""
        for number, (match, test, _dontcare, display) in enumerate(self._leaves):
            if not self._possible(number, display):
                continue
            start = _Bits(test, match, ())
            for position, bits in self._display(display, (0, start)):
                if position == len(self._text):
                    yield from self._solve(bits, self._presets[number])

    def _prints(self, word: int) -> bool:
        """Whether the disassembler prints the wanted text for ``word``, without errors."""
        _matched, text, _events, branch, errors = self._renderer.render(word)
        if not all(error.startswith(_OF_DESCRIPTION) for error in errors):
            return False
        if branch is None:
            return text == self._text
        before, _, after = text.partition(BRANCH_MARK)
        if not (self._text.startswith(before) and self._text.endswith(after)):
            return False
        target = _TARGET.fullmatch(self._text[len(before) : len(self._text) - len(after)])
        return target is not None and self._target(target, branch[1]) == branch[0]

    def _possible(self, number: int, display: int) -> bool:
        """Whether some template of a leaf has all its fixed text in the wanted text."""
        literals = self._literals.get(number)
        if literals is None:
            literals = self._literals[number] = self._fixed_texts(display)
        return any(all(part in self._text for part in parts) for parts in literals)

    def _fixed_texts(self, display: int) -> list[tuple[str, ...]]:
        """The fixed texts of each template of a display."""
        node = self._nodes[display]
        texts = []
        for _when, _asserts, sequence in node[1] if node[0] == "display" else ():
            parts = self._nodes[sequence] if sequence >= 0 else ("none",)
            if parts[0] == "sequence":
                shown = (self._nodes[part] for part in parts[1])
                texts.append(tuple(n[1] for n in shown if n[0] in ("text", "name")))
        return texts

    # matching

    def _display(self, number: int, state: _State) -> Iterator[_State]:
        node = self._nodes[number]
        if node[0] != "display":
            return
        position, bits = state
        # the default case first, then overrides from the last to the first
        for place in reversed(range(len(node[1]))):
            sequence = node[1][place][2]
            parts = self._nodes[sequence] if sequence >= 0 else ("none",)
            if parts[0] == "sequence":
                for chosen in self._choosing(node[1], place, bits):
                    yield from self._sequence(parts[1], 0, (position, chosen))

    def _choosing(self, cases: Sequence[_Case], place: int, bits: _Bits) -> list[_Bits]:
        """Variants of ``bits`` for which the case at ``place`` is displayed and no assert fails."""
        choices = [bits]
        for when, asserts, sequence in cases[:place]:
            applying = self._applying(choices, when, asserts) if sequence < 0 else []
            choices = applying + [
                fitting
                for known in choices
                if when >= 0 and (fitting := self._require(known, when, False, 0))
            ]
        when, asserts, _sequence = cases[place]
        return self._applying(choices, when, asserts)

    def _applying(
        self, states: list[_Bits], when: int, asserts: tuple[tuple[int, int, int], ...]
    ) -> list[_Bits]:
        """Those ``states`` for which a case can apply and its asserts hold, with both required."""
        applying = []
        for state in states:
            bits = self._require(state, when, True, 0) if when >= 0 else state
            for low, ones, wanted in asserts:
                bits = bits and _assign(bits, low, ones, wanted)
            if bits:
                applying.append(bits)
        return applying

    def _sequence(self, parts: tuple[int, ...], place: int, state: _State) -> Iterator[_State]:
        while place < len(parts):
            node = self._nodes[parts[place]]
            if node[0] not in ("text", "name"):
                for after in self._part(node, state):
                    yield from self._sequence(parts, place + 1, after)
                return
            if not self._text.startswith(node[1], state[0]):
                return
            state = state[0] + len(node[1]), state[1]
            place += 1
        yield state

    def _part(self, node: tuple[Any, ...], state: _State) -> Iterator[_State]:
        match = _PARTS.get(node[0])
        return match(self, node, state) if match else iter(())

    def _fixed(self, node: tuple[Any, ...], state: _State) -> Iterator[_State]:
        if self._text.startswith(node[1], state[0]):
            yield state[0] + len(node[1]), state[1]

    def _value(self, node: tuple[Any, ...], state: _State) -> Iterator[_State]:
        _kind, _event, value, basic, width, shown = node
        for position, number in self._basic(basic, width, shown, state[0]):
            yield from self._with(state[1], value, number, width, position)
        if shown == "" and basic in ("bool", "bool_inv"):
            yield state

    def _branch(self, node: tuple[Any, ...], state: _State) -> Iterator[_State]:
        match = _TARGET.match(self._text, state[0])
        target = None if match is None else self._target(match, relative=node[3])
        if match is not None and target is not None:
            yield from self._with(state[1], node[1], target, node[2], match.end())

    def _site(self, node: tuple[Any, ...], state: _State) -> Iterator[_State]:
        for match, test, _dontcare, display in node[4]:
            bits = _assign(state[1], 0, test, match)
            if bits:
                yield from self._display(display, (state[0], bits))

    def _target(self, match: re.Match[str], relative: bool) -> int | None:
        if match.group(1):
            return int(match.group(1))
        place = self._labels.get(match.group(2))
        if place is None:
            numbered = _NUMBERED_LABEL.fullmatch(match.group(2))
            if numbered is None:
                return None
            place = int(numbered.group(1))
        return place - self._index if relative else place

    def _with(
        self, bits: _Bits, value: int, number: int, width: int, position: int
    ) -> Iterator[_State]:
        after = self._require(bits, value, number, width)
        if after:
            yield position, after

    def _switch(self, node: tuple[Any, ...], state: _State) -> Iterator[_State]:
        bits: _Bits | None = state[1]
        for when, choice in node[1]:
            if bits is None:
                return
            chosen = bits if when < 0 else self._require(bits, when, True, 0)
            if chosen:
                yield from self._part(self._nodes[choice], (state[0], chosen))
            if when >= 0:
                bits = self._require(bits, when, False, 0)

    def _basic(
        self, kind: str, width: int, shown: str | None, start: int
    ) -> Iterator[tuple[int, int]]:
        """(end position, value) for each way to read a basic field at ``start``."""
        if kind in ("bool", "bool_inv") and shown is not None:
            shown_number = int(kind == "bool")
            if shown:
                if self._text.startswith(shown, start):
                    yield start + len(shown), shown_number
                yield start, 1 - shown_number
            return
        pattern = _NUMBER.get(kind)
        match = pattern.match(self._text, start) if pattern else None
        if match:
            number = _number(kind, match.group(), width)
            if number is not None:
                yield match.end(), number
        if kind in _EMPTY_IS_ZERO:
            yield start, 0

    def _enum(self, node: tuple[Any, ...], state: _State) -> Iterator[_State]:
        _kind, _event, value, name = node
        texts: dict[int, str] = self._enums[name]
        options = [
            (text, number)
            for number, text in texts.items()
            if self._text.startswith(text, state[0])
        ]
        match = _NUMBER["uint"].match(self._text, state[0])
        if match and int(match.group()) not in texts:
            options.append((match.group(), int(match.group())))
        options.sort(key=lambda option: -len(option[0]))
        width = self._masks[value].bit_length()
        for text, number in options:
            yield from self._with(state[1], value, number, width, state[0] + len(text))

    # bits from values

    def _known(self, number: int, bits: _Bits) -> int | None:
        """The value of a node as far as ``bits`` decide it, otherwise None."""
        node = self._nodes[number]
        kind = node[0]
        if kind == "int":
            return int(node[1])
        if kind == "bits":
            low, ones = node[1], node[2]
            return None if ones << low & ~bits.mask else int(bits.value >> low & ones)
        if kind == "choose":
            return self._known_choice(node, bits)
        if kind == "?:":
            condition = self._known(node[1], bits)
            return None if condition is None else self._known(node[chosen_part(condition)], bits)
        values = [self._known(part, bits) for part in node[1:]]
        decisive = {"&&": 0, "||": 1}.get(kind)
        if decisive is not None and any(v is not None and bool(v) == decisive for v in values):
            return decisive
        if None in values:
            return None
        tree = (kind, *(("field", str(place)) for place in range(len(values))))
        return evaluate(tree, 0, lambda place: values[int(place)] or 0)

    def _known_choice(self, node: tuple[Any, ...], bits: _Bits) -> int | None:
        for when, choice in node[1]:
            applies = 1 if when < 0 else self._known(when, bits)
            if applies is None:
                return None
            if applies:
                return self._known(choice, bits)
        raise AssertionError("a choice ends with an unconditional value")

    def _require(self, bits: _Bits, number: int, wanted: int | bool, width: int) -> _Bits | None:
        """``bits`` with the value of a node required; None when that cannot be.

        ``wanted`` is a number, of ``width`` bits if it is negative, or whether it is not 0.
        """
        value = self._known(number, bits)
        if value is not None:
            return bits if _fits(value, wanted, width) else None
        if isinstance(wanted, bool):
            return self._require_truth(bits, number, wanted)
        if wanted >= 1 << 64:
            return None
        spread = self._spread(number)
        if spread is None:
            return bits._replace(conditions=(*bits.conditions, (number, wanted, width)))
        known: _Bits | None = bits
        rest = wanted if wanted >= 0 else wanted & ((1 << width) - 1)
        for shift, low, ones in spread:
            known = known and _assign(known, low, ones, rest >> shift & ones)
            rest &= ~(ones << shift)
        return None if rest and wanted >= 0 else known

    def _require_truth(self, bits: _Bits, number: int, wanted: bool) -> _Bits | None:
        """Require a condition of fields to be true or false; see ``_require``."""
        kind, *parts = self._nodes[number]
        if kind == "!":
            return self._require(bits, parts[0], not wanted, 0)
        if kind == ("&&" if wanted else "||"):
            known: _Bits | None = bits
            for part in parts:
                known = known and self._require(known, part, wanted, 0)
            return known
        if kind == ("==" if wanted else "!="):
            for term, other in (parts, reversed(parts)):
                if self._nodes[other][0] == "int":
                    return self._require(bits, term, self._nodes[other][1], 0)
        return bits._replace(conditions=(*bits.conditions, (number, wanted, 0)))

    def _spread(self, number: int) -> list[tuple[int, int, int]] | None:
        """(shift, low, mask) of the fields that an expression like ``HI << 8 | LO`` joins."""
        node = self._nodes[number]
        if node[0] == "bits":
            return [(0, node[1], node[2])]
        if node[0] == "<<" and self._nodes[node[2]][0] == "int":
            inner = self._spread(node[1])
            by = self._nodes[node[2]][1]
            return None if inner is None else [(s + by, low, ones) for s, low, ones in inner]
        if node[0] == "|":
            left, right = self._spread(node[1]), self._spread(node[2])
            return None if left is None or right is None else left + right
        return None

    def _solve(self, bits: _Bits, preset: int) -> Iterator[int]:
        """Words that hold all conditions, the smallest values of open bits first.

        ``preset``: bits that are 1 where nothing decides them.
        """
        if not bits.conditions:
            yield bits.value | preset & ~bits.mask
            return
        conditions = sorted(
            bits.conditions, key=lambda item: (self._masks[item[0]] & ~bits.mask).bit_count()
        )
        (number, wanted, width), rest = conditions[0], tuple(conditions[1:])
        mask = bits.mask | self._masks[number]
        open_bits = mask & ~bits.mask
        chosen = 0
        for _trial in range(_TRIALS):
            tried = _Bits(mask, bits.value | chosen, rest)
            value = self._known(number, tried)
            if value is not None and _fits(value, wanted, width):
                yield from self._solve(tried, preset)
            chosen = (chosen - open_bits) & open_bits
            if not chosen:
                return


_PARTS = {
    "text": Assembler._fixed,
    "basic": Assembler._value,
    "enum": Assembler._enum,
    "branch": Assembler._branch,
    "site": Assembler._site,
    "switch": Assembler._switch,
}
"""Methods that match the text of a print node, by its kind."""


def _assign(bits: _Bits, low: int, ones: int, value: int) -> _Bits | None:
    """``bits`` with a field set, or None if it is known to be something else."""
    mask = ones << low
    value <<= low
    if (bits.value ^ value) & bits.mask & mask:
        return None
    return _Bits(bits.mask | mask, bits.value | value, bits.conditions)


def _fits(value: int, wanted: int | bool, width: int) -> bool:
    if isinstance(wanted, bool):
        return bool(value) == wanted
    if wanted < 0:
        ones = (1 << width) - 1
        return value & ones == wanted & ones
    return value == wanted


def _number(kind: str, text: str, width: int) -> int | None:
    if kind == "hex":
        return int(text, 16)
    if kind != "float":
        return int(text)
    try:
        if width == 16:
            return int(struct.unpack("<H", struct.pack("<e", float(text)))[0])
        return int(struct.unpack("<I", struct.pack("<f", float(text)))[0])
    except OverflowError:
        return None


_RAW_COLUMN = re.compile(r"\[([0-9a-fA-F]{8})x_([0-9a-fA-F]{8})x\]")
_RAW_PREFIX = re.compile(
    r"^\s*(?::\d:\d{4,}:\d{4,})?\[([0-9a-fA-F]{8})x_([0-9a-fA-F]{8})x\] ?(.*)$"
)
_HEX_WORD = re.compile(r"(?:0x)?([0-9a-fA-F]{8}|[0-9a-fA-F]{16})")
_LABEL = re.compile(r"([A-Za-z_]\w*):")
_IGNORED = ("Stats:", "- shaderdb:")
_TEXT_BYTES = frozenset(b"\t\n\r" + bytes(range(32, 127)))


def looks_like_hex(data: bytes) -> bool:
    """Whether a file is a program in hex text, not in binary form."""
    if not data or not _TEXT_BYTES.issuperset(data[:65536]):
        return False
    text = data.decode("ascii", "replace")
    return _RAW_COLUMN.search(text) is not None or _HEX_WORD.search(text) is not None


def from_hex(text: str) -> bytes:
    """The program in a hex text or listing, as bytes.

    In a listing, the raw columns are used. Otherwise all words of each line: eight digits are a
    dword in memory order, sixteen an ir3 instruction; a leading ``0000:`` is ignored. Raises
    IsaError for anything else.
    """
    columns = _RAW_COLUMN.findall(text)
    if columns:
        return _without_repeats(text)
    words = bytearray()
    for number, line in enumerate(text.splitlines(), 1):
        for token in line.partition("#")[0].split():
            if token.endswith(":"):
                continue
            match = _HEX_WORD.fullmatch(token)
            if match is None:
                raise IsaError(f"not a word of 8 or 16 hex digits: {token!r}", "", number)
            digits = match.group(1)
            words += int(digits, 16).to_bytes(len(digits) // 2, "little")
    return bytes(words)


def _without_repeats(text: str) -> bytes:
    """The raw columns of a listing, without label lines, which repeat the next line's columns."""
    words = bytearray()
    for line in text.splitlines():
        match = _RAW_PREFIX.match(line)
        if match and not _LABEL.fullmatch(match.group(3)) and match.group(3):
            words += int(match.group(2), 16).to_bytes(4, "little")
            words += int(match.group(1), 16).to_bytes(4, "little")
    return bytes(words)


def assemble_program(text: str, assembler: Assembler, disassembler: Ir3Disassembler) -> list[int]:
    """The words of a program: one instruction a line, or a listing.

    If the text of a line still matches its raw columns, these are kept exactly, including bits
    that the text does not show. A line ``name:`` labels the next instruction; ``//`` starts a
    comment. Raises IsaError with the number of the line that is wrong.
    """
    lines: list[tuple[int, int | None, str]] = []
    labels: dict[str, int] = {}
    for number, line in enumerate(text.splitlines(), 1):
        raw, content = _split(line)
        label = _LABEL.fullmatch(content)
        if label:
            labels[label.group(1)] = len(lines)
        elif content and not content.startswith(_IGNORED):
            lines.append((number, raw, content))

    def shown(word: int) -> str:
        return disassembler.instruction(word)[0]

    words = []
    for index, (number, raw, content) in enumerate(lines):
        if raw is not None and shown(raw) == content:
            words.append(raw)
            continue
        try:
            word = assembler.assemble(content, index, labels)
        except IsaError as problem:
            raise IsaError(str(problem), "", number) from None
        # a label in place of the offset is no change
        words.append(raw if raw is not None and shown(raw) == shown(word) else word)
    return words


def _split(line: str) -> tuple[int | None, str]:
    """(raw word or None, text without errors and comments) of a line."""
    match = _RAW_PREFIX.match(line)
    content = match.group(3) if match else line.partition("//")[0]
    content = content.partition("\t; ")[0].strip()
    return (int(match.group(1) + match.group(2), 16) if match else None), content
