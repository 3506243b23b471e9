# SPDX-License-Identifier: MIT
"""GPU crash dumps: the capture in a dump, the position of the CP, what hangs and why."""
