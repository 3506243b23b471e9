# SPDX-License-Identifier: MIT
"""Each lint fires on its sample, and is quiet on the sample that differs in what it is about."""

from __future__ import annotations

import ast
import io
import struct
from pathlib import Path

import pytest

from cffpy.check.model import SEVERITIES, Lint
from cffpy.check.registry import TOPICS, all_lints
from cffpy.check.runner import Checked, check_capture
from cffpy.container.open import open_bytes
from cffpy.pm4asm.assemble import assemble
from tests.selection import first_always

CHECKOUT = Path(__file__).resolve().parents[2]
SAMPLES = CHECKOUT / "samples" / "lints"
ALL = all_lints()


def checked_text(text: str, lint: str) -> Checked:
    content = open_bytes(assemble(io.BytesIO(text.encode()), "text"), "text")
    lints = [one for one in ALL if one.id == lint]
    return check_capture(content, lambda _line: None, lints=lints)


def checked(sample: str, lint: Lint) -> Checked:
    return checked_text((SAMPLES / f"{sample}.pm4").read_text("utf-8"), lint.id)


@pytest.mark.parametrize("lint", first_always(ALL), ids=lambda lint: lint.id)
def test_samples(lint: Lint) -> None:
    fires = checked(f"{lint.id}-fires", lint)
    assert {finding.lint.id for finding in fires.findings} == {lint.id}
    assert fires.findings[0].first.place is not None
    quiet = [path.stem for path in SAMPLES.glob(f"{lint.id}-quiet*.pm4")]
    assert f"{lint.id}-quiet" in quiet
    for sample in quiet:
        assert not checked(sample, lint).findings, sample


def test_a_value_that_a_pipe_may_miss() -> None:
    """BR writes over the value that BV waits for, and does not wait until BV has seen it."""
    text = (SAMPLES / "CFF050-quiet.pm4").read_text("utf-8")
    (store,) = (line for line in text.splitlines() if "PAYLOAD_0=0x1" in line)
    again = store.replace("PAYLOAD_0=0x1", "PAYLOAD_0=0x2")
    (found,) = checked_text(text.replace(store, f"{store}\n{again}"), "CFF050").findings
    assert found.first.text == (
        "BV waits for on-chip value 0x4 = 0x1, and BR may write over it before, "
        "at stream 0 > 0x100001050 +0x92"
    )


DIRECT = "SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX NUM_INSTANCES=1 NUM_INDICES=3"
INDEXED = (
    "SOURCE_SELECT=DI_SRC_SEL_DMA INDEX_SIZE=INDEX4_SIZE_16_BIT NUM_INSTANCES=1 NUM_INDICES=4"
    " FIRST_INDX=1 INDX_BASE=0x100006000 MAX_INDICES=5"
)
#: The first index is not drawn; the last one restarts primitives.
INDICES = "buffer indices 0x100006000 {\n  bytes 09 00 00 00 05 00 02 00 ff ff\n}\n"


@pytest.mark.parametrize(
    ("size", "base_vertex", "draw", "said"),
    [
        (72, 0, INDEXED, None),
        (71, 0, INDEXED, "vertex buffer 0 has 71 bytes; vertex 5 with stride 12 needs 72"),
        (71, -1, INDEXED, None),
        (72, 1, INDEXED, "vertex buffer 0 has 72 bytes; vertex 6 with stride 12 needs 84"),
        (36, 1, DIRECT, "vertex buffer 0 has 36 bytes; 4 vertices with stride 12 need 48"),
    ],
)
def test_the_last_vertex(size: int, base_vertex: int, draw: str, said: str | None) -> None:
    text = (SAMPLES / "CFF035-fires.pm4").read_text("utf-8")
    assert DIRECT in text
    offset = f"VFD_INDEX_OFFSET = {base_vertex & 0xFFFFFFFF:#x}\n    VFD_CONTROL_0 ="
    text = text.replace("SIZE = 35", f"SIZE = {size}").replace(DIRECT, draw)
    text = text.replace("VFD_CONTROL_0 =", offset).replace("stream main", f"{INDICES}\nstream main")
    found = checked_text(text, "CFF035").findings
    assert [finding.first.text for finding in found] == ([] if said is None else [said])


