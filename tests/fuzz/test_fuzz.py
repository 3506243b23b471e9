# SPDX-License-Identifier: MIT
"""A short run of the fuzzer: each command on mutants of every generation."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from random import Random

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from cffpy.cli.main import COMMANDS
from cffpy.container.open import open_bytes
from cffpy.container.rd import iter_sections
from cffpy.errors import CffpyError
from cffpy.limits import Limits as CaptureLimits
from tests.builders import type4, type7
from tests.fuzz import mutate
from tests.fuzz.captures import CHECKOUT, Part, file_bytes, parse

if not hasattr(os, "fork"):
    pytest.skip("cases run in forked processes", allow_module_level=True)

from tests.fuzz.__main__ import import_all
from tests.fuzz.batch import batch, run_here
from tests.fuzz.bombs import BOMBS, capture
from tests.fuzz.case import Bench
from tests.fuzz.child import Limits, run
from tests.fuzz.commands import LINES
from tests.fuzz.targets import TARGETS

#: Of the cases of ``./dev test --all``, which others draw each time.
SEED = int(os.environ.get("CFFPY_SEED", "20261120"))
#: Of the cases that always run.
ALWAYS = 20261120

#: Cases of each command.
CASES = 40


@pytest.fixture(scope="module")
def bench() -> Iterator[Bench]:
    import_all()
    bench = Bench(Limits(seconds=20))
    yield bench
    bench.close()


@pytest.mark.fuzz
@pytest.mark.parametrize("command", LINES)
def test_mutants(bench: Bench, command: str) -> None:
    """In one child for all cases. One that fails among others is run alone, which decides."""
    first = SEED + 1000 * list(LINES).index(command)
    done = 0

    def work() -> Iterator[tuple[int, dict]]:
        os.environ.update(bench.environment)
        for seed in range(first + done, first + CASES):
            yield seed, {}
            yield seed, {"problem": bench.run(seed, command, runner=run_here).outcome.problem}

    while done < CASES:
        row: dict = {}
        for row in batch(bench.limits_of(command), work):
            if row.get("problem"):
                break
        assert row, "the child ended before its first case"
        if row.get("problem") != "":
            # a child of many cases may run out of threads or address space that one case has
            outcome = bench.run(row["number"], command).outcome
            assert not outcome.problem, f"{row['number']}: {outcome.problem}\n{outcome.stderr}"
        done = row["number"] - first + 1


def test_some_mutants_of_each_command(tmp_path: Path) -> None:
    """Three of each, the same each time, in one process."""
    words = ["--each", "3", "--seed", str(ALWAYS), "--keep", str(tmp_path)]
    done = subprocess.run(
        [sys.executable, "-m", "tests.fuzz", *words],
        cwd=CHECKOUT,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        timeout=600,
    )
    assert (done.returncode, done.stdout.decode().splitlines()[1:]) == (0, [])


def test_a_case_that_waits_is_ended() -> None:
    """Waiting takes no processor time, so that another limit has to end it."""

    def work() -> Iterator[tuple[int, dict]]:
        yield 1, {}
        yield 1, {"problem": ""}
        yield 2, {}
        time.sleep(600)

    rows = list(batch(Limits(waiting=1), work))
    assert rows == [{"number": 1}, {"number": 1, "problem": ""}, {"number": 2}]


@pytest.mark.fuzz
@pytest.mark.parametrize("command", ["dump", "info", "passes", "draws", "tiles", "vsc", "shaders"])
def test_cut_at_any_byte(bench: Bench, command: str) -> None:
    """Exit codes report damage, except those of dump; a cut between sections is not damage."""
    draw = type7(0x38, 0x84, 1, 3)
    data = capture(type7(0x65, 2) + type7(0x65, 4) + type4(0x8890, 0) + draw)
    whole = {section.offset for section in iter_sections(data)} | {len(data)}
    path = bench.folder / "cut.rd"
    line = [command, str(path)]

    def work() -> Iterator[tuple[int, dict]]:
        os.environ.update(bench.environment)
        for size in range(16, len(data) + 1):
            path.write_bytes(data[:size])
            outcome = run_here(line, bench.limits)
            yield size, {"problem": outcome.problem, "code": outcome.code}

    rows = list(batch(bench.limits, work))
    assert [row["number"] for row in rows] == list(range(16, len(data) + 1))
    assert {row["problem"] for row in rows} == {""}
    if command == "dump":
        assert {row["code"] for row in rows} == {0}
    else:
        assert {row["code"] for row in rows} == {0, 1}
        sound = [row["number"] for row in rows if row["code"] == 0]
        if command == "tiles":  # without its draw, the capture has no pass to show tiles of
            assert sound == [len(data)]
        else:
            assert sound == sorted(whole - {0, 12})


@pytest.mark.fuzz
@pytest.mark.parametrize("name", BOMBS)
def test_small_bombs(bench: Bench, name: str) -> None:
    """At a hundredth of the size that is measured."""
    bomb, scale = BOMBS[name]
    path = bench.folder / "bomb.rd"
    path.write_bytes(bomb(max(1, scale // 100)))
    for command in ("dump", "passes", "diff", "decompile"):
        line = [command, str(path), *([str(path)] if command == "diff" else [])]
        outcome = run(line, bench.limits, bench.environment)
        assert not outcome.problem, f"{command}: {outcome.problem}\n{outcome.stderr}"


def parts_of(pieces: list[tuple[int, bytes]]) -> list[Part]:
    return [Part(section_type, payload) for section_type, payload in pieces]


@given(st.lists(st.tuples(st.integers(0, 17), st.binary(max_size=64)), max_size=12), st.integers(0))
@settings(suppress_health_check=[HealthCheck.too_slow])
def test_mutator_keeps_to_bytes(pieces: list[tuple[int, bytes]], seed: int) -> None:
    """The mutator makes bytes of any input, the same for the same number."""
    made = [mutate.mutant(Random(seed), parts_of(pieces)) for _ in range(2)]
    assert made[0] == made[1]


@given(st.lists(st.tuples(st.integers(0, 17), st.binary(max_size=64)), max_size=12))
def test_parts_are_the_capture(pieces: list[tuple[int, bytes]]) -> None:
    data = file_bytes(parts_of(pieces))
    assert file_bytes(parse(data)) == data


@given(st.binary(max_size=400), st.integers(0, 50))
@settings(suppress_health_check=[HealthCheck.too_slow])
@pytest.mark.fuzz
@pytest.mark.parametrize("name", TARGETS)
def test_parsers_take_any_bytes(name: str, data: bytes, number: int) -> None:
    """Inputs as from atheris: random bytes, and seeds with random bytes in them."""
    check_takes(name, data)
    known = known_seeds(name)
    seed = known[number % len(known)]
    at = len(data) * number % len(seed)
    check_takes(name, seed[:at] + data + seed[at + len(data) :])


def check_takes(name: str, data: bytes) -> None:
    """The parser of this name raises nothing, whatever it is given."""
    target, _ = TARGETS[name]
    try:
        target(data)
    except Exception as problem:
        pytest.fail(f"{name}: {problem!r} for bytes.fromhex({data.hex()!r})")


@cache
def known_seeds(name: str) -> list[bytes]:
    return TARGETS[name][1]()


@given(
    st.binary(max_size=300),
    st.sampled_from([b"", b"\x1f\x8b", b"BZh", b"PK\x03\x04", b"\xfd7zXZ\0"]),
)
def test_containers_take_any_bytes(data: bytes, magic: bytes) -> None:
    try:
        content = open_bytes(magic + data, limits=CaptureLimits(bytes=1 << 20))
    except CffpyError:
        return
    sections = list(iter_sections(content.data, []))
    assert sum(section.count for section in sections) <= len(content.data) // 8


def test_every_command_is_fuzzed() -> None:
    """Except for those that read no file, and those that tests of their own cover."""
    intel = {"aubinator": "intel, AUB", "aubinator-error-decode": "intel, i915"}
    assert set(intel.values()) <= set(LINES)
    fuzzed = {name.split(",")[0].split()[0] for name in LINES} | set(intel)
    assert set(COMMANDS) - fuzzed <= {"completion", "help", "index", "schema", "tui"}


def test_every_target_is_documented() -> None:
    text = (CHECKOUT / "docs" / "internals" / "robustness.md").read_text(encoding="utf-8")
    assert [name for name in TARGETS if f"`{name}`" not in text] == []
