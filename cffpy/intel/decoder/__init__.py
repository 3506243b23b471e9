# SPDX-License-Identifier: MIT
"""Instructions, structures and registers: found by their first dword or name, and printed."""
