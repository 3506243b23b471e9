# SPDX-License-Identifier: MIT
"""The view that writes a capture as a text of the packet assembly language."""
