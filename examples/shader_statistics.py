# SPDX-License-Identifier: MIT
"""The longest shaders, their registers and uses: python shader_statistics.py CAPTURE"""

import sys

import cffpy


def main(path: str) -> None:
    """Print a line for each."""
    with cffpy.open(path) as capture:
        for shader in sorted(capture.shaders, key=lambda one: -one.instructions)[:20]:
            numbers = shader.statistics  # None on a2xx
            full = "-" if numbers is None else numbers.full
            half = "-" if numbers is None else numbers.half
            print(
                f"{shader.stage} {shader.gpuaddr:#x}: {shader.instructions} instructions, "
                f"{full} full and {half} half registers, {shader.uses} uses"
            )


if __name__ == "__main__":
    main(*sys.argv[1:])
