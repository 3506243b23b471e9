# SPDX-License-Identifier: MIT
"""The textures that draws can sample, and how many draws: python texture_list.py CAPTURE"""

import sys
from collections import defaultdict

import cffpy


def main(path: str) -> None:
    """Print a line for each: address, format, size."""
    users = defaultdict(list)
    with cffpy.open(path) as capture:
        for draw in capture.draws:
            for texture in draw.textures:
                fields = texture.fields
                size = "x".join(fields[name].text for name in ("WIDTH", "HEIGHT") if name in fields)
                format_name = fields["FMT"].text if "FMT" in fields else "unknown"
                users[texture.address or 0, format_name, size].append(draw.name)
    for (address, format_name, size), names in sorted(users.items()):
        print(f"{address:#x}  {format_name}  {size}  {len(names)} draws from {names[0]} on")


if __name__ == "__main__":
    main(*sys.argv[1:])
