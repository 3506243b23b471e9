# SPDX-License-Identifier: MIT
"""Where images lie in memory: layouts, LRZ buffers, tiled memory, tiles and GMEM.

This package only calculates; it reads no captures. The formulas are facts about Mesa 25.0.7, stated
in our own words; each module names the functions whose behaviour it describes.
"""
