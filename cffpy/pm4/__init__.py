# SPDX-License-Identifier: MIT
"""PM4: the packets of a command stream."""
