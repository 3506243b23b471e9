# SPDX-License-Identifier: MIT
"""The register database: registers, packets and structures in memory, by generation."""
