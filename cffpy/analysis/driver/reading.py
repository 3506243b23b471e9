# SPDX-License-Identifier: MIT
"""The driver of a capture, and what it meant by its streams: one walk."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.driver.streams import StreamCalls, called_streams
from cffpy.analysis.queries import PassWalk
from cffpy.frame.driver import Driver

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.analysis.driver.state_groups import GroupNames
    from cffpy.capture.gpu import Gpu
    from cffpy.container.open import Content
    from cffpy.frame.driver import CalledStream
    from cffpy.frame.passes import Passes
    from cffpy.frame.places import ExecutedStream
    from cffpy.pm4.descriptions import Descriptions


class DriverReading:
    """The driver, and its streams in order."""

    def __init__(self, driver: Driver, streams: list[CalledStream]) -> None:
        self.driver = driver
        self.streams = streams
        self._by_place = {
            (stream.number, stream.gpuaddr, stream.dwords, stream.level): stream
            for stream in streams
        }

    def stream_of(self, path: Sequence[ExecutedStream]) -> CalledStream | None:
        """The innermost stream of a path that has a role."""
        for level in reversed(range(min(2, len(path)))):
            part = path[level]
            key = part._submitted.number, part.gpuaddr, part.ndwords, level
            if key in self._by_place:
                return self._by_place[key]
        return None


def read_driver(
    content: Content,
    groups: GroupNames,
    register_db: str | None,
    gpu: Gpu | None,
    descriptions: Descriptions,
) -> DriverReading:
    """What the driver of a capture meant by its streams."""
    walk = PassWalk(content, _ignore, register_db, gpu, descriptions)
    calls = StreamCalls(walk.walk, walk.finder)
    walk.observe(calls)
    walk.run()
    passes = walk.finder.found
    has_turnip = bool(passes.generation) and walk.walk.machine.gpu.facts.has_turnip
    driver = driver_of(groups, passes, has_turnip)
    return DriverReading(driver, called_streams(calls, passes, driver))


def driver_of(groups: GroupNames, passes: Passes, has_turnip: bool) -> Driver:
    """The driver, by its draw-state groups; else by the generation, or by where it copies.

    ``has_turnip``: turnip drives the generation, too.
    """
    if groups.layout is not None:
        layout = groups.layout
        rule = "numbers and contents of draw-state groups"
        return Driver(layout.driver, layout.releases, rule, "sure")
    if passes.generation and not has_turnip:
        rule = "of Mesa's drivers, only freedreno drives this generation"
        return Driver("freedreno", None, rule, "likely")
    moving = [action for action in passes.actions if action.kind in ("blit", "dispatch")]
    draws = any(pass_.kind == "render" for pass_ in passes.passes)
    if moving and not draws:
        levels = {len(action.place.path) for action in moving}
        if levels == {1}:
            rule = "copies and dispatches are in the submits' own streams"
            return Driver("turnip", None, rule, "likely")
        if levels == {2}:
            rule = "copies and dispatches are in IBs"
            return Driver("freedreno", None, rule, "likely")
    return Driver(None, None, None, None)


def _ignore(_line: str) -> None:
    """Warnings are those of any other walk over the capture."""
