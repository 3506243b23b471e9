# SPDX-License-Identifier: MIT
"""Output of the commands: text, JSON, CSV, SVG, HTML; the output of cffdump."""
