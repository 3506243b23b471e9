# SPDX-License-Identifier: MIT
"""Folders of captures: which files are captures, and their order.

turnip writes a file for each submit: NAME_frame00001_submit00003.rd, NAME_submit00003.rd or
NAME_00003.rd, by its version, or NAME_combined.rd with all of them. Beside them lies NAME_trigger,
which turns the writing on, and is not a capture. The numbers have at least five digits, with more
beyond 99999. Fact: fd_rd_output_begin of Mesa.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

#: Names of captures in a folder.
_CAPTURE = re.compile(r"\.rd(\.[A-Za-z0-9]+)?$", re.IGNORECASE)

_DIGITS = re.compile(r"([0-9]+)")


def captures_in(paths: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The paths; for a folder the captures in it and below: ``*.rd``, ``*.rd.gz``.

    In a folder they are in the order of ``name_order``, before those of folders in it.
    """
    files: list[str] = []
    for given in paths:
        path = os.fspath(given)
        if not os.path.isdir(path):
            files.append(path)
            continue
        for folder, folders, names in os.walk(path):
            folders.sort(key=name_order)
            captures = sorted(filter(is_capture_name, names), key=name_order)
            files.extend(os.path.join(folder, one) for one in captures)
    return files


def is_capture_name(name: str) -> bool:
    """Whether a file in a folder is a capture, by its name: ``*.rd``, ``*.rd.gz``."""
    return _CAPTURE.search(name) is not None


def no_captures(folders: Iterable[str]) -> str:
    """What to say of folders without captures."""
    return f"{', '.join(folders)}: no captures in the folder (*.rd, *.rd.gz)"


def name_order(name: str) -> tuple[tuple[str | int, ...], str]:
    """A key that orders names by their parts, and numbers in them by value: frames, submits."""
    parts = _DIGITS.split(name)
    parts_and_numbers = [int(part) if place % 2 else part for place, part in enumerate(parts)]
    return tuple(parts_and_numbers), name
