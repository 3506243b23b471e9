# SPDX-License-Identifier: MIT
"""The examples that the help of each command has run, on samples in place of its captures."""

from __future__ import annotations

import gzip
import os
import re
import shutil
import tarfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path

import click
import pytest

from cffpy.cli.main import COMMANDS, cli
from tests.command_server import CommandServer
from tests.selection import first_always
from tools import examples

ROOT = examples.ROOT

#: Examples that need more than a shell, and why.
NOT_RUN = {
    "cffpy tui": "needs a terminal",
    "cffpy sql --shell": "needs the program duckdb",
    "cffpy index build s3://": "needs a network",
    "cffpy db import --genxml": "needs the XML of Mesa",
    "cffpy image capture.rd.gz --at p0:3 --source": "no sample has what a copy reads",
}

#: Places and names of the examples, and what the samples have.
REPLACED = (
    ("p3:17", "p0:0"),
    ("p3:5-9", "p0:0"),
    ("p3:t5", "p0:t1"),
    ("p3:t0", "p0:t0"),
    ("@p3:7", "@p0:0"),
    ("@p3:binning", "@p0:binning"),
    ("@p5:binning", "@p0:binning"),
    ("@p3:8", "@p0:1"),
    ("p2:30", "p0:0"),
    ("p0:8", "p0:0"),
    ("p0:5-58", "p0:0-1"),
    ("p0:7", "p0:0"),
    ("--at p3", "--at p0"),
    ("sh4", "sh0"),
    ("'#62'", "'#8'"),
    ("'#57'", "'#0'"),
    ("'#120'", "'#8'"),
    ("'#12'", "'#8'"),
    ("--target 1 --aspect stencil", "--target 1 --aspect depth"),
    ("draw.instances > 1", "draw.instances > 0"),
    ("capture.rd.gz --drop-group 3 --drop-group 5", "a740-state-groups.rd --drop-group 3"),
    ("@s1", "@s0"),
    ("@s2", "@s0"),
    ("-F 2 -D 17", "-F 0 -D 0"),
    ("--submit 3", "--submit 0"),
    ("0x10002018", "0x1000021e4"),
    ("0x10039e000", "0x100008000"),
    ("--level 3 --layer 1", "--level 0 --layer 0"),
    ("--address 0x1000a000 --dwords 412", ""),
    ("--size 256x256 -o", "--size 64x32 -o"),
    ("/ci/**/*.rd.gz", "captures/*.rd"),
    ("/sys/class/drm/card0/error", "i915_error_state.gz"),
)

#: Name in examples -> the sample.
CAPTURES = {
    "capture.rd": "a660-frame-binning.rd",
    "capture.rd.gz": "a660-frame-binning.rd",
    "good.rd.gz": "a430-depth-good.rd",
    "bad.rd.gz": "a430-depth-bad.rd",
    "one.rd.gz": "a660-frame-gmem.rd",
    "a.rd.gz": "a660-frame-gmem.rd",
    "b.rd.gz": "a660-frame-sysmem.rd",
    "frame.rd.gz": "a660-frame-gmem.rd",
    "frames.rd.gz": "a660-frame-gmem.rd",
    "capture.rd.zst": "a660-frame-binning.rd",
    "captures/one.rd": "a660-frame-gmem.rd",
    "captures/two.rd": "a630-indirect.rd",
}

#: Programs that examples run, as scripts.
PROGRAMS = {
    "ssh": 'case "$*" in *devcoredump*) cat crash.devcore;; *) cat capture.rd;; esac',
    "less": "cat",
    "replay": "exit 0",
}

_XML = """<?xml version="1.0"?>
<database><enum name="chip"><value name="A6XX" value="6"/></enum>
<domain name="A6XX" width="32"><reg32 offset="0x1" name="CP_TEST"/></domain></database>
"""


