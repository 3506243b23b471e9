# SPDX-License-Identifier: MIT
"""The full state of a draw as JSON: python draw_state_json.py CAPTURE DRAW"""

import json
import sys

import cffpy


def main(path: str, name: str) -> None:
    """Print the draw and all registers, with the packets that wrote them."""
    with cffpy.open(path) as capture:
        draw = capture.draw(name)
        print(json.dumps(draw.state.to_dict(), indent=2))


if __name__ == "__main__":
    main(*sys.argv[1:])