@pytest.mark.parametrize(
    ("lint", "before", "after"),
    first_always(
        [
            ("CFF032", "WIDTH=64 HEIGHT=64", "WIDTH=0 HEIGHT=0"),
            ("CFF036", "SIZE = 36", "SIZE = 0"),
        ],
        names=3,
    ),
)
def test_null_descriptors_are_no_errors(lint: str, before: str, after: str) -> None:
    """Programs may bind nothing, with Vulkan's nullDescriptor; drivers write zeros."""
    text = (SAMPLES / f"{lint}-fires.pm4").read_text("utf-8")
    assert before in text
    assert [one.severity for one in checked_text(text, lint).findings] == ["error"]
    found = checked_text(text.replace(before, after), lint).findings
    assert [(one.severity, " is null: " in one.first.text) for one in found] == [("info", True)]


def test_lrz_that_is_cleared_and_that_no_draw_uses() -> None:
    text = (SAMPLES / "CFF012-quiet.pm4").read_text("utf-8")
    off = text.replace("{ ENABLE, LRZ_WRITE, DIR=LRZ_DIR_LE }", "{ }")
    assert off != text
    (found,) = checked_text(off, "CFF012").findings
    assert found.count == 3
    assert not checked_text(off.replace("EVENT=LRZ_CLEAR", "EVENT=LRZ_FLUSH"), "CFF012").findings


@pytest.mark.parametrize("block", ["second", "stores"])
def test_samples_that_are_not_stored_or_not_loaded(block: str) -> None:
    """turnip has the commands of both modes in one IB, of which one is executed."""
    head, begins, rest = (
        (SAMPLES / "CFF041-fires.pm4").read_text("utf-8").partition(f"commands {block} ")
    )
    event = "CP_EVENT_WRITE EVENT=BLIT"
    for mode, count in (("GMEM", 1), ("SYSMEM", 0)):
        condition = f"CP_COND_REG_EXEC {mode} MODE=RENDER_MODE DWORDS=2\n{event}"
        text = head + begins + rest.replace(event, condition, 1)
        assert len(checked_text(text, "CFF041").findings) == count


def test_samples_that_are_replaced_before_they_are_loaded() -> None:
    """The pass between clears and stores the same image: its store is loaded, not the first."""
    text = (SAMPLES / "CFF041-fires.pm4").read_text("utf-8")
    load = "TYPE=BLIT_EVENT_LOAD"
    assert text.count(load) == 1
    mark = "    CP_EVENT_WRITE EVENT=LRZ_FLUSH\n"
    first, second = text.split(mark)
    second, blocks = second.split("  }\n", 1)
    between = second.replace("IB_BASE=second IB_SIZE=sizeof(second)", "IB_BASE=cleared IB_SIZE=12")
    commands, load_block = blocks.split("  commands second ", 1)
    body = load_block.partition("{\n")[2].partition("  }\n")[0]
    cleared = f"  commands cleared {{\n{body.replace(load, 'TYPE=BLIT_EVENT_CLEAR')}  }}\n"
    cleared = cleared.replace("IB_SIZE=12", "IB_SIZE=sizeof(cleared)")
    between = between.replace("IB_SIZE=12", "IB_SIZE=sizeof(cleared)")
    text = f"{first}{mark}{between}{mark}{second}  }}\n{commands}  commands second {load_block}"
    end = text.rindex("}\n\nstream main")
    (found,) = checked_text(f"{text[:end]}{cleared}{text[end:]}", "CFF041").findings
    assert found.first.pass_ is not None
    assert found.first.pass_.index == 1
    assert found.first.text == "color 0 is stored with 4 samples, and loaded by pass 2"


@pytest.mark.parametrize(
    ("function", "direction", "fires"),
    first_always(
        [
            ("LESS", "LRZ_DIR_LE", False),
            ("LEQUAL", "LRZ_DIR_LE", False),
            ("LESS", "LRZ_DIR_GE", True),
            ("LEQUAL", "LRZ_DIR_LE, GREATER", True),
            ("GEQUAL", "LRZ_DIR_GE, GREATER", False),
            ("GREATER", "LRZ_DIR_GE", True),
            ("ALWAYS", "LRZ_DIR_LE", True),
            ("NOTEQUAL", "LRZ_DIR_LE", True),
            ("EQUAL", "LRZ_DIR_LE", False),
            ("NEVER", "LRZ_DIR_LE", False),
            ("GREATER", "0", True),
            ("GREATER", "0, GREATER", False),
            ("ALWAYS", "0", False),
        ],
        names=3,
    ),
)
def test_directions_of_lrz(function: str, direction: str, fires: bool) -> None:
    """The Gallium driver has no DIR (0); LRZ may be on for NEVER there."""
    text = (SAMPLES / "CFF012-quiet.pm4").read_text("utf-8")
    text = text.replace("DIR=LRZ_DIR_LE", f"DIR={direction}").replace(
        "FUNC_LESS", f"FUNC_{function}"
    )
    assert bool(checked_text(text, "CFF049").findings) == fires


