# SPDX-License-Identifier: MIT
"""Arguments of the Python interface, checked where a caller passes them.

One of another type raises UsageError, which says what to pass. Otherwise it would fail somewhere
within, or mean something else: a text is a list of its characters, too.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from typing import TypeVar

from cffpy.capture.gpu import Gpu, parse_gpu
from cffpy.editions.folders import chosen_edition
from cffpy.errors import UsageError
from cffpy.limits import Limits

_Item = TypeVar("_Item")

_PATH = (str, os.PathLike)

#: Characters of a wrong argument that an error shows.
_SHOWN = 40


def expect(name: str, value: object, types: type | tuple[type, ...], wanted: str) -> None:
    """Raise UsageError unless ``value`` is of one of ``types``. ``wanted``: what to pass, in words.

    A bool is no int.
    """
    allowed = types if isinstance(types, tuple) else (types,)
    if not isinstance(value, allowed) or (isinstance(value, bool) and bool not in allowed):
        raise UsageError(f"{name} must be {wanted}, not {_described(value)}")


def expect_all(
    name: str, values: Iterable[_Item], types: type | tuple[type, ...], wanted: str
) -> list[_Item]:
    """The values, each of one of ``types``. A single text is none: it would be its characters."""
    if isinstance(values, str | bytes) or not isinstance(values, Iterable):
        raise UsageError(f"{name} must be a list of {wanted}, not {_described(values)}")
    found = list(values)
    for one in found:
        expect(f"each of {name}", one, types, f"one of {wanted}")
    return found


def expect_path(name: str, value: object) -> None:
    """Raise UsageError for what is no path."""
    expect(name, value, _PATH, "a path")


def given_paths(
    name: str, paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]
) -> list[str | os.PathLike[str]]:
    """One path or several, as a list."""
    if isinstance(paths, str | os.PathLike):
        return [paths]
    return expect_all(name, paths, _PATH, "paths")


def given_gpu(gpu: str | int | Gpu | None) -> Gpu | None:
    """The GPU to decode for instead of the file's. Raises UnsupportedGpu for an unknown one."""
    if gpu is None or isinstance(gpu, Gpu):
        return gpu
    expect("gpu", gpu, (str, int), 'a GPU, as in "630" or "a7xx"')
    return parse_gpu(str(gpu))


def given_edition(
    register_db: str | os.PathLike[str] | None, knows_auto: bool = False
) -> str | None:
    """The directory of an edition; None: the bundled one. Raises RegisterDbError.

    ``knows_auto``: as for ``chosen_edition``.
    """
    if register_db is not None:
        expect("register_db", register_db, _PATH, "the name or directory of an edition")
        register_db = os.fspath(register_db)
    return chosen_edition(register_db, {}, knows_auto)


def given_limits(limits: Limits | Mapping[str, int] | None) -> Limits:
    """Limits by their names."""
    if isinstance(limits, Limits):
        return limits
    if limits is not None:
        expect("limits", limits, Mapping, 'limits by name, as in {"draws": 1000}')
    try:
        return Limits(**(limits or {}))
    except (TypeError, ValueError) as problem:
        raise UsageError(f"limits: {problem}") from None


def expect_callable(name: str, value: object) -> None:
    """Raise UsageError for what cannot be called."""
    if not callable(value):
        raise UsageError(f"{name} must be a function, not {_described(value)}")


def _described(value: object) -> str:
    """``the str 'a.rd'``."""
    if value is None:
        return "None"
    text = repr(value) if isinstance(value, str | bytes | int | float) else ""
    kind = type(value).__name__
    return f"the {kind} {text}" if text and len(text) <= _SHOWN else f"{kind} object"
