# SPDX-License-Identifier: MIT
"""Stores of compiled descriptions: a part from the wheel, from the cache, or compiled now.

A store knows one kind of description (registers, instruction sets, Intel's, packets, sections):
which files an edition has of it, and how they are compiled. ``cffpy.compiled`` keeps the bytes.
"""

from __future__ import annotations

import marshal

from cffpy import compiled
from cffpy._data import data_path
from cffpy.editions.folders import editions, packaged_kind

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from typing import Any


class Store:
    """The compiled form of one kind of description.

    ``kind``: its name, of the files in the cache and in the wheel. ``schema``: the version of its
    rows, to be raised when they change. ``sources``: the files of an edition's directory; none for
    an edition that has none of its own. ``compile_edition``: the parts of an edition.
    """

    def __init__(
        self,
        kind: str,
        schema: int,
        sources: Callable[[str], Sequence[str]],
        compile_edition: Callable[[str], Mapping[str, bytes]],
        *,
        of_editions: bool = True,
    ) -> None:
        """``of_editions``: False for what no edition changes."""
        self.kind = kind
        self.schema = schema
        self._sources = sources
        self._compile = compile_edition
        self._of_editions = of_editions

    def content(self, part: str, directory: str | None = None) -> bytes | None:
        """A part of an edition (None: the bundled one); empty or None where it does not exist.

        An edition that has no files of the kind has what the bundled edition has.
        """
        if directory is not None and not self._sources(directory):
            directory = None
        place = data_path("register_db") if directory is None else directory
        kind = packaged_kind(self.kind, place)
        content = compiled.load_packaged(kind, self.schema, part) if kind else None
        if content is not None:
            return content
        sources = self._sources(place)
        return compiled.load(self.kind, self.schema, sources, lambda: self._compile(place), part)

    def load(self, part: str, directory: str | None = None) -> Any:  # noqa: ANN401 - the part's row
        """What a part holds, of plain types; None where it does not exist."""
        content = self.content(part, directory)
        return marshal.loads(content) if content else None

    def places(self) -> dict[str, str]:
        """What is compiled into a wheel: name of the compiled form -> the edition's directory."""
        places = editions().values() if self._of_editions else [data_path("register_db")]
        return {packaged_kind(self.kind, place): place for place in places if self._sources(place)}

    def packaged(self) -> dict[str, tuple[int, Mapping[str, bytes]]]:
        """What a wheel has: name of the compiled form -> schema and parts."""
        return {kind: (self.schema, self._compile(place)) for kind, place in self.places().items()}
