# SPDX-License-Identifier: MIT
"""Reads of memory whose last write may still be in a cache (a6xx and a7xx).

Rendering in sysmem mode and CP_BLIT write through the colour or depth cache, BLIT events of a7xx
through the resolve cache. A clean event writes it to memory; textures are read through another
cache, which has to be invalidated afterwards. Facts: the barrier rules of turnip, Mesa 25.0.7.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from cffpy.capture.generations import generation_of
from cffpy.check.facts.barriers import Barriers
from cffpy.check.facts.draw_textures import DrawTextures
from cffpy.frame.passes import FLAGS_FILL

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.check.model import CheckedCapture
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass

#: Kind of memory -> events that clean its cache. CACHE_FLUSH events of a7xx clean all of them.
_CLEANS = {
    "color": ("PC_CCU_FLUSH_COLOR_TS", "CCU_CLEAN_COLOR", "CCU_FLUSH_COLOR"),
    "depth": ("PC_CCU_FLUSH_DEPTH_TS", "CCU_CLEAN_DEPTH", "CCU_FLUSH_DEPTH"),
    "resolve": ("CCU_RESOLVE_CLEAN", "PC_CCU_RESOLVE_TS", "CCU_CLEAN_COLOR", "CACHE_CLEAN"),
}
_INVALIDATES = ("CACHE_INVALIDATE", "CACHE_INVALIDATE7")


class UncleanRead(NamedTuple):
    """A texture that is read too early. ``missing``: the event, as text."""

    action: Action
    found: Pass | None
    address: int
    written_by: str
    missing: str


class _Write(NamedTuple):
    """A range that was written: when, through which cache, and by what."""

    at: int
    kind: str
    by: str


class _Caches:
    """When caches were cleaned last, and the texture cache invalidated after that."""

    def __init__(self) -> None:
        #: Kind -> position of the last clean; of the last clean that an invalidation follows.
        self._cleaned = dict.fromkeys(_CLEANS, -1)
        self._visible = dict.fromkeys(_CLEANS, -1)

    def event(self, at: int, name: str) -> None:
        for kind, cleans in _CLEANS.items():
            if any(clean in name for clean in cleans):
                self._cleaned[kind] = at
        if name in _INVALIDATES:
            self._visible.update(self._cleaned)

    def missing(self, write: _Write) -> str | None:
        """The event that is missing between a write and now."""
        if self._cleaned[write.kind] < write.at:
            return _CLEANS[write.kind][0]
        return _INVALIDATES[0] if self._visible[write.kind] < write.at else None


def unclean_reads(capture: CheckedCapture) -> Iterator[UncleanRead]:
    """Textures of executed draws and dispatches that are read from memory too early."""
    textures = capture.facts(DrawTextures)
    writes = _operation_writes(capture)
    written: dict[int, _Write] = {}
    caches = _Caches()
    for at, step in enumerate(capture.facts(Barriers).steps):
        action = step.action
        if step.kind == "cache":
            caches.event(at, step.name)
        if action is None:
            continue
        for _, texture in textures.images(action):
            write = written.get(texture.address)
            missing = None if write is None else caches.missing(write)
            if write is not None and missing is not None:
                yield UncleanRead(action, step.found, texture.address, write.by, missing)
        for address, kind, by in (*writes.get(action.order, ()), *_drawn(step.found, action)):
            written[address] = _Write(at, kind, by)


def _drawn(found: Pass | None, action: Action) -> Iterator[tuple[int, str, str]]:
    """What a draw in sysmem mode writes."""
    if action.kind == "draw" and found is not None and found.mode == "sysmem":
        for target in action.targets:
            if target.address and target.write_mask:
                kind = "color" if target.name.startswith("color") else "depth"
                yield target.address, kind, "a draw in sysmem mode"


def _operation_writes(capture: CheckedCapture) -> dict[int, list[tuple[int, str, str]]]:
    """Action -> what it writes: address, kind of cache, and by what."""
    has_resolve_cache = generation_of(capture.generation).has_resolve_cache
    found: dict[int, list[tuple[int, str, str]]] = {}
    for one in capture.render_passes():
        for run in one.runs:
            for operation in run.operations:
                address, order = operation.address, operation.action.order
                if not address or operation.kind == "load":
                    continue
                if operation.how in ("CP_BLIT", FLAGS_FILL):
                    found.setdefault(order, []).append((address, "color", "CP_BLIT"))
                elif operation.kind == "store" and has_resolve_cache:
                    found.setdefault(order, []).append((address, "resolve", "BLIT event"))
    return found
