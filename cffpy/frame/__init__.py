# SPDX-License-Identifier: MIT
"""The model of a capture: its objects, and their facts, each declared once for all faces."""
