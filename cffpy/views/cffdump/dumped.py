# SPDX-License-Identifier: MIT
"""Which indirect buffers were shown before, for ``--once`` and the comparing query.

cffdump: has_dumped (mesa 25.0.7).
"""

from __future__ import annotations

from cffpy.capture.memory import MemoryImage


class DumpedPlaces:
    """The GPU addresses that were shown, each with the modes in which it was."""

    def __init__(self) -> None:
        self._modes: dict[tuple[int, int], int] = {}
        self._drops = 0

    def add(self, image: MemoryImage, gpuaddr: int, modes: int) -> bool:
        """Note that the place is taken in ``modes`` (bits); whether it was in all of them before.

        Memory that was dropped takes its notes along; an address outside of memory is never noted.
        """
        if self._drops != image.drops:
            self._drops = image.drops
            self._modes.clear()
        buffer = image.find(gpuaddr)
        if buffer is None:
            return False
        key = (buffer.gpuaddr, gpuaddr)
        before = self._modes.get(key, 0)
        self._modes[key] = before | modes
        return before & modes == modes
