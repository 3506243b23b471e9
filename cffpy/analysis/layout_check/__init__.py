# SPDX-License-Identifier: MIT
"""Compares the images, LRZ buffers and tiles of a capture with the layouts of ``cffpy.image``."""
