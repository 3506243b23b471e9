# SPDX-License-Identifier: MIT
"""The draws of a capture as a pandas frame: python draw_table.py CAPTURE"""

import sys

import pandas

import cffpy


def main(path: str) -> None:
    """Print the frame, and the vertices of each pass."""
    with cffpy.open(path) as capture:
        rows = [
            {
                "draw": draw.name,
                "pass": draw.pass_.index,
                "vertices": draw.vertices,
                "instances": draw.instances,
                "depth": draw.state["RB_DEPTH_CNTL"].text if capture.gpu.generation > 5 else None,
            }
            for draw in capture.draws
        ]
    frame = pandas.DataFrame(rows)
    print(frame.to_string())
    print(frame.groupby("pass")["vertices"].sum().to_string())


if __name__ == "__main__":
    main(*sys.argv[1:])
