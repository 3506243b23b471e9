# SPDX-License-Identifier: MIT
"""The report on a crash: what it finds in dumps that hang in known ways, and what it says."""

from __future__ import annotations

import gzip
import html
import json
import re
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.analysis.crash.flight import AddressUse
from cffpy.analysis.crash.model import FaultUse
from cffpy.analysis.crash.report import analyse_crash
from cffpy.analysis.crash.suspects import by_use
from cffpy.container.open import open_bytes
from cffpy.editions.folders import resolve_edition
from cffpy.errors import ContainerError
from cffpy.views.crash import lines
from tests.builders import type4, type7
from tests.crash_dumps import CP_NOP, IB1, IB2, buffer, call, hang, register
from tests.golden.test_crash import FOLDER
from tests.selection import first_always
from tools.crash_sample import CRASH, FAULT, STOP

Run = Callable[..., subprocess.CompletedProcess[bytes]]

NEWER = resolve_edition("mesa-25.3")

DRAW = type7(0x38, 0x184, 1, 3)
#: CP_WAIT_REG_MEM: memory at 0x300000 & 0xff == 5.
WAIT = type7(0x3C, 0x13, 0x300000, 0, 5, 0xFF, 16)
CP_WAIT_FOR_IDLE = 0x26


def report(dump: bytes, register_db: str | None = None) -> dict[str, Any]:
    return analyse_crash(open_bytes(dump), register_db).to_dict()


def kinds(dump: bytes) -> list[str]:
    return [one["kind"] for one in report(dump)["suspicious"]]


def sent(in_flight: dict[str, Any]) -> list[int]:
    """GPU addresses of the packets of the actions that were sent."""
    return [
        int(one["place"]["gpuaddr"], 16)
        for one in in_flight["actions"]
        if one["action"] in in_flight["sent"]
    ]


def reasons(dump: bytes, kind: str) -> list[str]:
    return [
        reason
        for one in report(dump)["suspicious"]
        if one["kind"] == kind
        for reason in one["reasons"]
    ]


def at(gpuaddr: int) -> dict[str, str | None]:
    """Evidence at an address."""
    return {"line": None, "address": hex(gpuaddr), "offset": None}


def with_buffer(dump: bytes, gpuaddr: int, dwords: list[int]) -> bytes:
    return dump.replace(b"registers:\n", buffer(gpuaddr, dwords).encode() + b"registers:\n", 1)


def test_the_sample() -> None:
    """A draw whose second texture has no memory, at which the GPU faults."""
    found = report(CRASH.read_bytes())
    packet = found["hang"]["packet"]
    assert (packet["name"], packet["gpuaddr"]) == ("CP_DRAW_INDX_OFFSET", f"{STOP:#x}")
    assert found["hang"]["exact"]
    (user,) = found["fault"]["users"]
    assert (user["use"]["what"], user["use"]["address"]) == ("texture FS 1", f"{FAULT:#x}")
    assert user["sure"]
    (action,) = found["in_flight"]["actions"]
    assert action["action"] == user["action"] == found["hang"]["action"]
    assert action["place"]["gpuaddr"] == f"{STOP:#x}"
    assert [one["kind"] for one in found["suspicious"]] == ["page-fault", "descriptor", "pointer"]
    assert len(found["shaders"]["textures"]) == 2
    assert found["lacks"]["missing"][0] == "gmu-log"


def test_what_was_sent_since_the_gpu_was_idle() -> None:
    ib1 = [*DRAW, *type7(CP_WAIT_FOR_IDLE), *DRAW, *DRAW, *type7(CP_NOP, 1)]
    found = report(hang(ib1, 2))["in_flight"]
    assert (found["sent_count"], found["waited"]["gpuaddr"]) == (2, f"{IB1 + 16:#x}")
    assert sent(found) == [IB1 + 20, IB1 + 36]
    assert found["at"] is None


