# SPDX-License-Identifier: MIT
"""Rules-ng XML -> model: conditions, nesting, groups, errors, and Mesa's own files."""

import glob
import os

import pytest

from cffpy.errors import RegisterDbError
from cffpy.regdb.import_xml import import_files
from cffpy.regdb.language import (
    Array,
    Bitfield,
    Bitset,
    Condition,
    Domain,
    Enum,
    Import,
    Range,
    Register,
    Stripe,
    Type,
    Value,
    parse_text,
    print_description,
)

CHIP = '<enum name="chip"><value name="A5XX" value="5"/><value name="A6XX" value="6"/></enum>'


@pytest.fixture
def imported(tmp_path):
    def run(body, **others):
        paths = []
        for name, text in {"main": body, **others}.items():
            path = tmp_path / f"{name}.xml"
            path.write_text(
                f'<database xmlns="http://nouveau.freedesktop.org/">\n{text}\n</database>'
            )
            paths.append(str(path))
        return {name: model.declarations for name, model in import_files(paths).items()}

    return run


def since(varset, first):
    return Condition(varset, (Range(first, None),))


def test_enum_and_numbers(imported):
    found = imported(
        '<enum name="e" inline="yes"><doc>x</doc><value name="A" value="0x1F"/><value name="B"/>'
        '<value name="C" value="10"/></enum>'
    )
    assert found["main"] == (Enum("e", (Value("A", 31), Value("B"), Value("C", 10)), True),)


def test_bitfields(imported):
    found = imported(
        '<bitset name="b" inline="yes"><bitfield name="A" low="1" high="3" type="fixed" radix="4" '
        'shr="2"/><bitfield name="B" pos="4" addvariant="yes"/></bitset>'
    )
    fields = (Bitfield("A", 1, 3, Type("fixed", 2, 4)), Bitfield("B", 4, 4, Type(addvariant=True)))
    assert found["main"] == (Bitset("b", fields, True),)


def test_register_bits(imported):
    found = imported(
        '<domain name="D" width="32"><reg32 name="A" offset="0" low="4" high="7"/>'
        '<reg32 name="B" offset="1" pos="3"/><reg64 name="C" offset="2" high="40"/></domain>'
    )
    registers = (
        Register("A", 0, bits=(4, 7)),
        Register("B", 1, bits=(3, 3)),
        Register("C", 2, 64, bits=(0, 40)),
    )
    assert found["main"] == (Domain("D", registers),)


def test_types_inside_a_domain_go_before_it(imported):
    found = imported(
        '<domain name="D" width="32"><reg32 name="A" offset="0"><enum name="e"/>'
        '<bitfield name="F" pos="0" type="e"/></reg32><bitset name="b"/></domain><enum name="z"/>'
    )
    names = [declaration.name for declaration in found["main"]]
    assert names == ["e", "b", "D", "z"]


def test_imports_by_file_name_and_only_of_known_files(imported):
    found = imported(
        '<import file="adreno/other.xml"/><import file="copyright.xml"/><enum name="e"/>',
        other='<enum name="x"/>',
        copyright="<copyright year='2013'><author name='a'/>text</copyright>",
    )
    assert found == {"main": (Import("other"), Enum("e")), "other": (Enum("x"),)}


def condition_of(found):
    return found["main"][-1].elements[0].condition


@pytest.mark.parametrize(
    ("around", "own", "varset"),
    [
        ("", 'varset="chip"', "chip"),  # its own varset
        ('varset="chip"', "", "chip"),  # inherited
        ('prefix="chip"', "", "chip"),  # the enum that the prefix names
        ('varset="mode" prefix="chip"', "", "chip"),  # inherited prefix before inherited varset
        ('varset="chip" prefix="nothing"', "", "chip"),  # a prefix that is not an enum
        ('varset="mode"', 'prefix="chip"', "chip"),  # own prefix before an inherited varset
        ('prefix="chip"', 'varset="mode"', "mode"),  # own varset before an inherited prefix
        ('varset="mode" prefix="chip"', 'prefix="none" varset="mode"', "mode"),
        ('prefix="chip"', 'prefix="none" varset="mode"', "mode"),
    ],
)
def test_what_variants_refer_to(imported, around, own, varset):
    found = imported(
        f'{CHIP}<enum name="mode"><value name="A6XX" value="0"/></enum>'
        f'<domain name="D" width="32" {around}>'
        f'<reg32 name="A" offset="0" {own} variants="A6XX-"/></domain>'
    )
    assert condition_of(found) == since(varset, "A6XX")


