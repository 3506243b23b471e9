# SPDX-License-Identifier: MIT
"""Which formats drivers compress with UBWC. Facts: freedreno and turnip of Mesa 25.0.7."""

from __future__ import annotations

from cffpy.errors import UnsupportedGpu
from cffpy.image.devices import device

#: Formats that both drivers compress on all parts of a6xx and a7xx.
_ALWAYS = frozenset(
    (
        "FMT6_10_10_10_2_UNORM",
        "FMT6_10_10_10_2_UNORM_DEST",
        "FMT6_10_10_10_2_UINT",
        "FMT6_11_11_10_FLOAT",
        "FMT6_16_FLOAT",
        "FMT6_16_UINT",
        "FMT6_16_SINT",
        "FMT6_16_16_FLOAT",
        "FMT6_16_16_UINT",
        "FMT6_16_16_SINT",
        "FMT6_16_16_16_16_FLOAT",
        "FMT6_16_16_16_16_UINT",
        "FMT6_16_16_16_16_SINT",
        "FMT6_32_32_UINT",
        "FMT6_32_32_SINT",
        "FMT6_32_32_32_32_UINT",
        "FMT6_32_32_32_32_SINT",
        "FMT6_5_6_5_UNORM",
        "FMT6_5_5_5_1_UNORM",
        "FMT6_8_8_8_8_UNORM",
        "FMT6_8_8_8_8_UINT",
        "FMT6_8_8_8_8_SINT",
        "FMT6_8_8_8_X8_UNORM",
        "FMT6_8_8_UNORM",
        "FMT6_8_8_UINT",
        "FMT6_8_8_SINT",
    )
)
_DEPTH = "DEPTH6_24_8"


def may_be_compressed(gpu: str | None, name: str | None) -> bool:
    """Whether both drivers compress a target of this format on this GPU.

    ``name``: the hardware's, as in FMT6_8_8_8_8_UNORM. False where one of them does not, and where
    the GPU is not known.
    """
    if name in _ALWAYS:
        return True
    if name != _DEPTH:
        return False
    try:
        part = device(gpu or "")
    except UnsupportedGpu:
        return False
    return part.compresses_depth
