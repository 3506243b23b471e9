# SPDX-License-Identifier: MIT
"""Tests of Intel's descriptions."""
