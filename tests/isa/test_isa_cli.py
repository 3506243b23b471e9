# SPDX-License-Identifier: MIT
"""The commands disasm and asm, and what importing the disassemblers pulls in."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

from tests.isa.harvest import VECTORS
from tests.selection import first_always

LISTING = (VECTORS / "ir3" / "programs" / "a6xx-0.txt").read_text()


@pytest.fixture
def raw(tmp_path):
    from cffpy.isa.encode import from_hex

    path = tmp_path / "0000.fo3"
    path.write_bytes(from_hex(LISTING))
    return path


def without_tabs(text):
    return "".join(line.lstrip("\t") for line in text.splitlines(keepends=True))


def test_disasm_of_a_raw_file(run_cffpy, raw):
    done = run_cffpy("disasm", raw, "--gpu", "630")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout.decode() == without_tabs(LISTING)


def test_disasm_of_standard_input_and_of_a_listing(run_cffpy, raw):
    whole = run_cffpy("disasm", raw).stdout
    assert run_cffpy("disasm", "-", "--gpu", "a6xx", input=raw.read_bytes()).stdout == whole
    assert run_cffpy("disasm", "-", "--gpu", "6", input=LISTING.encode()).stdout == whole
    words = raw.read_bytes()
    dwords = [words[n : n + 4][::-1].hex() for n in range(0, len(words), 4)]
    text = "0000: " + " ".join(dwords) + "\n"
    assert run_cffpy("disasm", "-", "--input-format", "hex", input=text.encode()).stdout == whole


def test_disasm_of_a2xx_by_the_files_name(run_cffpy, tmp_path):
    head, _, text = (VECTORS / "a2xx" / "02-fragment.txt").read_text().partition("\n")
    path = tmp_path / "0001.fo"
    path.write_bytes(bytes.fromhex(head.split()[2]))
    shown = run_cffpy("disasm", path).stdout.decode()
    assert without_tabs(shown) == without_tabs(text)
    assert "gl_FragColor" in shown
    other = run_cffpy("disasm", path, "--gpu", "a220", "--input-format", "raw").stdout.decode()
    assert other == shown


def test_generations_differ(run_cffpy):
    word = b"c7460000_14c00000".replace(b"_", b"")
    assert b"no match" in run_cffpy("disasm", "-", "--gpu", "630", input=word).stdout
    assert b"stsc.u32" in run_cffpy("disasm", "-", "--gpu", "a740", input=word).stdout


def test_asm_gives_the_words_back(run_cffpy, raw):
    shown = run_cffpy("disasm", raw).stdout
    done = run_cffpy("asm", "--output-format", "raw", "-", input=shown)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == raw.read_bytes()


def test_asm_of_instructions(run_cffpy):
    done = run_cffpy(
        "asm", "--expression", "add.f r0.x, r0.y, (neg)c1.z", "--expression", "(ss)(rpt2)nop"
    )
    assert done.stdout.decode() == "4010000050060001\n0000120000000000\n"


def test_asm_labels(run_cffpy):
    program = b"top:\nadd.f r0.x, r0.x, r0.y // sum\njump #top\njump #l0\njump #1\n\nend\n"
    done = run_cffpy("asm", "-", input=program)
    assert [line[-8:] for line in done.stdout.decode().split()[1:4]] == [
        "ffffffff",
        "fffffffe",
        "00000001",
    ]


def test_an_edited_line_changes_alone(run_cffpy):
    text = ":2:0000:0000[40100000x_00010000x] add.f r0.x, r0.x, r0.y\n"
    kept = ":7:0001:0001[e0000000x_00000001x] {}\n"
    nop = ":0:0001:0001[00000001x_00000001x] nop\t; dontcare bits in nop: 0000000100000000\n"
    done = run_cffpy("asm", "-", input=(text.replace("r0.y", "r0.z") + nop).encode())
    assert done.stdout.decode() == "4010000000020000\n0000000100000001\n"
    assert run_cffpy("asm", "-", input=kept.format("").encode()).returncode == 0


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    first_always(
        [
            (("disasm", "nowhere"), 1, b"nowhere: No such file"),
            (("disasm", "x", "--gpu", "930"), 2, b"neither a GPU (630) nor a generation"),
            (("disasm",), 2, b"Missing argument"),
            (("asm",), 2, b"give either FILE or --expression"),
            (("asm", "--expression", "nop", "--gpu", "220"), 2, b"a2xx has no ir3 instructions"),
            (
                ("asm", "--expression", "frobnicate r1.x"),
                1,
                b"1: not an instruction of generation 6",
            ),
            (
                ("asm", "--expression=nop", "--expression=jump #nowhere"),
                1,
                b"2: not an instruction",
            ),
        ],
        2,
        names=3,
    ),
)
def test_what_is_wrong(run_cffpy, arguments, code, message):
    done = run_cffpy(*arguments)
    assert done.returncode == code
    assert message in done.stderr
    assert done.stdout == b""


@pytest.mark.skipif(not os.path.exists("/dev/zero"), reason="POSIX only")
@pytest.mark.parametrize("command", ["disasm", "asm"])
@pytest.mark.parametrize(("options", "most"), [((), 16 << 20), (("--limit", "bytes=100"), 100)])
def test_input_without_end_is_refused(run_cffpy, command, options, most):
    done = run_cffpy(command, "/dev/zero", *options)
    assert (done.returncode, done.stdout) == (1, b"")
    assert f"/dev/zero: more than {most} bytes (--limit bytes=N".encode() in done.stderr


def test_input_as_long_as_the_limit_is_read(run_cffpy, raw):
    size = raw.stat().st_size
    assert run_cffpy("disasm", raw, "--limit", f"bytes={size}").returncode == 0
    assert run_cffpy("disasm", raw, "--limit", f"bytes={size - 1}").returncode == 1
    assert run_cffpy("disasm", "-", "--limit", "bytes=8", input=bytes(9)).returncode == 1


def test_asm_of_a_word_and_of_fields_that_no_text_shows(run_cffpy):
    done = run_cffpy(
        "asm", "--expression", "raw 0x12", "--expression", "stg.s32 g[r0.z+5], r8.y, 3"
    )
    assert done.stdout.decode() == "0000000000000012\nc0ca050503800042\n"


@pytest.mark.parametrize("command", ["disasm", "asm"])
def test_help_has_examples(run_cffpy, command):
    shown = run_cffpy(command, "--help").stdout
    assert b"Examples:" in shown
    assert f"cffpy {command}".encode() in shown


def test_disassembling_imports_little():
    code = (
        "import sys; from cffpy.isa.ir3 import Ir3Disassembler;"
        "from cffpy.isa.a2xx import A2xxDisassembler;"
        "Ir3Disassembler(6).disassemble(bytes(64), 1);"
        "A2xxDisassembler().disassemble(bytes(64), 1, True);"
        "print(' '.join(sys.modules))"
    )
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    heavy = {"lark", "construct", "rich", "hashlib", "dataclasses", "click"}
    assert not heavy & set(shown.stdout.split())
