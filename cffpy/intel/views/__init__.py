# SPDX-License-Identifier: MIT
"""Views of Intel command streams."""
