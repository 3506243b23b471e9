# SPDX-License-Identifier: MIT
"""Filters: expressions about draws, passes and registers. ``cffpy help filter`` is their reference.

``filters.Filter`` is a parsed expression, ``filters.BoundFilter`` one whose names were looked up
for a GPU, and ``search`` evaluates one over a capture.
"""
