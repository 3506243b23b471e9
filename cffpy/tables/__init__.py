# SPDX-License-Identifier: MIT
"""What a capture holds as rows: lines for ``cffpy lines``, tables for SQL and files."""
