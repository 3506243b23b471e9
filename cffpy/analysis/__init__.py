# SPDX-License-Identifier: MIT
"""Questions over a whole capture: sinks that collect what a view or a command then shows."""
