# SPDX-License-Identifier: MIT
"""The text of Mesa's aubinator and aubinator_error_decode, byte for byte (mesa 25.0.7)."""
