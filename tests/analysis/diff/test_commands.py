# SPDX-License-Identifier: MIT
"""Each field of packets between draws that is compared, and of those that dispatch and copy.

One packet before a draw differs in one field or one bit between two captures.
"""

from __future__ import annotations

import pytest

import cffpy
from cffpy.analysis.diff.commands import BARRIERS, COMMANDS, COMPARED_PACKETS, EVENTS
from tests.selection import first_always

DRAWS = {
    220: "CP_DRAW_INDX PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX NUM_INDICES=3",
    630: "CP_DRAW_INDX_OFFSET PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_AUTO_INDEX"
    " NUM_INSTANCES=1 NUM_INDICES=3",
}
DRAWS[320] = DRAWS[220]
DRAWS[420] = DRAWS[530] = DRAWS[740] = DRAWS[630]


def capture_of(gpu: int, *packets: str) -> bytes:
    """A capture of these packets and a draw."""
    lines = "\n    ".join((*packets, DRAWS[gpu]))
    return cffpy.compile(
        f"pm4 1\ngpu_id {gpu}\nbuffer memory 0x10001000 size 4096 {{\n"
        f"  commands main at 0x10001000 {{\n    {lines}\n  }}\n}}\n"
        "stream main\n"
    )


def first_title(gpu: int, good: str, bad: str) -> str:
    """The first entry of a comparison of two captures; empty where there is none."""
    captures = [cffpy.open(capture_of(gpu, packet)) for packet in (good, bad)]
    entries = cffpy.diff(*captures).entries
    return entries[0].title if entries else ""


WAIT = "CP_WAIT_REG_MEM FUNCTION=WRITE_EQ POLL=POLL_MEMORY POLL_ADDR=0x5000 REF={} MASK={}"
POLLED = "CP_WAIT_REG_MEM FUNCTION=WRITE_EQ POLL=POLL_REGISTER POLL_ADDR_LO={} MASK=0x1"
EVENT = "CP_EVENT_WRITE EVENT=CACHE_FLUSH_TS {} ADDR_0={} [3]={}"
EVENT7 = "CP_EVENT_WRITE7 EVENT=CACHE_FLUSH7 {} WRITE_ENABLED {}"
MODE = "CP_SET_RENDER_MODE MODE=GMEM {} [4]=0x0"
LOCAL = "CP_EXEC_CS_INDIRECT {}=0x10001000 LOCALSIZEX=31 LOCALSIZEY={}"
COPY = "CP_BLIT OP=BLIT_OP_COPY SRC_X2=127 SRC_Y2=127 DST_X1={} DST_X2=127 DST_Y2=127"
AMBLE = "CP_SET_AMBLE ADDR_LO=0x5000 ADDR_HI=0x0 DWORDS={} TYPE=BIN_PREAMBLE_AMBLE_TYPE"
MODIFY = "CP_REG_RMW DST_REG=reg(RB_RENDER_CNTL) SRC0={} SRC1={}"

#: GPU, the packet in both captures, and what the title of the first entry ends with.
REPORTED = {
    "value that is waited for": (630, WAIT.format(1, 1), WAIT.format(2, 1), "REF=0x2 MASK=0x1)"),
    "mask": (740, WAIT.format(1, 1), WAIT.format(1, 3), "REF=0x1 MASK=0x3)"),
    "register that is polled": (
        630,
        POLLED.format("reg(RBBM_STATUS)"),
        POLLED.format("reg(CP_SCRATCH[3].REG)"),
        "POLL_ADDR_LO=CP_SCRATCH[3].REG MASK=0x1)",
    ),
    "a2xx, a register": (
        220,
        "packet 0x52\n+ 000005d0 00000000 00000001",
        "packet 0x52\n+ 000005d1 00000000 00000001",
        "0x5d1 0x0 0x1",
    ),
    "timestamp of an event": (
        530,
        EVENT.format("TIMESTAMP", "0x5000", 1),
        EVENT.format("", "0x5000", 1),
        "CACHE_FLUSH_TS (TIMESTAMP) → CACHE_FLUSH_TS",
    ),
    "interrupt, a3xx": (
        320,
        "CP_EVENT_WRITE EVENT=HLSQ_FLUSH",
        "CP_EVENT_WRITE EVENT=HLSQ_FLUSH IRQ",
        "(IRQ)",
    ),
    "event without a name": (
        630,
        "CP_EVENT_WRITE EVENT=0xf0",
        "CP_EVENT_WRITE EVENT=0xf1",
        "event 0xf1",
    ),
    "counts of an event, a7xx": (
        740,
        EVENT7.format("", ""),
        EVENT7.format("INC_BV_COUNT", ""),
        "(INC_BV_COUNT WRITE_ENABLED)",
    ),
    "use of visibility streams, a5xx": (
        530,
        MODE.format("VSC_ENABLE"),
        MODE.format(""),
        "(MODE=GMEM)",
    ),
    "size of a group, a5xx": (
        530,
        LOCAL.format("ADDR", 1),
        LOCAL.format("ADDR", 3),
        "LOCALSIZEY: 1 → 3",
    ),
    "size of a group, a4xx": (
        420,
        LOCAL.format("ADDR", 1),
        LOCAL.format("ADDR", 3),
        "LOCALSIZEY: 1 → 3",
    ),
    "rectangle of a copy, a5xx": (530, COPY.format(0), COPY.format(64), "DST_X1: 0 → 64"),
    "rectangle of a copy": (630, COPY.format(0), COPY.format(64), "DST_X1: 0 → 64"),
    "size of an amble": (
        630,
        AMBLE.format(10),
        AMBLE.format(20),
        "(DWORDS=20 TYPE=BIN_PREAMBLE_AMBLE_TYPE)",
    ),
    "change of a register": (630, MODIFY.format(1, 2), MODIFY.format(1, 4), "SRC1=4)"),
}

