# SPDX-License-Identifier: MIT
"""Build hook: adds the compiled descriptions, the pages of help and the manual pages to a wheel.

The sources (grammars/, register_db/) are put beside them by force-include in pyproject.toml. The
compiled form belongs to the Python that builds; under another one cffpy compiles once, into the
user's cache. An editable install runs from the checkout and needs neither.
"""

from __future__ import annotations

import os
import shutil
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class GeneratedFiles(BuildHookInterface):  # type: ignore[type-arg]
    """Writes ``cffpy/_data`` (compiled descriptions, pages of help) and ``share/man``."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Generate the files and add them to the wheel."""
        self._folder = ""
        if self.target_name != "wheel" or version == "editable":
            return
        sys.path.insert(0, self.root)
        self._folder = tempfile.mkdtemp(prefix="cffpy-build-")
        try:
            payloads = _compile()
            from cffpy.cli.help import command_pages, page_path, topic_names
            from cffpy.compiled import write_packaged
            from tools.man_pages import write_man_pages
        finally:
            sys.path.remove(self.root)
        for page in write_man_pages(Path(self._folder)):
            section = page.suffix.removeprefix(".")
            build_data["shared_data"][str(page)] = f"share/man/man{section}/{page.name}"
        for page in [*map(page_path, topic_names()), *command_pages()]:
            packaged = f"cffpy/_data/{page.relative_to(self.root).as_posix()}"
            build_data["force_include"][str(page)] = packaged

        for kind, (schema, payload) in payloads.items():
            path = os.path.join(self._folder, f"{kind}.bin")
            write_packaged(path, schema, payload)
            build_data["force_include"][path] = f"cffpy/_data/compiled/{kind}.bin"

    def finalize(self, version: str, build_data: dict[str, Any], artifact_path: str) -> None:
        """Remove the temporary files."""
        if self._folder:
            shutil.rmtree(self._folder)


# Kind -> (schema, what write_packaged takes), as compiled.load_packaged asks for them.
def _compile() -> dict[str, tuple[int, Any]]:
    return {kind: payload for store in stores() for kind, payload in store.packaged().items()}


def stores() -> tuple[Any, ...]:
    """The stores of all compiled descriptions."""
    from cffpy.container.rd import SECTIONS
    from cffpy.descriptions.language import GRAMMARS
    from cffpy.intel.descriptions.store import COMMANDS
    from cffpy.isa.store import INSTRUCTION_SETS
    from cffpy.pm4.reader import HEADERS, PACKETS
    from cffpy.regdb.store import REGISTERS

    return REGISTERS, SECTIONS, HEADERS, PACKETS, COMMANDS, INSTRUCTION_SETS, GRAMMARS
