# SPDX-License-Identifier: MIT
"""Analyses of a whole capture: passes, state, differences, visibility, edits."""
