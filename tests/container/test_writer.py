# SPDX-License-Identifier: MIT
"""The writer and the sample captures: reproducible bytes."""

from __future__ import annotations

import gzip
import subprocess
import sys
import tomllib
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cffpy.container.open import open_capture
from cffpy.container.writer import capture_bytes, dwords_bytes, gzip_bytes


@given(st.binary(max_size=2000))
def test_gzip_is_plain_gzip_without_a_time(data: bytes) -> None:
    packed = gzip_bytes(data)
    assert gzip.decompress(packed) == data
    assert packed[4:8] == bytes(4)
    assert packed == gzip_bytes(data)


def test_bytes_of_a_capture() -> None:
    data = capture_bytes([(13, b"\x76\2\0\0")], markers=2)
    assert data.hex(" ", 4) == "ffffffff ffffffff ffffffff ffffffff 0d000000 04000000 76020000"
    assert dwords_bytes([1, 0xFFFFFFFE]) == bytes.fromhex("01000000feffffff")


def test_samples_are_what_build_makes(samples: Path, tmp_path: Path) -> None:
    for seed in ("0", "1"):
        subprocess.run(
            [sys.executable, samples / "build.py", tmp_path],
            check=True,
            env={"PYTHONHASHSEED": seed},
        )
        made = sorted(path.name for path in tmp_path.iterdir())
        assert made == sorted(path.name for path in samples.glob("*.rd*"))
        for name in made:
            # zlib-ng and zlib pack differently: what counts there is the content.
            ours, theirs = (open_capture(str(folder / name)) for folder in (tmp_path, samples))
            assert ours.data == theirs.data or name == "damaged-gzip.rd.gz"
            if ours.compression == "none":
                assert (tmp_path / name).read_bytes() == (samples / name).read_bytes()


def test_samples_are_small_and_described(samples: Path) -> None:
    files = sorted(samples.glob("*.rd*"))
    assert sum(path.stat().st_size for path in files) < 20_000
    manifest = tomllib.loads((samples / "MANIFEST.toml").read_text(encoding="utf-8"))
    assert sorted(entry["file"] for entry in manifest["sample"]) == [path.name for path in files]
    for entry in manifest["sample"]:
        assert entry["licence"] == "MIT"
        assert entry["origin"]
        assert entry["shows"]