def test_each_pipe_is_idle_for_itself() -> None:
    """BV waits for what it has binned: what BR was sent may not be finished."""

    def in_flight(*pipes: int) -> dict[str, Any]:
        commands = [
            word for one in pipes for word in (*type7(0x17, one), *DRAW)
        ]  # CP_THREAD_CONTROL
        ib1 = [*commands, *type7(CP_WAIT_FOR_IDLE), *type7(CP_NOP, 1)]
        dump = hang(ib1, 2, revision="0 (67.5.10.1)")
        found: dict[str, Any] = report(dump)["in_flight"]
        assert found["waited"]["gpuaddr"] == f"{IB1 + 4 * (len(ib1) - 3):#x}"
        text = "\n".join(lines(analyse_crash(open_bytes(dump))))
        assert f"what {'BR' if pipes[-1] == 1 else 'BV'} was given before the last wait" in text
        return found

    assert sent(in_flight(1, 2)) == [IB1 + 8]
    assert sent(in_flight(2, 1)) == [IB1 + 8]
    assert sent(in_flight(1, 1)) == []


def test_a_draw_has_the_registers_of_its_pipe() -> None:
    def write(value: int) -> list[int]:
        return type4(0x8874, value)

    thread = [type7(0x17, pipe) for pipe in (0, 1, 2)]
    ib1 = [*thread[1], *write(1), *thread[2], *write(2), *thread[1], *DRAW, *type7(CP_NOP, 1)]
    found = analyse_crash(open_bytes(hang(ib1, 2, revision="0 (67.5.10.1)"))).flight
    assert found is not None
    (state,) = found.states.values()
    assert state.state is not None
    assert state.state.registers[0x8874] == 1


def test_a_draw_behind_the_position_was_not_reached() -> None:
    found = report(hang(call(IB2, 10), 0, [*DRAW, *type7(CP_NOP, 1), *DRAW], 6))["in_flight"]
    assert sent(found) == [IB2]
    assert found["actions"][-1]["action"] == found["next"]
    assert found["actions"][-1]["place"]["gpuaddr"] == f"{IB2 + 24:#x}"


def test_a_wait_for_memory() -> None:
    dump = with_buffer(hang([*DRAW, *WAIT], len(WAIT)), 0x300000, [0x104])
    assert reasons(dump, "wait") == [
        "the packet waits for a value in a register or in memory",
        "it waits for memory at 0x300000 & 0xff == 0x5; it is 0x104",
    ]
    met = with_buffer(hang([*DRAW, *WAIT], len(WAIT)), 0x300000, [0x105])
    assert len(reasons(met, "wait")) == 3
    missing = hang([*DRAW, *WAIT], len(WAIT))
    assert reasons(missing, "wait")[1].endswith("the dump does not have it")


@pytest.mark.parametrize("line", [b"", b"[ 12.3] msm: a log"])
@pytest.mark.parametrize(
    "before",
    first_always([b"    retired-fence:", b"    size: 36\n", b"  - { offset: 0x002004", b"     "]),
    ids=["ring", "buffer", "registers", "data"],
)
def test_lines_of_a_log_between_those_of_the_dump(before: bytes, line: bytes) -> None:
    """They are reported; what follows is not lost, and its lines keep their numbers."""
    dump = hang([*DRAW, *type7(CP_WAIT_FOR_IDLE), *DRAW], len(DRAW))
    start, rest = dump.split(before, 1)
    found = report(start + line + b"\n" + before + rest)
    assert found["hang"] == report(dump)["hang"]
    section = re.findall(rb"^([a-z]+):\n", start, re.MULTILINE)[-1].decode()
    number = start.count(b"\n") + 1
    lacks = [one["text"] for one in found["lacks"]["statements"]]
    assert f"skipped: line {number} does not belong to the section {section}" in lacks


