# SPDX-License-Identifier: MIT
"""The kernels that instructions of shader stages name."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.decoder.groups import Command, Group

WIDTHS = ("SIMD8", "SIMD16", "SIMD32")

#: Stage -> instructions that set it, the newest first.
STAGE_INSTRUCTIONS = {
    "VS": ("3DSTATE_VS",),
    "HS": ("3DSTATE_HS",),
    "DS": ("3DSTATE_DS",),
    "GS": ("3DSTATE_GS",),
    "TASK": ("3DSTATE_TASK_SHADER",),
    "MESH": ("3DSTATE_MESH_SHADER",),
    "PS": ("3DSTATE_PS", "3DSTATE_WM"),
}

_FRAGMENT = ("3DSTATE_PS", "3DSTATE_WM", "WM_STATE")


def kernel_pointers(command: Command, ver: int) -> list[tuple[str, int]]:
    """The enabled kernels of a stage: width, "" where it is not chosen, and offset.

    ``command``: its instruction, up to gen5 the state of its unit. Offsets are counted from the
    instruction base.
    """
    group, words = command.group, command.words
    if group.name in _FRAGMENT:
        return fragment_pointers(group, words, ver)
    pointer, enabled, threads, maximum = command.values(
        "Kernel Start Pointer",
        "Enable",
        "Number of Threads in GPGPU Thread Group",
        "Local X Maximum",
    )
    is_on = enabled != 0 if threads is None else bool(threads and maximum)
    return [("", pointer or 0)] if is_on and pointer is not None else []


def fragment_pointers(group: Group, words: tuple[int, ...], ver: int) -> list[tuple[str, int]]:
    """The fragment kernels that are enabled, by width: width and offset.

    Where the hardware expects a kernel depends on how many widths are enabled
    (decode_ps_kern of Mesa 25.0.7).
    """
    if ver >= 20:
        return _fragment_pointers_xe2(group, words)
    names = tuple(f"Kernel Start Pointer {index}" for index in range(3))
    enables = tuple(f"{width} Pixel Dispatch Enable" for width in (8, 16, 32))
    found = group.values(words, names + enables)
    pointers = [pointer or 0 for pointer in found[:3]]
    enabled = [bool(each) for each in found[3:]]
    if ver == 4:
        pointers = [pointers[0]] * 3
    if sum(enabled) == 1:
        index = enabled.index(True)
        if index:
            pointers[index], pointers[0] = pointers[0], 0
    else:
        pointers[1], pointers[2] = pointers[2], pointers[1]
    return [(WIDTHS[index], pointers[index]) for index in range(3) if enabled[index]]


def _fragment_pointers_xe2(group: Group, words: tuple[int, ...]) -> list[tuple[str, int]]:
    found = []
    for index in (0, 1):
        names = (
            f"Kernel Start Pointer {index}",
            f"Kernel {index} Enable",
            f"Kernel[{index}] : SIMD Width",
        )
        pointer, enabled, width = group.values(words, names)
        if enabled:
            found.append((WIDTHS[2] if width or width is None else WIDTHS[1], pointer or 0))
    return found
