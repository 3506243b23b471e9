# SPDX-License-Identifier: MIT
"""Tests of files with Intel commands."""
