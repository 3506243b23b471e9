# SPDX-License-Identifier: MIT
"""The lints, a file for each topic: functions with the decorator ``lint``, and what they share."""
