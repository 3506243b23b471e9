# SPDX-License-Identifier: MIT
"""Prints the model as text of the language, in the form that the importer writes."""

from __future__ import annotations

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
    Pattern,
    Template,
)

_INDENT = "    "


def print_file(file: File) -> str:
    """The text of a whole file: notice, imports, declarations."""
    blocks: list[str] = []
    if file.notice:
        blocks.append("\n".join(f"// {line}".rstrip() for line in file.notice.split("\n")))
    if file.imports:
        blocks.append("\n".join(f'import "{path}";' for path in file.imports))
    blocks.extend(_declaration(declaration) for declaration in file.declarations)
    return "\n\n".join(blocks) + "\n"


def _quote(text: str) -> str:
    escaped = (
        text.replace("\\", "\\\\").replace('"', '\\"').replace("\t", "\\t").replace("\n", "\\n")
    )
    return f'"{escaped}"'


def _bits(low: int, high: int) -> str:
    return str(low) if low == high else f"{low}..{high}"


def _use(expression: Expression) -> str:
    if expression.tree is None:
        return "@" + expression.name
    return to_text(expression.tree)


def _declaration(declaration: Declaration) -> str:
    if isinstance(declaration, Enum):
        values = "".join(
            f"{_INDENT}{number} {_quote(text)};\n" for number, text in declaration.values
        )
        return f"enum {declaration.name} {{\n{values}}}"
    if isinstance(declaration, NamedExpression):
        return f"expr {declaration.name} = {to_text(declaration.tree)};"
    if isinstance(declaration, Template):
        return f"template {declaration.name} = {_quote(declaration.text)};"
    return _bitset(declaration)


def _bitset(bitset: Bitset) -> str:
    head = f"bitset {bitset.name}"
    if bitset.size is not None:
        head += f" size {bitset.size}"
    if bitset.extends is not None:
        head += f" extends {bitset.extends}"
    if bitset.display_name is not None:
        head += f" as {_quote(bitset.display_name)}"
    if bitset.generations != ANY_GENERATION:
        low, high = bitset.generations
        first = "" if low == ANY_GENERATION[0] else str(low)
        last = "" if high == ANY_GENERATION[1] else str(high)
        head += f" gen {first}..{last}"
    lines: list[str] = []
    for case in bitset.cases[:-1]:
        assert case.expression is not None
        lines.append(f"{_INDENT}override {_use(case.expression)} {{")
        lines.extend(_case(case, _INDENT * 2))
        lines.append(_INDENT + "}")
    lines.extend(_case(bitset.default, _INDENT))
    lines.extend(f"{_INDENT}encode {item.name} = {item.value};" for item in bitset.presets)
    if not lines:
        return head + " { }"
    return "\n".join((head + " {", *lines, "}"))


def _case(case: Case, indent: str) -> list[str]:
    lines = []
    if case.display is not None:
        lines.append(f"{indent}display {_quote(case.display)};")
    placed: list[tuple[int, str]] = []
    for field in case.fields:
        if field.expression is None:
            placed.append((field.low, f"field {_bits(field.low, field.high)} {_typed(field)};"))
    for word, patterns in (("pattern", case.patterns), ("assert", case.asserts)):
        placed.extend((item.low, _pattern(word, item)) for item in patterns)
    placed.sort(key=lambda item: item[0])
    lines.extend(indent + text for _low, text in placed)
    for field in case.fields:
        if field.expression is not None:
            lines.append(f"{indent}derived {_typed(field)} = {_use(field.expression)};")
    return lines


def _pattern(word: str, pattern: Pattern) -> str:
    return f"{word} {_bits(pattern.low, pattern.high)} {pattern.bits};"


def _typed(field: EncodingField) -> str:
    text = field.name
    if field.expression is not None and field.high:
        text += f"[{field.high + 1}]"
    text += f" : {field.type}"
    if field.call:
        text += " call"
    if field.display is not None:
        text += " " + _quote(field.display)
    if field.parameters:
        names = (
            p.name if p.name == p.known_as else f"{p.name} as {p.known_as}"
            for p in field.parameters
        )
        text += f" ({', '.join(names)})"
    return text
