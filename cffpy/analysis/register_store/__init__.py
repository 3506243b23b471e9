# SPDX-License-Identifier: MIT
"""The registers of a capture: what packets wrote, recorded once, and what actions see of it."""
