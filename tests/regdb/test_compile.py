# SPDX-License-Identifier: MIT
"""The rules by which a description becomes rows, each in a small case."""

import marshal
import os

import pytest

from cffpy.errors import RegisterDbError
from cffpy.regdb import rows
from cffpy.regdb.compile import ELSEWHERE, compile_generation, generations, read_directory
from cffpy.regdb.database import holds

from .conftest import ROOT


@pytest.fixture
def compiled(files):
    """Compile a6xx.regs of the given text for a chip."""

    def build(text, chip="A6XX", **others):
        root = others.pop("root", "a6xx")
        models = files(**{root: 'import "adreno_common"\n' + text}, **others)
        return compile_generation(models, chip, root)

    return build


def domain(generation, name="D"):
    return marshal.loads(generation["domains"][name])


def enum(generation, name):
    return marshal.loads(generation["enums"][name])


def type_of(generation, index=0):
    return domain(generation)[0][index][7]


def hexadecimal(low=0, high=31):
    return (rows.HEX, "hex", low, high, 0, 0, False, None)


# ---- generations and merging


def test_root_file_is_the_next_lower(files):
    text = 'import "adreno_common"'
    models = files(a2xx=text, a3xx=text, a6xx=text, a6xx_gmu=text)
    expected = {"A2XX": "a2xx", "A3XX": "a3xx", "A4XX": "a3xx", "A5XX": "a3xx"}
    assert generations(models) == {**expected, "A6XX": "a6xx", "A7XX": "a6xx"}


def test_chip_below_all_files_has_no_generation(files):
    assert list(generations(files(a6xx='import "adreno_common"'))) == ["A6XX", "A7XX"]


def test_register_domains(files):
    models = files(**{f"a{n}xx": 'import "adreno_common"' for n in (2, 3, 4, 6)})
    found = {
        chip: compile_generation(models, chip, root)["register_domains"]
        for chip, root in generations(models).items()
    }
    assert found == {
        "A2XX": ("A2XX", "AXXX"),
        "A3XX": ("A3XX", "AXXX"),
        "A4XX": ("A4XX",),
        "A5XX": ("A4XX",),
        "A6XX": ("A6XX",),
        "A7XX": ("A6XX",),
    }


def test_same_names_append_in_the_order_of_imports(files):
    models = files(
        a6xx='enum e { A } import "x" enum e { D } import "x" import "adreno_common"',
        x='import "y" enum e { C }',
        y='import "a6xx" enum e { B }',
    )
    found = enum(compile_generation(models, "A6XX", "a6xx"), "e")
    assert [value[0] for value in found] == ["A", "B", "C", "D"]


def test_bitsets_and_domains_append_too(compiled):
    generation = compiled(
        "bitset b { 0 X } bitset b { 1 Y } domain D { reg32 0 R : b } domain D { reg32 1 S }"
    )
    elements, _buckets = domain(generation)
    assert [element[1] for element in elements] == ["R", "S"]
    assert [field[0] for field in elements[0][7][7]] == ["X", "Y"]


def test_missing_import(compiled):
    with pytest.raises(RegisterDbError, match=r"a6xx\.regs:2: import of 'nowhere'"):
        compiled('import "nowhere"')


def test_long_chain_of_imports_is_no_crash(files):
    chain = {f"f{n}": f'import "f{n + 1}"' for n in range(3000)}
    models = files(a6xx='import "adreno_common" import "f0"', f3000="enum e { A }", **chain)
    assert "e" in compile_generation(models, "A6XX", "a6xx")["enums"]


def test_files_that_are_not_imported_are_not_in_it(compiled):
    assert list(compiled("", other="domain D { }")["domains"]) == []


# ---- chip conditions


@pytest.mark.parametrize(("chip", "names"), [("A6XX", ["A", "B"]), ("A7XX", ["A", "C"])])
def test_chip_decides_over_elements_fields_and_values(compiled, chip, names):
    generation = compiled(
        """
        enum e { A B when chip -A6XX C when chip A7XX- }
        bitset b { 0 A 1 B when chip A6XX 2 C when chip A7XX }
        domain D { reg32 0 A : b reg32 1 B when chip A4XX-A6XX reg32 2 C when chip A2XX, A7XX }
        """,
        chip,
    )
    elements, _buckets = domain(generation)
    assert [value[0] for value in enum(generation, "e")] == names
    assert [element[1] for element in elements] == names
    assert [field[0] for field in elements[0][7][7]] == names
    assert elements[0][2] is None


