# SPDX-License-Identifier: MIT
"""Scripts that generate parts of the documentation; not part of the package."""
