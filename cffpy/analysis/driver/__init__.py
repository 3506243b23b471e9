# SPDX-License-Identifier: MIT
"""What the driver meant: its draw-state groups, streams, calls and times."""
