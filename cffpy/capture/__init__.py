# SPDX-License-Identifier: MIT
"""Captures: which GPU, which buffers, which submits."""
