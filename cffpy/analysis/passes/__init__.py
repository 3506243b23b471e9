# SPDX-License-Identifier: MIT
"""Passes and tiles: how each generation's drivers mark them in the command stream."""
