# SPDX-License-Identifier: MIT
"""Samplers and textures in memory, by the generation's domains.

cffdump: dump_tex_samp, dump_tex_const, dump_bindless_descriptors (mesa 25.0.7). A descriptor
beyond the end of its buffer ends the list.
"""

from __future__ import annotations

from cffpy.capture.gpu import BINDLESS_ADDRESS_MASK, BINDLESS_STRIDE
from cffpy.capture.memory import MemoryLocation, Words
from cffpy.pm4.deviations import PREFIX
from cffpy.pm4.reader import Fields, Payload
from cffpy.views.cffdump.quirks import LEVELS

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.views.cffdump.view import View

#: cffdump: a list of exactly this many ends at the first that is all zero (mesa 25.0.7).
_NOISY_COUNT = 16

_BINDLESS_SETS = 128

_A4XX_TEXELS = Fields("A4XX_TEX_CONST", "BASE")

#: By domain: what points at the contents of a texture or buffer.
_TARGETS = {
    domain: Fields(domain, PREFIX + "BASE")
    for domain in ("A5XX_TEX_CONST", "A6XX_TEX_CONST", "A8XX_TEX_MEMOBJ", "A5XX_SSBO_2")
}


def dump_samplers(
    view: View, place: MemoryLocation, count: int, level: int, bindless: bool = False
) -> None:
    """``count`` samplers at ``place``."""
    facts = view.machine.gpu.facts
    kind = facts.descriptors.get("sampler")
    if kind is None:
        return
    domain, dwords = kind
    words, index = place
    stride = BINDLESS_STRIDE if bindless and facts.has_bindless else dwords
    for _ in range(count):
        if index >= words.count or (count == _NOISY_COUNT and _all_zero(words, index, 2)):
            return
        view.fields(domain, words, index, dwords, level + 2)
        view.hex(words, index, dwords, level + 1)
        index += stride


def dump_textures(view: View, place: MemoryLocation, count: int, level: int) -> None:
    """``count`` texture descriptors at ``place``; with --textures also what they point at."""
    kind = view.machine.gpu.facts.descriptors.get("texture")
    if kind is None:
        return
    domain, dwords = kind
    words, index = place
    for _ in range(count):
        if index >= words.count or (count == _NOISY_COUNT and _all_zero(words, index, 4)):
            return
        view.fields(domain, words, index, dwords, level + 2)
        if view.options.textures and view.generation > 3:
            _dump_texels(view, domain, (words, index), level)
        view.hex(words, index, dwords, level + 1)
        index += dwords


def _dump_texels(view: View, domain: str, place: MemoryLocation, level: int) -> None:
    # cffdump: dump_tex_const shows 64 dwords on a4xx, later the rest of the buffer (mesa 25.0.7)
    if view.generation == 4:
        (base,) = _read(view, _A4XX_TEXELS, place)
        view.address_hex(base << 5, level - 2, 64, view.quiet3)
        return
    dump_descriptor_target(view, domain, place, level)


def dump_descriptor_target(view: View, domain: str, place: MemoryLocation, level: int) -> None:
    """The memory that a descriptor of a texture or buffer points at, to its buffer's end."""
    (gpuaddr,) = _read(view, _TARGETS[domain], place)
    dwords = view.machine.image.remaining(gpuaddr) // 4
    view.address_hex(gpuaddr, level - 2, dwords, view.quiet3)


def _read(view: View, fields: Fields, place: MemoryLocation) -> tuple[int, ...]:
    words, index = place
    return Payload(words, index, 0).read(view.machine.packets[fields])


def _all_zero(words: Words, index: int, dwords: int) -> bool:
    return not any(words.get(index + position) for position in range(dwords))


def dump_bindless_descriptors(view: View, is_compute: bool, level: int) -> None:
    """--bindless: each descriptor of each set, read as each kind."""
    if not view.options.bindless:
        return
    state = view.machine.state
    if not view.quiet2:
        view.put(f"{LEVELS[level]}draw[{state.draw_count}] bindless descriptors\n")
    stage = "SP_CS_BINDLESS_BASE" if is_compute else "SP_BINDLESS_BASE"
    for number in range(_BINDLESS_SETS):
        name = f"{stage}[{number}].DESCRIPTOR"
        base = view.machine.names.register_offset(name)
        if not base:
            break
        if not view.quiet2:
            view.put(f"{LEVELS[level + 1]}set[{number}]:\n")
        # cffdump: dump_bindless_descriptors adds the set's number to a register that counts it
        # already (mesa 25.0.7)
        register = base + number * (2 if view.is_64bit else 1)
        if not state.was_written(register):
            continue
        gpuaddr = state.value(register) & BINDLESS_ADDRESS_MASK
        if view.is_64bit:
            gpuaddr |= state.value(register + 1) << 32
        _dump_set(view, gpuaddr, level)


def _dump_set(view: View, gpuaddr: int, level: int) -> None:
    place = view.machine.image.place(gpuaddr)
    if place is None:
        return
    words, index = place
    shows_empty = view.edition.shows_empty_descriptors
    for number in range(view.machine.image.remaining(gpuaddr) // (BINDLESS_STRIDE * 4)):
        if index >= words.count:
            return
        # cffdump: dump_bindless_descriptors leaves empty descriptors out (mesa 25.3)
        if shows_empty or not _all_zero(words, index, BINDLESS_STRIDE):
            _dump_bindless(view, (words, index), number, level)
        view.output.flush_if_full()
        index += BINDLESS_STRIDE


def _dump_bindless(view: View, place: MemoryLocation, number: int, level: int) -> None:
    tabs = LEVELS[level + 1]
    for title in ("UBO", "STORAGE/TEXEL/IMAGE", "SAMPLER"):
        if not view.quiet2:
            view.put(f"{tabs}{title}[{number}]:\n")
        if title == "UBO":
            view.fields("A6XX_UBO", *place, 2, level + 2)
        elif title == "SAMPLER":
            dump_samplers(view, place, 1, level, bindless=True)
        else:
            dump_textures(view, place, 1, level)
