# SPDX-License-Identifier: MIT
"""Views: sinks of the command processor that show what happens."""
