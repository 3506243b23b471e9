# SPDX-License-Identifier: MIT
"""Text of an ir3 instruction back to its 64 bits: the plan of the disassembler, run backwards.

A template is matched against the text, part by part, with backtracking; each part that prints a
value says what that value must be. Plain fields are set at once, values of expressions are kept as
conditions and solved at the end over the bits that are still open. The result is disassembled and
must give the text again. Bits that the text does not tell are 0: ``visible`` says which it tells.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple, TypeAlias

from cffpy.errors import IsaError
from cffpy.isa.expression import evaluate
from cffpy.isa.interpret import BRANCH_MARK
from cffpy.isa.plan import add_plan
from cffpy.isa.render import Renderer
from cffpy.isa.store import load

_ROOT = "#instruction"
_SHOWN = 80
"""Characters of a wrong text that the error repeats."""
_OPEN_BITS = 14
"""Open bits over which a condition may be solved by trying."""
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
    """What is known of the word: bits, and conditions on value nodes (node, value, width)."""

    mask: int
    value: int
    conditions: tuple[tuple[int, int | bool, int], ...]


_State: TypeAlias = tuple[int, _Bits]
"""Position in the text, and what is known."""


class Assembler:
    """Assembles instructions of one generation (3 ... 8)."""

    def __init__(self, generation: int, directory: str | None = None) -> None:
        number = min(max(generation, 3), 8) * 100
        self._generation = number
        isa = load("ir3", number, directory)
        self._renderer = Renderer(isa, _ROOT)
        lenient = add_plan(isa, lenient=True)
        self._nodes: tuple[tuple[Any, ...], ...] = lenient["nodes"]
        self._masks: tuple[int, ...] = lenient["masks"]
        self._leaves = lenient["plans"][_ROOT]["leaves"]
        self._enums = isa["enums"]
        self._literals: dict[int, list[tuple[str, ...]]] = {}
        self._text = ""
        self._index = 0
        self._labels: Mapping[str, int] = {}

    def assemble(self, text: str, index: int = 0, labels: Mapping[str, int] | None = None) -> int:
        r"""The word of one instruction; ``index``: its number in the program.

        ``labels`` gives instruction numbers to names; ``l12`` is 12 without being there.
        ``text`` as the listing prints it, without the raw columns; errors behind ``\t; `` are
        passed over. Raises IsaError when no instruction prints so.
        """
        self._text = text.partition("\t; ")[0].strip()
        self._index = index
        self._labels = labels or {}
        for word in self._words():
            return word
        shown = text if len(text) <= _SHOWN else text[:_SHOWN] + "..."
        raise IsaError(f"not an instruction of generation {self._generation // 100}: {shown!r}")

    def visible(self, word: int) -> int:
        """The bits of ``word`` that its text tells; 0 for a word that matches nothing."""
        for match, test, _dontcare, display in self._leaves:
            if word & test == match:
                return int(test) | self._seen(display, word)
        return 0

    def _seen(self, display: int, word: int) -> int:
        if self._nodes[display][0] != "display":
            return 0
        mask = 0
        for when, asserts, sequence in self._nodes[display][1]:
            if when >= 0:
                mask |= self._masks[when]
                if not self._evaluate(when, word):
                    continue
            for low, ones, _wanted in asserts:
                mask |= ones << low
            if sequence >= 0:
                return mask | self._seen_parts(self._nodes[sequence], word)
        return mask

    def _seen_parts(self, sequence: tuple[Any, ...], word: int) -> int:
        mask = 0
        for number in sequence[1] if sequence[0] == "sequence" else ():
            node = self._nodes[number]
            if node[0] == "switch":
                number = self._chosen(node, word)
                node = self._nodes[number]
            if node[0] == "site":
                for match, test, _dontcare, display in node[4]:
                    if word & test == match:
                        mask |= test | self._seen(display, word)
            elif not (node[0] == "basic" and node[5] == ""):
                mask |= self._masks[number]
        return mask

    def _chosen(self, node: tuple[Any, ...], word: int) -> int:
        for when, choice in node[1]:
            if when < 0 or self._evaluate(when, word):
                return int(choice)
        raise AssertionError("a switch ends with an unconditional choice")

    def _words(self) -> Iterator[int]:
        for number, (match, test, _dontcare, display) in enumerate(self._leaves):
            if not self._possible(number, display):
                continue
            start = _Bits(test, match, ())
            for position, bits in self._display(display, (0, start)):
                if position == len(self._text):
                    for word in self._solve(bits):
                        if self._prints(word):
                            yield word

    def _prints(self, word: int) -> bool:
        _matched, text, _events, branch, _errors = self._renderer.render(word)
        if branch is None:
            return text == self._text
        before, _, after = text.partition(BRANCH_MARK)
        return self._text.startswith(before) and self._text.endswith(after)

    def _possible(self, number: int, display: int) -> bool:
        """Whether some template of a leaf has all its fixed text in the wanted text."""
        literals = self._literals.get(number)
        if literals is None:
            literals = []
            node = self._nodes[display]
            for _when, _asserts, sequence in node[1] if node[0] == "display" else ():
                parts = self._nodes[sequence] if sequence >= 0 else ("none",)
                if parts[0] == "sequence":
                    found = (self._nodes[part] for part in parts[1])
                    literals.append(tuple(n[1] for n in found if n[0] in ("text", "name")))
            self._literals[number] = literals
        return any(all(part in self._text for part in parts) for parts in literals)

    # matching

    def _display(self, number: int, state: _State) -> Iterator[_State]:
        node = self._nodes[number]
        if node[0] != "display":
            return
        # the plainest first: the default case, then overrides from the last to the first
        for place in reversed(range(len(node[1]))):
            when, _asserts, sequence = node[1][place]
            if sequence < 0:
                continue
            bits: _Bits | None = state[1]
            if when >= 0:
                bits = bits and self._require(bits, when, True, 0)
            for earlier, asserts, shown in node[1][: place + 1]:
                if earlier >= 0 and earlier != when and shown >= 0:
                    bits = bits and self._require(bits, earlier, False, 0)
                if earlier in (-1, when):
                    for low, ones, wanted in asserts:
                        bits = bits and _assign(bits, low, ones, wanted)
            parts = self._nodes[sequence]
            if bits and parts[0] == "sequence":
                yield from self._sequence(parts[1], 0, (state[0], bits))

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
        kind = node[0]
        if kind == "text":
            if self._text.startswith(node[1], state[0]):
                yield state[0] + len(node[1]), state[1]
        elif kind == "basic":
            _kind, _event, value, basic, width, shown = node
            for position, number in self._basic(basic, width, shown, state[0]):
                yield from self._with(state[1], value, number, width, position)
            if shown == "" and basic in ("bool", "bool_inv"):
                yield state
        elif kind == "enum":
            yield from self._enum(node, state)
        elif kind == "branch":
            found = _TARGET.match(self._text, state[0])
            target = None if found is None else self._target(found, relative=node[3])
            if found is not None and target is not None:
                yield from self._with(state[1], node[1], target, node[2], found.end())
        elif kind == "site":
            for match, test, _dontcare, display in node[4]:
                bits = _assign(state[1], 0, test, match)
                if bits:
                    yield from self._display(display, (state[0], bits))
        elif kind == "switch":
            yield from self._switch(node, state)

    def _target(self, found: re.Match[str], relative: bool) -> int | None:
        if found.group(1):
            return int(found.group(1))
        place = self._labels.get(found.group(2))
        if place is None:
            numbered = _NUMBERED_LABEL.fullmatch(found.group(2))
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
        """(position behind it, value) for the ways in which a basic field may stand there."""
        if kind in ("bool", "bool_inv") and shown is not None:
            one = int(kind == "bool")
            if shown:
                if self._text.startswith(shown, start):
                    yield start + len(shown), one
                yield start, 1 - one
            return
        pattern = _NUMBER.get(kind)
        found = pattern.match(self._text, start) if pattern else None
        if found:
            number = _number(kind, found.group(), width)
            if number is not None:
                yield found.end(), number
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
        found = _NUMBER["uint"].match(self._text, state[0])
        if found and int(found.group()) not in texts:
            options.append((found.group(), int(found.group())))
        options.sort(key=lambda option: -len(option[0]))
        width = self._masks[value].bit_length()
        for text, number in options:
            yield from self._with(state[1], value, number, width, state[0] + len(text))

    # what values say about bits

    def _evaluate(self, number: int, word: int) -> int:
        node = self._nodes[number]
        kind = node[0]
        if kind == "int":
            return int(node[1])
        if kind == "bits":
            return int(word >> node[1] & node[2])
        if kind == "choose":
            return self._evaluate(self._chosen(node, word), word)
        tree = (kind, *(("field", str(part)) for part in node[1:]))
        return evaluate(tree, 0, lambda part: self._evaluate(int(part), word))

    def _require(self, bits: _Bits, number: int, wanted: int | bool, width: int) -> _Bits | None:
        """``bits`` with the value of a node required; None when that cannot be."""
        node = self._nodes[number]
        if node[0] == "bits" and not isinstance(wanted, bool):
            ones = (1 << width) - 1 if width else node[2]
            if wanted & ones & ~node[2] or wanted >= 1 << 64:
                return None
            if wanted >= 0 and wanted > node[2]:
                return None
            return _assign(bits, node[1], node[2], wanted & node[2])
        if not self._masks[number] & ~bits.mask:
            value = self._evaluate(number, bits.value)
            return bits if _fits(value, wanted, width) else None
        spread = None if isinstance(wanted, bool) else self._spread(number)
        if spread is not None:
            known: _Bits | None = bits
            rest = wanted if wanted >= 0 else wanted & ((1 << width) - 1)
            for shift, low, ones in spread:
                known = known and _assign(known, low, ones, rest >> shift & ones)
                rest &= ~(ones << shift)
            return None if rest else known
        return bits._replace(conditions=(*bits.conditions, (number, wanted, width)))

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

    def _solve(self, bits: _Bits) -> Iterator[int]:
        """Words that hold all conditions, the smallest values of open bits first."""
        if not bits.conditions:
            yield bits.value
            return
        conditions = sorted(
            bits.conditions, key=lambda item: (self._masks[item[0]] & ~bits.mask).bit_count()
        )
        (number, wanted, width), rest = conditions[0], tuple(conditions[1:])
        open_bits = self._masks[number] & ~bits.mask
        if open_bits.bit_count() > _OPEN_BITS:
            return
        chosen = 0
        while True:
            value = bits.value | chosen
            if _fits(self._evaluate(number, value), wanted, width):
                yield from self._solve(_Bits(bits.mask | open_bits, value, rest))
            chosen = (chosen - open_bits) & open_bits
            if not chosen:
                return


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
