# SPDX-License-Identifier: MIT
"""What a draw or dispatch uses, as lines."""

from __future__ import annotations

from cffpy.intel.views.draws import describe_counts, describe_predicate

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.intel.analysis.draw_state import DrawState

#: A line where no command has set the bases.
UNKNOWN_BASES = (
    "unknown: the bases of kernels, tables and states: no STATE_BASE_ADDRESS comes before;"
    " addresses are offsets"
)


def uses_lines(found: DrawState) -> Iterator[str]:
    """Counts, kernels, tables, samplers and buffers."""
    uses = found.uses
    for line in (describe_counts(found.action, uses), describe_predicate(found.action)):
        yield from (line,) if line else ()
    if not found.has_bases:
        yield UNKNOWN_BASES
    for kernel in found.kernels:
        size = "not in memory" if kernel.facts is None else f"{kernel.facts.size} bytes"
        stage = f"{kernel.stage} {kernel.width}".rstrip()
        yield f"{stage} kernel at {kernel.address:#x}, {size}"
    for table in uses.tables:
        yield table.describe()
        for entry in table.entries:
            yield f"  {entry.describe()}"
    for stage in uses.missing_tables:
        yield f"{stage} table is not in memory"
    yield from _set_lines(found)
    if uses.depth is not None:
        yield f"depth {uses.depth.describe()}{', with HiZ' if uses.has_hiz else ''}"
    if uses.stencil is not None:
        yield f"stencil at {uses.stencil.address:#x}"
    yield from _buffer_lines(found)


def _set_lines(found: DrawState) -> Iterator[str]:
    """Push constants and descriptor sets."""
    for block in found.pushed:
        yield from block.lines()
    for one in found.sets:
        yield one.describe()
        for descriptor in one.descriptors:
            yield f"  {descriptor.describe()}"
        for sampler in one.samplers:
            yield f"  sampler {sampler.number} at {sampler.address:#x}: {sampler.describe()}"


def _buffer_lines(found: DrawState) -> Iterator[str]:
    """Samplers, vertex buffers and constants."""
    for sampler in found.samplers:
        where = f"{sampler.stage} sampler {sampler.number} at {sampler.address:#x}"
        yield f"{where}: {sampler.describe()}"
    for buffer in found.vertex_buffers:
        yield (
            f"vertex buffer {buffer.number} at {buffer.address:#x}, {buffer.size} bytes,"
            f" pitch {buffer.pitch}"
        )
    for constants in found.constants:
        yield (
            f"{constants.stage} constants in slot {constants.slot} at {constants.address:#x},"
            f" {constants.size} bytes"
        )
