# SPDX-License-Identifier: MIT
"""Editions: the descriptions of one Mesa release, and what its decoders do besides."""
