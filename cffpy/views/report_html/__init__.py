# SPDX-License-Identifier: MIT
"""The page of ``cffpy report``: one HTML file, made of the document that ``--json`` prints."""
