# SPDX-License-Identifier: MIT
"""ActionFacts: what the packet of an action draws, copies, fills, clears, loads or stores."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from cffpy.api.collections import ByStage
from cffpy.api.vertices import IndexBuffer

if TYPE_CHECKING:
    from cffpy.api.pictures import NamedImage, Pictures
    from cffpy.frame import action as actions
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.transfer import Transfer, TransferEnd


class ActionFacts:
    """The base of Action. ``_pictures`` makes pictures of the memory of its submit."""

    __slots__ = ()

    if TYPE_CHECKING:
        model: actions.Action

        def _pictures(self) -> Pictures: ...

    # -- what it draws --------------------------------------------------------------------------

    @property
    def vertices(self) -> int | None:
        """Vertices, or indices, of each instance; None where only the GPU knows them."""
        return self.model.vertices

    @property
    def instances(self) -> int | None:
        """Instances; None where only the GPU knows them."""
        return self.model.instances

    @property
    def groups(self) -> tuple[int, int, int] | None:
        """Work groups of a dispatch in x, y and z; None where only the GPU knows them."""
        return self.model.groups

    @property
    def indexed(self) -> bool:
        """Whether it reads indices."""
        return self.model.indexed

    @property
    def indirect(self) -> bool:
        """Whether its numbers are in memory.

        They are what packets of its submit have stored, else what was captured, which is the memory
        before the submit ran. A program of the submit may have stored others.
        """
        return self.model.indirect

    @property
    def index_buffer(self) -> IndexBuffer | None:
        """The indices, where the packet has their address."""
        found = self.model.index_region
        return None if found is None else IndexBuffer(*found)

    @property
    def program_addresses(self) -> dict[str, int]:
        """GPU address of the program of each stage that runs: "VS", "FS", "CS", ..."""
        return ByStage(self.model.programs)

    @property
    def targets(self) -> tuple[Attachment, ...]:
        """The buffers that it renders to."""
        return self.model.targets

    # -- what it moves --------------------------------------------------------------------------

    @property
    def transfers(self) -> tuple[Transfer, ...]:
        """What it copies, fills, clears, loads or stores; () for a draw of the program.

        Of each, ``source`` and ``destination`` (see TransferEnd), ``value`` (dwords) of a clear or
        fill, ``resolves``, ``attachment``. One action may clear or load several attachments.
        """
        return self.model.transfers

    @property
    def source(self) -> TransferEnd | None:
        """Where a copy, load or store reads: ``address`` or ``gmem``, ``format``, ``rectangle``.

        Of its first transfer. None for a fill or clear, and for what is no transfer.
        """
        return self.model.source

    @property
    def destination(self) -> TransferEnd | None:
        """Where a copy, fill, clear, load or store writes; see ``source``."""
        return self.model.destination

    @property
    def images(self) -> list[NamedImage]:
        """Sources, then destinations in memory of its transfers, with their captured contents."""
        return self._ends("source") + self._ends("destination")

    def _ends(self, kind: str) -> list[NamedImage]:
        from cffpy.api.pictures import named_images

        pictures = self._pictures()
        ends = [end for one in self.transfers if (end := getattr(one, kind)) is not None]
        return named_images(
            kind, ((end.format or "", partial(pictures.end, end)) for end in dict.fromkeys(ends))
        )
