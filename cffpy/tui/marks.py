# SPDX-License-Identifier: MIT
"""Marks of draws with notes, kept between runs: a file for each capture, found by its contents.

The files are in ``cffpy/marks`` below XDG_STATE_HOME (default ~/.local/state). Draws are named as
commands name them, "p0:8", so that a mark holds for every later version of this program.
"""

from __future__ import annotations

import json
import os
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING

from cffpy.errors import CffpyError
from cffpy.output_files import written_file
from cffpy.views.plain_text import visible

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.frame.action import Action


_VERSION = 1

#: Marks of a capture; characters of a note; bytes of a file that is read.
_MAX_MARKS, MAX_NOTE, _MAX_BYTES = 10_000, 500, 4 << 20


def marks_directory() -> Path:
    """Where the files are; it need not exist."""
    base = os.environ.get("XDG_STATE_HOME", "")
    root = Path(base) if os.path.isabs(base) else Path.home() / ".local/state"
    return root / "cffpy/marks"


def marks_file(data: bytes | memoryview) -> Path:
    """The file of the marks of a capture with this decompressed content."""
    return marks_directory() / f"{blake2b(data, digest_size=16).hexdigest()}.json"


class Marks:
    """The marks of one capture: name of a draw -> note, "" for none.

    Each change is written at once. Without a ``path`` nothing is kept.
    """

    def __init__(self, name: str, path: Path | None) -> None:
        """``name``: of the capture, for readers of the file."""
        self._name = name
        self._path = path
        self.notes: dict[str, str] = {} if path is None else _read(path)

    def set(self, draw: str, note: str) -> None:
        """Mark a draw. Raises CffpyError where the file cannot be written."""
        self.notes[draw] = note[:MAX_NOTE]
        self._write()

    def remove(self, draw: str) -> None:
        """Take the mark of a draw away. Raises as ``set`` does."""
        if self.notes.pop(draw, None) is not None:
            self._write()

    def _write(self) -> None:
        path = self._path
        if path is None:
            return
        rows = [{"draw": draw, "note": note} for draw, note in self.notes.items()]
        document = {"version": _VERSION, "file": self._name, "marks": rows}
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            with written_file(str(path)) as file:
                file.write(f"{json.dumps(document, indent=1)}\n".encode())
        except OSError as problem:
            reason = problem.strerror or problem
            raise CffpyError(f"{path}: marks are not kept: {reason}") from None


def _read(path: Path) -> dict[str, str]:
    """The marks of a file; none where it cannot be read or is something else."""
    try:
        if path.stat().st_size > _MAX_BYTES:
            return {}
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    rows = document.get("marks") if isinstance(document, dict) else None
    marks: dict[str, str] = {}
    for row in rows[:_MAX_MARKS] if isinstance(rows, list) else ():
        draw, note = (row.get("draw"), row.get("note")) if isinstance(row, dict) else (None, None)
        if isinstance(draw, str) and isinstance(note, str):
            marks[draw] = note[:MAX_NOTE]
    return marks


def exported(name: str, marked: list[tuple[Action, str]]) -> Iterator[str]:
    """The marks as lines of Markdown. ``marked``: the draws with their notes."""
    yield f"# Marks in {visible(name)}"
    yield ""
    for draw, note in marked:
        what = draw.primitive or draw.packet
        size = "" if draw.vertices is None else f", {draw.vertices:,} vertices"
        words = visible(f"{draw.role or draw.kind} {what}{size}")
        yield f"- `{draw.name}` {words}{f': {visible(note)}' if note else ''}"


def write_exported(path: str, name: str, marked: list[tuple[Action, str]]) -> None:
    """Write them to a new file. Raises CffpyError where that cannot be, or exists already."""
    try:
        with written_file(path, must_be_new=True) as file:
            file.writelines(f"{line}\n".encode() for line in exported(name, marked))
    except OSError as problem:
        raise CffpyError(f"{path}: {problem.strerror or problem}") from None
