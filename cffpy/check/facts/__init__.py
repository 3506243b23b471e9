# SPDX-License-Identifier: MIT
"""Facts: observers of the one walk, each with what a family of lints needs."""
