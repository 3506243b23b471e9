# SPDX-License-Identifier: MIT
"""What all HTML pages share: markup that escapes, the document around it, base styles."""
