# SPDX-License-Identifier: MIT
"""Tests of the Intel package."""
