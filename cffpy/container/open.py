# SPDX-License-Identifier: MIT
"""From a path, or ``-`` for standard input, to the decompressed content of a capture.

The first bytes decide the compression, not the name: gzip, zstd, xz, bzip2 (each also as several
concatenated members), zip and tar archives (their first entry), or none. Compressed layers may be
nested. The content is in memory once: a raw file is mapped, a compressed one is decompressed in
small steps into one growing buffer, up to a limit (``bytes`` of cffpy.limits).

A broken compressed stream is not an error: the content is what was decompressed before the break,
and ``Content.damage`` has its offset.
"""

from __future__ import annotations

import gc
import os
import sys

from cffpy.container.damage import Damage
from cffpy.container.rd import Section, iter_sections
from cffpy.errors import ContainerError
from cffpy.limits import Limits, Truncation, hint
from cffpy.row_readers import BytesLike

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator
    from types import ModuleType
    from typing import IO, Protocol

    from cffpy.container.crash_dump import DumpSection

    class _Member(Protocol):
        """A compressed member being decompressed: what bz2, lzma and zstd have in common."""

        @property
        def eof(self) -> bool: ...
        @property
        def needs_input(self) -> bool: ...
        @property
        def unused_data(self) -> bytes: ...
        def decompress(self, data: bytes, max_length: int = ...) -> bytes: ...


_INPUT_STEP = 64 << 10  # bytes of compressed data taken at a time
_OUTPUT_STEP = 1 << 20  # bytes that a decompressor may return at a time
_XZ_MEMORY = 512 << 20  # bytes; a hostile header may ask for 4 GiB
_REFERENCE_BLOCK = 64 << 10
_MAX_LAYERS = 4
_WORTH_IMPORTING = 1 << 11  # bytes of packed data; below, importing zlib-ng (1 ms) costs more

_MAGICS = (
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
    (b"\xfd7zXZ\0", "xz"),
    (b"BZh", "bzip2"),
    (b"PK\x03\x04", "zip"),
)
_SNIFF_SIZE = 512
_RELEASED = 2 << 20  # bytes that are read before pages of a mapped file are released
_WORTH_A_FILE = 16 << 20  # bytes of decompressed data; fewer are kept in memory
#: First bytes of KGSL snapshots, versions 1 and 2.
SNAPSHOT_MAGICS = (b"\x01\x00\x4d\x50", b"\x02\x00\x4d\x50")
_CRASH_DUMPS = (b"---", b"kernel:", b"module:", b"revision:", *SNAPSHOT_MAGICS)
_HEADER_TEXT = 64 << 10  # bytes of a name or comment in a gzip header