def commands_and_groups() -> Iterator[tuple[str, click.Command]]:
    context = click.Context(cli)

    def within(name: str, command: click.Command) -> Iterator[tuple[str, click.Command]]:
        yield name, command
        if isinstance(command, click.Group):
            for inner in command.list_commands(context):
                found = command.get_command(context, inner)
                assert found is not None
                yield from within(f"{name} {inner}", found)

    yield "cffpy", cli
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        yield from within(name, command)


def example_lines(command: click.Command) -> list[str]:
    """The examples of a help, without what is said of them."""
    lines = (command.epilog or "").splitlines()
    indented = [line.strip() for line in lines if line.startswith("  ")]
    return [re.split(r" {2,}| (?=mark passes, draws, and where)", line)[0] for line in indented]


EXAMPLES = {name: example_lines(command) for name, command in commands_and_groups()}


def zstd_frame(data: bytes) -> bytes:
    """The bytes in blocks of zstd that are not compressed: RFC 8878."""
    size = 1 << 16
    blocks = [data[start : start + size] for start in range(0, len(data), size)]
    headers = [
        (len(block) << 3 | (number == len(blocks) - 1)).to_bytes(3, "little")
        for number, block in enumerate(blocks)
    ]
    frame = b"\x28\xb5\x2f\xfd\xa0" + len(data).to_bytes(4, "little")
    return frame + b"".join(part for pair in zip(headers, blocks, strict=True) for part in pair)


def prepare(folder: Path) -> None:
    """The files that examples name."""
    (folder / "captures").mkdir()
    captures = examples.compiled_samples()
    for name, sample in CAPTURES.items():
        data = bytes(captures[sample])
        if name.endswith(".gz"):
            data = gzip.compress(data)
        if name.endswith(".zst"):
            data = zstd_frame(data)
        (folder / name).write_bytes(data)
    samples = ROOT / "samples"
    dump = (samples / "a660-textures.devcore").read_bytes()
    state = (samples / "skl-hang.i915.gz").read_bytes()
    aub = (samples / "skl-frame.aub.gz").read_bytes()
    microcode = next((samples / "microcode").glob("*.asm")).read_bytes()
    text = (samples / "a220-triangle.pm4").read_bytes()
    files = {
        "crash.devcore": dump,
        "crash.devcore.gz": gzip.compress(dump),
        "capture.aub": gzip.decompress(aub),
        "capture.aub.gz": aub,
        "i915_error_state.gz": state,
        "devcoredump.txt": gzip.decompress(state),
        "sqe.asm": microcode,
        "edited.asm": microcode,
        "triangle.pm4": text,
        "edited.pm4": text,
        "stream.bin": bytes.fromhex("f9628000"),
        "0003.fo3": bytes.fromhex("0000000000000003"),
        "0001.fo": bytes(12),
        "words.txt": b"0300000000000000\n",
        "listing.txt": b"end\n",
        "questions.jsonl": b"",
        "list.txt": b"captures/one.rd\n",
    }
    for name, data in files.items():
        (folder / name).write_bytes(data)
    with tarfile.open(folder / "more.tar.gz", "w:gz") as archive:
        archive.add(folder / "captures" / "two.rd", "two.rd")
    (folder / "src/mesa/src/freedreno/registers/adreno").mkdir(parents=True)
    (folder / "src/mesa/src/freedreno/registers/adreno/a6xx.xml").write_text(_XML)
    (folder / ".config/fish/completions").mkdir(parents=True)
    programs = folder.parent / "bin"
    for name, script in PROGRAMS.items():
        path = folder / name if name == "replay" else programs / name
        path.write_text(f"#!/bin/sh\n{script}\n")
        path.chmod(0o755)


@pytest.fixture(scope="module")
def runner(
    tmp_path_factory: pytest.TempPathFactory, command_server: CommandServer | None
) -> examples.Runner:
    def run(
        arguments: list[str], environment: dict[str, str], folder: Path
    ) -> examples.Result | None:
        if command_server is None or not command_server.can_run(environment):
            return None
        done = command_server.run(arguments, environment, cwd=folder, merge=True, timeout=120)
        return examples.Result(done.stdout.decode("utf-8", "replace"), done.returncode)

    found = examples.Runner(tmp_path_factory.mktemp("examples"), run)
    prepare(found.folder)
    return found


