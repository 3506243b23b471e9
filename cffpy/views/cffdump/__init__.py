# SPDX-License-Identifier: MIT
"""The reference's text, byte for byte. All compatibility quirks live in this folder."""