def test_prefix_none_switches_off(imported):
    with pytest.raises(RegisterDbError, match=r"main\.xml:2: <reg32>: variants without a varset"):
        imported(
            f'{CHIP}<domain name="D" width="32" prefix="chip">'
            '<reg32 name="A" offset="0" prefix="none" variants="A6XX-"/></domain>'
        )


def test_nested_inline_bitset_refers_to_the_varset_of_its_users(imported):
    found = imported(
        f'{CHIP}<domain name="D" width="32" varset="chip"><bitset name="b" inline="yes">'
        '<bitfield name="F" pos="0" variants="A6XX-"/></bitset></domain>'
    )
    assert found["main"][1].fields[0].condition == since("chip", "A6XX")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A5XX", (Range("A5XX", "A5XX"),)),
        ("A5XX A6XX-", (Range("A5XX", "A5XX"), Range("A6XX", None))),
        ("A5XX,A6XX-", (Range("A5XX", "A5XX"), Range("A6XX", None))),
        ("-A5XX", (Range(None, "A5XX"),)),
        ("A5XX-A6XX", (Range("A5XX", "A6XX"),)),
    ],
)
def test_variants(imported, text, expected):
    found = imported(
        f'{CHIP}<domain name="D" width="32"><reg32 name="A" offset="0" varset="chip" '
        f'variants="{text}"/></domain>'
    )
    assert condition_of(found) == Condition("chip", expected)


def test_arrays_and_stripes(imported):
    found = imported(
        '<domain name="D" width="32"><array offset="4" length="0" stride="2" usage="cmd, x"/>'
        '<array name="A" offsets="0x10,0x20" index="e" doffsets="1,2"/>'
        '<stripe name="S" offset="1" length="2" stride="3"><reg32 name="R" offset="0"/></stripe>'
        "</domain>"
    )
    elements = (
        Array("", (4,), 0, 2, None, ("cmd", "x")),
        Array("A", (16, 32), 2, 0, "e"),
        Stripe("S", 1, 2, 3, None, (Register("R", 0),)),
    )
    assert found["main"] == (Domain("D", elements),)


def test_group_becomes_a_stripe_where_it_is_used(imported):
    found = imported(
        '<group name="g"><reg32 name="R" offset="1"/></group>'
        '<domain name="D" width="32"><use-group name="g"/></domain>'
    )
    assert found["main"] == (Domain("D", (Stripe(elements=(Register("R", 1),)),)),)


@pytest.mark.parametrize(
    ("body", "message"),
    [
        ("\n<spectype name='x'/>", r"main\.xml:3: <spectype>: unknown element"),
        ("<enum name='e' odd='1'/>", "unknown attribute 'odd'"),
        ("<domain name='D'><reg16 name='A' offset='0'/></domain>", "<reg16>: unknown element"),
        ("<domain name='D'><use-group name='g'/></domain>", "no group 'g'"),
        ("<domain name='D'><value name='v'/></domain>", "not supported inside <domain>"),
        ("<domain name='D'><reg32 name='A'/></domain>", "needs the attribute 'offset'"),
        (
            "<domain name='D'><reg32 name='A' offset='x'/></domain>",
            "is not a number of up to 64 bits",
        ),
        ("<enum name='e'><value name='v' value='-1'/></enum>", "is not a number of up to 64 bits"),
        ("<bitset name='b'><bitfield name='f'/></bitset>", "needs low and high, or pos"),
        ("<enum name='a&#10;b'/>", "control character"),
        ("<enum>", "not well-formed XML"),
        ("<domain name='D'><array offsets=' '/></domain>", "empty list of offsets"),
        ("<enum name='e' inline='maybe'/>", "neither yes nor no"),
        ("<doc>" * 40 + "</doc>" * 40, "nested more than"),
        (
            "<group name='g'><use-group name='g'/></group>"
            "<domain name='D'><use-group name='g'/></domain>",
            "groups in groups",
        ),
    ],
)
def test_errors_name_file_and_line(imported, body, message):
    with pytest.raises(RegisterDbError, match=message):
        imported(body)


def test_entities_are_refused(tmp_path):
    path = tmp_path / "x.xml"
    path.write_text('<!DOCTYPE d [<!ENTITY a "aaaa">]><database>&a;</database>')
    with pytest.raises(RegisterDbError, match="entity 'a'"):
        import_files([str(path)])


@pytest.mark.slow
def test_all_of_mesa_survives_printing_and_parsing(shared):
    models = import_files(sorted(glob.glob(os.path.join(shared, "rnndb", "*.xml"))))
    assert len(models) == 11
    for name, model in models.items():
        assert parse_text(print_description(model), name) == model, name
