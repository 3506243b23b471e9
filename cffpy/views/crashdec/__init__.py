# SPDX-License-Identifier: MIT
"""The text of a GPU crash dump, as Mesa's crashdec prints it, with all its quirks."""