class Content:
    """A capture's decompressed bytes and how they were packed.

    ``data``: read-only view. ``compression``: ``none``, ``gzip``, ..., with layers as in
    ``gzip+tar``. ``file_size``: bytes as stored. ``damage``: of the compressed stream, or None.
    ``limits``: the user's, for everything that decodes it. ``truncated``: what limits have left out
    of its bytes and commands so far, each once.
    ``position``: byte offset of the section that ``sections`` yielded last.
    """

    __slots__ = (
        "compression",
        "damage",
        "data",
        "file_size",
        "limits",
        "name",
        "origin",
        "position",
        "truncated",
    )

    def __init__(
        self,
        name: str,
        data: BytesLike,
        compression: str,
        file_size: int,
        damage: Damage | None,
        limits: Limits | None = None,
    ) -> None:
        self.name = name
        self.data = memoryview(data).toreadonly()
        self.compression = compression
        self.file_size = file_size
        self.damage = damage
        self.limits = limits or Limits()
        #: Of a capture that was made of another file: the sections of that file.
        self.origin: tuple[DumpSection, ...] = ()
        self.position = 0
        self.truncated = [
            Truncation(fault.limit, fault.message) for fault in self.faults if fault.limit
        ]

    def sections(
        self, damage: list[Damage] | None = None, size: int | None = None
    ) -> Iterator[Section]:
        """The sections of the first ``size`` bytes of ``data``, as ``rd.iter_sections``.

        Pages of a mapped file are released on the way: few are read again.
        """
        released = 0
        for section in iter_sections(self.data[:size], damage):
            position = self.position = section.offset
            if position >= released + _RELEASED:
                released = position
                self.release_pages()
            yield section
        self.release_pages()

    def note_truncated(self, truncated: Iterable[Truncation]) -> None:
        """Add what limits left out of the commands."""
        self.truncated += [cut for cut in truncated if cut not in self.truncated]

    def move_to_file(self) -> None:
        """Have large decompressed data mapped from a temporary file without a name.

        Of such a file only the pages that are read are in memory. Where the file cannot be written,
        the data stay where they are. Call it before anything has views of ``data``.
        """
        if self.compression == "none" or len(self.data) < _WORTH_A_FILE:
            return
        import mmap
        import tempfile

        try:
            with tempfile.TemporaryFile(buffering=0) as file:
                written = 0
                while written < len(self.data):
                    written += file.write(self.data[written : written + _OUTPUT_STEP])
                self.data = memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
        except (OSError, ValueError):
            pass

    def release_pages(self) -> None:
        """Have no page of a mapped file in memory; pages that are read later are fetched again."""
        mapped = self.data.obj
        if hasattr(mapped, "madvise"):
            import mmap

            mapped.madvise(mmap.MADV_DONTNEED)

    def digest(self) -> str:
        """The SHA-256 of ``data``, in hexadecimal.

        Pages of a mapped file are released on the way, else all of them would be in memory.
        """
        from hashlib import sha256

        digest = sha256()
        for start in range(0, len(self.data), _OUTPUT_STEP):
            digest.update(self.data[start : start + _OUTPUT_STEP])
            self.release_pages()
        return digest.hexdigest()

    @property
    def faults(self) -> list[Damage]:
        """The damage of the file as a whole: of its compression, or that it is empty."""
        if self.damage is not None:
            return [self.damage]
        return [] if len(self.data) else [Damage(0, "the file is empty")]

    @property
    def decompression_error(self) -> bool:
        """True where the reference stops with ``corrupt file`` because decompression failed."""
        return self.damage is not None and self.damage.reference_says_corrupt

    @property
    def may_be_crash_dump(self) -> bool:
        """Whether it begins as a GPU crash dump does; ``kinds.is_crash_dump`` decides."""
        return bytes(self.data[:_SNIFF_SIZE]).startswith(_CRASH_DUMPS)

    @property
    def is_readable(self) -> bool:
        """False where the reference cannot open the file: it reads no bytes of it."""
        return self.reference_size > 0

    @property
    def reference_size(self) -> int:
        """How many bytes of ``data`` the reference sees before it stops.

        Its decompressor (libarchive 3.6) hands out blocks of 64 KiB and loses the block in which
        the stream breaks; if that is the first block the file cannot even be opened.
        """
        if self.decompression_error:
            return len(self.data) // _REFERENCE_BLOCK * _REFERENCE_BLOCK
        return len(self.data)


#: Objects allocated, and files opened, after which cycles are looked for.
_MOST_OBJECTS, _MOST_FILES = 10_000, 16


def one_by_one(paths: Iterable[str]) -> Iterator[str]:
    """Yield each path; what is left of the captures before it is released first.

    Decoding runs without the cyclic garbage collector, and what it makes refers to its capture in
    cycles, which would keep memory and files.
    """
    for number, path in enumerate(paths):
        # not after the last one: it would take as long as a small dump
        if number and (gc.get_count()[0] > _MOST_OBJECTS or not number % _MOST_FILES):
            gc.collect()
        yield path


