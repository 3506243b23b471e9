# SPDX-License-Identifier: MIT
"""The command processor: runs a submit's packets, keeps the state, tells a sink what happens."""