def test_condition_of_what_is_around_holds_too(compiled):
    text = """domain D { stripe when chip A6XX- { array 0 A[1] when chip -A6XX {
        reg32 0 X reg32 1 Y when chip A7XX } } }"""
    (stripe,) = domain(compiled(text))[0]
    assert [inner[1] for inner in stripe[6][0][7]] == ["X"]
    assert domain(compiled(text, "A7XX"))[0][0][6] == ()


def test_domain_of_another_chip_is_left_out(compiled):
    text = "domain D when chip A7XX { } domain E { } enum e when chip A7XX { } enum f { }"
    assert list(compiled(text)["domains"]) == ["E"]
    assert list(compiled(text, "A7XX")["domains"]) == ["D", "E"]
    assert list(compiled(text)["enums"]) == ["chip", "f"]


# ---- other conditions

MODES = "enum mode { M0 M1 M2 M3 } enum other { O0 O1 } "


def test_other_conditions_stay_as_masks(compiled):
    generation = compiled(
        MODES + "domain D { reg32 0 A when mode M1-M2, -M0 reg32 1 B when mode -M3 }"
    )
    assert [element[2] for element in domain(generation)[0]] == [
        (("mode", 0b111),),
        (("mode", 15),),
    ]


def test_masks_of_one_varset_are_anded_and_others_join(compiled):
    generation = compiled(
        MODES
        + """domain D when mode M0-M2 { stripe when other O1 {
            reg32 0 A when mode M2- { 0 F when mode M2 }
            reg32 1 B when mode M3 } }"""
    )
    (stripe,) = domain(generation)[0]
    assert stripe[2] == (("mode", 0b111), ("other", 0b10))
    (register,) = stripe[6]  # B has no variant left
    assert register[2] == (("mode", 0b100), ("other", 0b10))
    assert register[7][7] == (
        ("F", register[2], (rows.BOOLEAN, "boolean", 0, 0, 0, 0, False, None)),
    )


def test_masks_count_the_values_that_the_chip_has(compiled):
    text = """enum mode { M0 when chip A7XX M1 M2 }
        domain D { reg32 0 A when mode M2 reg32 1 B when mode M0-M1 }"""
    assert [element[2] for element in domain(compiled(text))[0]] == [(("mode", 2),), (("mode", 1),)]
    later = domain(compiled(text, "A7XX"))[0]
    assert [element[2] for element in later] == [(("mode", 4),), (("mode", 3),)]


def test_what_is_for_variants_of_another_chip_waits_for_a_current_one(compiled):
    text = """enum mode { M0 when chip A7XX M1 } domain D { reg32 0 A when mode M0 {
        0 F when mode -M1 1 G when mode M1 } }"""
    (register,) = domain(compiled(text))[0]
    assert register[2] == (("mode", 0),)
    assert [(name, condition) for name, condition, _ in register[7][7]] == [("F", (("mode", 0),))]
    assert holds(register[2], {})
    assert not holds(register[2], {"mode": 0})


def test_value_without_a_variant_keeps_its_position(compiled):
    generation = compiled(
        MODES + "enum e inline when mode M0 { A when mode M1 B } domain D { reg32 0 R : e }"
    )
    values = type_of(generation)[7]
    assert values == (("A", None, (("mode", 0),)), ("B", None, (("mode", 1),)))


def test_unknown_varset_and_variant(compiled):
    with pytest.raises(RegisterDbError, match="condition on 'nothing', which is not an enum"):
        compiled("domain D { reg32 0 A when nothing X }")
    with pytest.raises(RegisterDbError, match="the enum 'mode' has no value M9"):
        compiled(MODES + "domain D { reg32 0 A when mode M9 }")
    with pytest.raises(RegisterDbError, match="the enum 'chip' has no value A9XX"):
        compiled("domain D { reg32 0 A when chip A9XX }")


