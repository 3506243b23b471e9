# SPDX-License-Identifier: MIT
"""Facts: observers of the walk, each of which collects data for a family of lints."""
