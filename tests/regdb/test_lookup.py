# SPDX-License-Identifier: MIT
"""Explaining and searching by name and by offset."""

import pytest

from cffpy.frame.description import DescribedName
from cffpy.frame.faces import facts_document
from cffpy.regdb.catalog import Catalog
from cffpy.regdb.compile import compile_generation
from cffpy.regdb.lookup import explain, nearest, search

TEXT = """
    import "adreno_common"
    enum mode { M0 = 0 M1 = 1 }
    bitset shape inline { 0..3 SIZE : uint shr 2 4 ROUND : boolean }
    domain A6XX {
        reg32 0x10 PLAIN : shape usage cmd when chip A6XX
        reg32 0x10 PLAIN : shape when chip A7XX { 7 OWN }
        array 0x20 OUTER[4] stride 8 {
            reg64 0 BASE : address
            array 4 INNER[2] stride 2 { reg32 1 LEAF : mode }
        }
        array 0x100, 0x200 SPLIT[2] stride 4 { reg32 1 X }
        reg32 0x300 MANY[3] stride 2
        stripe 0x400 { reg32 1 INSIDE }
    }
    domain CP_THING { reg32 0 "0" { 0 KIND : mode addvariant } reg32 1 "1" when mode M1 }
"""


@pytest.fixture
def catalogs(files):
    models = files(a6xx=TEXT)
    return [Catalog(compile_generation(models, chip, "a6xx")) for chip in ("A6XX", "A7XX")]


@pytest.mark.parametrize(
    ("asked", "name", "offset"),
    [
        ("0x24", "OUTER[0].INNER[0].", None),
        ("0x25", "OUTER[0].INNER[0].LEAF", 0x25),
        ("0x3f", "OUTER[3].INNER[1].LEAF", 0x3F),
        ("0x29", "OUTER[1].BASE", 0x28),
        ("0x40", None, None),
        ("0x101", "SPLIT[0].X", 0x101),
        ("0x201", "SPLIT[1].X", 0x201),
        ("0x105", None, None),
        ("0x304", "MANY[2]", 0x304),
        ("0x303", None, None),
        ("0x306", None, None),
        ("1025", "INSIDE", 0x401),
    ],
)
def test_offsets(catalogs, asked, name, offset):
    descriptions = explain(catalogs, asked)
    if offset is None:
        assert descriptions == []
    else:
        assert [(each.name, each.offset) for each in descriptions] == [(name, offset)]
        assert descriptions[0].generations == ["A6XX", "A7XX"]


@pytest.mark.parametrize(
    ("asked", "name", "offset"),
    [
        ("OUTER[2].BASE", "OUTER[2].BASE", 0x30),
        ("outer[0x2].base", "OUTER[2].BASE", 0x30),
        ("OUTER.BASE", "OUTER[].BASE", 0x20),
        ("OUTER[].BASE", "OUTER[].BASE", 0x20),
        ("OUTER[1].INNER[1].LEAF", "OUTER[1].INNER[1].LEAF", 0x2F),
        ("OUTER[1].INNER.LEAF", "OUTER[1].INNER[].LEAF", 0x2D),
        ("OUTER[4].BASE", None, None),
        ("OUTER[1].INNER[2].LEAF", None, None),
        ("SPLIT[1].X", "SPLIT[1].X", 0x201),
        ("SPLIT[2].X", None, None),
        ("MANY[2]", "MANY[2]", 0x304),
        ("MANY[3]", None, None),
        ("MANY", "MANY[]", 0x300),
        ("INSIDE", "INSIDE", 0x401),
        ("INSIDE[0]", None, None),
        ("NOTHING", None, None),
    ],
)
def test_names(catalogs, asked, name, offset):
    described = [(each.name, each.offset) for each in explain(catalogs, asked)]
    assert described == ([] if name is None else [(name, offset)])


@pytest.fixture
def documents(catalogs):
    """The documents of all that a name may be."""
    return lambda name: [*map(facts_document, explain(catalogs, name))]


def test_register_document(documents):
    six, seven = documents("PLAIN")
    size = {"name": "uint", "form": "uint", "low": 0, "high": 3, "shr": 2}
    round_ = {"name": "boolean", "form": "boolean", "low": 4, "high": 4}
    fields = [
        {"name": "SIZE", "condition": None, "type": size},
        {"name": "ROUND", "condition": None, "type": round_},
    ]
    assert six == {
        "kind": "register",
        "name": "PLAIN",
        "domain": "A6XX",
        "offset": 0x10,
        "arrays": [],
        "condition": None,
        "width": 32,
        "usage": ["cmd"],
        "type": {"name": "shape", "form": "bitset", "low": 0, "high": 31, "fields": fields},
        "generations": ["A6XX"],
    }
    assert [field["name"] for field in seven["type"]["fields"]] == ["OWN", "SIZE", "ROUND"]
    assert seven["generations"] == ["A7XX"]


def test_array_document(documents):
    (outer,) = documents("OUTER")
    assert (outer["kind"], outer["name"], outer["offset"]) == ("array", "OUTER[]", 0x20)
    assert outer["arrays"] == [{"name": "OUTER", "start": 0x20, "length": 4, "stride": 8}]
    names = [register["name"] for register in outer["registers"]]
    assert names == ["OUTER[].BASE", "OUTER[].INNER[]", "OUTER[].INNER[].LEAF"]
    (irregular,) = documents("SPLIT.X")
    assert irregular["arrays"] == [
        {"name": "SPLIT", "starts": [0x100, 0x200], "length": 2, "stride": 4}
    ]


def test_enum_packet_and_bitset_documents(documents):
    (enum,) = documents("mode")
    assert enum["values"] == [{"name": "M0", "number": 0}, {"name": "M1", "number": 1}]
    (packet,) = documents("cp_thing")
    assert [register["condition"] for register in packet["registers"]] == [None, {"mode": ["M1"]}]
    assert packet["registers"][0]["type"]["fields"][0]["type"]["selects_variant"] is True
    assert "generations" not in packet["registers"][0]
    six, seven = documents("SHAPE")
    assert [field["name"] for field in six["fields"]] == ["SIZE", "ROUND"]
    assert [field["name"] for field in seven["fields"]] == ["OWN", "SIZE", "ROUND"]


def test_nearest(catalogs):
    assert nearest(catalogs, "PLAN")[0] == "PLAIN"
    assert "OUTER[].BASE" in nearest(catalogs, "OUTER.BASES")
    assert nearest(catalogs, "QQQQQQQ") == []


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("leaf", ("register", "OUTER[].INNER[].LEAF", "A6XX", 0x25)),
        ("own", ("field", "OWN", "shape", 7)),
        ("M1", ("value", "M1", "mode", 1)),
        ("THING", ("domain", "CP_THING", "", None)),
        ("kind", ("field", "KIND", "0", 0)),
    ],
)
def test_search(catalogs, text, name):
    chips = ["A7XX"] if text == "own" else ["A6XX", "A7XX"]
    assert search(catalogs, text) == [DescribedName(*name, chips)]