def run_line(runner: examples.Runner, line: str) -> examples.Result:
    home = f"set -o pipefail; export HOME='{runner.folder}' GITHUB_STEP_SUMMARY=summary.md; "
    needs_shell = re.search(r"[~$|]", line) is not None
    return runner.run(examples.Example(f"{home}{line}" if needs_shell else line, ""))


def make(runner: examples.Runner, line: str) -> str:
    """Make what an example needs of earlier ones; the line with the names of the samples."""
    folder = runner.folder
    for name in ("night.index", "last.index"):
        if name in line and "build" not in line and not (folder / name).exists():
            built = run_line(runner, f"cffpy index build captures/ -o {name} --jobs 1")
            assert built.exit_code == 0, built.output
    if "my-edition" in line and "import" not in line and not (folder / "my-edition").exists():
        imported = run_line(runner, "cffpy db import ~/src/mesa -o my-edition")
        assert imported.exit_code == 0, imported.output
    for name in ("a630_sqe.fw", "gen70900_sqe.fw", "words.bin"):
        if name in line and not (folder / name).exists():
            assert run_line(runner, f"cffpy afuc asm sqe.asm -o {name}").exit_code == 0
    if "f5cfc2a8a273" in line:
        query = 'cffpy index sql night.index "SELECT digest FROM programs LIMIT 1" --csv'
        line = line.replace("f5cfc2a8a273", run_line(runner, query).output.split()[-1])
    if line.startswith("cffpy image"):
        line = line.replace("capture.rd.gz", "a660-pictures.rd")
    if line.startswith("cffpy bisect"):
        line = line.replace("hang.rd.gz", "a740-state-groups.rd") + " --state-file state.json"
    if "cut.rd.gz" in line:
        data = examples.compiled_samples()["a530-two-submits.rd"]
        (folder / "cut.rd.gz").write_bytes(gzip.compress(data[:-5]))
    if line.startswith("cffpy export"):
        for output in ("capture.duckdb", "captures.parquet", "draws.csv", "all.duckdb"):
            path = folder / output
            shutil.rmtree(path) if path.is_dir() else path.unlink(missing_ok=True)
    for before, after in REPLACED:
        line = line.replace(before, after)
    return line


def lacks(line: str) -> bool:
    """Whether a library or program that an example needs is not installed."""
    libraries = {"sql": "duckdb", "index": "duckdb", "export": "duckdb", "image": "PIL"}
    words = line.split()
    needed = [library for word, library in libraries.items() if word in words]
    programs = [name for name in ("jq", "xxd") if name in words]
    return any(find_spec(name) is None for name in needed) or any(
        shutil.which(name) is None for name in programs
    )


def test_each_command_has_examples() -> None:
    assert [name for name, lines in EXAMPLES.items() if not lines] == []


def test_reasons_are_of_examples() -> None:
    every = [line for lines in EXAMPLES.values() for line in lines]
    assert [start for start in NOT_RUN if not any(start in line for line in every)] == []
    assert [old for old, _ in REPLACED if not any(old in line for line in every)] == []


@pytest.mark.skipif(os.name == "nt", reason="no shell")
@pytest.mark.parametrize(
    "name", first_always(EXAMPLES, 12), ids=lambda name: name.replace(" ", "-")
)
def test_examples(name: str, runner: examples.Runner) -> None:
    for example in EXAMPLES[name]:
        if lacks(example) or any(start in example for start in NOT_RUN):
            continue
        line = make(runner, example)
        done = run_line(runner, line)
        wrong = re.search(r"^(Usage:|cffpy: error:|jq: |bash: )", done.output, re.MULTILINE)
        if done.exit_code not in (0, 1) or (done.exit_code and wrong):
            pytest.fail(f"{line}\nexit code {done.exit_code}\n{done.output[-600:]}", pytrace=False)
