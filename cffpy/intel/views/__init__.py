# SPDX-License-Identifier: MIT
"""What is shown of Intel command streams."""
