# SPDX-License-Identifier: MIT
"""The .rd container: bytes of a file or of standard input, to sections and back."""
