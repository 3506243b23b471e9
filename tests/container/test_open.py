# SPDX-License-Identifier: MIT
"""Opening captures: every packing, whole, in parts, damaged, hostile."""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import random
import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cffpy.container.open import (
    is_gzip_header,
    open_bytes,
    open_capture,
    sniff_compression,
)
from cffpy.container.rd import iter_sections
from cffpy.container.writer import buffer_sections, capture_bytes, gpu_id_section, gzip_bytes
from cffpy.errors import CffpyError, ContainerError
from cffpy.limits import Limits
from tests.selection import first_always

if sys.version_info >= (3, 14):
    from compression import zstd
else:
    from backports import zstd

CAPTURE = capture_bytes(
    [gpu_id_section(630), *buffer_sections(0x1000, bytes(range(256)) * 2), (2, b"x")]
)
NOISE = bytes(index * index * 7919 >> 3 & 0xFF for index in range(300_000))
PACKERS: dict[str, Callable[[bytes], bytes]] = {
    "gzip": gzip_bytes,
    "zstd": zstd.compress,
    "xz": lzma.compress,
    "bzip2": bz2.compress,
}
packings = pytest.mark.parametrize("packing", PACKERS)


def tar_of(*entries: tuple[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        for name, content in entries:
            info = tarfile.TarInfo(name)
            info.size = len(content)
            archive.addfile(info, io.BytesIO(content))
    return stream.getvalue()


def zip_of(*entries: tuple[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in entries:
            archive.writestr(name, content)
    return stream.getvalue()


def test_raw_file(tmp_path: Path) -> None:
    path = tmp_path / "raw.rd"
    path.write_bytes(CAPTURE)
    content = open_capture(str(path))
    assert content.data == CAPTURE
    assert content.data.readonly
    assert (content.compression, content.damage) == ("none", None)
    assert (content.file_size, content.name) == (len(CAPTURE), str(path))
    assert content.reference_size == len(CAPTURE)


@packings
@pytest.mark.parametrize("data", [CAPTURE, NOISE, b""], ids=["capture", "noise", "empty"])
def test_packed_file(tmp_path: Path, packing: str, data: bytes) -> None:
    path = tmp_path / "no-telling-name"
    path.write_bytes(PACKERS[packing](data))
    content = open_capture(str(path))
    assert content.data == data
    assert (content.compression, content.damage) == (packing, None)


@packings
def test_several_members(packing: str) -> None:
    pack = PACKERS[packing]
    content = open_bytes(pack(CAPTURE) + pack(b"") + pack(NOISE) + pack(CAPTURE))
    assert content.data == CAPTURE + NOISE + CAPTURE
    assert content.damage is None


@packings
def test_what_follows_the_last_member_is_told_unless_zero(packing: str) -> None:
    packed = PACKERS[packing](CAPTURE)
    assert open_bytes(packed + bytes(700)).damage is None
    content = open_bytes(packed + b"something else")
    assert content.data == CAPTURE
    assert content.damage is not None
    assert "14 bytes follow" in content.damage.message
    assert not content.decompression_error


@packings
def test_every_truncation(packing: str) -> None:
    packed = PACKERS[packing](CAPTURE)
    for length in range(10 if packing == "gzip" else 8, len(packed)):
        content = open_bytes(packed[:length])
        assert content.compression == packing
        assert CAPTURE.startswith(bytes(content.data))
        assert content.damage is not None
        assert content.decompression_error
        assert content.damage.offset == len(content.data)
        list(iter_sections(content.data))


def test_truncated_gzip_gives_all_that_came_out() -> None:
    packed = gzip_bytes(NOISE)
    content = open_bytes(packed[:-8])
    assert content.data == NOISE
    assert content.reference_size == len(NOISE) // 65536 * 65536


def test_broken_gzip_gives_all_before_the_break() -> None:
    first = gzip_bytes(NOISE)
    content = open_bytes(gzip_bytes(b"a" * 10) + first[:10] + b"\xff" * 100)
    assert content.data == b"a" * 10
    assert content.decompression_error


# libarchive: peek_at_header; anything else is not a gzip stream, or ends one
HEADER = b"\x1f\x8b\x08%c" + bytes(6)  # % flags


@pytest.mark.parametrize(
    ("header", "is_header"),
    [
        (HEADER % 0, True),
        (b"\x1f\x8b\x08" + bytes(6), False),  # cut short
        (b"\x1f\x8b\x09" + bytes(7), False),
        (HEADER % 0x20, False),
        (HEADER % 4 + b"\x05\0", True),
        (HEADER % 4 + b"\x05", False),
        (HEADER % 8 + b"name\0", True),
        (HEADER % 8 + b"name", False),
        (HEADER % 0x18 + b"name\0comment", False),
        (HEADER % 0x1E + b"\x01\0x" + b"name\0comment\0" + b"cc", True),
        (HEADER % 0x1E + b"\x01\0x" + b"name\0comment\0" + b"c", False),
    ],
)
def test_gzip_headers(header: bytes, is_header: bool) -> None:
    assert is_gzip_header(header) == is_header
    assert sniff_compression(header) == ("gzip" if is_header else None)
    content = open_bytes(gzip_bytes(NOISE) + header)
    assert content.data == NOISE
    assert content.decompression_error == is_header


def test_what_the_reference_cannot_open() -> None:
    packed = gzip_bytes(NOISE)
    assert not open_bytes(b"").is_readable
    for pack in PACKERS.values():
        assert not open_bytes(pack(b"")).is_readable
    assert not open_bytes(zip_of(("a.rd", b""))).is_readable
    assert not open_bytes(packed[:1000]).is_readable  # the first 64 KiB are lost
    assert open_bytes(packed[:-8]).is_readable
    assert open_bytes(packed[:9]).is_readable  # no gzip stream, but some bytes


def test_gzip_checksums_are_told_but_do_not_stop_the_reference() -> None:
    for index in (-5, -1):
        packed = bytearray(gzip_bytes(NOISE))
        packed[index] ^= 1
        content = open_bytes(packed)
        assert content.data == NOISE
        assert content.damage is not None
        assert "check" in content.damage.message
        assert not content.decompression_error
        assert content.reference_size == len(NOISE)


@pytest.mark.parametrize("checksum", [b"", b"0012345\0", b"zzz"])
def test_a_capture_with_the_magic_of_tar_in_its_commands(checksum: bytes) -> None:
    """The magic of a tar archive; without the right checksum, the file is not one."""
    data = bytearray(CAPTURE.ljust(600, b"\0"))
    data[148 : 148 + len(checksum)] = checksum
    data[257:262] = b"ustar"
    content = open_bytes(bytes(data))
    assert (content.compression, bytes(content.data)) == ("none", bytes(data))


@pytest.mark.parametrize("pack", [tar_of, zip_of])
def test_archives_give_their_first_entry(pack: Callable[..., bytes]) -> None:
    name = pack.__name__[:3]
    packed = pack(("a.rd", CAPTURE), ("b.rd", NOISE))
    content = open_bytes(packed)
    assert content.data == CAPTURE
    assert content.compression == name
    content = open_bytes(gzip_bytes(packed))
    assert content.data == CAPTURE
    assert content.compression == f"gzip+{name}"
    content = open_bytes(pack(("a.rd.gz", gzip_bytes(CAPTURE))))
    assert content.data == CAPTURE
    assert content.compression == f"{name}+gzip"


def test_archives_without_a_file() -> None:
    stream = io.BytesIO()
    with tarfile.open(fileobj=stream, mode="w") as archive:
        info = tarfile.TarInfo("folder")
        info.type = tarfile.DIRTYPE
        archive.addfile(info)
    with pytest.raises(ContainerError, match="first entry of the tar archive is not a file"):
        open_bytes(stream.getvalue())
    with pytest.raises(ContainerError, match="zip archive"):
        open_bytes(b"PK\x03\x04 no zip at all")
    with pytest.raises(ContainerError, match="zip archive"):
        open_bytes(zip_of(("a", CAPTURE))[:-10])


@pytest.mark.parametrize("packing", first_always([*PACKERS, "zip"]))
def test_bombs_are_cut(packing: str) -> None:
    data = bytes(40 << 20)
    packed = zip_of(("a", data)) if packing == "zip" else PACKERS[packing](data)
    assert len(packed) < 1 << 20
    content = open_bytes(packed, limits=Limits(bytes=10 << 20))
    assert len(content.data) == 10 << 20
    assert content.damage is not None
    assert "--limit bytes=N or CFFPY_MAX_BYTES" in str(content.damage)
    assert not content.decompression_error
    assert len(open_bytes(packed, limits=Limits(bytes=40 << 20)).data) == 40 << 20


def test_a_limit_of_one_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "a"
    path.write_bytes(gzip_bytes(NOISE))
    monkeypatch.setenv("CFFPY_MAX_BYTES", "7")  # read by the commands only
    content = open_capture(str(path), Limits(bytes=0x1000))
    assert content.data == NOISE[:0x1000]
    assert "more than 4096 bytes when decompressed" in str(content.damage)
    assert [cut.limit for cut in content.truncated] == ["bytes"]
    whole = open_capture(str(path))
    assert (whole.data, whole.damage, whole.truncated) == (NOISE, None, [])


def test_a_limit_of_an_uncompressed_file(tmp_path: Path) -> None:
    path = tmp_path / "a.rd"
    path.write_bytes(NOISE)
    content = open_capture(str(path), Limits(bytes=0x1000))
    assert (content.data, content.file_size) == (NOISE[:0x1000], len(NOISE))
    assert "more than 4096 bytes: the rest is ignored" in str(content.damage)
    assert [cut.limit for cut in content.truncated] == ["bytes"]
    for limits in (None, Limits(bytes=len(NOISE))):
        whole = open_capture(str(path), limits)
        assert (whole.data, whole.damage, whole.truncated) == (NOISE, None, [])


def test_layers_are_bounded() -> None:
    data = CAPTURE
    for _ in range(8):
        data = gzip_bytes(data)
    assert open_bytes(data).compression == "gzip+gzip+gzip+gzip"


def test_what_cannot_be_opened(tmp_path: Path) -> None:
    with pytest.raises(ContainerError, match="No such file"):
        open_capture(str(tmp_path / "missing"))
    with pytest.raises(ContainerError, match="directory"):
        open_capture(str(tmp_path))
    with pytest.raises(ContainerError):
        open_capture("nul\0byte")
    path = tmp_path / "secret"
    path.write_bytes(CAPTURE)
    path.chmod(0)
    if not os.access(path, os.R_OK):
        with pytest.raises(ContainerError, match="Permission denied"):
            open_capture(str(path))


def test_empty_file_and_device(tmp_path: Path) -> None:
    path = tmp_path / "empty"
    path.write_bytes(b"")
    assert len(open_capture(str(path)).data) == 0
    assert len(open_capture(os.devnull).data) == 0


def test_named_pipe(tmp_path: Path) -> None:
    path = tmp_path / "pipe"
    os.mkfifo(path)
    pid = os.fork()
    if pid == 0:  # pragma: no cover
        path.write_bytes(gzip_bytes(NOISE))
        os._exit(0)
    content = open_capture(str(path))
    os.waitpid(pid, 0)
    assert content.data == NOISE


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="no /proc")
def test_a_file_without_a_size_that_has_content() -> None:
    path = "/proc/self/status"
    assert Path(path).stat().st_size == 0
    assert bytes(open_capture(path).data).startswith(b"Name:")


def check_survives(data: bytes) -> None:
    """An error, or content within the limit whose sections lie within it."""
    try:
        content = open_bytes(data, limits=Limits(bytes=1 << 20))
    except CffpyError:
        return
    size = len(content.data)
    assert size <= 1 << 20
    assert content.file_size == len(data)
    for section in iter_sections(content.data, []):
        assert section.offset + len(section.payload) <= size


@given(st.binary(max_size=300))
def test_any_bytes(data: bytes) -> None:
    check_survives(data)


STARTS = [b"\x1f\x8b\x08\0", b"\x28\xb5\x2f\xfd", b"\xfd7zXZ\0", b"BZh9", b"PK\x03\x04"]


@given(st.sampled_from(STARTS), st.binary(max_size=300))
def test_any_bytes_behind_a_magic(start: bytes, data: bytes) -> None:
    check_survives(start + data)


PACKED = [
    *(pack(CAPTURE) for pack in PACKERS.values()),
    zip_of(("a.rd", CAPTURE)),
    tar_of(("a.rd", CAPTURE)),
    gzip_bytes(tar_of(("a.rd", CAPTURE))),
    CAPTURE,
]


@settings(max_examples=4 * settings().max_examples)
@given(
    st.sampled_from(PACKED),
    st.lists(st.tuples(st.integers(0, 4000), st.integers(0, 255)), min_size=1, max_size=5),
)
def test_any_mutation(packed: bytes, changes: list[tuple[int, int]]) -> None:
    mutated = bytearray(packed)
    for index, value in changes:
        mutated[index % len(mutated)] = value
    check_survives(bytes(mutated))


@pytest.mark.slow
@packings
def test_memory_stays_near_one_copy(tmp_path: Path, packing: str) -> None:
    noise = random.Random(1)
    data = b"".join(noise.randbytes(1 << 10) + bytes(7 << 10) for _ in range(8 << 10))  # 64 MiB
    path = tmp_path / "large"
    path.write_bytes(PACKERS[packing](data))
    script = (
        "import resource, sys; from cffpy.container.open import open_capture;"
        "peak = lambda: resource.getrusage(resource.RUSAGE_SELF).ru_maxrss;"
        "before = peak(); content = open_capture(sys.argv[1]);"
        "print((peak() - before) * 1024 / len(content.data))"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, path], capture_output=True, check=True, text=True
    )
    assert float(done.stdout) < 1.6


@pytest.mark.parametrize("is_full", [False, True])
def test_large_data_move_to_a_file_if_it_can_be_written(
    is_full: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(**_options: object) -> None:
        raise OSError("no space left")

    monkeypatch.setattr("cffpy.container.open._WORTH_A_FILE", 1 << 20)
    if is_full:
        monkeypatch.setattr("tempfile.TemporaryFile", refuse)
    data = bytes(range(256)) * (5 << 10)
    content = open_bytes(gzip.compress(data))
    content.move_to_file()
    assert content.data == data
    assert isinstance(content.data.obj, bytearray) == is_full
    assert content.digest() == sha256(data).hexdigest()  # releases pages
    assert content.data == data
    small = open_bytes(gzip.compress(data[: 1 << 19]))
    small.move_to_file()
    assert isinstance(small.data.obj, bytearray)


@pytest.mark.slow
def test_all_captures_open_whole(shared: Path) -> None:
    for path in sorted((shared / "captures").glob("*.rd.gz"))[::6]:
        content = open_capture(str(path))
        assert content.damage is None
        if path.stat().st_size:
            with gzip.open(path) as file:
                assert content.data == file.read()