INDEXED_DRAW = "FIRST_INDX=2 INDX_BASE=0x100006000 MAX_INDICES=8"


@pytest.mark.parametrize(
    ("draw", "said"),
    [
        (INDEXED_DRAW, []),
        ("FIRST_INDX=2 INDX_BASE=0x0 MAX_INDICES=8", ["INDX_BASE is 0"]),
        (
            "FIRST_INDX=0 INDX_BASE=0x100006008 MAX_INDICES=8",
            ["6 indices have 12 bytes, of which the buffer has 8"],
        ),
        # the GPU reads no more than MAX_INDICES, which CFF048 is about
        ("FIRST_INDX=0 INDX_BASE=0x100006008 MAX_INDICES=4", []),
        (
            "FIRST_INDX=2 INDX_BASE=0x100009000 MAX_INDICES=8",
            ["INDX_BASE 0x100009000 lies in no buffer of the submit"],
        ),
    ],
)
def test_indices_outside_of_their_buffer(draw: str, said: list[str]) -> None:
    text = (SAMPLES / "CFF047-quiet.pm4").read_text("utf-8")
    assert INDEXED_DRAW in text
    found = checked_text(text.replace(INDEXED_DRAW, draw), "CFF047").findings
    assert [one.first.text for one in found] == said


def test_draws_of_one_packet_have_a_limit_each() -> None:
    """MAX_INDICES is of each of them, their number of indices the sum."""
    text = (SAMPLES / "CFF048-quiet.pm4").read_text("utf-8")
    (line,) = [one for one in text.splitlines() if "CP_DRAW_INDX_OFFSET" in one]
    for draws, count in ((2, 0), (1, 1)):
        multiple = (
            "    CP_DRAW_INDIRECT_MULTI PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_DMA"
            " INDEX_SIZE=INDEX4_SIZE_16_BIT OPCODE=INDIRECT_OP_INDEXED"
            f" DRAW_COUNT={draws} INDEX=0x100006000 MAX_INDICES=8 INDIRECT=0x100006100 STRIDE=20"
        )
        one = f"0000000{9 - 4 * (draws - 1)} 00000001 00000000 00000000 00000000\n  "
        buffer = f"buffer parameters 0x100006100 {{\n  {one * draws}}}\n\nstream main"
        changed = text.replace(line, multiple).replace("stream main", buffer)
        assert len(checked_text(changed, "CFF048").findings) == count


def test_an_address_without_a_buffer_in_a_capture_of_all_buffers() -> None:
    """Where the target is in the capture, all buffers are."""
    text = (SAMPLES / "CFF037-fires.pm4").read_text("utf-8")
    text = text.replace("SP_FS_OBJ_START = 0x0", "SP_FS_OBJ_START = 0x100008000")
    (found,) = checked_text(text, "CFF037").findings
    assert (found.severity, found.first.text) == (
        "info",
        "the FS program at 0x100008000 was not captured",
    )
    target = "buffer target 0x100100000 size 131072 {\n  fill 0x0 * 4\n}\n\nstream main"
    (found,) = checked_text(text.replace("stream main", target), "CFF037").findings
    assert (found.severity, found.first.text) == (
        "error",
        "the FS program at 0x100008000 lies in no buffer of the submit",
    )


def test_loads_for_a_program_without_constants() -> None:
    """turnip loads a vector of zeros then, with CONSTLEN 0: nothing is lost."""
    text = (SAMPLES / "CFF001-quiet.pm4").read_text("utf-8")
    reads = "mov.f32f32 r0.x, c0.x"
    assert reads in text
    text = text.replace("CONSTLEN=4", "CONSTLEN=0")
    assert [one.severity for one in checked_text(text, "CFF001").findings] == ["error"]
    assert not checked_text(text.replace(reads, "mov.f32f32 r0.x, r1.x"), "CFF001").findings


def test_programs_that_no_command_is_about() -> None:
    text = (SAMPLES / "CFF046-fires.pm4").read_text("utf-8")
    text = text.replace("    SP_VS_CONFIG = { }\n", "")
    (found,) = checked_text(text, "CFF046").findings
    assert (found.severity, found.first.text) == ("error", "no VS and no FS program is enabled")
    (found,) = checked_text(text.replace("    SP_FS_CONFIG = { }\n", ""), "CFF046").findings
    assert (found.severity, found.first.text) == (
        "warning",
        "no VS and no FS program is enabled: SP_VS_CONFIG and SP_FS_CONFIG were never written",
    )


