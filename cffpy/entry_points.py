# SPDX-License-Identifier: MIT
"""Entry points of installed packages: lints, commands.

importlib.metadata takes as long to import as a sixth of ``cffpy check``. Few installations have a
package with entry points for cffpy, so it is imported where there may be one.
"""

from __future__ import annotations

import os
import sys

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable
    from importlib.metadata import EntryPoint

#: Ends of the names of folders that describe an installed package.
_INFO = (".dist-info", ".egg-info", "egg-info")


def entry_points(group: str) -> Iterable[EntryPoint]:
    """The entry points of a group."""
    if not _may_exist(f"[{group}]"):
        return ()
    from importlib.metadata import entry_points

    return entry_points(group=group)


def _may_exist(heading: str) -> bool:
    """Whether a file of entry points has the heading, or packages are not in folders."""
    if any(hasattr(finder, "find_distributions") for finder in _further_finders()):
        return True
    for root in sys.path:
        try:
            names = os.listdir(root or ".")
        except NotADirectoryError:  # an archive
            return True
        except OSError:
            continue
        infos = [name for name in names if name.lower().endswith(_INFO)]
        if any(_has_text(os.path.join(root, name, "entry_points.txt"), heading) for name in infos):
            return True
    return False


def _further_finders() -> list[object]:
    """What finds modules and packages besides Python's own finder of folders."""
    return [one for one in sys.meta_path if getattr(one, "__name__", "") != "PathFinder"]


def _has_text(path: str, text: str) -> bool:
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return text in file.read()
    except OSError:
        return False
