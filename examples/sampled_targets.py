# SPDX-License-Identifier: MIT
"""Draws that sample what an earlier pass has rendered: python sampled_targets.py CAPTURE"""

import sys

import cffpy


def main(path: str) -> None:
    """Print a line for each draw and buffer."""
    written: dict[int, tuple[int, str]] = {}  # address -> the last pass that wrote it, and as what
    with cffpy.open(path) as capture:
        for one in capture.passes:
            for draw in one.draws:
                for texture in draw.textures:
                    if texture.address in written:
                        index, name = written[texture.address]
                        print(f"{draw.name} samples {name} of pass {index} at {texture.address:#x}")
            for attachment in one.attachments:
                if attachment.address is not None:
                    written[attachment.address] = one.index, attachment.name


if __name__ == "__main__":
    main(*sys.argv[1:])