def floats(*values: float) -> str:
    return struct.pack(f"<{len(values)}f", *values).hex(" ")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("primitive", "vertices", "covers"),
    first_always(
        [
            ("TRILIST", (-1, -1, 3, -1, -1, 3), True),
            ("TRILIST", (-1, -1, 2.9, -1, -1, 3), False),
            ("TRISTRIP", (-1, -1, 1, -1, -1, 1, 1, 1), True),
            ("TRISTRIP", (-1, -1, 1, -1, 1, 1, -1, 1), False),
            ("TRIFAN", (-1, -1, 1, -1, 1, 1, -1, 1), True),
            ("TRISTRIP", (-1, -1, 0.5, -1, -1, 1, 0.5, 1), False),
            ("TRILIST", (-1, -1, 1, -1, 1, 1, -1, -1, 1, 1, -1, 1), True),
            ("TRILIST", (-1, -1, 1, -1, 1, 1, -1, -1, 1, -1, 1, 1), False),
            ("TRILIST", (-1, -1, float("nan"), -1, -1, 3), False),
        ],
        names=3,
    ),
)
def test_vertices_that_cover_the_target(
    primitive: str, vertices: tuple[float, ...], covers: bool
) -> None:
    text = (SAMPLES / "CFF008-fires.pm4").read_text("utf-8")
    before = floats(-1, -1, 3, -1, -1, 3)
    words = " ".join(f"{word:08x}" for word in struct.unpack("<6I", bytes.fromhex(before)))
    assert words in text
    count = len(vertices) // 2
    text = text.replace(words, f"bytes {floats(*vertices)}").replace(
        "SIZE = 24", f"SIZE = {8 * count}"
    )
    text = text.replace("DI_PT_TRILIST", f"DI_PT_{primitive}", 1)
    text = text.replace("NUM_INDICES=3\n", f"NUM_INDICES={count}\n")
    assert bool(checked_text(text, "CFF008").findings) == covers
    for change in (
        ("    end\n    nop", "    mov.f32f32 r0.x, c0.x\n    end"),  # of the vertex program
        ("GRAS_CL_VPORT[0].XOFFSET", "GRAS_SU_CNTL = { CULL_BACK }\n    GRAS_CL_VPORT[0].XOFFSET"),
        ("DECODE_CNT=1", "DECODE_CNT=2"),
    ):
        assert change[0] in text
        assert not checked_text(
            text[::-1].replace(change[0][::-1], change[1][::-1], 1)[::-1], "CFF008"
        ).findings


def test_memory_of_targets_may_be_stale_in_gmem() -> None:
    """The vendor's driver writes where targets lie in memory for SYSMEM passes only."""
    text = (CHECKOUT / "samples" / "a640-vendor-frame.pm4").read_text("utf-8")
    assert not checked_text(text, "CFF003").findings


@pytest.mark.parametrize("lint", ALL, ids=lambda lint: lint.id)
def test_texts(lint: Lint) -> None:
    assert lint.severity in SEVERITIES
    assert lint.name == lint.name.lower()
    assert not lint.summary.endswith(".")
    assert lint.why.endswith(".")
    assert lint.advice.endswith(".")


def test_every_module_of_lints_is_a_topic() -> None:
    folder = CHECKOUT / "cffpy" / "check" / "lints"
    assert sorted(TOPICS) == sorted(path.stem for path in folder.glob("[!_]*.py"))
    assert len(ALL) >= 48
    assert {path.stem.split("-")[0] for path in SAMPLES.glob("*.pm4")} == {one.id for one in ALL}


def test_no_two_lints_have_one_id() -> None:
    declared = [
        node.args[0].value
        for path in (CHECKOUT / "cffpy" / "check" / "lints").glob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "lint"
    ]
    assert sorted(declared) == [one.id for one in ALL]


def test_each_rule_that_is_left_out_is_in_the_document() -> None:
    document = (CHECKOUT / "docs" / "reference" / "lints.md").read_text("utf-8")
    for number in set(range(1, 46)) - {int(lint.id[3:]) for lint in ALL}:
        assert f"| {number} |" in document, "with the reason"