PROGRAM = (
    "SP_VS_OBJ_START = 0x10001800\n    CP_LOAD_STATE4 STATE_TYPE=ST4_SHADER"
    " STATE_SRC=SS4_INDIRECT STATE_BLOCK=SB4_VS_SHADER NUM_UNIT=1 EXT_SRC_ADDR={}"
)
MARKER = "CP_SET_MARKER MODE={}"
REPORTED |= {
    "flag of a marker": (
        740,
        MARKER.format("RM6_DIRECT_RENDER"),
        MARKER.format("RM6_DIRECT_RENDER SHADER_USES_RT"),
        "→ CP_SET_MARKER (MODE=RM6_DIRECT_RENDER SHADER_USES_RT)",
    ),
    "mode of a marker": (
        630,
        MARKER.format("RM6_BLIT2DSCALE"),
        MARKER.format("RM6_COMPUTE"),
        "CP_SET_MARKER (MODE=RM6_BLIT2DSCALE) → CP_SET_MARKER (MODE=RM6_COMPUTE)",
    ),
    "address of a program": (
        420,
        PROGRAM.format("0x10001800"),
        PROGRAM.format("0x10001804"),
        "loaded program VS: 1 units → from another address",
    ),
    "dword before the draw initiator": (
        320,
        f"{DRAWS[320]} VIZ_QUERY=0x0",
        f"{DRAWS[320]} VIZ_QUERY=0x8",
        "VIZ_QUERY: 0 → 0x8",
    ),
    "bits of the draw initiator without a name": (
        740,
        "CP_DRAW_INDX_OFFSET [0]=0x84 NUM_INSTANCES=1 NUM_INDICES=3",
        "CP_DRAW_INDX_OFFSET [0]=0x20000084 NUM_INSTANCES=1 NUM_INDICES=3",
        "other bits of dword 0: missing → there",
    ),
}
REPORTED["place of a program, a2xx"] = (
    220,
    "packet 0x2b\n+ 00000000 00000003 00000000 00000000 00000000",
    "packet 0x2b\n+ 00000000 00100003 00000000 00000000 00000000",
    "0x0 0x100003",
)

MULTI = (
    "CP_DRAW_INDIRECT_MULTI PRIM_TYPE=DI_PT_TRILIST SOURCE_SELECT=DI_SRC_SEL_DMA"
    " OPCODE=INDIRECT_OP_INDEXED DST_OFF={} DRAW_COUNT=1 INDEX={} MAX_INDICES={}"
    " INDIRECT={} STRIDE={}"
)
DRAWN = MULTI.format("0x4", "0x10001000", 8, "0x5000", 20)
REPORTED |= {
    "offset of an indirect draw": (
        740,
        DRAWN,
        MULTI.format("0x5", "0x10001000", 8, "0x5000", 20),
        "DST_OFF: 0x4 → 0x5",
    ),
    "indices of an indirect draw": (
        740,
        DRAWN,
        MULTI.format("0x4", "0x10001000", 9, "0x5000", 20),
        "MAX_INDICES: 8 → 9 (+1 field)",
    ),
    "address of indices of an indirect draw": (
        630,
        DRAWN,
        MULTI.format("0x4", "0x6000", 8, "0x5000", 20),
        "index buffer: captured → no buffer at 0x6000",
    ),
    "stride of an indirect draw": (
        630,
        DRAWN,
        MULTI.format("0x4", "0x10001000", 8, "0x5000", 24),
        "STRIDE: 20 → 24",
    ),
}

#: What differs from one run of a program to the next.
NOT_COMPARED = {
    "address and value of a timestamp": (
        530,
        "\n    ".join(EVENT.format("TIMESTAMP", "0x5000", value) for value in (1, 2)),
        "\n    ".join(EVENT.format("TIMESTAMP", "0x6000", value) for value in (2, 3)),
    ),
    "address that is polled": (630, WAIT.format(1, 1), WAIT.format(1, 1).replace("5000", "6000")),
    "address of an amble": (630, AMBLE.format(10), AMBLE.format(10).replace("5000", "6000")),
}


