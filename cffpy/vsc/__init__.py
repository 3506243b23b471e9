# SPDX-License-Identifier: MIT
"""Visibility streams of a6xx and a7xx: bytes to values and back. No state, no captures, no text.

Facts: the freedreno project's document on the visibility stream format. The streams of earlier
generations have other formats, which are not decoded.
"""