def open_capture(path: str, limits: Limits | None = None) -> Content:
    """Read and decompress a capture; ``-`` is standard input. ``limits``: None for the defaults.

    Raises ContainerError if it cannot be read at all. What exceeds the limit is left out: damage.
    """
    limits = limits or Limits()
    if path == "-":
        name, stored = "standard input", _read_stream(limits.stored_bytes)
    else:
        name, stored = path, _map_file(path, limits.stored_bytes)
    return open_bytes(stored, name, limits)


def open_bytes(stored: BytesLike, name: str = "data", limits: Limits | None = None) -> Content:
    """Open a capture that is in memory already; see ``open_capture``."""
    limits = limits or Limits()
    view = memoryview(stored)
    file_size = len(view)
    limit = limits.decompressed_bytes(file_size)
    layers: list[str] = []
    damage: Damage | None = None
    while (layer := sniff_compression(view)) is not None and len(layers) < _MAX_LAYERS:
        layers.append(layer)
        if layer == "tar":
            view = _first_of_tar(view, name)
        else:
            output, problem = _unpack(layer, view, name, limit)
            view = memoryview(output)
            damage = problem or damage
    used = limits.mapped_bytes(len(view))
    if used < len(view):
        view = view[:used]
        damage = Damage(used, f"more than {used} bytes: the rest is ignored", limit="bytes")
    return Content(name, view, "+".join(layers) or "none", file_size, damage, limits)


def sniff_compression(view: BytesLike) -> str | None:
    """How these bytes are packed, by the first of them; None if not at all."""
    start = bytes(view[:_SNIFF_SIZE])
    for magic, name in _MAGICS:
        if start.startswith(magic) and (name != "gzip" or is_gzip_header(view)):
            return name
    return "tar" if start[257:262] == b"ustar" and _is_tar_header(start) else None


def _is_tar_header(start: bytes) -> bool:
    """Whether the checksum is right. Commands of a capture may contain the bytes ``ustar``, too."""
    if len(start) < _SNIFF_SIZE:
        return False
    try:
        wanted = int(start[148:156].strip(b" \0"), 8)
    except ValueError:
        return False
    counted = start[:148] + b" " * 8 + start[156:]
    total = sum(counted)
    return wanted in (total, total - 256 * sum(byte > 127 for byte in counted))


def is_gzip_header(view: BytesLike) -> bool:
    """Whether ``view`` begins with a complete and valid gzip header.

    Anything else is not a gzip stream to the reference
    (libarchive: peek_at_header in archive_read_support_filter_gzip.c).
    """
    fixed = bytes(view[:10])
    if len(fixed) < 10 or fixed[2] != 8 or fixed[3] & 0xE0:
        return False
    flags, size = fixed[3], len(fixed)
    if flags & 4:  # further fields, after their length
        if len(view) < size + 2:
            return False
        size += 2 + int.from_bytes(view[size : size + 2], "little")
    for text in (8, 16):  # name and comment, each up to a NUL
        if flags & text:
            end = bytes(view[size : size + 256]).find(0)
            if end < 0:
                end = bytes(view[size : size + _HEADER_TEXT]).find(0)
            if end < 0:
                return False
            size += end + 1
    return not flags & 2 or len(view) >= size + 2


def _map_file(path: str, pipe_limit: int) -> BytesLike:
    import mmap
    import stat

    try:
        with open(path, "rb") as file:
            status = os.fstat(file.fileno())
            # files of /proc have no size and yet content
            if stat.S_ISREG(status.st_mode) and status.st_size:
                return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
            return _read_all(file.readinto, path, pipe_limit)
    except OSError as problem:
        raise ContainerError(f"{path}: {problem.strerror or problem}") from None
    except ValueError as problem:  # a NUL in the name
        raise ContainerError(f"{path!r}: {problem}") from None


def _read_stream(limit: int) -> BytesLike:
    try:
        with open(sys.stdin.fileno(), "rb", buffering=0, closefd=False) as file:
            return _read_all(file.readinto, "standard input", limit)
    except (OSError, AttributeError, ValueError) as problem:
        raise ContainerError(f"standard input: {problem}") from None


