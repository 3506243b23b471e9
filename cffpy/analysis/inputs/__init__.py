# SPDX-License-Identifier: MIT
"""What the programs of a draw read, sample and write."""
