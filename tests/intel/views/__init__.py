# SPDX-License-Identifier: MIT
"""Tests of what is shown of Intel commands."""