def _read_all(read_into: Callable[[memoryview], int | None], name: str, limit: int) -> bytearray:
    """All bytes of a pipe, up to a limit, since its length is unknown."""
    collected = bytearray()
    step = bytearray(_OUTPUT_STEP)
    with memoryview(step) as window:
        while count := read_into(window):
            collected += window[:count]
            if len(collected) > limit:
                raise ContainerError(f"{name}: more than {limit} bytes {hint('bytes')}")
    return collected


# --- decompressors ----------------------------------------------------------------------------


def zlib_module(size: int) -> ModuleType:
    """A module with zlib's functions and ``error``, for ``size`` bytes of packed data.

    zlib-ng where it is installed and worth importing, else Python's zlib. zlib-ng unpacks 826 to
    2,610 MB/s of captures, zlib 294 to 494. Packed bytes differ between the
    two, unpacked bytes do not, even those of damaged files.
    """
    import zlib

    if size < _WORTH_IMPORTING:
        return zlib
    try:
        from zlib_ng import zlib_ng
    except ImportError:
        return zlib
    return zlib_ng


class _GzipMember:
    """zlib's decompressor with the interface of the others. An error loses no output."""

    def __init__(self, size: int) -> None:
        zlib = zlib_module(size)
        self._inner = zlib.decompressobj(wbits=31)
        self._error = zlib.error

    @property
    def eof(self) -> bool:
        return bool(self._inner.eof)

    @property
    def unused_data(self) -> bytes:
        unused: bytes = self._inner.unused_data
        return unused

    @property
    def needs_input(self) -> bool:
        return not self._inner.unconsumed_tail

    def decompress(self, data: bytes, max_length: int = 0) -> bytes:
        data = self._inner.unconsumed_tail + data
        before = self._inner.copy()
        try:
            output: bytes = self._inner.decompress(data, max_length)
            return output
        except self._error as problem:
            raise _Broken(str(problem), _until_error(before, data, self._error)) from None


class _Broken(Exception):
    """A compressed stream is broken; ``output``: of the last step, up to the break."""

    def __init__(self, reason: str, output: bytes) -> None:
        self.output = output
        super().__init__(reason)


def _until_error(inner: object, data: bytes, error: type[Exception]) -> bytes:
    """The output of ``data``, fed byte by byte, up to the decompressor's error."""
    output = bytearray()
    decompress = inner.decompress  # type: ignore[attr-defined]
    try:
        for index in range(len(data)):
            output += decompress(data[index : index + 1])
    except error:
        pass
    return bytes(output)


def _new_member(layer: str, size: int) -> _Member:
    """A decompressor for the next member of ``size`` bytes of packed data."""
    if layer == "gzip":
        return _GzipMember(size)
    if layer == "bzip2":
        import bz2

        return bz2.BZ2Decompressor()
    if layer == "xz":
        import lzma

        return lzma.LZMADecompressor(format=lzma.FORMAT_XZ, memlimit=_XZ_MEMORY)
    return _new_zstd_member()


def _new_zstd_member() -> _Member:
    try:
        if sys.version_info >= (3, 14):
            from compression.zstd import ZstdDecompressor
        else:
            from backports.zstd import ZstdDecompressor
    except ImportError:
        raise ContainerError("zstd files need the package backports.zstd") from None
    member: _Member = ZstdDecompressor()
    return member


def _errors(layer: str) -> tuple[type[Exception], ...]:
    """The exceptions by which a layer's decompressor reports a broken stream."""
    if layer == "xz":
        import lzma

        return (lzma.LZMAError, MemoryError)
    if layer == "zstd":
        if sys.version_info >= (3, 14):
            from compression.zstd import ZstdError
        else:
            from backports.zstd import ZstdError
        error: type[Exception] = ZstdError
        return (error,)
    return (OSError, ValueError, EOFError)


