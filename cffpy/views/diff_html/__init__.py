# SPDX-License-Identifier: MIT
"""A comparison of two captures as one HTML page that needs nothing besides itself."""
