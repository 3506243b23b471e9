# SPDX-License-Identifier: MIT
"""All lints: lints of this package, and lints that other packages register.

A package registers its functions with the decorator ``lint`` by entry points of the group
``cffpy.lints``.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from importlib import import_module
from typing import TYPE_CHECKING

from cffpy.check.model import Lint, LintError
from cffpy.entry_points import entry_points
from cffpy.errors import UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

GROUP = "cffpy.lints"

#: The modules of lints in ``cffpy.check.lints``, one for each topic.
TOPICS = (
    "barriers",
    "captured",
    "draws",
    "images",
    "loads_and_stores",
    "lrz",
    "programs",
    "state",
    "tiles",
    "vertices",
)


def own_lints() -> list[Lint]:
    """The lints of this package, by id."""
    modules = [import_module(f"cffpy.check.lints.{topic}") for topic in TOPICS]
    values = [value for module in modules for value in vars(module).values()]
    return sorted([value for value in values if isinstance(value, Lint)], key=lambda lint: lint.id)


def all_lints() -> list[Lint]:
    """Every lint, by id. Raises LintError where one of another package cannot be loaded."""
    lints = {lint.id: lint for lint in own_lints()}
    for lint in _registered():
        if lint.id in lints:
            raise LintError(f"two lints have the id {lint.id}")
        lints[lint.id] = lint
    return [lints[key] for key in sorted(lints)]


def _registered() -> Iterable[Lint]:
    """The lints that other packages register by entry points."""
    for entry in entry_points(GROUP):
        try:
            declared = entry.load()
        except Exception as problem:
            # a plugin's import may raise anything; the message names the plugin
            raise LintError(f"the lint {entry.value} cannot be loaded: {problem}") from problem
        if not isinstance(declared, Lint):
            raise LintError(f"the entry point {entry.value} is no function with the decorator lint")
        yield declared


def chosen_lints(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> list[Lint]:
    """The lints that are selected, by default all, without ignored lints.

    Each word is an id, a short name, or a pattern of either; one word may be given without a list.
    Raises UsageError for one that fits no lint.
    """
    known = all_lints()
    selected = _matching(known, select) if select else {lint.id for lint in known}
    ignored = _matching(known, ignore)
    return [lint for lint in known if lint.id in selected and lint.id not in ignored]


def find_lint(word: str) -> Lint:
    """The lint of an id or name. Raises UsageError."""
    known = all_lints()
    (first, *_) = sorted(_matching(known, [word]))
    return next(lint for lint in known if lint.id == first)


def _matching(known: list[Lint], words: Iterable[str]) -> set[str]:
    ids: set[str] = set()
    # a str is an iterable of its letters, which nobody means
    for word in [words] if isinstance(words, str) else words:
        pattern = word.strip().lower()
        fitting = {
            lint.id
            for lint in known
            if fnmatchcase(lint.id.lower(), pattern) or fnmatchcase(lint.name, pattern)
        }
        if not fitting:
            raise UsageError(f"no lint is called {word!r}; cffpy check --list shows all")
        ids |= fitting
    return ids
