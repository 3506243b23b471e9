# SPDX-License-Identifier: MIT
"""The command processor: runs a submit's packets, keeps the state, calls a sink."""
