# SPDX-License-Identifier: MIT
"""dump --annotate: without the annotations it is the dump; the content of annotations."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from cffpy.analysis.annotations import AnnotationFinder, Annotator, Note
from cffpy.container.open import Content, open_bytes, open_capture
from cffpy.container.section_types import SectionType
from cffpy.container.writer import (
    buffer_sections,
    capture_bytes,
    command_stream_section,
    dwords_bytes,
    gpu_id_section,
)
from cffpy.cp.session import is_compositor
from cffpy.errors import CffpyError
from cffpy.regdb.database import Database
from cffpy.views.cffdump.annotate import SOURCES, AnnotatedDump, AnnotatedOutput, choose_prefix
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import QUERY_DELTA, DumpOptions
from tests.builders import COMMANDS, capture, type4, type7
from tests.fuzz.captures import GENERATIONS, file_bytes
from tests.fuzz.mutate import flip
from tests.fuzz.packets import made_up
from tests.selection import first_always
from tests.views.test_dump_fuzz import OPTIONS, SEED, Enough

NOP, INDIRECT_BUFFER, DRAW, DRAW_STATE, EVENT, CONDITIONAL, MARKER = (
    *(0x10, 0x3F, 0x38, 0x43, 0x46, 0x47),
    0x65,
)
BYPASS, BINNING, TILE, STORES = 1, 2, 4, 6
MESSAGE = 0x4D455347
BLIT_EVENT = 30
MUCH = 20_000_000  # bytes of output after which a file is given up
GMEM_ONLY, SYSMEM_ONLY = 3 << 28 | 1 << 26, 3 << 28 | 1 << 27

MORE_OPTIONS: tuple[dict[str, object], ...] = (
    {"start": 1},
    {"end": 0, "summary": True},
    {"draw": 3},
    {"query": ("RB_MRT[0].CONTROL",), "query_mode": QUERY_DELTA},
    {"once": True},
    {"exe": "nobody"},
)


def run(printer: Dump, contents: list[Content]) -> None:
    try:
        for number, content in enumerate(contents):
            printer.begin(f"file {number}")
            printer.file(content)
    except (CffpyError, Enough):
        pass


def dumps(*files: bytes, **options: object) -> tuple[bytes, bytes]:
    """The output without and with annotations, each up to the same length."""
    found = []
    contents = [open_bytes(data) for data in files]
    chosen = DumpOptions(**options)
    prefix = choose_prefix(content.data for content in contents)
    for annotates in (False, True):
        pieces: list[bytes] = []
        size = 0

        def write(piece: bytes, pieces: list[bytes] = pieces) -> None:
            nonlocal size
            size += len(piece)
            if size > MUCH:
                raise Enough
            pieces.append(piece)

        if annotates:
            run(AnnotatedDump(prefix, chosen, write, lambda line: None), contents)
        else:
            run(Dump(chosen, write, lambda line: None), contents)
        found.append(b"".join(pieces))
    return found[0], found[1]


def split(annotated: bytes) -> tuple[list[str], bytes]:
    """The annotations, and the output without them. The first line gives the prefix."""
    if not annotated:
        return [], b""
    prefix = annotated[: annotated.index(b" ") + 1]
    lines = annotated.split(b"\n")
    notes = [line[len(prefix) :].decode("latin-1") for line in lines if line.startswith(prefix)]
    return notes, b"\n".join(line for line in lines if not line.startswith(prefix))


def check(*files: bytes, **options: object) -> list[str]:
    """Remove the annotations, compare; the annotations."""
    plain, annotated = dumps(*files, **options)
    notes, rest = split(annotated)
    if max(len(plain), len(annotated)) > MUCH // 2:  # maybe given up, and within a line
        rest = rest[: rest.rindex(b"\n") + 1]
        shared = min(len(plain), len(rest))
        assert shared > MUCH // 4
        rest, plain = rest[:shared], plain[:shared]
    assert rest == plain
    return notes


# -- removal gives the plain dump -----------------------------------------------------------------


@pytest.mark.parametrize("options", first_always([*OPTIONS, *MORE_OPTIONS]), ids=str)
def test_samples(samples: Path, options: dict[str, object]) -> None:
    told = 0
    for path in sorted(samples.glob("a*.rd*")):
        told += len(check(bytes(open_capture(str(path)).data), **options))
    assert told > 0


def all_notes(data: bytes) -> list[Note]:
    """All annotations of the sources."""
    notes: list[Note] = []

    def collect(finder: AnnotationFinder) -> list[Note]:
        notes.extend(note for source in SOURCES for note in source(finder))
        return []

    Annotator([collect]).annotate(open_bytes(data), is_compositor)
    return notes


@pytest.mark.slow
def test_reference_captures(shared: Path) -> None:
    """A share of each generation: no text of the dump and no annotation is lost."""
    for generation in range(2, 8):
        names = shared.glob(f"captures/a{generation}*.rd.gz")
        found = sorted(names, key=lambda path: path.stat().st_size)
        for path in found[: len(found) // 2 : 6]:
            data = bytes(open_capture(str(path)).data)
            told = check(data, unit_test=True)
            if not told[-1].startswith("submit"):
                continue  # so long that it was given up
            groups = sum(note.startswith("draw-state group") for note in told)
            assert len(told) == 1 + groups + len(all_notes(data)), path


@pytest.mark.slow
def test_every_begin_has_its_end(shared: Path) -> None:
    data = bytes(open_capture(str(shared / "captures" / "a660-vk-cube-gmem-forcebin.rd.gz")).data)
    open_now: list[str] = []
    kinds = ("submit", "stream", "pass", "tile", "binning", "loads", "clears", "stores")
    for note in check(data):
        name = note.split(":")[0]
        if not name.startswith(kinds):
            continue
        if name.endswith((" begins", " begin")):
            open_now.append(name.rpartition(" ")[0])
        elif name.endswith((" ends", " end")):
            assert open_now.pop() == name.rpartition(" ")[0]
    assert open_now == []


@pytest.mark.fuzz
@pytest.mark.parametrize("number", range(8))
def test_random_captures(number: int) -> None:
    rng = random.Random(3 * SEED + number)
    for _ in range(12):
        check(file_bytes(made_up(rng, rng.choice(GENERATIONS))), **OPTIONS[number])


@pytest.mark.fuzz
@pytest.mark.parametrize("spots", [3, 60])
def test_mutated_samples(samples: Path, spots: int) -> None:
    rng = random.Random(SEED)
    for path in sorted(samples.glob("a*.rd*")):
        check(flip(rng, bytes(open_capture(str(path)).data), spots))


@pytest.mark.slow
def test_several_files(samples: Path) -> None:
    files = [bytes(open_capture(str(path)).data) for path in sorted(samples.glob("a*.rd*"))]
    notes = check(*files)
    assert sum(note.startswith("submit 0 begins") for note in notes) == len(files)
    without_name = capture_bytes(
        [
            *buffer_sections(COMMANDS, dwords_bytes(type7(NOP, 0))),
            command_stream_section(COMMANDS, 2),
        ]
    )
    assert "submit 0 begins: 1 command stream" in check(files[0], without_name)


# -- hostile captures -----------------------------------------------------------------------------


def process_capture(name: bytes, commands: list[int]) -> bytes:
    return capture(630, commands, before=[(SectionType.CMD, name)])


@pytest.mark.parametrize(
    "name",
    first_always(
        [
            b"#cffpy evil",
            b"x\n#cffpy submit 0 ends\n#cffpy2 pass 0 begins",
            b"x\r#cffpy y",
            b"\n\n\n#cffpy",
            b"no line feed at the end\n#cffpy \n",
        ]
    ),
)
def test_names_of_processes_like_annotations(name: bytes) -> None:
    draw = type7(DRAW, 4, 1, 3)
    plain, annotated = dumps(process_capture(name, draw))
    assert name in plain
    notes, rest = split(annotated)
    assert rest == plain
    assert "draw 0 of pass 0 (dump draw 0)" in notes
    for section in (SectionType.TEST, SectionType.VERT_SHADER, SectionType.FRAG_SHADER):
        check(capture(630, draw, before=[(section, name)]))


def test_markers_like_annotations() -> None:
    text = b"x\n#c\x80ffpy evil\n#cff\xffpy\x9917\xa0 y\n"
    text += bytes(-len(text) % 4)
    words = [int.from_bytes(text[at : at + 4], "little") for at in range(0, len(text), 4)]
    data = capture(630, [*type7(NOP, MESSAGE, *words), *type7(DRAW, 4, 1, 3)])
    plain, annotated = dumps(data)
    assert b"\n#cffpy evil\n#cffpy17 y\n" in plain
    assert annotated.startswith(b"#cffpy2 annotations")
    assert split(annotated)[1] == plain


def test_marker_without_an_end() -> None:
    draw = type7(DRAW, 4, 1, 3)
    plain, annotated = dumps(capture(630, [*type7(NOP, MESSAGE), *draw, *type7(NOP, MESSAGE)]))
    assert plain.count(b"### 0000") == 2
    assert split(annotated)[1] == plain


def test_annotations_wait_for_a_line_to_begin() -> None:
    pieces: list[bytes] = []
    output = AnnotatedOutput(pieces.append, "# ")
    output.annotate("first")
    output.put("one ")
    output.annotate("second")
    output.put("")
    output.put_large("two ")
    output.put("three\n")
    output.settle()
    output.annotate("third")
    output.put("four")
    output.annotate("never")
    output.settle()
    output.flush()
    assert b"".join(pieces) == b"# first\none two three\n# second\n# third\nfour"


def test_control_characters_in_annotations() -> None:
    marker = b"a\n\r\x1b[31mb\x85\0\0\0"
    words = [int.from_bytes(marker[at : at + 4], "little") for at in range(0, len(marker), 4)]
    begin = type7(NOP, 0x4245474E, *words)
    notes = check(capture(630, [*begin, *type7(MARKER, BYPASS), *type7(DRAW, 4, 1, 3)]))
    told = next(note for note in notes if note.startswith("pass 0 begins"))
    assert "\\x0a" in told
    assert all(character.isprintable() for character in told)


# -- the prefix -----------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("texts", "expected"),
    [
        ([], "#cffpy "),
        ([b"#cffpy", b"cffpy ", b"#cffpyx "], "#cffpy "),
        ([b"...#cffpy ..."], "#cffpy2 "),
        ([b"#cffpy2 #cffpy3 "], "#cffpy "),
        ([b"#cffpy ", memoryview(b"#cffpy3 #cffpy2 ")], "#cffpy4 "),
        ([b"#c\x80\xffffpy\x90 "], "#cffpy2 "),
        ([b"#cffpy " + b"#cffpy" + b"2" * 5000 + b" "], "#cffpy2 "),
    ],
)
def test_prefix(texts: list[bytes], expected: str) -> None:
    assert choose_prefix(texts) == expected


# -- what annotations say -------------------------------------------------------------------------


def set_register(name: str, value: int) -> list[int]:
    return type4(Database.open("A6XX").register_offset(name), value)


def corner(name: str, x: int, y: int) -> list[int]:
    return set_register(name, y << 16 | x)


DRAWS, STORE_BUFFER, GROUP = 0x200000, 0x300000, 0x400000


def tile(x: int, draws: list[int]) -> list[int]:
    return [
        *type7(MARKER, TILE),
        *set_register("RB_BIN_CONTROL", 32 >> 5 | 32 >> 4 << 8),
        *corner("RB_WINDOW_OFFSET", x, 0),
        *corner("GRAS_SC_WINDOW_SCISSOR_TL", x, 0),
        *corner("GRAS_SC_WINDOW_SCISSOR_BR", x + 31, 31),
        *type7(INDIRECT_BUFFER, DRAWS, 0, len(draws)),
        *type7(MARKER, STORES),
        *set_register("RB_BLIT_INFO", 0),
        *type7(EVENT, BLIT_EVENT),
    ]


@pytest.fixture(scope="module")
def gmem_capture() -> bytes:
    """Two tiles; the draw IB has a clear for GMEM and one for sysmem, a group and a draw."""
    clear = [*set_register("RB_BLIT_INFO", 2), *type7(EVENT, BLIT_EVENT)]
    group = set_register("RB_DEPTH_CNTL", 0)
    mask = 1 << 20  # binning only
    draws = [
        *type7(CONDITIONAL, GMEM_ONLY, len(clear)),
        *clear,
        *type7(CONDITIONAL, SYSMEM_ONLY, len(clear)),
        *clear,
        *type7(DRAW_STATE, len(group) | mask | 2 << 24, GROUP, 0),
        *type7(DRAW, 4, 1, 3),
    ]
    commands = [*tile(0, draws), *tile(32, draws)]
    return capture(630, commands, {DRAWS: draws, GROUP: group})


def test_pass_of_two_tiles(gmem_capture: bytes) -> None:
    notes = check(gmem_capture)
    assert notes[:4] == [
        "annotations: lines that begin as this one are not cffdump's",
        "submit 0 begins: 1 command stream",
        "pass 0 begins: gmem, framebuffer unknown, at most 64x32, 1 draw;"
        " 2 tiles of 32x32 in 2 x 1",
        "tile 0 of pass 0 begins: rectangle 0,0+32x32",
    ]
    assert notes[-2:] == ["pass 0 ends", "submit 0 ends"]
    second = notes.index("tile 1 of pass 0 begins: rectangle 32,0+32x32")
    assert notes[second - 1] == "tile 0 of pass 0 ends"
    behind = 0x200000 + 4 * 7
    assert notes[second + 1 : -2] == [
        "IB: 1 clear, 1 draw of pass 0, tile 1",
        f"the next 4 dwords, to {behind:#x}, are executed: in gmem only; now gmem",
        "clears of tile 1 of pass 0 begin: attachment unknown",
        "attachment unknown: clear by BLIT event; of pass 0, tile 1 (dump draw 4)",
        "clears of tile 1 of pass 0 end",
        f"the next 4 dwords, to {behind + 4 * 7:#x}, are not executed: in sysmem only; now gmem",
        "attachment unknown: clear by BLIT event; of pass 0, tile 1 (dump draw 5);"
        " not executed: in sysmem only; now gmem",
        "draw-state group 2 (1 register) is not loaded: enabled in binning; now gmem",
        "draw 0 of pass 0, tile 1 (dump draw 6)",
        "stores of tile 1 of pass 0 begin: attachment unknown",
        "attachment unknown: store by BLIT event; of pass 0, tile 1 (dump draw 7)",
        "stores of tile 1 of pass 0 end",
        "tile 1 of pass 0 ends",
    ]


def test_annotations_stand_at_their_packets(gmem_capture: bytes) -> None:
    _, annotated = dumps(gmem_capture)
    lines = annotated.decode("latin-1").split("\n")
    at = lines.index("#cffpy tile 1 of pass 0 begins: rectangle 32,0+32x32")
    assert "opcode: \x1b" not in lines[at + 1]
    assert "opcode: CP_SET_MARKER" in lines[at + 1]
    at = next(n for n, line in enumerate(lines) if "(1 register) is not loaded" in line)
    assert lines[at + 1].endswith("group_id: 2")
    at = lines.index("#cffpy draw 0 of pass 0, tile 1 (dump draw 6)")
    assert any("draw[6] register values" in line for line in lines[at : at + 4])


def test_without_packets_only_passes_and_draws(gmem_capture: bytes) -> None:
    notes = check(gmem_capture, query=("RB_BIN_CONTROL",))
    assert "tile 1 of pass 0 ends" in notes
    assert "draw 0 of pass 0, tile 1 (dump draw 6)" in notes
    assert not any(note.startswith(("IB", "the next", "draw-state")) for note in notes)


def test_draws_that_a_query_passes_over(gmem_capture: bytes) -> None:
    notes = check(gmem_capture, query=("RB_BIN_CONTROL",), query_mode=QUERY_DELTA)
    assert [note for note in notes if "dump draw" in note] == [
        "attachment unknown: clear by BLIT event; of pass 0, tile 0 (dump draw 0)"
    ]


def test_one_draw(gmem_capture: bytes) -> None:
    notes = check(gmem_capture, draw=6)
    assert "draw 0 of pass 0, tile 1 (dump draw 6)" in notes
    assert not any("dump draw 5" in note or "tile 0" in note for note in notes)


def test_binning_and_pass_over_streams() -> None:
    first = [*type7(MARKER, BINNING), *type7(DRAW, 4, 1, 3)]
    second = [*type7(MARKER, TILE), *type7(DRAW, 4, 1, 3)]
    sections = [
        gpu_id_section(630),
        *buffer_sections(COMMANDS, dwords_bytes(first)),
        *buffer_sections(DRAWS, dwords_bytes(second)),
        command_stream_section(COMMANDS, len(first)),
        command_stream_section(DRAWS, len(second)),
    ]
    notes = check(capture_bytes(sections))
    assert notes[1:4] == [
        "submit 0 begins: 2 command streams",
        "stream 0 of submit 0 begins",
        "pass 0 begins: gmem with hardware binning, framebuffer unknown, 1 draw",
    ]
    assert "binning run of pass 0 begins" in notes
    assert "binning run of pass 0 ends" in notes
    begins = notes.index("stream 1 of submit 0 begins")
    assert notes[begins - 1] == "stream 0 of submit 0 ends"
    assert notes[begins + 1] == "pass 0 continues"
    assert notes[-3:] == ["pass 0 ends", "stream 1 of submit 0 ends", "submit 0 ends"]


@pytest.mark.parametrize("condition", [GMEM_ONLY, SYSMEM_ONLY])
def test_block_within_a_group_behind_a_block(condition: int) -> None:
    """The walk runs blocks as separate streams, the dump does not: the places are the same."""
    write = set_register("RB_DEPTH_CNTL", 0)
    group = [*write, *type7(CONDITIONAL, SYSMEM_ONLY, len(write)), *write]
    nops = [*type7(NOP, 0), *type7(NOP, 0)]
    commands = [
        *type7(MARKER, BYPASS),
        *type7(DRAW_STATE, len(group) | 7 << 20, GROUP, 0),
        *type7(CONDITIONAL, condition, len(nops)),
        *nops,
        *write,
        *type7(DRAW, 4, 1, 3),
    ]
    notes = check(capture(630, commands, {GROUP: group}))
    end = GROUP + 4 * len(group)
    assert f"the next 2 dwords, to {end:#x}, are executed: in sysmem only; now sysmem" in notes


def test_buffers_that_are_not_captured() -> None:
    notes = check(capture(630, type7(INDIRECT_BUFFER, 0x900000, 0, 4)))
    assert "IB: not captured" in notes


def test_processes_that_are_chosen() -> None:
    data = process_capture(b"chrome", type7(DRAW, 4, 1, 3))
    assert not any(note.startswith("draw") for note in check(data))
    for options in ({"show_compositor": True}, {"exe": "chr"}):
        assert any(note.startswith("draw") for note in check(data, **options))