@pytest.mark.parametrize(
    ("fault", "where"),
    [
        (IB1 + 4, f"the address is 0x4 bytes into buffer {IB1:#x}-{IB1 + 16:#x}"),
        (IB1 + 0x40, f"in no buffer; 0x30 bytes beyond the end of {IB1:#x}-{IB1 + 16:#x}"),
        (0x2000, "in no buffer, below all of them"),
    ],
)
def test_where_a_fault_is(fault: int, where: str) -> None:
    dump = hang(DRAW, 4).replace(b"rbbm-", b"fault-info:\n  - iova=%016x\nrbbm-" % fault, 1)
    assert any(where in reason for reason in reasons(dump, "page-fault"))


VM_LOG = (
    b"vm-log:\n"
    b"  - map:1: 0x0000000000500000-0x0000000000600000\n"
    b"  - map:2: 0x0000000000700000-0x0000000000800000\n"
    b"  - unmap:1: 0x0000000000580000-0x0000000000600000\n"
    b"  - no entry\n"
)


@pytest.mark.parametrize(
    ("fault", "where"),
    [
        (0x500000, "in no buffer, but mapped; vm-log: map 0x500000-0x600000 by queue 1"),
        (0x580000, "in no buffer, and not mapped; vm-log: unmap 0x580000-0x600000 by queue 1"),
        (0x600000, "in no buffer; 0x"),
    ],
)
def test_the_last_change_of_the_address_space(fault: int, where: str) -> None:
    head = b"fault-info:\n  - iova=%016x\n" % fault + VM_LOG
    found = reasons(hang(DRAW, 4).replace(b"rbbm-", head + b"rbbm-", 1), "page-fault")
    assert found[0].startswith(f"the address is {where}")


@pytest.mark.parametrize(
    ("entries", "said"),
    [
        ("3 5003 6003 7f47", "the page table maps it, writable: entry 0x7f47 of level 3"),
        ("3 5003 6003 7fc7", "the page table maps it, read-only: entry 0x7fc7 of level 3"),
        ("3 5003 200f41 0", "the page table maps it, writable: entry 0x200f41 of level 2"),
        ("3 5003 0 0", "the page table does not map it: entry 0x0 of level 2"),
    ],
)
def test_the_page_table(entries: str, said: str) -> None:
    head = f"fault-info:\n  - iova=1000\npgtable-fault-info:\n  - ptes: {entries}\nrbbm-"
    dump = hang(DRAW, 4).replace(b"rbbm-", head.encode(), 1)
    assert said in reasons(dump, "page-fault")
    assert report(dump)["fault"]["page_table"] == said


def test_what_is_mapped_is_not_outside_of_all_buffers() -> None:
    assert "ib" in kinds(hang(call(0x1000, 4), 3))
    dump = hang(call(0x500000, 4), 3)
    assert "ib" in kinds(dump)
    assert "ib" not in kinds(dump.replace(b"rbbm-", VM_LOG + b"rbbm-", 1))


def test_draws_that_use_the_address_alike_are_one_reason() -> None:
    flight = analyse_crash(open_bytes(hang([*DRAW, *DRAW, *DRAW, *type7(CP_NOP, 1)], 2))).flight
    assert flight is not None
    first, second, third = flight.sent
    use = AddressUse("attachment depth", 0x1000)
    users = [FaultUse(use, first, True), FaultUse(use, second, True), FaultUse(use, third, False)]
    assert [(names, one.sure) for one, names in by_use(users)] == [
        (f"DI_PT_TRILIST at {IB1:#x} and 1 more", True),
        (f"DI_PT_TRILIST at {IB1 + 32:#x}", False),
    ]


