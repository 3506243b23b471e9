# SPDX-License-Identifier: MIT
"""Estimate the bytes that passes load into GMEM and store from it: python gmem_bandwidth.py CAPTURE

A pixel's size is taken from the pitch of the buffer: padding and compression are not seen.
"""

import sys
from collections import Counter

import cffpy


def main(path: str) -> None:
    """Print a line for each pass that is rendered in tiles."""
    with cffpy.open(path) as capture:
        for one in capture.passes:
            size = one.framebuffer
            if not one.tiles or size is None or not size.width:
                continue
            pitches = {attachment.name: attachment.pitch or 0 for attachment in one.attachments}
            moved: Counter[str] = Counter()
            for tile in one.tiles:
                area = tile.rectangle
                width = min(area.right, size.width) - area.left if area else 0
                height = min(area.bottom, size.height) - area.top if area else 0
                for operation in tile.operations:
                    pixel = pitches.get(operation.attachment or "", 0) // size.width
                    moved[operation.kind] += width * height * pixel
            print(f"pass {one.index}: {moved['load']:,} bytes loaded, {moved['store']:,} stored")


if __name__ == "__main__":
    main(*sys.argv[1:])
