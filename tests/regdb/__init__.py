# SPDX-License-Identifier: MIT
"""Tests of the register database."""
