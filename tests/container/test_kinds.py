# SPDX-License-Identifier: MIT
"""Which files are captures, and the names of other kinds."""

from __future__ import annotations

import gzip

import pytest

from cffpy.container.kinds import check_capture, is_capture, kind_of
from cffpy.container.open import open_bytes
from cffpy.container.writer import buffer_sections, capture_bytes, gpu_id_section
from cffpy.errors import ContainerError

CAPTURE = capture_bytes([gpu_id_section(630), *buffer_sections(0x1000, bytes(64))])


def test_an_empty_file_is_named() -> None:
    assert kind_of(b"") == "an empty file"


@pytest.mark.parametrize(
    "data",
    [
        b"",  # reported as empty
        b"\3\0\0\0\4",  # too short for a header
        b"\3\0\0\0\xff\xff\xff\xff",  # a known section of an impossible size
        CAPTURE,
        CAPTURE[:9],
        b"\xee\0\0\0\0\0\0\0" + CAPTURE,
        bytes(4096) + CAPTURE,
        capture_bytes([gpu_id_section(630)], markers=1),
    ],
)
def test_captures_also_damaged_ones(data: bytes) -> None:
    assert is_capture(data)


ELF = b"\x7fELF\2\1\1" + bytes(57) + bytes(range(256)) * 300


@pytest.mark.parametrize(
    ("data", "kind"),
    [
        (ELF, "an ELF file"),
        (ELF + b"\x0d\0\0\0" * 8, "an ELF file"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a PNG image"),
        (b'\n {"schema": "cffpy.state/2"}', "JSON text"),
        (b"---\nkernel: 5.8.0-test+\nmodule: msm\n", "a GPU crash dump (see cffpy crashdec)"),
        (b"<?xml version='1.0'?>", "XML text"),
        (b"hello\n", "text"),
        ("grüße\n".encode() * 100, "text"),
        (b"// comment\n\npm4 1\n", "text of the packet assembly language (see cffpy compile)"),
        (bytes(4096), "zero bytes"),
        (b"\xee\0\0\0\0\0\0\0" * 3, "binary data of unknown format"),
        (b"\x99\xaa" * 3000, "binary data of unknown format"),
    ],
)
def test_what_is_no_capture_is_named(data: bytes, kind: str) -> None:
    assert not is_capture(data)
    assert kind_of(data) == kind


def test_the_packing_is_named() -> None:
    content = open_bytes(gzip.compress(b"some text\n"), "x.gz")
    with pytest.raises(ContainerError, match=r"x\.gz: not a capture, but text, packed with gzip"):
        check_capture(content)
    assert check_capture(open_bytes(gzip.compress(CAPTURE))).data == CAPTURE