def _unpack(layer: str, view: memoryview, name: str, limit: int) -> tuple[bytearray, Damage | None]:
    steps = _steps_of_zip(view, name) if layer == "zip" else _steps(layer, view)
    output = bytearray()
    for step in steps:
        if isinstance(step, str):
            return output, _broken_stream(layer, len(output), step)
        output += step
        if len(output) > limit:
            del output[limit:]
            text = f"more than {limit} bytes when decompressed: the rest is ignored"
            return output, Damage(limit, text, limit="bytes")
    return output, None


def _broken_stream(layer: str, offset: int, reason: str) -> Damage:
    # The reference ignores checksums and what follows the last member.
    silent = "check" in reason or "follow" in reason
    return Damage(
        offset,
        f"{layer} stream: {reason}",
        reference_says_corrupt=not silent,
        decompression_error=True,
    )


def _steps(layer: str, view: memoryview) -> Iterator[bytes | str]:
    """Decompressed pieces of all members; a last ``str`` says what is wrong with the stream."""
    member = _new_member(layer, len(view))
    broken: tuple[type[Exception], ...] = (*_errors(layer), _Broken)
    magic = next(magic for magic, name in _MAGICS if name == layer)
    position = 0
    while True:
        if member.eof:
            position -= len(member.unused_data)
            rest = bytes(view[position : position + len(magic)])
            if rest != magic or (layer == "gzip" and not is_gzip_header(view[position:])):
                if any(view[position : position + _SNIFF_SIZE]):
                    yield f"{len(view) - position} bytes follow its end"
                return
            member = _new_member(layer, len(view) - position)
        data = b""
        if member.needs_input:
            data = bytes(view[position : position + _INPUT_STEP])
            position += len(data)
            if not data:
                yield "cut short"
                return
        try:
            step = member.decompress(data, _OUTPUT_STEP)
        except broken as problem:
            if isinstance(problem, _Broken):
                yield problem.output
            yield str(problem) or type(problem).__name__
            return
        if step:
            yield step


# -- zip and tar: the first entry, which is what the reference reads of an archive -----------------

_ENTRY_STEP = 64 << 10
_TAR_HEADERS = 1 << 20  # bytes in which a tar's first entry must have begun


def _steps_of_zip(view: memoryview, name: str) -> Iterator[bytes | str]:
    """The first entry in pieces; a final ``str`` describes an error.

    Raises ContainerError if there is no readable entry.
    """
    import io
    import zipfile

    try:
        archive = zipfile.ZipFile(io.BytesIO(view))
        entries = archive.infolist()
        if not entries:
            raise ContainerError(f"{name}: the zip archive is empty")
        entry = archive.open(min(entries, key=lambda info: info.header_offset))
    except ContainerError:
        raise
    except Exception as problem:  # zipfile does not document what it raises for bad archives
        raise ContainerError(f"{name}: zip archive: {problem}") from None
    return _read_steps(entry)


def _read_steps(entry: IO[bytes]) -> Iterator[bytes | str]:
    while True:
        try:
            step = entry.read(_ENTRY_STEP)
        except Exception as problem:  # also zipfile.BadZipFile: a wrong checksum, found at the end
            yield str(problem) or "cut short"
            return
        if not step:
            return
        yield step


def _first_of_tar(view: memoryview, name: str) -> memoryview:
    """The part of ``view`` that is the first entry; not copied.

    Raises ContainerError if the first entry is not a file.
    """
    import io
    import tarfile

    try:
        with tarfile.open(fileobj=io.BytesIO(view[:_TAR_HEADERS]), mode="r:") as archive:
            entry = archive.next()
    except Exception as problem:  # tarfile does not document what it raises for bad archives
        raise ContainerError(f"{name}: tar archive: {problem}") from None
    if entry is None:
        raise ContainerError(f"{name}: the tar archive is empty")
    if not entry.isreg():
        raise ContainerError(f"{name}: the first entry of the tar archive is not a file")
    return view[entry.offset_data : entry.offset_data + entry.size]
