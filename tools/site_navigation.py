# SPDX-License-Identifier: MIT
"""A hook of mkdocs: the pages of commands in the navigation, in the groups of ``cffpy --help``."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


def on_config(config: Any) -> None:  # noqa: ANN401 - mkdocs has a type of its own for each version
    """Fill the part of the navigation that is called Commands."""
    sys.path.insert(0, str(ROOT))
    try:
        from cffpy.cli.main import GROUPS
        from tools.command_help import commands
        from tools.command_pages import page_name
    finally:
        sys.path.remove(str(ROOT))
    pages: dict[str, list[dict[str, str]]] = {group: [] for group in GROUPS}
    for command in commands():
        (group,) = [name for name, rows in GROUPS.items() if command.name.split()[0] in rows]
        pages[group].append({command.name: f"reference/commands/{page_name(command)}"})
    for part in config["nav"]:
        if "Commands" in part:
            part["Commands"] = [{group: members} for group, members in pages.items()]