@pytest.mark.parametrize("case", first_always(REPORTED))
def test_a_field_that_changes_what_the_gpu_does_is_reported(case: str) -> None:
    gpu, good, bad, end = REPORTED[case]
    title = first_title(gpu, good, bad)
    assert title.endswith(end), title


@pytest.mark.parametrize("case", NOT_COMPARED)
def test_addresses_and_timestamps_are_not_compared(case: str) -> None:
    assert first_title(*NOT_COMPARED[case]) == ""


def test_each_packet_is_of_one_kind() -> None:
    assert len(COMPARED_PACKETS) == len(BARRIERS) + len(EVENTS) + len(COMMANDS)


def titles(*packets: tuple[str, ...]) -> list[str]:
    """The entries of a comparison of two captures, each with these packets before its draw."""
    captures = [cffpy.open(capture_of(630, *of)) for of in packets]
    return [entry.title for entry in cffpy.diff(*captures).entries]


SIGNAL = "CP_EVENT_WRITE EVENT=CACHE_FLUSH_TS TIMESTAMP ADDR_0=0x5000 [3]={}"
SET = "CP_MEM_WRITE ADDR=0x6000 [2]={}"


@pytest.mark.parametrize("packet", [SIGNAL, SET])
def test_values_that_do_not_only_increase_are_the_program_s(packet: str) -> None:
    """An event of the program is set and reset; a fence of the driver counts."""
    first, reset, signalled = packet.format(1), packet.format(0), packet.format(2)
    assert titles((first,), (first,)) == []
    assert len(titles((first,), (reset,))) == 1
    assert len(titles((packet.format(7),), (packet.format(9),))) == 1
    assert len(titles((first, reset, first), (first, reset, signalled))) == 1
    counts = [tuple(packet.format(value) for value in of) for of in ((7, 8, 9), (17, 18, 19))]
    assert titles(*counts) == []


@pytest.mark.parametrize("place", ["0x5004", "0x7008"])
def test_an_address_of_a_packet_that_has_not_moved_whole(place: str) -> None:
    """The other packet names the same address in both captures, or one elsewhere in its page."""
    copy = "CP_MEM_TO_REG REG=0x8c00 CNT=1 SRC={}"
    good, bad = (tuple(map(copy.format, of)) for of in (("0x5000", "0x5000"), ("0x5000", place)))
    (title,) = titles(good, bad)
    assert title.startswith("draw p0:0: address of CP_MEM_TO_REG ")
    assert title.endswith(f"before it: 00005000 → {int(place, 0):08x}") or "→ 0x" in title
    moved = tuple(map(copy.format, ("0x6000", "0x6000")))
    assert titles(good, moved) == []


LOAD_SET = (
    "CP_LOAD_STATE6_FRAG DST_OFF=0 STATE_TYPE=ST6_SHADER STATE_SRC=SS6_BINDLESS"
    " STATE_BLOCK=SB6_FS_TEX NUM_UNIT={} EXT_SRC_ADDR=0x5000"
)


@pytest.mark.parametrize("packet", ["packet 0x10\n    + {:08x}", LOAD_SET])
def test_packets_that_do_nothing_are_counted(packet: str) -> None:
    captures = [cffpy.open(capture_of(630, packet.format(number))) for number in (1, 2)]
    result = cffpy.diff(*captures)
    assert result.is_equal
    assert [(rule.rule, rule.count) for rule in result.rules] == [("skipped", 1)]
    assert len(cffpy.diff(*captures, strict=True).entries) == 1


RENDER = "CP_SET_MARKER MODE=RM6_DIRECT_RENDER"


def test_a_mode_that_begins_no_run_is_reported() -> None:
    """Another one follows before the first draw."""
    good, bad = titles((RENDER, RENDER), (RENDER,)), titles((RENDER,), (RENDER,))
    assert (len(good), bad) == (1, [])
    assert "CP_SET_MARKER (MODE=RM6_DIRECT_RENDER)" in good[0]


INVALIDATE = "HLSQ_INVALIDATE_CMD = {}"
#: A store in GMEM mode alone.
SKIPPED = "CP_COND_REG_EXEC MODE=RENDER_MODE GMEM DWORDS=2\n    CP_EVENT_WRITE EVENT=BLIT"


def test_a_command_before_what_is_not_executed_is_reported() -> None:
    """It has its effect at the draw after that."""
    both, one = (
        (RENDER, INVALIDATE.format(value), SKIPPED, INVALIDATE.format("0x3")) for value in (1, 2)
    )
    (title,) = titles(both, one)
    assert title.partition(": ")[2].startswith("write of HLSQ_INVALIDATE_CMD: ")
    assert titles(both, both) == []
