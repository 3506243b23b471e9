# SPDX-License-Identifier: MIT
"""``cffpy shaders``, and the instruction sets of other editions in dump and disasm."""

from __future__ import annotations

import bz2
import gzip
import json
import shutil
import struct
from hashlib import sha256
from pathlib import Path

import pytest

from cffpy.container.writer import capture_bytes, command_stream_section
from tests.builders import COMMANDS as BASE
from tests.builders import capture, type4, type7
from tests.selection import first_always

CHECKOUT = Path(__file__).resolve().parent.parent.parent

CODE = 0x200000
PROGRAM = struct.pack("<6Q", 0x200CC00000000001, 0x0300000000000000, 0, 0, 0, 0)
COMMANDS = type4(0xA983, CODE, 0) + type7(0x38, 4, 1, 3) * 3
LISTING = b":1:0000:0000[200cc000x_00000001x] mov.u32u32 r0.x, r0.y\n"


@pytest.fixture
def path(tmp_path: Path) -> Path:
    found = tmp_path / "capture.rd"
    found.write_bytes(capture(630, COMMANDS, {CODE: PROGRAM}))
    return found


def test_text(path: Path, run_cffpy) -> None:
    done = run_cffpy("shaders", path)
    assert (done.returncode, done.stderr) == (0, b"")
    listed, _, rest = done.stdout.partition(b"\n\n")
    assert listed.decode().splitlines() == [
        "shader  stage  address   instructions  bytes  half  full  constlen  uses  where",
        "sh0     FS     0x200000             6     48     0     1         0     3  s0: #0-2",
    ]
    header, _, listing = rest.partition(b"\n")
    assert header == (
        b"sh0: FS, a6xx, at 0x200000, 6 instructions, 48 bytes, used by 3 draws"
        b" (s0: #0-2), named by SP_FS_OBJ_START in the packet at 0x100000"
    )
    assert listing.startswith(LISTING)
    path.with_suffix(".fo3").write_bytes(PROGRAM)
    assert run_cffpy("disasm", path.with_suffix(".fo3")).stdout == listing
    assert run_cffpy("shaders", path, "--no-listings").stdout == listed + b"\n"


def test_submits_of_several_streams(tmp_path: Path, run_cffpy) -> None:
    """Submits have the numbers that all commands give them: a stream is not always one."""
    path = tmp_path / "capture.rd"
    data = capture(630, COMMANDS, {CODE: PROGRAM})
    again = capture_bytes([command_stream_section(BASE, len(COMMANDS))])
    path.write_bytes(data + again + data)
    expected = [
        {"submit": 0, "dump_draws": [{"first": 0, "last": 5}]},
        {"submit": 1, "dump_draws": [{"first": 6, "last": 8}]},
    ]
    (shader,) = json.loads(run_cffpy("shaders", "--json", path).stdout)["shaders"]
    assert shader["where"] == expected
    assert b"s0: #0-5; s1: #6-8" in run_cffpy("shaders", path).stdout
    passes = json.loads(run_cffpy("passes", "--json", path).stdout)["passes"]
    assert [*dict.fromkeys(one["submit"] for one in passes)] == [0, 1]


def test_listings_and_digests_in_documents(path: Path, run_cffpy) -> None:
    (shader,) = json.loads(run_cffpy("shaders", "--json", path).stdout)["shaders"]
    assert shader["listing"].encode().startswith(LISTING)
    assert shader["digest"] == sha256(PROGRAM).hexdigest()
    (short,) = json.loads(run_cffpy("shaders", "--json", "--no-listings", path).stdout)["shaders"]
    assert "listing" not in short


@pytest.mark.parametrize("pack", first_always([bytes, bz2.compress, gzip.compress]))
def test_disasm_refuses_a_capture(pack, path: Path, run_cffpy) -> None:
    path.write_bytes(pack(path.read_bytes()))
    done = run_cffpy("disasm", path)
    assert (done.returncode, done.stdout) == (1, b"")
    said = f"cffpy: error: {path}: this is a capture; cffpy shaders disassembles its shaders\n"
    assert done.stderr.decode() == said
    assert run_cffpy("disasm", path, "--input-format", "raw").returncode == 0


def test_other_gpu(path: Path, run_cffpy) -> None:
    shown = run_cffpy("shaders", path, "--gpu", "740").stdout
    assert b"sh0: FS, a7xx, at 0x200000" in shown
    assert run_cffpy("shaders", path, "--gpu", "a5xx").stdout == b""


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        (("shaders", "nowhere"), 1, b"nowhere"),
        (("disasm", "nowhere"), 1, b"nowhere"),
        (("disasm", "x", "--json"), 2, b"No such option"),
        (("disasm", "x", "--edition", "nowhere"), 1, b"no edition"),
    ],
)
def test_what_is_wrong(arguments: tuple[str, ...], code: int, message: bytes, run_cffpy) -> None:
    done = run_cffpy(*arguments)
    assert (done.returncode, done.stdout) == (code, b"")
    assert message in done.stderr


def test_several_files(path: Path, tmp_path: Path, run_cffpy) -> None:
    """Each below its name, as in all commands that list what captures have."""
    other = tmp_path / "other.rd"
    other.write_bytes(path.read_bytes())
    single = run_cffpy("shaders", path).stdout.decode()
    both = run_cffpy("shaders", path, other).stdout.decode()
    assert both == f"{path}:\n{single}\n{other}:\n{single}"
    lines = run_cffpy("shaders", "--jsonl", path, other).stdout.splitlines()
    assert [json.loads(line)["file"] for line in lines] == [str(path), str(other)]


# --- editions ------------------------------------------------------------------------------------


@pytest.fixture
def edition(tmp_path: Path) -> Path:
    """An edition whose shaders end otherwise."""
    folder = tmp_path / "edition"
    for part in ("adreno", "isa"):
        shutil.copytree(CHECKOUT / "register_db" / part, folder / part)
    for name, old, new in (
        ("ir3-cat0.isa", 'display "{SY}{SS}{EQ}{JP}{REPEAT}{NAME}"', 'display "my {NAME}"'),
        ("a2xx.isa", '"{NAME} ADDR(', '"my {NAME} ADDR('),
    ):
        path = folder / "isa" / name
        text = path.read_text()
        assert old in text
        path.write_text(text.replace(old, new))
    return folder


@pytest.mark.slow
def test_instruction_sets_of_an_edition(edition: Path, path: Path, run_cffpy) -> None:
    chosen = ("--edition", edition)
    for command in (("dump", path), ("shaders", path), ("disasm", path)):
        if command == ("disasm", path):
            path.write_bytes(PROGRAM)
        assert b"] my end\n" in run_cffpy(*command, *chosen).stdout
        plain = run_cffpy(*command).stdout
        assert b"] end\n" in plain
        shutil.move(edition / "isa", edition / "away")
        assert run_cffpy(*command, *chosen).stdout == plain, "the bundled ones"
        shutil.move(edition / "away", edition / "isa")


@pytest.mark.slow
def test_a2xx_of_an_edition(edition: Path, shared: Path, run_cffpy) -> None:
    path = shared / "captures" / "a220-gl-tri.rd.gz"
    for command in (("dump", path), ("shaders", path)):
        plain = run_cffpy(*command).stdout
        own = run_cffpy(*command, "--edition", edition).stdout
        assert b"\tmy EXEC" in own
        assert own.replace(b"\tmy ", b"\t") == plain
