# SPDX-License-Identifier: MIT
"""The library that packs and unpacks gzip: zlib-ng where it is installed, else Python's zlib.

Measured on captures of 2 to 80 MB: zlib-ng unpacks 826 to 2,610 MB/s, zlib 294 to 494, and packs
two to five times as fast at the same size (docs/performance.md). The bytes of a packed file differ
between the two, the unpacked bytes do not, even of damaged files.
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType


#: Of packed data: below this, importing zlib-ng (1 ms) costs more than it saves.
_WORTH_IMPORTING = 1 << 16


def zlib_module(size: int) -> ModuleType:
    """A module with zlib's functions and ``error``, for ``size`` bytes of packed data."""
    import zlib

    if size < _WORTH_IMPORTING:
        return zlib
    try:
        from zlib_ng import zlib_ng
    except ImportError:
        return zlib
    return zlib_ng