@pytest.mark.parametrize("register_db", [None, NEWER])
def test_a_fault_register_of_0_says_nothing(register_db: str | None) -> None:
    """Also where the edition describes its fields: an address of 0 is not reported."""
    for value, expected in ((0, []), (0x400840, ["error"])):
        dump = hang(DRAW, 4).replace(
            b"registers:\n", b"registers:\n" + register(4 * 0x824, value).encode(), 1
        )
        found = report(dump, register_db)["suspicious"]
        assert [one["kind"] for one in found if "PROTECT" in str(one)] == expected
    assert register_db is None or "ADDR = 0x840, ACCESS_VIOLATION" in str(found)


@pytest.mark.parametrize(
    "path", first_always(sorted(FOLDER.glob("*.devcore.gz")), 3), ids=lambda path: path.name
)
def test_the_place_is_the_same_in_each_edition(path: Path) -> None:
    dump = gzip.decompress(path.read_bytes())
    older, newer = (analyse_crash(open_bytes(dump), one) for one in (None, NEWER))
    at = older.cp.packet and older.cp.packet.gpuaddr
    assert (newer.cp.packet and newer.cp.packet.gpuaddr) == at
    assert [one.kind for one in newer.suspicious] == [one.kind for one in older.suspicious]
    documents = older.to_dict(), newer.to_dict()
    for name in ("in_flight", "pass"):  # names of registers may differ elsewhere
        assert documents[0][name] == documents[1][name]


def test_errors_that_interrupts_tell() -> None:
    dump = hang(DRAW, 4).replace(
        b"registers-gmu", register(4 * 0x823, 1).encode() + b"registers-gmu"
    )
    assert kinds(dump)[0] == "error"
    assert report(dump)["suspicious"][0]["text"] == "the GPU reports CP_OPCODE_ERROR"


def test_an_ib_beyond_its_buffer() -> None:
    found = report(hang([*call(IB2, 400), *DRAW], 4, DRAW, 4))["suspicious"]
    texts = [one["text"] for one in found if one["kind"] == "ib"]
    assert texts == [f"IB2 at {IB2:#x} is longer than its buffer"]
    found = report(hang([*call(IB2, 400), *DRAW, *DRAW], 4, DRAW, 4))["suspicious"]
    texts = [one["text"] for one in found if one["kind"] == "ib"]
    assert texts == [f"IB1 calls 400 dwords at {IB2:#x}: beyond the end of the buffer"]


def test_a_packet_that_does_not_exist() -> None:
    assert "opcode" in kinds(hang([*DRAW, *type7(0x7D, 1)], 2))


@pytest.mark.parametrize(("left", "is_reached"), [(3, True), (9, False)])
def test_a_dword_that_is_no_header(left: int, is_reached: bool) -> None:
    found = report(hang([*DRAW, *DRAW, 0xDEADD00D, *type7(CP_NOP, 1, 1)], left))["suspicious"]
    headers = [(one["text"], one["evidence"]) for one in found if one["kind"] == "header"]
    text = "IB1 has deadd00d where a packet header should be"
    assert headers == ([(text, [at(IB1 + 32)])] if is_reached else [])


def test_a_fault_register_whose_bits_are_not_described() -> None:
    dump = hang(DRAW, 4).replace(
        b"registers:\n", f"registers:\n{register(4 * 0x824, 6)}".encode(), 1
    )
    texts = [one["text"] for one in report(dump)["suspicious"] if one["kind"] == "error"]
    assert texts == ["CP_PROTECT_STATUS is 0x6"]


def test_a_program_outside_of_all_buffers() -> None:
    config = type4(0xA832, 0x100)  # SP_FS_CONFIG.ENABLED; then SP_FS_OBJ_START
    ib1 = [*type4(0xAB04, 0x100), *type4(0xA983, 0x400000, 0), *config, *DRAW]
    assert "shader" in kinds(hang(ib1, 4))


