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
import stat

from cffpy.errors import ContainerError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

#: Names of captures in a folder: not ``capture.rd.txt``, which is what somebody made of one.
_CAPTURE = re.compile(r"\.rd(\.(gz|zst|xz|bz2|zip|tar))?$", re.IGNORECASE)

_DIGITS = re.compile(r"([0-9]+)")


def captures_in(paths: Iterable[str | os.PathLike[str]]) -> list[str]:
    """The paths; for a folder the captures in it and below: ``*.rd``, ``*.rd.gz``.

    In a folder they are in the order of ``name_order``, before those of folders in it. A folder
    that cannot be listed stands for itself, so that opening it says why.

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
            joined = (os.path.join(folder, one) for one in captures)
            files.extend(one for one in joined if not is_special_file(one))
    if folders_given and not files:
        raise ContainerError(
            f"{', '.join(folders_given)}: no captures in the folder (*.rd, *.rd.gz)"
        )
    return files


def is_capture_name(name: str) -> bool:
    """Whether a file in a folder is a capture, by its name: ``*.rd``, or packed, ``*.rd.gz``."""
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
