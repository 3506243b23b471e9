# SPDX-License-Identifier: MIT
"""The summary of an Intel capture: lines, and a table of its submissions."""

from __future__ import annotations

from collections import Counter

from cffpy.intel.views.draws import describe_what

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.container.open import Content
    from cffpy.intel.analysis.survey import Survey


def lines(found: Survey, content: Content) -> Iterator[str]:
    """What is known of a file as a whole; its submissions are a table of their own."""
    run = found.run
    packed = "" if content.compression == "none" else f", {content.compression}"
    yield f"  kind       {run.kind}"
    yield f"  size       {len(content.data):,} bytes ({content.file_size:,} in the file{packed})"
    if run.device is not None:
        version = f"gfx{run.device.verx10 / 10:g}"
        yield f"  GPU        {run.device.name} ({version}), PCI id {run.device.pci_id:#x}"
    if run.application:
        yield f"  program    {run.application}"
    roles = Counter(map(describe_what, found.actions))
    listed = ", ".join(f"{count} {role}" for role, count in roles.most_common())
    yield f"  passes     {len(found.passes)}"
    yield f"  actions    {listed or 'none'}"
    missing = sum(bool(uses.missing_tables) for uses in found.uses)
    if missing:
        what = "their targets and surfaces are unknown"
        yield f"  missing    binding tables of {missing} actions: {what}"
    for call in found.generations:
        yield f"  {call.describe()}"


HEADINGS = ("submit", "engine", "address", "dwords", "actions")
RIGHT = (0, 3)


def rows(found: Survey) -> list[tuple[str, ...]]:
    """A row for each submission."""
    return [
        (
            str(one.number),
            one.engine,
            f"{one.gpuaddr:#x}",
            f"{one.ndwords:,}",
            ", ".join(f"{count} {role}" for role, count in _roles(found, one.number).items()),
        )
        for one in found.run.submissions
    ]


def _roles(found: Survey, submit: int) -> dict[str, int]:
    return dict(
        Counter(describe_what(action) for action in found.actions if action.submit == submit)
    )
