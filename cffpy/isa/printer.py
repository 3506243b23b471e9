# SPDX-License-Identifier: MIT
"""Model -> text of an .isa file, aligned in columns; parsing it gives the same model again."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from cffpy.descriptions import printer
from cffpy.descriptions.printer import Row, bits_text, join, string, table
from cffpy.isa.expression import to_text
from cffpy.isa.model import (
    ANY_GENERATION,
    Bitset,
    Case,
    Declaration,
    EncodingField,
    Enum,
    Expression,
    File,
    NamedExpression,
    Parameter,
    Pattern,
    Template,
)

# fmt: off
KEYWORDS = frozenset({
    "import", "enum", "expr", "template", "bitset", "size", "extends", "as", "gen", "override",
    "encode", "display", "pattern", "assert", "derived", "call", "ISA_GPU_ID",
})
# fmt: on
"""Words that a name can only be in quotes."""


def print_file(file: File) -> str:
    """The text of a whole file: notice, imports, declarations.

    Raises ValueError for a name that the language cannot write.
    """
    notice = "".join(f"# {line}".rstrip() + "\n" for line in file.notice.splitlines())
    text = printer.blocks(_blocks(file))
    return "\n".join(part for part in (notice, text) if part)


def quoted(name: str) -> str:
    """``name`` as the language writes it, in quotes where it has to be."""
    return printer.quoted(name, KEYWORDS)


def _blocks(file: File) -> Iterator[list[Row]]:
    """Imports together, each declaration apart."""
    if file.imports:
        yield [Row((f"import {string(name)}",)) for name in file.imports]
    for declaration in file.declarations:
        yield [_declaration(declaration)]


def _declaration(declaration: Declaration) -> Row:
    match declaration:
        case Enum(name, values):
            rows = (Row((quoted(text), f"= {number}")) for number, text in values)
            return Row((f"enum {quoted(name)}",), table(rows))
        case NamedExpression(name, tree):
            return Row((f"expr {quoted(name)} = {_expression(Expression(tree))}",))
        case Template(name, text):
            return Row((f"template {quoted(name)} = {string(text)}",))
        case Bitset():
            return _bitset(declaration)


def _expression(expression: Expression) -> str:
    if expression.tree is None:
        return f"@{quoted(expression.name)}"
    return to_text(expression.tree, quoted)


def _bitset(bitset: Bitset) -> Row:
    head = join(
        f"bitset {quoted(bitset.name)}",
        "" if bitset.size is None else f"size {bitset.size}",
        "" if bitset.extends is None else f"extends {quoted(bitset.extends)}",
        "" if bitset.display_name is None else f"as {string(bitset.display_name)}",
        _generations(bitset.generations),
    )
    rows = []
    for case in bitset.cases[:-1]:
        assert case.expression is not None
        rows.append(Row((f"override {_expression(case.expression)}",), table(_case(case))))
    rows.extend(_case(bitset.default))
    rows.extend(Row((f"encode {quoted(item.name)} = {item.value}",)) for item in bitset.presets)
    return Row((head,), table(rows))


def _generations(generations: tuple[int, int]) -> str:
    if generations == ANY_GENERATION:
        return ""
    low, high = generations
    first = "" if low == ANY_GENERATION[0] else str(low)
    last = "" if high == ANY_GENERATION[1] else str(high)
    return f"gen {first}..{last}"


def _case(case: Case) -> Iterator[Row]:
    """The display; what has bits, by the lowest of them; derived fields."""
    if case.display is not None:
        yield Row((f"display {string(case.display)}",))
    placed: list[tuple[int, Row]] = [
        (field.low, _field(field)) for field in case.fields if field.expression is None
    ]
    for word, patterns in (("pattern", case.patterns), ("assert", case.asserts)):
        placed.extend((pattern.low, _pattern(word, pattern)) for pattern in patterns)
    placed.sort(key=lambda item: item[0])
    yield from (row for _, row in placed)
    for field in case.fields:
        if field.expression is not None:
            width = f"[{field.high + 1}]" if field.high else ""
            head = f"derived {quoted(field.name)}{width} : {_type(field)}"
            yield Row((f"{head} = {_expression(field.expression)}",))


def _pattern(word: str, pattern: Pattern) -> Row:
    return Row((f"{word} {bits_text(pattern.low, pattern.high)} {pattern.bits}",))


def _field(field: EncodingField) -> Row:
    return Row((f"{bits_text(field.low, field.high)} {quoted(field.name)} : {_type(field)}",))


def _type(field: EncodingField) -> str:
    return join(
        quoted(field.type),
        "call" if field.call else "",
        "" if field.display is None else string(field.display),
        _parameters(field.parameters),
    )


def _parameters(parameters: Sequence[Parameter]) -> str:
    names = (
        quoted(one.name)
        if one.name == one.known_as
        else f"{quoted(one.name)} as {quoted(one.known_as)}"
        for one in parameters
    )
    return f"({', '.join(names)})" if parameters else ""
