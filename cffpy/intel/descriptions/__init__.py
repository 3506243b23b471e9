# SPDX-License-Identifier: MIT
"""Descriptions of Intel's commands, structures and registers: genxml, the .gen language, rows."""
