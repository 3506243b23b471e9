# SPDX-License-Identifier: MIT
"""Filters: syntax, names, three-valued logic, errors; they see the values that cffpy.open gives."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import cffpy
from cffpy.analysis.passes.finder import PassFinder
from cffpy.analysis.register_store.recorder import SelectedWrites, most_changes
from cffpy.analysis.walk import Walk
from cffpy.container.damage import Damage
from cffpy.container.open import Content, open_capture
from cffpy.cp.session import Session
from cffpy.errors import FilterError
from cffpy.limits import Limits
from cffpy.query.filters import BoundFilter, Filter
from cffpy.query.names import NameTable, converter
from cffpy.query.parse import MAX_DEPTH, MAX_LENGTH, parse_filter
from cffpy.query.properties import PROPERTIES, Subject
from cffpy.query.search import find_passes_for, matching_pass, matching_tile, subjects
from cffpy.query.syntax import Path as NamePath
from cffpy.regdb.database import Database
from cffpy.regdb.rows import offset_of
from tests.analysis.passes.streams import Streams
from tests.selection import first_always

SAMPLES = ("a430-depth-good", "a530-two-submits", "a630-indirect", "a650-blits", "a660-frame-gmem",
           "a660-frame-binning", "a660-textures", "a690-compute", "a740-state-groups")  # fmt: skip


def ask(path: Path, where: str, lenient: bool = False) -> tuple[PassFinder, BoundFilter]:
    content = open_capture(str(path), Limits())
    finder, pending, _ = find_passes_for(Filter(where), content, print, is_lenient=lenient)
    bound = pending.finish()
    assert bound is not None
    finder.found.bind(None)
    return finder, bound


def names(path: Path, where: str, everything: bool = False) -> list[str | None]:
    finder, bound = ask(path, where)
    passes = finder.found.passes
    actions = finder.actions if everything else [d for one in passes for d in one.draws]
    found = [one.action for one in subjects(actions, passes) if bound.matches(one)]
    return [f"p{one.pass_index}:{one.number}" if one else None for one in found]


def error(where: str, chip: str = "A6XX") -> FilterError:
    with pytest.raises(FilterError) as caught:
        Filter(where).bind(Database.open(chip))
    return caught.value


@pytest.mark.parametrize(
    ("where", "expected"),
    first_always(
        [
            ("RB_DEPTH_CNTL.Z_TEST_ENABLE", ["p0:0", "p0:1"]),
            ("RB_DEPTH_CNTL.ZFUNC == FUNC_LESS", ["p0:0", "p0:1"]),
            ("FUNC_LESS == RB_DEPTH_CNTL.ZFUNC", ["p0:0", "p0:1"]),
            ("rb_depth_cntl.zfunc == func_less", ["p0:0", "p0:1"]),
            ("RB_DEPTH_CNTL == 0x47", ["p0:0", "p0:1"]),
            ("RB_DEPTH_CNTL & 0b11 == 3", ["p0:0", "p0:1"]),
            ("RB_DEPTH_CNTL.ZFUNC in (FUNC_NEVER, FUNC_EQUAL)", []),
            ("RB_DEPTH_CNTL.ZFUNC not in (FUNC_NEVER, FUNC_EQUAL)", ["p0:0", "p0:1"]),
            ("RB_DEPTH_CNTL.ZFUNC in FUNC_NEVER..FUNC_LESS", ["p0:0", "p0:1"]),
            ("RB_DEPTH_CNTL.ZFUNC ~ 'LES'", ["p0:0", "p0:1"]),
            ("RB_DEPTH_CNTL.ZFUNC !~ 'LES'", []),
            ("draw.vertices > 3", ["p0:0"]),
            ("draw.vertices in 30..40", ["p0:0"]),
            ("draw.vertices in (3, 5..9)", ["p0:1"]),
            ("draw.vertices * 2 - 1 == 71", ["p0:0"]),
            ("-draw.vertices == -3", ["p0:1"]),
            ("draw.vertices >= 0.03K", ["p0:0"]),
            ("not draw.indexed", ["p0:1"]),
            ("not not draw.indexed", ["p0:0"]),
            ("draw.indexed == false", ["p0:1"]),
            ("draw.primitive ~ '^DI_PT_TRI' and draw.kind == draw", ["p0:0", "p0:1"]),
            (
                "pass.mode == gmem and pass.framebuffer.width * pass.framebuffer.height == 24KiB",
                ["p0:0", "p0:1"],
            ),
            ("pass.mode != gmem", []),
            ("target.format == DEPTH6_24_8", ["p0:0", "p0:1"]),
            ("all(target.format == DEPTH6_24_8)", []),
            ("all(target.format ~ '8')", ["p0:0", "p0:1"]),
            ("RB_MRT[0].BASE == RB_MRT[0].BASE", ["p0:0", "p0:1"]),
            ("draw.shaders.FS == 0x100004100", ["p0:0", "p0:1"]),
            ("unknown(draw.shaders.GS)", ["p0:0", "p0:1"]),
            ("changed(RB_DEPTH_CNTL.ZFUNC)", ["p0:0"]),
            ("marker('x')", []),
            ("changed(RB_DEPTH_CNTL) or draw.number == 1", ["p0:0", "p0:1"]),
            ("unknown(RB_MRT[7].CONTROL)", ["p0:0", "p0:1"]),
            ("unknown(RB_MRT[7].CONTROL == 1) and not unknown(RB_DEPTH_CNTL)", ["p0:0", "p0:1"]),
            ("target.name != depth", ["p0:0", "p0:1"]),
            ("target.name !~ 'depth'", ["p0:0", "p0:1"]),
            ("target.name not in (depth, stencil)", ["p0:0", "p0:1"]),
            ("not (target.name ~ 'depth')", []),
            ("all(target.name != depth)", []),
            ("all(target.name !~ 'depth')", []),
            ("all(target.name not in (depth, stencil))", []),
            ("all(target.name !~ 'stencil')", ["p0:0", "p0:1"]),
            ("RB_MRT[7].CONTROL == 1 or draw.number == 0", ["p0:0"]),
            ("not (RB_MRT[7].CONTROL == 1)", []),
        ],
        5,
        names=2,
    ),
)
def test_draws(samples: Path, where: str, expected: list[str]) -> None:
    assert names(samples / "a660-frame-gmem.rd", where) == expected


@pytest.mark.parametrize("sample", ["a660-frame-gmem", "a660-frame-binning", "a640-vendor-frame"])
def test_operations_of_a_pass_are_those_that_may_be_executed(samples: Path, sample: str) -> None:
    """Not those of the binning run, nor those of the other mode."""
    left_out = 0
    with cffpy.open(samples / f"{sample}.rd") as capture:
        for one, values in capture.passes.select("pass.loads, pass.clears, pass.stores"):
            operations = one.to_dict()["operations"]
            there = [
                op["kind"] for op in operations if op["executed"] is not False and not op["binning"]
            ]
            left_out += len(operations) - len(there)
            counts = [there.count(kind) for kind in ("load", "clear", "store")]
            assert [value.value for value in values] == counts
    assert left_out


@pytest.mark.parametrize(
    ("where", "last", "column"),
    [("(draw.indexed", "(draw.indexed", 14), ("not", "not", 4), ("1 <\n2 and", "2 and", 6)],
)
def test_the_caret_is_at_the_end_of_what_ends_too_early(where: str, last: str, column: int) -> None:
    found = str(error(where)).split("\n")
    assert found[0].startswith(f"filter, column {column}: ")
    assert found[1:] == [last, " " * len(last) + "^"]


def chosen(path: Path, where: str) -> list[str | None]:
    with cffpy.open(path) as capture:
        return [draw.name for draw in capture.draws.where(where)]


@pytest.mark.parametrize(
    ("where", "holds"),
    first_always(
        [
            ("texture.FMT == FMT6_8_8_8_8_UNORM", True),
            ("texture.FMT ~ '^FMT6_8'", True),
            ("texture.WIDTH == 128", True),
            ("all(texture.WIDTH == 128)", False),
            ("all(texture.WIDTH in 64..128)", True),
            ("texture.WIDTH > 128", False),
            ("not (texture.WIDTH > 128)", True),
            ("texture.BASE_LO == 0x8000", True),
            ("texture.address == 0x100010000 and texture.slot == 1", True),
            ("texture.stage == 'FS'", True),
            ("unknown(texture.bindless_set)", True),
            ("sampled(0x100010000)", True),
            ("sampled(64KiB + 4GiB)", True),
            ("sampled(0x100010004)", False),
            ("not sampled(0x100010004)", True),
            ("sampler.XY_MAG == A6XX_TEX_LINEAR", True),
            ("storage.FMT == FMT6_8_8_8_8_UNORM", False),
            ("texture.used and texture.enabled == TRUE and texture.reads", True),
            ("texture.writes", False),
            # the sampler of the vertex stage, which is not enabled
            ("sampler.stage == 'VS'", False),
            ("bound_sampler.stage == 'VS'", True),
            ("all(bound_sampler.used)", False),
            ("unknown(draw.shaders.FS.full_registers)", True),
        ],
        names=2,
    ),
)
def test_what_a_draw_uses(samples: Path, where: str, holds: bool) -> None:
    """The sample has two textures and three samplers; its programs were not captured."""
    assert chosen(samples / "a660-textures.rd", where) == (["p0:0"] if holds else [])


def test_kinds_of_descriptors_that_a_generation_lacks() -> None:
    assert "no storage descriptors" in str(error("storage.FMT == 0", "A3XX"))
    assert "no storage descriptors" in str(error("bound_storage.FMT == 0", "A3XX"))


@pytest.mark.slow
def test_statistics_of_shaders(samples: Path) -> None:
    path = samples / "a660-frame-gmem.rd"
    with cffpy.open(path) as capture:
        shader = capture.draws[0].shaders["FS"]
        assert shader.statistics is not None
        equal = (
            f"draw.shaders.FS.instructions == {shader.instructions}"
            f" and draw.shaders.FS.full_registers == {shader.statistics.full}"
            f" and draw.shaders.FS.cat2 == {shader.statistics.categories[2]}"
            f" and draw.shaders.FS.bytes == {len(shader.code)}"
        )
    assert chosen(path, equal) == ["p0:0", "p0:1"]
    assert (
        chosen(path, "draw.shaders.FS.instructions > 100 or draw.shaders.GS.full_registers > 0")
        == []
    )
    assert chosen(path, "not (texture.FMT == FMT6_8_8_8_8_UNORM)") == ["p0:0", "p0:1"]
    assert chosen(path, "all(texture.FMT == FMT6_8_8_8_8_UNORM)") == ["p0:0", "p0:1"]
    with cffpy.open(path) as capture:
        found = capture.actions.where("draw.kind == resolve and unknown(texture.FMT)")
        assert {one.kind for one in found} == {"resolve"}
        everywhere = capture.actions.where("draw.kind == draw and not sampled(1)")
        assert len(everywhere) == 8


@pytest.mark.slow
def test_textures_of_all_generations(shared: Path) -> None:
    for name in ("a330-gl-inst-mrt", "a430-gl-cube-gmem", "a540-gl-scene200-lrz-1080p",
                 "a740-vk-bindless-gmem"):  # fmt: skip
        path = shared / f"captures/{name}.rd.gz"
        with cffpy.open(path) as capture:
            formats = {one.fields["FMT"].text for draw in capture.draws for one in draw.textures}
            for form in formats:
                expected = [
                    draw.name
                    for draw in capture.draws
                    if any(one.fields["FMT"].text == form for one in draw.textures)
                ]
                assert chosen(path, f"texture.FMT == {form}") == expected
            using = next(draw for draw in capture.draws if draw.textures)
            found = chosen(path, f"sampled({using.textures[0].address})")
            assert found[0] == using.name


@pytest.mark.parametrize(
    ("old", "new", "edition"),
    first_always(
        [
            ("GRAS_CL_VPORT[0].XSCALE > 3", "GRAS_CL_VIEWPORT[0].XSCALE > 3", "mesa-25.3"),
            ("GRAS_LRZ_CNTL.Z_TEST_ENABLE", "GRAS_LRZ_CNTL.Z_WRITE_ENABLE", "mesa-25.3"),
            (
                "GRAS_BIN_CONTROL.LRZ_FEEDBACK_ZMODE_MASK == LRZ_FEEDBACK_EARLY_LRZ_LATE_Z",
                "GRAS_SC_BIN_CNTL.LRZ_FEEDBACK_ZMODE_MASK == LRZ_FEEDBACK_EARLY_Z_LATE_Z",
                "mesa-25.3",
            ),
        ],
        names=3,
    ),
)
def test_names_of_other_editions(samples: Path, old: str, new: str, edition: str) -> None:
    """A name of either edition has the same meaning in both."""
    path = samples / "a660-frame-gmem.rd"
    found = []
    for directory in (None, edition):
        with cffpy.open(path, register_db=directory) as capture:
            found += [[draw.name for draw in capture.draws.where(text)] for text in (old, new)]
    assert found[1:] == found[:-1]


def test_tiles_and_passes(samples: Path) -> None:
    finder, bound = ask(
        samples / "a660-frame-gmem.rd", "tile.rectangle.left >= 96 and tile.rectangle.top == 0"
    )
    (found,) = finder.found.passes
    assert [one.number for one in found.tiles if matching_tile(bound, found, one)] == [1]
    finder, bound = ask(samples / "a660-frame-gmem.rd", "RB_WINDOW_OFFSET.X == 96")
    (found,) = finder.found.passes
    matching = [one.number for one in found.tiles if matching_tile(bound, found, one)]
    assert len(matching) == 2
    assert all(found.tiles[number].rectangle.left == 96 for number in matching)
    finder, bound = ask(samples / "a660-frame-gmem.rd", "draw.vertices == 3")
    assert matching_pass(bound, finder.found.passes[0])
    finder, bound = ask(samples / "a660-frame-gmem.rd", "draw.vertices == 4")
    assert not matching_pass(bound, finder.found.passes[0])


def test_every_execution(samples: Path) -> None:
    found = names(samples / "a660-frame-gmem.rd", "draw.kind == resolve", everything=True)
    assert found
    path = samples / "a660-frame-gmem.rd"
    assert names(path, "draw.tile == 2 and draw.vertices == 3", everything=True) == ["p0:1"]


#: Conditions of registers alone; joined with others; of writes; of what is unknown.
REMEMBERED = (
    "RB_DEPTH_CNTL.ZFUNC == FUNC_LESS or not RB_DEPTH_CNTL.Z_TEST_ENABLE",
    "RB_MRT[*].CONTROL != 0",
    "all(RB_MRT[*].CONTROL == 0x7f0) or unknown(RB_MRT[7].CONTROL)",
    "unknown(RB_DEPTH_CNTL == 1) or RB_WINDOW_OFFSET.X in (0, 96)",
    "draw.vertices > 3 and RB_DEPTH_CNTL & 3 != 0 and not RB_WINDOW_OFFSET.X == 96",
    "not (RB_DEPTH_CNTL == 0x47 or draw.indexed) or changed(RB_WINDOW_OFFSET)",
    "written(RB_DEPTH_CNTL) and RB_DEPTH_CNTL.ZFUNC ~ 'LESS|ALWAYS'",
    "RB_MRT[0].BASE > 4GiB or RB_MRT[0].BASE == RB_MRT[1].BASE",
    "1 == 1 and draw.indexed or RB_NO_SUCH_REGISTER == 1",
)


@pytest.mark.parametrize(
    "name",
    first_always(["a660-frame-gmem", "a740-concurrent-gmem", *SAMPLES[:6]], 2),
)
def test_what_is_remembered_of_equal_registers(samples: Path, name: str) -> None:
    """Answers and values at all actions are those of each action alone."""
    path, times = samples / f"{name}.rd", [0, 0]
    for where in REMEMBERED:
        answers: list[Any] = []
        for remembers in (True, False):
            query = Filter(where, "RB_DEPTH_CNTL.ZFUNC,RB_MRT[*].CONTROL", remembers=remembers)
            content = open_capture(str(path), Limits())
            finder, pending, _ = find_passes_for(query, content, print, is_lenient=True)
            bound = pending.finish()
            assert bound is not None
            finder.found.bind(None)
            asked = [*subjects(finder.actions, finder.found.passes)]
            asked += reversed(asked)
            answers.append([(bound.matches(one), bound.values(one)) for one in asked])
            times[remembers] += bound.evaluations
        assert answers[0] == answers[1], where
    assert times[False] == 0 < times[True]


class Positions:
    """Changes of a register at each position: its value is the position modulo some number."""

    def __init__(self, values: int, count: int) -> None:
        self.orders, self.values = [*range(count)], [one % values for one in range(count)]

    def changes(self, register: int) -> tuple[list[int], list[int]]:
        """The same of every register."""
        return self.orders, self.values


@pytest.mark.parametrize(("values", "most"), [(2, 2), (7, 7), (5000, 5000)])
def test_equal_registers_are_asked_once(samples: Path, values: int, most: int) -> None:
    """However often they change; of registers that change too often, each time."""
    finder, _ = ask(samples / "a660-frame-gmem.rd", "draw.indexed")
    (subject, *_) = subjects(finder.actions, finder.found.passes)
    for where in ("RB_DEPTH_CNTL == 1", "RB_DEPTH_CNTL == 1 and not unknown(draw.kind)"):
        bound = Filter(where).bind(Database.open("A6XX"))
        bound.attach(Positions(values, 5000))
        for order in range(5000):
            subject.order = order
            assert bound.matches(subject) == (order % values == 1)
            assert bound.values(subject)[0].value == order % values
        assert bound.evaluations == most


def check_against_the_interface(path: Path, most: int = 4) -> None:
    """A filter sees the state of each draw, for registers that change in between."""
    with cffpy.open(path) as capture:
        database = capture._source.walked.database
        values: dict[str, list[int | None]] = {}
        for draw in capture.draws:
            for change in draw.state.changed:
                values.setdefault(change.name, []).append(change.now.value)
        often = sorted(values, key=lambda name: -len(values[name]))[:most]
        assert often
        for name in often:
            known = [value for value in values[name] if value is not None]
            if not known or "+" in name or name.startswith("0x") or name.endswith("_HI"):
                continue
            bits = known[-1]
            kind, convert = converter(NameTable(database).find(NamePath(name, 1)).type_row)
            number = convert(bits)
            if kind == "number" and number == number:  # no NaN
                expected = [
                    d.name
                    for d in capture.draws
                    if d.state[name].value is not None and convert(d.state[name].value) == number
                ]
                assert names(path, f"{name} == {number:.40g}") == expected, name
            changed = [
                d.name for d in capture.draws if name in [one.name for one in d.state.changed]
            ]
            assert names(path, f"changed({name})") == changed, name
            written = [
                d.name for d in capture.draws if name in [one.name for one in d.state.written]
            ]
            assert names(path, f"written({name})") == written, name


@pytest.mark.parametrize("name", first_always(SAMPLES, 3))
def test_filters_see_the_values_of_the_interface(samples: Path, name: str) -> None:
    check_against_the_interface(samples / f"{name}.rd")


@pytest.mark.slow
@pytest.mark.parametrize(
    "name",
    [
        "a740-vk-dyn-secondary-gmem",
        "a660-gl-cube-gmem",
        "a430-gl-cube-gmem",
        "a320-gl-scene150-720p",
        "a530-gl-scene-msaa4",
        "fd-clouds",
        "a690-vk-compute-full",
    ],
)
def test_filters_see_the_values_of_the_interface_in_captures(shared: Path, name: str) -> None:
    check_against_the_interface(shared / "captures" / f"{name}.rd.gz", 12)


@pytest.mark.parametrize(
    ("where", "column", "message"),
    first_always([
        ("RB_DEPTH_CNTLX", 1, "a6xx has no register RB_DEPTH_CNTLX; did you mean RB_DEPTH_CNTL"),
        ("1 == RB_DEPTH_CNTL.ZFUN", 20, "RB_DEPTH_CNTL has no field ZFUN; did you mean ZFUNC"),
        ("RB_DEPTH_CNTL.ZFUNC == FUNC_LES", 24, "did you mean FUNC_LESS"),
        ("RB_MRT[*].CONTRL", 1, "did you mean RB_MRT[*].CONTROL"),
        ("RB_MRT[8].CONTROL", 1, "RB_MRT has 8 elements"),
        ("RB_MRT.CONTROL", 1, "RB_MRT is an array"),
        ("pass.mod == gmem", 1, "there is no property pass.mod; did you mean pass.mode"),
        ("pass.mode == gmen", 14, "pass.mode has no value gmen; did you mean gmem"),
        ("draw.primitive == NOSUCH", 19, "draw.primitive has no value NOSUCH"),
        ("draw.primitive in (DI_PT_TRILIS)", 20, "DI_PT_TRILIS; did you mean DI_PT_TRILIST"),
        ("draw.primitive == 'NOSUCH'", 19, "draw.primitive has no value NOSUCH"),
        ("pass.mode != 'sysmemm'", 14, "pass.mode has no value sysmemm; did you mean sysmem"),
        ("draw.kind in ('draw', 'dipatch')", 23, "no value dipatch; did you mean dispatch"),
        ("draw.role == stor", 14, "draw.role has no value stor; did you mean store"),
        ("draw.role == 'nosuch'", 14, "draw.role has no value nosuch"),
        ("draw.packet == CP_DRAW_INDX_OFSET", 16, "did you mean CP_DRAW_INDX_OFFSET"),
        ("target.name == 'colour 0'", 16, "no value colour 0; did you mean color 0"),
        ("source.tiling == 'TILE6_9'", 18, "no value TILE6_9; did you mean TILE6_"),
        ("target.format == FMT6_8_8_8_8_UNOR", 18, "did you mean FMT6_8_8_8_8_UNORM"),
        ("target.tiling != TILE6_4", 18, "no value TILE6_4; did you mean TILE6_"),
        ("pass.mode == 3", 1, "pass.mode is a text, 3 is not"),
        ("pass.mode < sysmem", 1, "pass.mode is a text"),
        ("pass.mode", 1, "pass.mode is a text, not a condition"),
        ("pass.views = 3", 12, "values are compared by =="),
        ("pass.views == 'x", 15, ""),
        ("pass.views ==", 14, "unexpected input"),
        ("(pass.views == 3", 17, "unexpected input"),
        ("change(RB_DEPTH_CNTL)", 1, "there is no function change; did you mean changed"),
        ("changed(pass.mode)", 9, "changed takes a register or a field"),
        ("changed(RB_DEPTH_CNTL, RB_DEPTH_CNTL)", 1, "changed takes one argument"),
        ("pass.mode ~ '('", 13, "regular expression"),
        (
            "draw.shaders.FS.full_register > 1",
            17,
            "shaders have no number full_register; did you mean full_registers",
        ),
        ("texture.FTM == 1", 9, "texture descriptors of a6xx have no field FTM; did you mean FMT"),
        ("texture.FMT == FMT6_8_UNORN", 16, "has no value FMT6_8_UNORN; did you mean FMT6_8_UNORM"),
        ("sampled('x')", 9, "x is not a number"),
        ("sampled(1, 2)", 1, "sampled takes one argument"),
        ("draw.shaders.XS == 1", 14, "there is no stage XS"),
        ("pass.views + RB_MRT[*].CONTROL == 1", 1, "several values"),
        ("pass.views + 'a' == 1", 14, "a is not a number"),
        ("(draw.indexed or draw.indirect) == 1", 2, "a condition is not a value"),
        ("pass.views in (a, b)", 16, "a is not a number"),
        ("", 1, ""),
    ], 9, names=3),
)  # fmt: skip
def test_errors(where: str, column: int, message: str) -> None:
    found = error(where)
    assert message in str(found)
    assert found.column == column


def test_bounds() -> None:
    assert "longer" in str(error("1 or " * MAX_LENGTH + "1"))
    assert "nest" in str(error("(" * (MAX_DEPTH + 1) + "1" + ")" * (MAX_DEPTH + 1)))
    deep = "(" * MAX_DEPTH + "pass.framebuffer.width == 1" + ")" * MAX_DEPTH
    assert Filter(deep).bind(Database.open("A6XX"))
    for long in ("not " * 1000 + "1", "1" + "+1" * 2000, "1" + "*9" * 2000, "1 and " * 600 + "1"):
        bound = Filter(f"{long} ").bind(Database.open("A6XX"))
        assert bound is not None


def test_numbers_do_not_grow_without_end() -> None:
    factors = "*".join(["99999999999999999999"] * 150)
    bound = Filter(f"unknown({factors} == 1)").bind(Database.open("A6XX"))
    assert bound.matches(Subject(None, None)) is True


def _with_indices(table: NameTable, name: str) -> str:
    """A name with [0] at each array; ``register_names`` leaves out those of repeated registers."""
    plain = name.replace("[0]", "").strip().upper()
    return table._patterns[plain].name_at([0] * 8)


@pytest.mark.parametrize("chip", ["A2XX", "A3XX", "A4XX", "A5XX", "A6XX", "A7XX"])
def test_every_register_name_is_found_at_its_offset(chip: str) -> None:
    database = Database.open(chip)
    table = NameTable(database)
    checked = 0
    for name, _ in database.register_names():
        offset = database.register_offset(name)
        if not table.has(name.replace("[0]", "")):
            continue
        text = name
        found = table.find(NamePath(_with_indices(table, text), 1))
        assert offset_of(found.places[0].offset) == offset, name
        checked += 1
    assert checked > 150


@pytest.mark.slow
def test_a_name_of_other_generations_is_unknown_where_asked_for(samples: Path) -> None:
    where = "RB_DEPTH_CNTL.ZFUNC == FUNC_LESS or draw.number == 0"
    path = samples / "a430-depth-good.rd"
    with pytest.raises(FilterError, match="a4xx has no register RB_DEPTH_CNTL"):
        ask(path, where)
    finder, bound = ask(path, where, lenient=True)
    draws = finder.found.passes[0].draws
    found = [bound.matches(one) for one in subjects(draws, finder.found.passes)]
    assert found == [True, None]
    assert bound.absent == ["a4xx has no RB_DEPTH_CNTL.ZFUNC"]
    Filter(where).check(None)
    with pytest.raises(FilterError, match="no generation has a register NONSENSE"):
        Filter("NONSENSE == 3").check(None)
    with pytest.raises(FilterError, match=r"register mode; did you mean pass\.mode or "):
        Filter("mode == gmem").check(None)
    # generations that know the register decide what is wrong with it, the newest first
    with pytest.raises(FilterError, match=r"RB_MRT has 8 elements, counted from 0"):
        Filter("RB_MRT[9].CONTROL").check(None)
    with pytest.raises(FilterError, match=r"RB_MRT is an array: RB_MRT\[0\] is its first"):
        Filter("RB_MRT.CONTROL").check(None)


_TERMS = {"T": True, "F": False, "U": None}


@pytest.mark.slow
@given(st.lists(st.sampled_from("TFU"), min_size=2, max_size=4), st.booleans())
def test_three_values(terms: list[str], is_and: bool) -> None:
    text = {"T": "1 == 1", "F": "1 == 2", "U": "draw.vertices == 1"}
    where = (" and " if is_and else " or ").join(text[term] for term in terms)
    subject = Subject(None, None)
    database = Database.open("A6XX")
    values = [_TERMS[term] for term in terms]
    decisive = not is_and
    expected = decisive if decisive in values else None if None in values else is_and
    assert Filter(where).bind(database).matches(subject) is expected
    negated = None if expected is None else not expected
    assert Filter(f"not ({where})").bind(database).matches(subject) is negated


@given(st.text(alphabet="RB_MRT[*]0x9.()=!<>~'\"&+-andorti n,", max_size=60))
def test_any_text_is_an_expression_or_an_error(text: str) -> None:
    try:
        found = parse_filter(text)
    except FilterError as problem:
        found = problem
    assert getattr(found, "column", None) is not None


def selected_writes(content: Content, at_once: bool) -> tuple[int, list[object]]:
    """Streams that were not decoded again, and the changes of all written registers."""
    walk = Walk(whole_groups=at_once, replays_streams=at_once)
    passes = PassFinder(walk)
    registers = range(0x8000, 0xB000)
    selected = SelectedWrites(walk, lambda _: registers, most_changes(len(content.data)))
    walk.observe(passes, selected)
    walk.run(content, lambda line: None)
    known = walk.machine.decoded.known if at_once else 0
    history = selected.store.history(0)
    return known, [list(map(list, history.changes(register))) for register in registers]


@pytest.mark.slow
def test_filters_that_ask_for_writes_replay_streams(samples: Path) -> None:
    check_writes(open_capture(str(samples / "a660-frame-gmem.rd")))


@pytest.mark.slow
def test_filters_that_ask_for_writes_replay_streams_of_a_driver(shared: Path) -> None:
    check_writes(open_capture(str(shared / "captures" / "a618-vk-depth-lrz-gmem.rd.gz")))


def check_writes(content: Content) -> None:
    replayed, changes = selected_writes(content, True)
    assert replayed
    assert changes == selected_writes(content, False)[1]
    assert any(orders for orders, _ in changes)


@pytest.mark.slow
def test_words_of_texts_are_all_their_values(shared: Path) -> None:
    """A word that a property may have is never refused; what is no word is in quotes."""
    for name in ("a220-gl-cube", "a320-gl-tri", "a430-gl-compute", "a530-gl-blit-msaa"):
        check_words(shared / f"captures/{name}.rd.gz")
    for name in ("a630-gl-blit-msaa", "a660-vk-xfer", "a740-vk-xfer"):
        check_words(shared / f"captures/{name}.rd.gz")


def check_words(path: Path) -> None:
    capture = cffpy.open(path)
    database = capture.registers.database
    for name, one in PROPERTIES.items():
        words = one.values(database)
        for action in capture.actions if words and one.kind == "text" else ():
            found = one.get(Subject(action, None))
            for value in found if isinstance(found, list) else [found]:
                assert value is None or ":" in value or value in words, (name, value)


BR, BV = 1, 2


def two_pipes(tmp_path: Path) -> Path:
    """A sysmem pass of two draws by BR; before the second one, BV writes and draws alone."""
    s = Streams(740)

    def thread(pipe: int) -> list[int]:
        return s.packet("CP_THREAD_CONTROL", pipe)

    pitch = "RB_DEPTH_BUFFER_PITCH"
    parts = [
        *(thread(BR), s.marker("RM6_DIRECT_RENDER"), s.raw(pitch, 1), s.draw()),
        *(thread(BV), s.raw(pitch, 2), s.raw("RB_DEPTH_BUFFER_ARRAY_PITCH", 2), s.draw()),
        *(s.raw(pitch, 3), thread(BR), s.draw(), thread(BV), s.draw()),
    ]
    path = tmp_path / "pipes.rd"
    path.write_bytes(s.capture([parts]))
    return path


@pytest.mark.parametrize(
    ("where", "holds"),
    [
        ("RB_DEPTH_BUFFER_PITCH", [64, 128, 64, 192]),
        ("changed(RB_DEPTH_BUFFER_PITCH)", [True, True, True, True]),
        ("written(RB_DEPTH_BUFFER_PITCH)", [True, True, False, True]),
        ("written(RB_DEPTH_BUFFER_ARRAY_PITCH)", [False, True, False, False]),
    ],
)
def test_an_action_has_the_registers_of_its_pipe(
    tmp_path: Path, where: str, holds: list[object]
) -> None:
    finder, bound = ask(two_pipes(tmp_path), where)
    found = list(subjects(finder.actions, finder.found.passes))
    assert [one.action.pipe for one in found if one.action] == ["BR", "BV", "BR", "BV"]
    if where.startswith("RB"):
        assert [bound.values(one)[0].value for one in found] == holds
    else:
        assert [bound.matches(one) for one in found] == holds


@pytest.mark.parametrize(
    "where", ["written(RB_DEPTH_BUFFER_PITCH)", "changed(RB_DEPTH_BUFFER_PITCH)"]
)
def test_a_draw_that_br_renders_does_not_see_what_bv_wrote(tmp_path: Path, where: str) -> None:
    finder, bound = ask(two_pipes(tmp_path), where)
    draws = [one for one in finder.actions if one.pipe == "BR"]
    assert [bound.matches(one) for one in subjects(draws, finder.found.passes)] == [True, False]


def test_a_filter_with_registers_takes_one_walk(
    samples: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where it was asked about another capture in between."""
    walks = 0
    run = Session.run

    def counted(session: Session, content: Content, *skips: Any) -> list[Damage]:
        nonlocal walks
        walks += 1
        return run(session, content, *skips)

    monkeypatch.setattr(Session, "run", counted)
    query = Filter("RB_MRT[0].CONTROL.COMPONENT_ENABLE > 0")
    paths = [samples / f"{name}.rd" for name in ("a660-frame-gmem", "a740-state-groups")]
    with cffpy.open(paths[0]) as one, cffpy.open(paths[1]) as other:
        found = []
        for capture in (one, other, one, other):
            capture._source.ask(query, at_draws=True)
            found.append([draw.name for draw, _ in capture.draws._choose(query)])
    assert walks == 2
    assert found[:2] == found[2:]
    assert found[0]


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize(
    "where",
    ["changed({0})", "written({0})", "{0} > 1", "any({1} != 0)", "all({1} != 0)", "unknown({0})"],
)
def test_the_store_of_all_registers_answers_as_the_store_of_a_filter(
    samples: Path, sample: str, where: str
) -> None:
    path = samples / f"{sample}.rd"
    is_new = not sample.startswith(("a430", "a530"))
    array = "RB_MRT[*].CONTROL" if is_new else "RB_MRT[*].BASE"
    query = Filter(where.format("RB_DEPTH_CNTL" if is_new else "RB_DEPTH_CONTROL", array))
    if sample == "a530-two-submits":
        query = Filter(where.format("RB_DEPTH_CNTL", "RB_MRT[*].CONTROL"))
    with cffpy.open(path) as fresh, cffpy.open(path) as recorded:
        recorded.draws[0].state  # noqa: B018 - all registers are recorded for it
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(Session, "run", None)
            of_all = [one.order for one, _ in recorded.actions._choose(query)]
        assert of_all == [one.order for one, _ in fresh.actions._choose(query)]


def test_the_store_of_all_registers_knows_pipes(tmp_path: Path) -> None:
    path = two_pipes(tmp_path)
    for where in ("written(RB_DEPTH_BUFFER_PITCH)", "RB_DEPTH_BUFFER_PITCH == 128"):
        query = Filter(where)
        with cffpy.open(path) as fresh, cffpy.open(path) as recorded:
            recorded.draws[0].state  # noqa: B018 - all registers are recorded for it
            of_all = [one.order for one, _ in recorded.actions._choose(query)]
            assert of_all == [one.order for one, _ in fresh.actions._choose(query)]
            assert of_all
