# SPDX-License-Identifier: MIT
"""The packet assembly language: captures as text, text as captures, and edits in its words."""