@pytest.mark.parametrize(
    ("gpu", "limit", "buffer", "fires"),
    [
        ("chip_id 0x06060001", 4096, 0, False),
        ("chip_id 0x06060001", 32 * 4096 - 1, 0, True),
        ("chip_id 0x06060001", 32 * 4096, 0, False),
        ("chip_id 0x06060001", 32 * 4096, 40 * 4096, False),
        ("chip_id 0x06060001", 41 * 4096, 40 * 4096, True),
        ("gpu_id 610", 16 * 4096, 0, False),
        ("gpu_id 610", 15 * 4096, 0, True),
    ],
)
def test_limits_that_are_the_size_of_all_streams(
    gpu: str, limit: int, buffer: int, fires: bool
) -> None:
    """As older drivers have it: for all pipes of the part, and within the buffer."""
    text = (SAMPLES / "CFF044-fires.pm4").read_text("utf-8")
    text = text.replace("chip_id 0x06060001", gpu).replace("LIMIT = 8192", f"LIMIT = {limit}")
    if buffer:
        streams = f"buffer streams 0x100200000 size {buffer} {{\n  fill 0x0 * 4\n}}\n"
        text = text.replace("stream main", f"{streams}stream main")
    found = checked_text(text, "CFF044").findings
    assert [one.first.text for one in found] == [
        f"the limit of draw streams is {limit}, their pitch 4096" for _ in range(fires)
    ]


OLD_PROGRAM = """pm4 1
gpu_id {gpu}
buffer commands 0x10001000 size 4096 {{
  commands main at 0x10001000 {{
    HLSQ_VS_CONTROL_REG = {{ INSTRLENGTH=2 }}
    {write}
    CP_LOAD_STATE{form} STATE_SRC={source} STATE_BLOCK={block} NUM_UNIT=1 STATE_TYPE={kind}
    + 00000000 03000000
    {draw}
  }}
}}
buffer programs 0x10003000 size {size} {{
  bytes 00 00 00 00 00 00 00 03
}}
stream main
"""
OLD = {
    320: {
        "write": "SP_VS_OBJ_START_REG = {}",
        "form": "",
        "source": "SS_{}",
        "block": "SB_VERT_SHADER",
        "kind": "ST_SHADER",
        "draw": "CP_DRAW_INDX PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX"
        " NUM_INDICES=3",
    },
    420: {
        "write": "SP_VS_OBJ_START = {}",
        "form": "4",
        "source": "SS4_{}",
        "block": "SB4_VS_SHADER",
        "kind": "ST4_SHADER",
        "draw": f"CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_TRILIST {DIRECT}",
    },
}


@pytest.mark.parametrize(
    ("gpu", "address", "size", "source", "said"),
    [
        (320, "0x10003000", 64, "INDIRECT", None),
        (320, "0x10003000", 60, "INDIRECT", "has 64 bytes, of which 60 were captured"),
        (320, "0x0", 64, "INDIRECT", "the VS program has address 0"),
        (320, "0x0", 64, "DIRECT", None),
        (420, "0x10003000", 256, "INDIRECT", None),
        (420, "0x10003000", 252, "INDIRECT", "has 256 bytes, of which 252 were captured"),
        (420, "0x20000000", 256, "INDIRECT", "at 0x20000000 was not captured"),
        (420, "0x20000000", 256, "DIRECT", None),
    ],
)
def test_programs_of_old_generations(
    gpu: int, address: str, size: int, source: str, said: str | None
) -> None:
    """They may lie in packets; their sizes have other units."""
    form = dict(OLD[gpu])
    form["write"] = form["write"].format(address)
    form["source"] = form["source"].format(source)
    text = OLD_PROGRAM.format(gpu=gpu, size=size, **form)
    found = [one.first.text for one in checked_text(text, "CFF037").findings]
    assert len(found) == (said is not None)
    assert said is None or said in found[0]


def test_constants_twice_of_an_old_generation() -> None:
    load = (
        "CP_LOAD_STATE4 STATE_SRC=SS4_DIRECT STATE_BLOCK=SB4_VS_SHADER NUM_UNIT=1"
        " STATE_TYPE=ST4_CONSTANTS\n    + 00000000 00000000 00000000 00000000\n"
    )
    draw = OLD[420]["draw"]
    for packets, count in (
        (f"{load}    {load}    {draw}", 1),
        (f"{load}    {draw}\n    {load}", 0),
    ):
        text = (
            "pm4 1\ngpu_id 430\nbuffer commands 0x10001000 size 4096 {\n"
            f"  commands main at 0x10001000 {{\n    {packets}\n  }}\n}}\nstream main\n"
        )
        assert len(checked_text(text, "CFF002").findings) == count
