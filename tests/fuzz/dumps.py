# SPDX-License-Identifier: MIT
"""Mutants of GPU crash dumps through crashdec, the report and the analyses, in one process.

    python -m tests.fuzz.dumps --count 20000

A mutant changes lines of a dump: numbers, names, data, order, whole sections, or cuts it; of a KGSL
snapshot, dwords and sections. None may
raise, take more than a few seconds, or make the process use more than 3 x its size + 200 MB.
"""

from __future__ import annotations

import argparse
import gc
import gzip
import json
import resource
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from random import Random

from cffpy.analysis.crash.opening import check_capture
from cffpy.analysis.crash.report import analyse_crash
from cffpy.analysis.queries import find_passes
from cffpy.analysis.summary import summarise
from cffpy.container.kgsl_snapshot import SECTION_NAMES, is_snapshot
from cffpy.container.open import open_bytes
from cffpy.errors import CffpyError
from cffpy.views.crash import lines
from cffpy.views.crashdec.dump import CrashDump
from cffpy.views.crashdec.options import CrashdecOptions
from tests import kgsl_snapshots
from tests.builders import type7
from tests.crash_dumps import CP_NOP, IB2, call, hang
from tests.golden.test_crash import FOLDER
from tools.crash_sample import CRASH

#: Larger dumps are left out: their mutants take longer and find nothing else.
_LARGEST = 300_000

#: Seconds that one mutant may take in one command.
MOST_SECONDS = 20.0

_NUMBERS = ("0", "1", "-1", "0xffffffff", "0x7fffffff", "0xffffffffffffffff", "4096", "9" * 30, "")
_CHARACTERS = b'z!u~\0 \n\xff"#5'


def sources() -> list[bytes]:
    """Dumps to change: the sample, built ones, and recorded ones where they are."""
    found = [
        CRASH.read_bytes(),
        hang(call(IB2, 2) + type7(CP_NOP, 1), 2, [0, 0], 1),
        hang(type7(0x38, 0x184, 1, 3) * 3, 4, revision="0 (67.5.10.1)"),
        kgsl_snapshots.hang(call(IB2, 2) + type7(CP_NOP, 1), 2, [0, 0], 1),
        _whole_snapshot(),
    ]
    for path in sorted(FOLDER.glob("*.devcore.gz")):
        data = gzip.decompress(path.read_bytes())
        if len(data) <= _LARGEST:
            found.append(data)
    return found


def _whole_snapshot() -> bytes:
    """A snapshot with a section of each kind."""
    kinds = [kind for kind in SECTION_NAMES if kind not in (0x0101, 0x0201, 0x0302, 0x0402, 0xFFFF)]
    rest = [kgsl_snapshots.section(kind, bytes(range(64))) for kind in kinds]
    whole = kgsl_snapshots.hang(type7(0x38, 0x184, 1, 3) * 3, 4)
    return whole[: -len(kgsl_snapshots.END)] + b"".join(rest) + kgsl_snapshots.END


#: Numbers for sizes, counts and addresses of snapshots.
_DWORDS = (0, 1, 7, 8, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 0x100000, 0xABCD, 0x0402ABCD, 0xFFFFABCD)


def _snapshot_mutant(rng: Random, source: bytes) -> bytes:
    """A snapshot with other dwords, bytes or sections, or cut."""
    data = bytearray(source)
    for _ in range(rng.choice((1, 1, 2, 3, 6, 40))):
        at = rng.randrange(4, len(data) - 4)
        change = rng.randrange(4)
        if change == 0:
            data[at] ^= 1 << rng.randrange(8)
        elif change == 1:
            at &= ~3
            data[at : at + 4] = rng.choice(_DWORDS).to_bytes(4, "little")
        elif change == 2:
            begin = max(data.find(b"\xcd\xab", at), 4)
            end = data.find(b"\xcd\xab", begin + 2)
            part = data[begin:end]
            data[at:at] = part
        elif len(data) > 64:
            del data[at : at + rng.choice((1, 4, 8))]
    return bytes(data[: rng.randrange(4, len(data))] if rng.random() < 0.15 else data)


def mutant(rng: Random, source: bytes) -> bytes:
    """A source with a few changes."""
    if is_snapshot(source):
        return _snapshot_mutant(rng, source)
    rows = source.splitlines(keepends=True)
    for _ in range(rng.choice((1, 1, 2, 3, 6))):
        rng.choice(_CHANGES)(rng, rows)
    data = b"".join(rows)
    return data[: rng.randrange(len(data) + 1)] if rng.random() < 0.15 else data


