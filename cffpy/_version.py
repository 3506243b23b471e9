# SPDX-License-Identifier: MIT
"""The version of cffpy: one constant, since importlib.metadata costs more than a whole start-up."""

__version__ = "0.1.0"