def test_threads_that_wait_for_each_other() -> None:
    dump = hang(DRAW, 4, revision="0 (67.5.10.1)", after="indexed-registers:\n")
    for name, counter in (("CP_SQE_STAT", 0x21), ("CP_BV_SQE_STAT", 0x57)):
        block = buffer(0, [counter, type7(0x1B, 3)[0]]).split("data:")[1]
        dump += f"  - regs-name: {name}\n    dwords: 51\n    data:{block}".encode()
    assert "threads" in kinds(dump)
    assert [one["pc"] for one in report(dump)["status"]["sqe"]] == ["0x21", "0x57"]


def test_text_and_json_say_the_same() -> None:
    found = analyse_crash(open_bytes(CRASH.read_bytes()))
    text = "\n".join(lines(found))
    for name, part in found.to_dict().items():
        for statement in part["statements"] if isinstance(part, dict) else ():
            assert statement["text"] in text, name


def test_each_statement_has_evidence_or_says_what_is_unknown() -> None:
    found = analyse_crash(open_bytes(CRASH.read_bytes()))
    bare = [
        statement.text
        for section in found.parts
        for statement in section.statements
        if not statement.evidence and not statement.is_unknown
    ]
    assert not bare


#: Statements about the whole dump: they have no location.
_ABSENT = ("the dump reports no page fault", "nothing: all sections are there")


@pytest.mark.slow
@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.devcore.gz")), ids=lambda path: path.name)
def test_statements_about_recorded_dumps_have_evidence(path: Path) -> None:
    found = analyse_crash(open_bytes(gzip.decompress(path.read_bytes())))
    bare = [
        statement.text
        for section in found.parts
        for statement in section.statements
        if not statement.evidence and not statement.is_unknown and statement.text not in _ABSENT
    ]
    assert not bare
    assert all(one.evidence for one in found.suspicious)


@pytest.mark.parametrize(
    ("commands", "said"),
    [
        (
            type7(0x70, 0x210, 0x201, 7),  # CP_WAIT_TWO_REGS
            "register RBBM_STATUS != 0x0 or RBBM_INT_0_STATUS != 0x7; it is 0x5 and "
            "the dump does not have it",
        ),
        (
            type7(0x14, 0, 0x300000, 0, 9),  # CP_WAIT_MEM_GTE
            "memory at 0x300000 >= 0x9; it is 0x104",
        ),
        (
            type7(0x14, 0, 0x300000, 0, 0xFFFFFFFE),  # signed
            "memory at 0x300000 >= -0x2; it is 0x104",
        ),
        (
            type7(0x3C, 3, 0x210, 0, 0, 1, 16),  # CP_WAIT_REG_MEM of a register
            "register RBBM_STATUS & 0x1 == 0x0; it is 0x5",
        ),
        (
            type7(0x52, 0x210, 0, 4, 1),  # CP_WAIT_REG_EQ
            "register RBBM_STATUS & 0x4 == 0x0; it is 0x5",
        ),
    ],
)
def test_what_waits_are_for(commands: list[int], said: str) -> None:
    dump = with_buffer(hang([*DRAW, *commands], len(commands)), 0x300000, [0x104])
    dump = dump.replace(b"registers-gmu", register(4 * 0x210, 5).encode() + b"registers-gmu", 1)
    assert reasons(dump, "wait")[1] == f"it waits for {said}"


def test_a_wait_for_a_time_stamp_of_a7xx() -> None:
    commands = type7(0x14, 0, 0x300000, 0, 9, 0)
    dump = hang([*DRAW, *commands], len(commands), revision="0 (67.5.10.1)")
    dump = with_buffer(dump, 0x300000, [8])
    assert reasons(dump, "wait")[1] == "it waits for memory at 0x300000 >= 0x9; it is 0x8"


def test_a_register_write_is_named() -> None:
    write = type4(0x8820, 1, 2)
    found = report(hang([*DRAW, *write], len(write)))["hang"]
    assert found["packet"]["name"] == "register write of RB_MRT[0].CONTROL"


