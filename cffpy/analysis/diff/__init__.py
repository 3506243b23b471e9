# SPDX-License-Identifier: MIT
"""What really differs between two captures: passes, draws, state, contents; not lines."""
