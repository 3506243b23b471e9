# SPDX-License-Identifier: MIT
"""The language: what a description means, its errors, printing it, importing it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy._data import data_path
from cffpy.editions.folders import instruction_files
from cffpy.errors import DslError, IsaError
from cffpy.isa.import_xml import import_files, import_text
from cffpy.isa.interpret import BRANCH_MARK
from cffpy.isa.language import parse_expression, parse_files, parse_text, print_file
from cffpy.isa.plan import add_plan
from cffpy.isa.render import Renderer
from cffpy.isa.resolve import resolve, with_imports
from cffpy.isa.rows import evaluate, to_text
from tests.selection import first_always

DIRECTORY = data_path("register_db", "isa")


def render(text, word, root="rr", generation=600):
    """(text, errors) of a word by a small description; fast and exact ways must agree."""
    row = add_plan(resolve([parse_text(text, "test.isa")], generation))
    renderer = Renderer(row, root)
    done = renderer.render(word)
    assert done == renderer.exactly(word)
    return done[1], list(done[4])


def one(body, word, size=8, extra=""):
    return render(f"{extra} bitset rr size {size} {{ {body} }}", word)


@pytest.mark.parametrize(
    ("kind", "value", "shown"),
    [
        ("uint", 0xFF, "255"),
        ("int", 0xFF, "-1"),
        ("int", 0x7F, "127"),
        ("hex", 0xAB, "ab"),
        ("offset", 0, ""),
        ("offset", 5, "+5"),
        ("offset", 0xFF, "-1"),
        ("uoffset", 0, ""),
        ("uoffset", 255, "+255"),
        ("bool", 1, "1"),
        ("bool_inv", 1, "0"),
        ('bool "on"', 1, "on"),
        ('bool "on"', 0, ""),
        ('bool_inv "off"', 0, "off"),
        ('bool_inv "off"', 1, ""),
        ("custom", 1, ""),
    ],
)
def test_basic_types(kind, value, shown):
    assert one(f'display "<{{F}}>" 0..7 F : {kind}', value) == (f"<{shown}>", [])


@pytest.mark.parametrize(
    ("width", "bits", "shown"),
    [
        (32, 0x3F800000, "1.000000"),
        (32, 0x40490FDB, "3.141593"),
        (32, 0x7F800000, "inf"),
        (32, 0xFF800000, "-inf"),
        (32, 0x7FC00000, "nan"),
        (32, 0xFFC00000, "-nan"),
        (16, 0x3C00, "1.000000"),
        (16, 0x0001, "0.000000"),
        (16, 0xFC00, "-inf"),
        (16, 0xFE00, "-nan"),
    ],
)
def test_floats_print_as_c_does(width, bits, shown):
    body = f'display "{{F}}" 0..{width - 1} F : float'
    assert one(body, bits, width) == (shown, [])


def test_enum_and_unknown_value():
    extra = "enum e { zero = 0 two = 2 deux = 2 }"
    body = 'display "{F}" 0..7 F : e'
    assert [one(body, n, extra=extra)[0] for n in (0, 2, 3)] == ["zero", "two", "3"]


def test_overrides_apply_in_order_then_the_default():
    body = """
        override {F} == 1 { display "one" }
        override {F} < 3 { display "small {G}" 4..7 G : hex }
        display "{F} {G}" 0..3 F : uint 4..7 G : uint
    """
    assert [one(body, n)[0] for n in (0xA1, 0xA2, 0xA3)] == ["one", "small a", "3 10"]


def test_an_override_may_use_its_own_fields():
    body = """
        override {F} > 9 { display "0x{F}" 0..7 F : hex }
        display "{F}" 0..3 F : uint 4..7 REST : uint
    """
    assert [one(body, n)[0] for n in (0x09, 0x1F)] == ["9", "0x1f"]


def test_parameters_are_looked_up_around():
    text = """
        bitset rr size 8 {
            display "{A}{B}" 0..3 A : in (FLAG as F) 4..6 B : in2 (FLAG)
            7 FLAG : bool "!"
        }
        bitset in size 4 { override {F} { display "{F}{V}" } display "{V}" 0..3 V : uint }
        bitset in2 size 3 { display "{FLAG}{V}" 0..2 V : uint }
    """
    assert render(text, 0x93)[0] == "!3!1"
    assert render(text, 0x13)[0] == "31"


def test_name_as_and_inheritance():
    text = """
        bitset rr size 8 { display "{NAME} {X}" 0..3 X : uint }
        bitset a extends rr { pattern 4..7 0000 }
        bitset b extends rr as "bee" { pattern 4..7 0001 }
        bitset c extends rr gen 700.. { pattern 4..7 0010 }
    """
    assert render(text, 0x05) == ("a 5", [])
    assert render(text, 0x15) == ("bee 5", [])
    assert render(text, 0x25, generation=600) == ("", [])
    assert render(text, 0x25, generation=700) == ("c 5", [])


def test_templates_and_columns():
    extra = 'template HEAD = "{NAME}{:align=6}"'
    body = 'display "{HEAD}{X}|{X:align=12}" 0..7 X : uint'
    assert one(body, 42, extra=extra)[0] == "rr    42|   42"


@pytest.mark.parametrize(
    ("kind", "value", "branch"),
    [
        ("branch", 0xFE, (-2, True, False)),
        ("branch call", 3, (3, True, True)),
        ("absbranch", 0xFE, (254, False, False)),
    ],
)
def test_branches(kind, value, branch):
    text = f'bitset rr size 8 {{ display "j {{T}};" 0..7 T : {kind} }}'
    row = add_plan(resolve([parse_text(text, "test.isa")], 600))
    assert Renderer(row, "rr").render(value)[1::2] == (f"j {BRANCH_MARK};", branch)


def test_errors_beside_the_text():
    body = 'display "{F}{G}" 0..3 F : uint assert 4..5 01 pattern 6..7 1x'
    hexes = "00000003 vs 00000001", "00000040"
    shown, errors = one(body, 0b11110101)
    assert shown == "5"
    assert errors == [
        "dontcare bits in rr: " + hexes[1],
        "WARNING: unexpected bits[4:5] in rr: " + hexes[0],
        "no field 'G'",
    ]


def test_at_most_four_errors():
    body = 'display "{A}{B}{C}{D}{E}" 0..7 F : uint'
    assert len(one(body, 0)[1]) == 4


def test_no_display_and_no_match_inside():
    assert one("0..7 F : uint", 0) == ("", ["rr: no display template"])
    text = """
        bitset rr size 8 { display "[{F}]" 0..7 F : in }
        bitset in size 8 { }
        bitset x extends in { display "x" pattern 0..7 00000001 }
    """
    assert render(text, 1) == ("[x]", [])
    assert render(text, 2) == ("[]", ["no match: FIELD: 'rr.F': 00000002"])


def test_two_matches_conflict():
    text = """
        bitset rr size 2 { display "{NAME}" }
        bitset a extends rr { 0 F : uint pattern 1 1 }
        bitset b extends rr { pattern 0 1 1 G : uint }
    """
    assert render(text, 2) == ("a", [])
    assert render(text, 3) == ("", ["bitset conflict: a vs b"])


def test_expressions_that_need_each_other_end():
    body = """
        override {B} { display "a" 0..3 A : uint }
        override {A} { display "b" 4..7 B : uint }
        display "c" 0..3 A : uint 4..7 B : uint
    """
    for word in (0x00, 0x01, 0x10, 0x11):
        assert one(body, word)[1] == []


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("1 + 2 * 3", ("+", ("int", 1), ("*", ("int", 2), ("int", 3)))),
        ("{A} << 1 | {B}", ("|", ("<<", ("field", "A"), ("int", 1)), ("field", "B"))),
        ("!{A} && ({B} == 0xf4 || gen() >= 700)", None),
        ("2 << {W}", ("<<", ("int", 2), ("field", "W"))),
        ("ISA_GPU_ID() > 600", (">", ("gen",), ("int", 600))),
        ("{A} - 1 - 2", ("-", ("-", ("field", "A"), ("int", 1)), ("int", 2))),
    ],
)
def test_expressions(text, tree):
    found = parse_expression(text)
    assert tree is None or found == tree
    assert parse_expression(to_text(found)) == found


TREES = st.recursive(
    st.one_of(
        st.integers(0, 1 << 40).map(lambda n: ("int", n)),
        st.sampled_from("ABC").map(lambda name: ("field", name)),
        st.just(("gen",)),
    ),
    lambda inner: st.one_of(
        inner.map(lambda tree: ("!", tree)),
        st.tuples(
            st.sampled_from(
                ["||", "&&", "|", "^", "&", "==", "<", ">=", "<<", ">>", "+", "-", "*"]
            ),
            inner,
            inner,
        ),
    ),
    max_leaves=12,
)


@given(TREES, st.integers(-(1 << 63), (1 << 63) - 1))
def test_expressions_print_and_parse_alike_and_stay_in_64_bits(tree, value):
    again = parse_expression(to_text(tree))
    assert again == tree
    found = evaluate(tree, 600, lambda _name: value)
    assert -(1 << 63) <= found < 1 << 63


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bitset a size 8 {", "unexpected input"),
        ("bitset a { }", "t.isa:1:1: bitset a needs either a size or a bitset that it extends"),
        ("bitset a size 8 { pattern 0..3 01 }", "1:19: pattern of 2 bits for 4 bits (0..3)"),
        ("bitset a size 8 { 3..0 F : uint }", "bits 3..0: the low bit comes first"),
        ("bitset a size 8 { assert 0 x }", "an assert has no x"),
        ('bitset a size 8 { display "a" display "b" }', "more than one display in one case"),
        (
            "bitset a size 8 {\n  0 F : uint\n  1 F : uint\n}",
            "field F is declared twice",
        ),
        ("expr x = {A} +", "unexpected input"),
        ("expr x = __import__('os')", "unexpected input"),
        ("import b", "unexpected input"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(text, message):
    with pytest.raises(IsaError) as caught:
        parse_text(text, "t.isa")
    assert message in str(caught.value)
    assert isinstance(caught.value, DslError)
    assert caught.value.line >= 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("bitset a extends b { }", "bitset a extends b, which is not there"),
        ("bitset rr size 8 { 0..7 F : nothing }", "field F: unknown type nothing"),
        ("bitset rr size 8 { 0..8 F : uint }", "bit 8 in a bitset of 8 bits"),
        ("bitset rr size 8 { override @x { } }", "unknown expression x"),
        ("bitset rr size 8 { 0..7 F : float }", "field F: a float of 8 bits"),
        ('bitset rr size 8 { display "{F" }', "display without closing brace: {F"),
        ("enum e { } enum e { }", "enum e is declared twice"),
        ("bitset rr size 8 { 0..7 F : rr }", "bitset rr contains itself"),
        ("bitset a extends a { }", "bitset a extends itself"),
        ("bitset rr size 8 { 0..7 F : uint = 1 }", "unexpected input"),
        ('template T = "{T}" bitset rr size 1 { display "{T}" }', "contains itself"),
        ("bitset rr size 8 { 0..7 F : uint encode G = 1 }", "encode G: no field of rr"),
        ("bitset rr size 8 { 0..1 F : uint encode F = 4 }", "encode F: no field of rr"),
        ("bitset rr size 8 { derived F : uint = 1 encode F = 1 }", "encode F: no field of rr"),
    ],
)
def test_what_cannot_be_resolved_is_said(text, message):
    with pytest.raises(IsaError) as caught:
        resolve([parse_text(text, "t.isa")], 600)
    assert message in str(caught.value)
    assert str(caught.value).startswith("t.isa:1:")


@pytest.mark.slow
@pytest.mark.parametrize("number", ["0100", "09", "9" * 5000, f"0x{'f' * 17}"])
def test_numbers_that_are_none(number):
    """Numbers have no octal form; Python converts at most 4,300 digits."""
    for body in (f"derived A : uint = 1 + {number}", f"{'9' * 5000} B : uint"):
        with pytest.raises(IsaError, match="unexpected input") as caught:
            parse_text(f"bitset rr size 8 {{ {body} }}", "test.isa")
        assert caught.value.line == 1


@pytest.mark.slow
def test_endless_nesting_is_said():
    with pytest.raises(IsaError, match="nested too deeply"):
        parse_text("expr x = " + "!" * 50_000 + "1", "t.isa")


def test_a_missing_import_is_said():
    with pytest.raises(IsaError, match=r"imported file b\.isa is not there"):
        with_imports([parse_text('import "b.isa"', "a.isa")], "a.isa")


def test_committed_description_is_a_fresh_import(shared):
    fresh = import_files(map(str, sorted((shared / "isaspec").glob("*.xml"))))
    for name, text in fresh.items():
        assert (Path(DIRECTORY) / name).read_text() == text
    assert set(fresh) == {name for name in os.listdir(DIRECTORY) if name.startswith("ir3")}


@pytest.mark.slow
def test_shape_of_the_ir3_description():
    files = with_imports(parse_files(instruction_files(data_path("register_db"))), "ir3.isa")
    counts = [len(resolve(files, n)["roots"]["#instruction"][1]) for n in (300, 500, 700)]
    assert counts == [175, 178, 219]


def test_values_for_the_assembler_come_from_parents_too():
    text = """
        bitset rr size 8 { 0..1 F : uint encode F = 2 }
        bitset a extends rr { pattern 2..6 00000 7 G : bool encode G = 1 }
        bitset b extends rr { pattern 2..7 000001 }
    """
    row = resolve([parse_text(text, "t.isa")], 600)
    leaves = {row["bitsets"][leaf[0]][0]: leaf[0] for leaf in row["roots"]["rr"][1]}
    assert row["presets"] == {leaves["a"]: 0x82, leaves["b"]: 0x02}


def test_importer_takes_forced_values_of_encode_blocks():
    model = import_text(
        b"""<isa><bitset name="rr" size="8"><field name="F" low="0" high="7" type="uint"/>
        <encode><map name="F" force="true">1</map><map name="G" force="true">src->x</map></encode>
        </bitset></isa>""",
        "x.xml",
    )
    assert "    0..7 F : uint\n    encode F = 1\n}" in print_file(model)


def test_importer_passes_over_what_decoding_does_not_need():
    model = import_text(
        b"""<isa>
        <!-- no notice -->
        <bitset name="rr" size="8" displayname="shown">
            <doc>prose</doc> <meta x="1"/>
            <encode type="struct x *"><map name="F">src->x</map></encode>
            <gen min="600"/>
            <override><expr>{F} &gt; 1ULL /* why */</expr><display> big {F} </display></override>
            <display/>
            <field name="F" low="0" high="6" type="uint">
                <doc>more</doc><param name="A" as="B"/></field>
            <pattern pos="7">1</pattern>
            <derived name="D" width="3" type="int" expr="e"/>
        </bitset>
        <expr name="e">{F} - 1</expr>
        <enum name="n"><value val="0x10" display="x"/><value val="1"/></enum>
        </isa>""",
        "x.xml",
    )
    assert print_file(model).split("\n\n", 1)[1] == (
        'bitset rr size 8 as "shown" gen 600.. {\n'
        "    override {F} > 1 {\n"
        '        display "big {F}"\n'
        "    }\n"
        '    display ""\n'
        "    0..6 F : uint (A as B)\n"
        "    pattern 7 1\n"
        "    derived D[3] : int = @e\n"
        "}\n\n"
        "expr e = {F} - 1\n\n"
        'enum n {\n    x  = 16\n    "" = 1\n}\n'
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('<isa><bitset size="8"/></isa>', "<bitset>: needs the attribute 'name'"),
        ("<isa>", "x.xml:1:"),
        ("<database/>", "<database>: not an isaspec file"),
        ('<isa><bitset name="a"/></isa>', "needs either a size or a bitset that it extends"),
        ('<isa><expr name="a">1 +</expr></isa>', "<expr>: '1 +'"),
        (
            '<isa><bitset name="a" size="8"><pattern low="0" high="2">1</pattern></bitset></isa>',
            "<pattern>: 0..2 has 1 bits",
        ),
    ],
)
def test_importer_says_what_is_wrong(text, message):
    with pytest.raises(IsaError) as caught:
        import_text(text.encode(), "x.xml")
    assert message in str(caught.value)


def test_importer_wants_what_is_imported(tmp_path):
    path = tmp_path / "ir3.xml"
    path.write_text('<isa><import file="ir3-common.xml"/></isa>')
    with pytest.raises(IsaError, match=r"ir3\.xml: imports ir3-common\.xml, which is not there"):
        import_files([str(path)])


@pytest.mark.parametrize(
    ("text", "printed", "values"),
    first_always(
        [
            ("{F} > 1 ? 5 : 6", "{F} > 1 ? 5 : 6", [6, 6, 5]),
            ("{F} ? ({F} > 1 ? 1 : 2) : 3", "{F} ? ({F} > 1 ? 1 : 2) : 3", [3, 2, 1]),
            ("{F} ? {F} > 1 ? 1 : 2 : 3", "{F} ? ({F} > 1 ? 1 : 2) : 3", [3, 2, 1]),
            ("({F} ? 1 : 2) + 4", "({F} ? 1 : 2) + 4", [6, 5, 5]),
            ("{F} || {F} ? 1 : 0", "{F} || {F} ? 1 : 0", [0, 1, 1]),
        ],
        names=3,
    ),
)
def test_choices(text: str, printed: str, values: list[int]) -> None:
    """By the plan and the interpreter alike, and as they are printed."""
    tree = parse_expression(text)
    assert to_text(tree) == printed
    assert parse_expression(printed) == tree
    assert [evaluate(tree, 0, lambda _name, at=at: at) for at in range(3)] == values
    body = f'display "{{V}}" 0..7 F : uint derived V[8] : uint = {text}'
    assert [one(body, at)[0] for at in range(3)] == [str(value) for value in values]
