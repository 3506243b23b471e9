# SPDX-License-Identifier: MIT
"""Paths of packaged data: grammars and register_db of a checkout, or the copy in the wheel.

A checkout has precedence, because an editable install does not update the copy.
"""

from __future__ import annotations

import os

_PACKAGE = os.path.dirname(os.path.abspath(__file__))
_CHECKOUT = os.path.dirname(_PACKAGE)


def is_checkout() -> bool:
    """True when cffpy runs from a source tree, where descriptions may be edited."""
    return os.path.exists(os.path.join(_CHECKOUT, "grammars", "register.lark"))


def data_path(*parts: str) -> str:
    """Path of a data file or folder, e.g. ``data_path("grammars", "register.lark")``."""
    root = _CHECKOUT if is_checkout() else os.path.join(_PACKAGE, "_data")
    return os.path.join(root, *parts)