# ---- types


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("reg32 0 A", hexadecimal()),
        ("reg64 0 A", hexadecimal(0, 63)),
        ("reg32 0 A bits 0..0", (rows.BOOLEAN, "boolean", 0, 0, 0, 0, False, None)),
        ("reg32 0 A bits 5..5", hexadecimal(5, 5)),
        ("reg32 0 A : hex", hexadecimal()),
        ("reg32 0 A : uint shr 3 bits 0..7", (rows.UINT, "uint", 0, 7, 3, 0, False, None)),
        ("reg32 0 A : int", (rows.INT, "int", 0, 31, 0, 0, False, None)),
        ("reg32 0 A : float", (rows.FLOAT, "float", 0, 31, 0, 0, False, None)),
        ("reg32 0 A : boolean", (rows.BOOLEAN, "boolean", 0, 31, 0, 0, False, None)),
        ("reg32 0 A : fixed radix 4", (rows.FIXED, "fixed", 0, 31, 0, 4, False, None)),
        ("reg32 0 A : ufixed radix 8", (rows.UFIXED, "ufixed", 0, 31, 0, 8, False, None)),
        ("reg32 0 A : a3xx_regid", (rows.REGID, "a3xx_regid", 0, 31, 0, 0, False, None)),
        ("reg64 0 A : address", (rows.HEX, "address", 0, 63, 0, 0, False, None)),
        ("reg64 0 A : waddress align 64", (rows.HEX, "waddress", 0, 63, 0, 0, False, None)),
        ("reg32 0 A : unheard_of", (rows.HEX, "unheard_of", 0, 31, 0, 0, False, None)),
        ("reg32 0 A : uint { 0 X }", (rows.UINT, "uint", 0, 31, 0, 0, False, None)),
        ("reg32 0 A : e addvariant", (rows.ENUM, "e", 0, 31, 0, 0, True, "e")),
        (
            "reg32 0 A { X = 1 }",
            (rows.INLINE_ENUM, "enum", 0, 31, 0, 0, False, (("X", 1, None),)),
        ),
        (
            "reg32 0 A : i { X = 1 }",
            (rows.INLINE_ENUM, "i", 0, 31, 0, 0, False, (("X", 1, None), ("V", 2, None))),
        ),
        (
            "reg32 0 A { 5 X }",
            (rows.INLINE_BITSET, "bitfield", 0, 31, 0, 0, False, (("X", None, hexadecimal(5, 5)),)),
        ),
        (
            "reg32 0 A : b { 5 X }",
            (rows.BITSET, "b", 0, 31, 0, 0, False, (("B", None, hexadecimal(4, 7)),)),
        ),
        (
            "reg32 0 A : n { 5 X }",
            (
                rows.NAMED_INLINE_BITSET,
                "n",
                0,
                31,
                0,
                0,
                False,
                (("X", None, hexadecimal(5, 5)), ("N", None, hexadecimal(8, 9))),
            ),
        ),
        ("reg32 0 A : both", (rows.ENUM, "both", 0, 31, 0, 0, False, "both")),
        ("reg32 0 A : uint_enum", (rows.ENUM, "uint_enum", 0, 31, 0, 0, False, "uint_enum")),
    ],
)
def test_types(compiled, text, expected):
    generation = compiled(
        f"""
        enum e {{ }} enum i inline {{ V = 2 }} enum uint_enum {{ }}
        enum both {{ }} bitset both {{ }}
        bitset b {{ 4..7 B }} bitset n inline {{ 8..9 N }}
        domain D {{ {text} }}
        """
    )
    assert type_of(generation) == expected


def test_inline_bitset_takes_the_conditions_around_it_and_others_do_not(compiled):
    generation = compiled(
        MODES
        + """bitset b { 4..7 F when other O1 } bitset n inline { 4..7 F when other O1 }
        domain D { reg32 0 R : b when mode M1 reg32 1 S : n when mode M1 }"""
    )
    assert type_of(generation, 0)[7][0][1] == (("other", 2),)
    assert type_of(generation, 1)[7][0][1] == (("mode", 2), ("other", 2))


@pytest.mark.parametrize("inline", ["", "inline"])
def test_bitset_in_itself(compiled, inline):
    text = f"""bitset a {inline} {{ 0..3 X : b }} bitset b {inline} {{ 0..3 Y : a }}
        domain D {{ reg32 0 R : a }}"""
    with pytest.raises(RegisterDbError, match="a -> b -> a"):
        compiled(text)


@pytest.mark.slow
def test_long_chain_of_bitsets_is_no_crash(compiled):
    chain = "".join(f"bitset b{n} {{ 0..3 X : b{n + 1} }}" for n in range(2000))
    with pytest.raises(RegisterDbError, match="too deep"):
        compiled(chain + "domain D { reg32 0 R : b0 }")


