# SPDX-License-Identifier: MIT
"""Tests of instructions and groups."""
