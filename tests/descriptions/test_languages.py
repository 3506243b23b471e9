# SPDX-License-Identifier: MIT
"""What .regs, .isa and .gen share: words, names in quotes, and files that print as they are."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy._data import data_path
from cffpy.descriptions.language import (
    Language,
    Row,
    blocks,
    load_grammar,
    make_parser,
    number_format,
    parse,
    string,
    table,
    unquoted,
)
from cffpy.errors import DslError
from cffpy.intel.descriptions import language as gen_language
from cffpy.isa import language as isa_language
from cffpy.regdb import language as regs_language
from tests.selection import first_always


class Described(NamedTuple):
    """The parts of a language: its grammar, its files, text to model, model to text."""

    grammar: str
    extension: str
    parse: Callable[..., Any]
    text: Callable[[Any], str]
    language: Language[Any]


LANGUAGES = (
    Described(
        "register",
        ".regs",
        regs_language.parse_text,
        regs_language.print_description,
        regs_language.LANGUAGE,
    ),
    Described(
        "isa", ".isa", isa_language.parse_text, isa_language.print_file, isa_language.LANGUAGE
    ),
    Described(
        "intel",
        ".gen",
        gen_language.parse_text,
        gen_language.print_description,
        gen_language.LANGUAGE,
    ),
)
EACH = pytest.mark.parametrize("language", LANGUAGES, ids=lambda language: language.grammar)
FILES = [
    (language, path)
    for language in LANGUAGES
    for path in sorted(Path(data_path("register_db")).rglob(f"*{language.extension}"))
]


@EACH
def test_words_of_the_grammar_are_names_in_quotes_alone(language: Described) -> None:
    assert {"enum", "import"} < language.language.keywords
    for word in sorted(language.language.keywords):
        text = f'enum "{word}"'
        assert language.text(language.parse(f"{text} {{ A = 1 }}", "x")).startswith(text)
    assert language.language.quoted("imported") == "imported"


@pytest.mark.parametrize(
    ("language", "path"),
    first_always(FILES, 6, names=2),
    ids=lambda value: getattr(value, "name", ""),
)
def test_a_file_prints_as_it_is(language: Described, path: Path) -> None:
    """But for its comments; what is printed is the same model again."""
    text = path.read_text("utf-8")
    model = language.parse(text, path.name)
    printed = language.text(model)
    assert language.parse(printed, path.name) == model
    lines = [line for line in text.splitlines() if line and not line.startswith("#")]
    assert [line for line in printed.splitlines() if line] == lines


@EACH
def test_errors_name_file_line_and_column(language: Described) -> None:
    with pytest.raises(DslError, match=r"^x:2:8: unexpected input"):
        language.parse("enum e {\n  A = 1 = 2\n}".replace("A = 1 =", "A = 1="), "x")
    with pytest.raises(DslError, match=r"^x:1:14: number of more than 64 bits"):
        language.parse("enum e { A = 99999999999999999999 }", "x")
    with pytest.raises(DslError, match="braces nested more than"):
        language.parse("enum e " + "{" * 100_000, "x")


@given(st.text(st.characters(exclude_characters="\r", exclude_categories=("Cs",))))
def test_a_name_in_quotes_is_read_again(name: str) -> None:
    assert unquoted(string(name)) == name
    assert all(unquoted(tested.language.quoted(name)) == name for tested in LANGUAGES)


def test_a_carriage_return_cannot_be_written() -> None:
    with pytest.raises(ValueError, match="carriage return"):
        string("a\rb")


def test_columns() -> None:
    rows = [Row(("a", "b")), Row(("long", "", "c")), Row(("x",), ["y"]), Row(("z", "b"))]
    assert table(rows) == ["a    b", "long   c", "x {", "    y", "}", "z b"]
    assert blocks([[Row(("a",))], [Row(("b",), [])]]) == "a\n\nb { }\n"
    assert number_format([1, 15]).format(3) == "3"
    assert number_format([1, 0x123]).format(3) == "0x003"


KEPT = {name: (load_grammar(name), make_parser(name)) for name in ("filter", "pm4asm")}
WORDS = [
    *("RB_MRT[0].BASE", "draw.vertices", "3", "0x10", "1.5K", "'a'", '"b"', "==", "~", "!~", "in"),
    *("not", "and", "or", "(", ")", ",", "..", "+", "-", "*", "&", "=", "{", "}", "packet"),
    *("bytes", "stream", "short", "CP_DRAW", "%", "$", "00ff00ff", "lo(X)"),
]


@pytest.mark.parametrize("name", KEPT)
@given(st.lists(st.sampled_from(WORDS), max_size=8).map(" ".join))
def test_a_parser_that_is_kept_is_the_one_that_is_made(name: str, text: str) -> None:
    """The same trees, with the same columns, and the same errors."""

    class Show:
        def transform(self, tree: Any) -> str:
            places = [(str(one.data), vars(one.meta)) for one in tree.iter_subtrees()]
            return f"{tree.pretty()} {places}"

    def shown(parser: Any) -> str:
        try:
            return parse(parser, Show(), text, "file")
        except DslError as problem:
            return str(problem)

    kept, made = KEPT[name]
    assert kept.source_path != made.source_path
    assert shown(kept) == shown(made)
