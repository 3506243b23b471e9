# SPDX-License-Identifier: MIT
"""Decode Adreno GPU command-stream captures."""

from cffpy._version import __version__

__all__ = ("__version__",)
