# SPDX-License-Identifier: MIT
"""The register database: descriptions of registers, packets and memory structures, by generation."""