def test_a_packet_that_the_microcode_does_not_handle() -> None:
    path = FOLDER / "crash.devcore.gz"
    if not path.exists():
        pytest.skip("no recorded dumps (CFFPY_SHARED)")
    found = report(gzip.decompress(path.read_bytes()))["suspicious"]
    assert [(one["kind"], one["reasons"]) for one in found] == [
        ("header", ["it is dword 6; the CP has executed 7 of 12"]),
        ("sqe", ["its PC 0xc5 is in the handler of such packets, at 0xc3"]),
    ]


def test_a_program_without_an_end() -> None:
    """Its buffer ends, or it has words that are not instructions."""
    config = type4(0xA832, 0x100)
    ib1 = [*type4(0xAB04, 0x100), *type4(0xA983, 0x400000, 0), *config, *DRAW]
    texts = []
    for program in ([0x1, 0x20044000] * 4, [0xFFFFFFFF, 0xFFFFFFFF, 0, 0x03000000]):
        dump = with_buffer(hang(ib1, 4), 0x400000, program)
        texts += [one["text"] for one in report(dump)["suspicious"] if one["kind"] == "shader"]
    assert any(text.endswith("has no end") for text in texts)
    assert any(text.endswith("has unknown instructions") for text in texts)
    chained = with_buffer(hang(ib1, 4), 0x400000, [0, 0x04800000, 0, 0x05000000, 0, 0, 0, 0])
    assert "shader" not in kinds(chained)


def test_what_is_no_dump() -> None:
    with pytest.raises(ContainerError, match="not a GPU crash dump, but text"):
        analyse_crash(open_bytes(b"hello\n"))


@pytest.mark.parametrize("end", first_always(range(0, 100, 7), 7))
def test_dumps_that_are_cut(end: int) -> None:
    """The report ends with the known facts."""
    data = CRASH.read_bytes()
    data = data[: max(40, len(data) * end // 100)]
    found = report(data)
    assert found["lacks"]["missing"]


def recorded() -> list[Path]:
    return sorted(FOLDER.glob("*.devcore.gz"))


@pytest.mark.parametrize(
    "path", first_always(recorded(), 4), ids=lambda path: path.name.split(".")[0]
)
def test_recorded_dumps(path: Path) -> None:
    """The size of a page; JSON; the extracted file is a capture."""
    with cffpy.open_crash(path).capture as capture:
        assert capture.gpu is not None
    text = cffpy.open_crash(gzip.decompress(path.read_bytes())).lines()
    assert 20 < len(text) < 120
    assert json.dumps(cffpy.open_crash(path).to_dict())


def test_command(run_cffpy: Run, tmp_path: Path) -> None:
    done = run_cffpy("crash", "--json", CRASH)
    assert (done.returncode, done.stderr) == (0, b"")
    assert json.loads(done.stdout)["schema"] == "cffpy.crash/1"
    done = run_cffpy("crash", "-", "--extract", tmp_path / "out.rd.gz", input=CRASH.read_bytes())
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert run_cffpy("diff", "--brief", tmp_path / "out.rd.gz", CRASH).returncode == 0
    damaged = CRASH.read_bytes().replace(b"rptr: 9", b"rptr: x")
    assert run_cffpy("crash", "-", input=damaged).returncode == 1
    assert run_cffpy("crash", "--json", "--extract", "x", CRASH).returncode == 2


def test_html(run_cffpy: Run, tmp_path: Path) -> None:
    """All statements, escaped; no script."""
    dump = CRASH.read_bytes().replace(b"comm: sample", b"comm: <script>alert(1)</script>")
    done = run_cffpy("crash", "-", "--html", tmp_path / "crash.html", input=dump)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    page = (tmp_path / "crash.html").read_text("utf-8")
    assert "<script" not in page
    assert "&lt;script&gt;" in page
    for section in analyse_crash(open_bytes(dump)).parts:
        for statement in section.statements:
            assert html.escape(statement.text) in page
    assert run_cffpy("crash", "--json", "--html", "x", CRASH).returncode == 2
