# SPDX-License-Identifier: MIT
"""Which files are captures: in a folder by their names, else by their first bytes.

A file that is no capture is named by what it seems to be. Folders are searched for ``*.rd`` and
``*.aub``, packed or not. turnip writes a file for each submit: NAME_frame00001_submit00003.rd,
NAME_submit00003.rd or NAME_00003.rd, by its version, or NAME_combined.rd with all of them. Beside
them lies NAME_trigger, which turns the writing on, and is not a capture. The numbers have at least
five digits, with more beyond 99999. Fact: fd_rd_output_begin of Mesa.
"""

from __future__ import annotations

import os
import re
import stat

from cffpy.container.open import SNAPSHOT_MAGICS
from cffpy.container.rd import Section, iter_sections
from cffpy.container.section_types import ESSENTIAL_SIZES, section_name
from cffpy.errors import ContainerError, IntelFileError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from cffpy.container.open import Content
    from cffpy.row_readers import BytesLike

#: First bytes of other formats that users have.
_MAGICS = (
    (b"\x7fELF", "an ELF file"),
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF8", "a GIF image"),
    (b"RIFF", "a RIFF file (WebP, WAV, AVI)"),
    (b"DDS ", "a DDS image"),
    (b"\xabKTX ", "a KTX texture"),
    (b"%PDF-", "a PDF document"),
    (b"RDOC", "a RenderDoc capture"),
    (b"GFXR", "a gfxreconstruct capture"),
    (b"\x03\x02\x23\x07", "a SPIR-V module"),
    (b"\x07\x23\x02\x03", "a SPIR-V module"),
    (b"DXBC", "a DXBC shader"),
    (b"MZ", "a Windows program"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O file"),
    (b"\xca\xfe\xba\xbe", "a Mach-O or Java class file"),
    (b"!<arch>\n", "an ar archive"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x04\x22\x4d\x18", "LZ4-compressed data"),
    (b"\x1f\x8b", "gzip-compressed data"),
    (b"\x1f\x9d", "data compressed by compress (.Z)"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"\0asm", "a WebAssembly module"),
    (b"ANDROID!", "an Android boot image"),
    (b"\x3a\xff\x26\xed", "an Android sparse image"),
    (b"perf.", "a Linux perf recording"),
    (b"PERFILE", "a Linux perf recording"),
)

#: Upper halves of the first dword of AUB files.
_AUB_HEADERS = (0xE085, 0xF70E)
_XE_DEVCOREDUMP = b"**** Xe Device Coredump ****"
#: Bytes that are searched for the lines of an i915 error state.
_ERROR_STATE_SAMPLE = 1 << 16

#: Bytes that decide whether a file is text.
_TEXT_SAMPLE = 512

#: Starts of texts, after white space.
_TEXTS = (
    (b"<?xml", "XML text"),
    (b"<svg", "an SVG drawing"),
    (b"<!doctype html", "an HTML page"),
    (b"<html", "an HTML page"),
    (b"{", "JSON text"),
    (b"[", "JSON text"),
    (b"#!", "a script"),
)

#: Sections that are searched for an essential one.
_SEARCHED = 1 << 16


def check_capture(content: Content) -> Content:
    """Return the content. Raises ContainerError if it is not a capture.

    Damaged and empty captures pass: they are reported by the commands. Raises IntelFileError for a
    capture of an Intel GPU.
    """
    if intel_kind(content.data) is not None:
        raise intel_file_error(content)
    if is_capture(content.data):
        return content
    packed = "" if content.compression == "none" else f", packed with {content.compression}"
    raise ContainerError(f"{content.name}: not a capture, but {kind_of(content.data)}{packed}")


def intel_file_error(content: Content) -> IntelFileError:
    """The error of a capture of an Intel GPU, where one of an Adreno is needed."""
    kind = intel_kind(content.data)
    return IntelFileError(f"{content.name}: not a capture of an Adreno GPU, but {kind}", content)


def is_capture(data: BytesLike) -> bool:
    """Whether data is a capture, possibly damaged, cut short or empty.

    True if the first section has a known type, or any section is one that only captures have.
    """
    for number, section in enumerate(iter_sections(data)):
        if _is_essential(section):
            return True
        if not number and section.type and _is_known(section.type):
            return True
        if number >= _SEARCHED:
            return False
    view = memoryview(data)
    if len(view) < 8:
        return not _is_text(bytes(view)) if len(view) else True
    first = int.from_bytes(view[:4], "little")
    return first != 0 and _is_known(first)


def intel_kind(data: BytesLike) -> str | None:
    """What a file with commands of an Intel GPU is; None for anything else."""
    start = bytes(memoryview(data)[:_TEXT_SAMPLE])
    if len(start) >= 4 and int.from_bytes(start[2:4], "little") in _AUB_HEADERS:
        return "an AUB file (see cffpy aubinator)"
    if start.startswith(_XE_DEVCOREDUMP):
        return "an Xe devcoredump (see cffpy aubinator-error-decode)"
    if not start[:1].isalpha():
        return None
    text = bytes(memoryview(data)[:_ERROR_STATE_SAMPLE])
    is_error_state = b"\0" not in text and b"PCI ID:" in text
    if is_error_state and (b"GPU HANG:" in text or b" command stream" in text):
        return "an i915 error state (see cffpy aubinator-error-decode)"
    return None


def is_crash_dump(data: BytesLike) -> bool:
    """Whether data is a GPU crash dump: a devcoredump or a KGSL snapshot."""
    from cffpy.container.devcoredump import is_devcoredump  # lazy: they need re and dataclasses
    from cffpy.container.kgsl_snapshot import is_snapshot

    return is_snapshot(data) or is_devcoredump(data)


def kind_of(data: BytesLike) -> str:
    """What data seems to be, with an article where it is one thing: "a PNG image"."""
    intel = intel_kind(data)
    if intel is not None:
        return intel
    start = bytes(memoryview(data)[:_TEXT_SAMPLE])
    for magic, name in _MAGICS:
        if start.startswith(magic):
            return name
    if start.startswith(SNAPSHOT_MAGICS):
        return "a GPU snapshot of the KGSL driver (see cffpy crash)"
    if not start:
        return "an empty file"
    if not start.strip(b"\0"):
        return "zero bytes"
    if not _is_text(start):
        is_known = is_capture(data)
        known = "a capture of an Adreno GPU (see cffpy dump)"
        return known if is_known else "binary data of unknown format"
    from cffpy.container.devcoredump import is_devcoredump  # lazy: it needs re

    if is_devcoredump(data):
        return "a GPU crash dump (see cffpy crashdec)"
    folded = start.lstrip().lower()
    for opening, name in _TEXTS:
        if folded.startswith(opening):
            return name
    if _is_assembly(start):
        return "text of the packet assembly language (see cffpy compile)"
    return "text"


def _is_known(section_type: int) -> bool:
    return not section_name(section_type).startswith("type ")


def _is_essential(section: Section) -> bool:
    return len(section.payload) in ESSENTIAL_SIZES.get(section.type, ())


def _is_text(start: bytes) -> bool:
    """Whether these are characters of UTF-8 text; the last one may be incomplete."""
    try:
        text = start.decode("utf-8")
    except UnicodeDecodeError as problem:
        if problem.start < len(start) - 3:
            return False
        text = start[: problem.start].decode("utf-8")
    return all(character.isprintable() or character in "\t\r\n\f" for character in text)


def _is_assembly(start: bytes) -> bool:
    """Whether the first line that is not a comment is the header ``pm4 1``."""
    for line in start.splitlines():
        if line.strip() and not line.lstrip().startswith(b"//"):
            return line.split()[:1] == [b"pm4"]
    return False


#: Names of captures in a folder: not ``capture.rd.txt``, which is what somebody made of one.
_CAPTURE = re.compile(r"\.(rd|aub)(\.(gz|zst|xz|bz2|zip|tar))?$", re.IGNORECASE)
_OF_INTEL = re.compile(r"\.aub(\.|$)", re.IGNORECASE)

_DIGITS = re.compile(r"([0-9]+)")


def captures_in(paths: Iterable[str | os.PathLike[str]], *, with_intel: bool = True) -> list[str]:
    """The paths; for a folder the captures in it and below: ``*.rd``, ``*.rd.gz``, ``*.aub``.

    ``with_intel``: whether AUB files of folders are among them. In a folder they are in the order
    of ``name_order``, before captures of folders in it. A folder that cannot be listed stands for
    itself, so that opening it says why.

    Raises ContainerError for folders of which none has a capture.
    """
    files: list[str] = []
    folders_given: list[str] = []

    def cannot_be_listed(problem: OSError) -> None:
        files.append(str(problem.filename))

    for given in paths:
        path = os.fspath(given)
        if not os.path.isdir(path):
            files.append(path)
            continue
        folders_given.append(path)
        for folder, folders, names in os.walk(path, onerror=cannot_be_listed):
            folders.sort(key=name_order)
            captures = sorted(filter(is_capture_name, names), key=name_order)
            if not with_intel:
                captures = [name for name in captures if not _OF_INTEL.search(name)]
            joined = (os.path.join(folder, capture) for capture in captures)
            files.extend(file for file in joined if not is_special_file(file))
    if folders_given and not files:
        raise ContainerError(
            f"{', '.join(folders_given)}: no captures in the folder (*.rd, *.rd.gz, *.aub)"
        )
    return files


def is_capture_name(name: str) -> bool:
    """Whether a file in a folder is a capture, by its name: ``*.rd``, ``*.aub``, or packed."""
    return _CAPTURE.search(name) is not None


def is_special_file(path: str) -> bool:
    """Whether this is a pipe or a device, which may have no end. What does not exist is not."""
    try:
        return not stat.S_ISREG(os.stat(path).st_mode)
    except OSError:
        return False


def name_order(name: str) -> tuple[tuple[str | int, ...], str]:
    """A key that orders names by their parts, and numbers in them by value: frames, submits."""
    parts = _DIGITS.split(name)
    parts_and_numbers = [int(part) if place % 2 else part for place, part in enumerate(parts)]
    return tuple(parts_and_numbers), name
