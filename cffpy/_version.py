# SPDX-License-Identifier: MIT
"""The version of cffpy: a constant, since importlib.metadata is slow to import."""

__version__ = "1.0.0rc1"
