# SPDX-License-Identifier: MIT
"""From a GPU address back to the file: which section a buffer's bytes came from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from cffpy.capture.memory import Buffer, MemoryImage, Words
from cffpy.container.rd import SECTION_HEADER, Section, gpu_address
from cffpy.container.section_types import SectionType


class Owners:
    """The sections of the buffers that ``image`` holds. ``watch`` follows a file's sections."""

    def __init__(self, image: MemoryImage) -> None:
        self._image = image
        self._sections: dict[int, Section] = {}
        #: File offset of a section -> whether the buffer at its address has its contents.
        self._held: dict[int, bool] = {}

    def watch(
        self, sections: Iterable[Section], at_end_of_set: Callable[[], None] | None = None
    ) -> Iterator[Section]:
        """The sections, each noted before it is acted upon.

        ``at_end_of_set`` is called while the buffers of a set are still there, with the section
        that drops them not yet given out.
        """
        starts_anew = False
        address = 0
        for section in sections:
            if section.type == SectionType.GPUADDR:
                if starts_anew:
                    if at_end_of_set is not None:
                        at_end_of_set()
                    starts_anew = False
                    self._sections.clear()
                    self._held.clear()
                address = gpu_address(section.payload)[0]
            elif section.type == SectionType.BUFFER_CONTENTS:
                self._sections[address] = section
                self._held.clear()
            elif section.type == SectionType.CMDSTREAM_ADDR:
                starts_anew = True
            yield section
        if at_end_of_set is not None:
            at_end_of_set()

    def find(self, gpuaddr: int) -> tuple[Buffer, Section] | None:
        """The buffer that holds an address, and its section.

        A buffer that starts within another is dropped: the section at its address is then not
        that of the buffer that is there, and None is returned.
        """
        buffer = self._image.find(gpuaddr)
        section = None if buffer is None else self._sections.get(buffer.gpuaddr)
        if buffer is None or section is None:
            return None
        held = self._held.get(section.offset)
        if held is None:
            contents = section.payload[: buffer.size]
            held = self._held[section.offset] = bytes(buffer.contents) == bytes(contents)
        return (buffer, section) if held else None

    def file_offset(self, words: Words, index: int) -> int | None:
        """Offset of a dword in the decompressed file, in bytes; None if it is unknown."""
        gpuaddr = words.address + index * 4
        found = self.find(gpuaddr)
        if found is None:
            return None
        buffer, section = found
        return section.offset + SECTION_HEADER.size + gpuaddr - buffer.gpuaddr
