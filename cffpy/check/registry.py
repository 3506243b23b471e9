# SPDX-License-Identifier: MIT
"""All lints: those of this package, and those that other packages register.

A package registers classes derived from ``Lint`` by entry points of the group ``cffpy.lints``.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from importlib import import_module
from typing import TYPE_CHECKING

from cffpy.check.model import SEVERITIES, Lint
from cffpy.errors import CffpyError, UsageError

if TYPE_CHECKING:
    from collections.abc import Iterable

GROUP = "cffpy.lints"

#: Module in ``cffpy.check.lints`` -> the class of the rule.
LINTS = {
    "cff001_constants_beyond_length": "ConstantsBeyondLength",
    "cff002_constants_twice": "ConstantsTwice",
    "cff003_stale_state": "StaleState",
    "cff004_state_never_written": "StateNeverWritten",
    "cff007_empty_draw": "EmptyDraw",
    "cff008_draw_as_clear": "DrawAsClear",
    "cff009_needless_load": "NeedlessLoad",
    "cff010_needless_store": "NeedlessStore",
    "cff011_depth_stored": "DepthStored",
    "cff012_lrz_off": "LrzOff",
    "cff013_lrz_lost": "LrzLost",
    "cff014_no_lrz_buffer": "NoLrzBuffer",
    "cff015_late_depth_test": "LateDepthTest",
    "cff016_target_without_ubwc": "TargetWithoutUbwc",
    "cff017_linear_image": "LinearImage",
    "cff018_resolve_by_blit": "ResolveByBlit",
    "cff019_gmem_without_cache": "GmemWithoutCache",
    "cff020_many_tiles_few_draws": "ManyTilesFewDraws",
    "cff021_sysmem_with_many_draws": "SysmemWithManyDraws",
    "cff022_needless_binning": "NeedlessBinning",
    "cff023_forced_sysmem": "ForcedSysmem",
    "cff024_missing_clean": "MissingClean",
    "cff025_cache_mode_switch": "CacheModeSwitch",
    "cff026_missing_resolve_clean": "MissingResolveClean",
    "cff027_dense_waits": "DenseWaits",
    "cff028_redundant_flush": "RedundantFlush",
    "cff029_empty_pass": "EmptyPass",
    "cff030_empty_scissor": "EmptyScissor",
    "cff031_nothing_written": "NothingWritten",
    "cff032_unmapped_texture": "UnmappedTexture",
    "cff033_texture_extent": "TextureExtent",
    "cff034_target_in_texture": "TargetInTexture",
    "cff035_vertex_buffer_too_small": "VertexBufferTooSmall",
    "cff036_attribute_without_buffer": "AttributeWithoutBuffer",
    "cff037_program_not_captured": "ProgramNotCaptured",
    "cff038_commands_not_captured": "CommandsNotCaptured",
    "cff039_spilling": "Spilling",
    "cff040_long_program": "LongProgram",
    "cff041_samples_stored": "SamplesStored",
    "cff042_clear_within_pass": "ClearWithinPass",
    "cff043_idle_state": "IdleState",
    "cff044_stream_limits": "StreamLimits",
    "cff045_slice_size": "SliceSize",
    "cff046_no_program": "NoProgram",
    "cff047_no_index_buffer": "NoIndexBuffer",
    "cff048_too_few_indices": "TooFewIndices",
    "cff049_lrz_direction": "LrzDirection",
    "cff050_wait_without_signal": "WaitWithoutSignal",
}


class LintError(CffpyError):
    """A lint of another package cannot be used."""


def all_lints() -> list[Lint]:
    """Every lint, by id. Raises LintError where one of another package cannot be loaded."""
    found = {}
    for module, name in LINTS.items():
        lint = getattr(import_module(f"cffpy.check.lints.{module}"), name)()
        found[lint.id] = lint
    for lint in _registered():
        if lint.id in found:
            raise LintError(f"two lints have the id {lint.id}")
        found[lint.id] = lint
    return [found[key] for key in sorted(found)]


def _registered() -> Iterable[Lint]:
    """Those of entry points."""
    from importlib.metadata import entry_points

    for entry in entry_points(group=GROUP):
        try:
            kind = entry.load()
        except Exception as problem:
            # a plugin's import may raise anything; the message names the plugin
            raise LintError(f"the lint {entry.value} cannot be loaded: {problem}") from problem
        if not isinstance(kind, type) or not issubclass(kind, Lint):
            raise LintError(f"the entry point {entry.value} is not a subclass of Lint")
        missing = [
            name for name in ("id", "name", "severity", "summary") if not hasattr(kind, name)
        ]
        if missing or kind.severity not in SEVERITIES:
            raise LintError(
                f"the lint {entry.value} has no valid {', '.join(missing) or 'severity'}"
            )
        yield kind()


def chosen_lints(select: Iterable[str] = (), ignore: Iterable[str] = ()) -> list[Lint]:
    """The lints that are selected, by default all, without those that are ignored.

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
    found: set[str] = set()
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
        found |= fitting
    return found
