# SPDX-License-Identifier: MIT
"""Captures: GPU, buffers, command streams, submits."""
