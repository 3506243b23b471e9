# SPDX-License-Identifier: MIT
"""GPU crash dumps: the capture that a dump holds, where the CP stands, what hangs and why."""
