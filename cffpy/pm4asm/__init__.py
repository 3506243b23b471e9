# SPDX-License-Identifier: MIT
"""The packet assembly language: its model, parser, printer and assembler."""
