# SPDX-License-Identifier: MIT
"""Intel command streams: AUB files, error states and devcoredumps, decoded by genxml.

A package beside the Adreno ones: neither imports the other. Both share container/open.py, the
cache of compiled descriptions (compiled.py), the grammar loader (descriptions), limits and errors.
"""