def _number(rng: Random, rows: list[bytes]) -> None:
    """Another number in a line that has one."""
    at = rng.randrange(len(rows)) if rows else 0
    for index in (*range(at, len(rows)), *range(at)):
        words = rows[index].split(b" ")
        digits = [n for n, word in enumerate(words) if word[:1].isdigit()]
        if digits and len(rows[index]) < 200:
            words[rng.choice(digits)] = rng.choice(_NUMBERS).encode()
            rows[index] = b" ".join(words)
            if not rows[index].endswith(b"\n"):
                rows[index] += b"\n"
            return


def _data(rng: Random, rows: list[bytes]) -> None:
    """Other characters in a line of data, fewer or more of them."""
    found = [n for n, row in enumerate(rows) if n and b"!!ascii85" in rows[n - 1]]
    if not found:
        return
    index = rng.choice(found)
    text = bytearray(rows[index])
    for _ in range(rng.randrange(1, 12)):
        at = rng.randrange(len(text) or 1)
        text[at : at + rng.choice((0, 1, 1, 5))] = bytes([rng.choice(_CHARACTERS)])
    rows[index] = bytes(text) * rng.choice((1, 1, 1, 3))


def _word(rng: Random, rows: list[bytes]) -> None:
    """A few bytes of any line."""
    if rows:
        index = rng.randrange(len(rows))
        text = bytearray(rows[index])
        at = rng.randrange(len(text) or 1)
        text[at : at + rng.randrange(4)] = rng.randbytes(rng.randrange(4))
        rows[index] = bytes(text)


def _order(rng: Random, rows: list[bytes]) -> None:
    """Lines are moved, doubled or removed."""
    if not rows:
        return
    start, target = rng.randrange(len(rows)), rng.randrange(len(rows))
    end = start + rng.choice((1, 2, 5, 50))
    part = rows[start:end]
    if rng.random() < 0.6:
        del rows[start:end]
    if rng.random() < 0.6:
        rows[target:target] = part


def _section(rng: Random, rows: list[bytes]) -> None:
    """A section is removed or doubled."""
    heads = [n for n, row in enumerate(rows) if row[:1] not in (b" ", b"-", b"\n", b"")]
    if not heads:
        return
    start = rng.choice(heads)
    end = next((n for n in heads if n > start), len(rows))
    if rng.random() < 0.5:
        del rows[start:end]
    else:
        rows[end:end] = rows[start:end]


_CHANGES = (_number, _number, _number, _data, _data, _word, _order, _section)


def commands(rng: Random) -> Iterator[tuple[str, Callable[[bytes], None]]]:
    """The commands that are run on a mutant, by name."""
    options = CrashdecOptions(
        summary=rng.random() < 0.5,
        allregs=rng.random() < 0.3,
        verbose=rng.random() < 0.3,
        markers=rng.random() < 0.3,
        color=rng.random() < 0.3,
    )
    yield "crashdec", lambda data: _crashdec(data, options)
    yield "crash", _crash
    yield "analyses", _analyses


def _crashdec(data: bytes, options: CrashdecOptions) -> None:
    CrashDump(options, lambda text: None, lambda line: None).file(open_bytes(data))


def _crash(data: bytes) -> None:
    report = analyse_crash(open_bytes(data))
    list(lines(report))
    json.dumps(report.to_dict())


def _analyses(data: bytes) -> None:
    content = check_capture(open_bytes(data))
    summarise(content)
    find_passes(content, lambda line: None)


def run(count: int, seed: int = 0, originals: list[bytes] | None = None) -> list[str]:
    """Run mutants of all sources or of these; returns a line for each failure."""
    found: list[str] = []
    originals = originals or sources()
    for number in range(seed, seed + count):
        rng = Random(number)
        data = mutant(rng, rng.choice(originals))
        for name, command in commands(rng):
            start = time.process_time()
            try:
                with suppress(CffpyError):
                    command(data)
            except Exception as problem:
                found.append(f"mutant {number}: {name}: {type(problem).__name__}: {problem}")
            taken = time.process_time() - start
            if taken > MOST_SECONDS:
                found.append(f"mutant {number}: {name}: {taken:.1f} seconds")
        if number % 64 == 0:
            gc.collect()
    return found


def main() -> None:
    """Run mutants from the command line."""
    parser = argparse.ArgumentParser(description="Mutants of GPU crash dumps.")
    parser.add_argument("--count", type=int, default=300)
    parser.add_argument("--seed", type=int, default=0)
    chosen = parser.parse_args()
    found = run(chosen.count, chosen.seed)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    print(*found[:50], sep="\n")
    print(f"{chosen.count} mutants, {len(found)} problems, at most {peak // 1024} MB")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