def test_bitsets_that_double_are_no_blow_up(compiled):
    text = "".join(f"bitset b{n} {{ 0 X : b{n + 1} 1 Y : b{n + 1} }}" for n in range(14))
    assert len(compiled(text + "domain D { reg32 0 R : b0 }")["domains"]["D"]) < 10_000


# ---- elements


def test_element_rows(compiled):
    generation = compiled(
        """domain D {
            reg64 1 A usage x, y
            reg32 2 B[4] stride 3
            array 16 C[2] stride 8 index chip { reg64 1 X }
            array 32, 48 E[2] { reg64 4 Y }
            array 64 F[1] { reg32 0 Z }
            stripe 3 S[2] stride 5 { }
        }"""
    )
    x = (rows.REGISTER, "X", None, 1, 1, 2, 2, hexadecimal(0, 63), ())
    y = (rows.REGISTER, "Y", None, 4, 1, 2, 2, hexadecimal(0, 63), ())
    z = (rows.REGISTER, "Z", None, 0, 1, 1, 1, hexadecimal(), ())
    assert domain(generation) == (
        (
            (rows.REGISTER, "A", None, 1, 1, 2, 2, hexadecimal(0, 63), ("x", "y")),
            (rows.REGISTER, "B", None, 2, 4, 3, 1, hexadecimal(), ()),
            (rows.ARRAY, "C", None, 16, 2, 8, "chip", (x,)),
            (rows.ARRAY, "E", None, (32, 48), 2, 6, None, (y,)),
            (rows.ARRAY, "F", None, 64, 1, 1, None, (z,)),
            (rows.STRIPE, "S", None, 3, 2, 5, ()),
        ),
        None,
    )


def test_repeats_need_a_stride(compiled):
    with pytest.raises(RegisterDbError, match="'A' is repeated, but has no stride"):
        compiled("domain D { array 0 A[2] { } }")


def large(*elements):
    plain = " ".join(f"reg32 {0x1000 + n} R{n}" for n in range(32))
    return f"domain D {{ {' '.join(elements)} {plain} }}"


def test_only_large_domains_have_buckets(compiled):
    assert domain(compiled(large()))[1] is None
    buckets = domain(compiled(large("reg32 0 A")))[1]
    assert buckets == {0: (0,), 0x100: tuple(range(1, 17)), 0x101: tuple(range(17, 33))}


@pytest.mark.parametrize(
    ("element", "numbers"),
    [
        ("reg64 15 A", {0, 1}),
        ("reg32 8 A[3] stride 16", {0, 1, 2}),
        ("array 0 A[4] stride 16 { }", {0, 1, 2, 3}),
        ("array 0 A[4] stride 4 { }", {0}),
        ("array 0, 0x40 A[2] stride 17 { }", {0, 1, 4, 5}),
    ],
)
def test_buckets_cover_all_dwords(compiled, element, numbers):
    buckets = domain(compiled(large(element)))[1]
    assert {number for number, found in buckets.items() if 0 in found} == numbers


@pytest.mark.parametrize(
    "element",
    [
        "stripe { reg32 0 A }",
        "array 0x5000 A[] stride 4 { }",
        "array 0 A[0xffffffffffffffff] stride 16 { }",
    ],
)
def test_what_can_be_anywhere_is_in_every_bucket(compiled, element):
    buckets = domain(compiled(large("reg32 0 Z", element)))[1]
    assert set(buckets) == {ELSEWHERE, 0, 0x100, 0x101}
    assert buckets[ELSEWHERE] == (1,)
    assert all(1 in found and list(found) == sorted(found) for found in buckets.values())


# ---- the bundled edition


@pytest.mark.slow
def test_bundled_generations():
    models = read_directory(os.path.join(ROOT, "register_db"))
    roots = {"A2XX": "a2xx", "A3XX": "a3xx", "A4XX": "a4xx", "A5XX": "a5xx"}
    assert generations(models) == {**roots, "A6XX": "a6xx", "A7XX": "a6xx"}
    six, seven = (compile_generation(models, chip, "a6xx") for chip in ("A6XX", "A7XX"))
    offsets = [
        [element[3] for element in domain(row, "A6XX")[0] if element[1] == "HLSQ_CONTROL_1_REG"]
        for row in (six, seven)
    ]
    assert offsets == [[0xB982], [0xA9C7]]
