# SPDX-License-Identifier: MIT
"""Filters: expressions about draws, passes and registers. docs/filter.md is their reference.

``filters.Filter`` is a parsed expression, ``filters.BoundFilter`` one whose names were looked up
for a GPU, and ``search`` evaluates one over a capture.
"""
