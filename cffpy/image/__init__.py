# SPDX-License-Identifier: MIT
"""Where images lie in memory: layouts, LRZ buffers, tiled memory, tiles and GMEM.

Pure calculation: nothing here reads a capture. The formulas are facts about Mesa 25.0.7, stated in
our own words; each module names the functions whose behaviour it describes.
"""
