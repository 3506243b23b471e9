# SPDX-License-Identifier: MIT
"""Intel captures as text: actions, the summary, what only passes have, what an action uses."""

from __future__ import annotations

from collections import Counter

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.draw_state import DrawState
    from cffpy.intel.analysis.survey import Survey


def describe_counts(action: Action, uses: Uses) -> str:
    """How much an action draws or computes, as text."""
    counts = uses.counts
    if counts.groups is not None:
        return f"{'x'.join(_number(part) for part in counts.groups)} thread groups"
    if action.kind != "draw" or not action.primitive:
        return ""
    what = "indices" if action.indexed else "vertices"
    text = f"{action.primitive}, {_number(counts.vertices)} {what} from {_number(counts.first)}"
    plural = "instance" if counts.instances == 1 else "instances"
    text += f", {_number(counts.instances)} {plural} from {_number(counts.first_instance)}"
    return f"{text}, base vertex {_number(counts.base)}" if action.indexed else text


def describe_predicate(action: Action) -> str:
    """Whether a predicated action is executed, as text; "" for an action without predicate."""
    if action.condition is None:
        return ""
    known = {True: ": it is executed", False: ": it is not executed", None: ""}
    return f"predicate {predicate_word(action)}{known[action.execution.value]}"


def describe_what(action: Action) -> str:
    """What an action is: "draw", "dispatch", what a driver does with it, or to depth."""
    if action.kind == "HiZ operation":
        return action.primitive or action.role
    return action.role or action.kind


def describe_role(action: Action) -> str:
    """What an action is, whether it is indirect, predicated or generated."""
    parts = [describe_what(action)]
    if action.indirect:
        parts.append("indirect")
    if action.condition is not None:
        parts.append(f"predicate {predicate_word(action)}")
    if action.generated is not None:
        parts.append(str(action.generated))
    return " ".join(parts)


def predicate_word(action: Action) -> str:
    """The predicate of a predicated action: true, false (it is not executed), unknown."""
    is_executed = action.execution.value
    return "unknown" if is_executed is None else str(is_executed).lower()


def _number(value: int | None) -> str:
    return "?" if value is None else str(value)


def info_lines(survey: Survey, content: Content) -> Iterator[str]:
    """What is known of a file as a whole; its submissions are a table of their own."""
    run = survey.run
    packed = "" if content.compression == "none" else f", {content.compression}"
    yield f"  kind       {run.kind}"
    yield f"  size       {len(content.data):,} bytes ({content.file_size:,} in the file{packed})"
    if run.device is not None:
        version = f"gfx{run.device.verx10 / 10:g}"
        yield f"  GPU        {run.device.name} ({version}), PCI id {run.device.pci_id:#x}"
    if run.application:
        yield f"  program    {run.application}"
    roles = Counter(map(describe_what, survey.actions))
    listed = ", ".join(f"{count} {role}" for role, count in roles.most_common())
    yield f"  passes     {len(survey.passes)}"
    yield f"  actions    {listed or 'none'}"
    missing = sum(bool(uses.missing_tables) for uses in survey.uses)
    if missing:
        what = "their targets and surfaces are unknown"
        yield f"  missing    binding tables of {missing} actions: {what}"
    for call in survey.generations:
        yield f"  {call.describe()}"


SUBMISSION_HEADINGS = ("submit", "engine", "address", "dwords", "actions")


def submission_rows(survey: Survey) -> list[tuple[str, ...]]:
    """A row for each submission."""
    return [
        (
            str(submission.number),
            submission.engine,
            f"{submission.gpuaddr:#x}",
            f"{submission.ndwords:,}",
            ", ".join(
                f"{count} {role}" for role, count in _roles(survey, submission.number).items()
            ),
        )
        for submission in survey.run.submissions
    ]


def _roles(survey: Survey, submit: int) -> dict[str, int]:
    return dict(
        Counter(describe_what(action) for action in survey.actions if action.submit == submit)
    )


def pass_lines(shown: Pass, survey: Survey) -> Iterator[str]:
    """What only Intel captures have: hierarchical depth, calls that generate draws, flushes."""
    if shown.kind == "render" and survey.uses[shown.draws[0].order].has_hiz:
        yield "  HiZ        hierarchical depth is on"
    for call in survey.generations:
        predicted = [
            draw.generated.is_predicted
            for draw in shown.draws
            if draw.generated is not None and draw.generated.call == call.number
        ]
        if predicted:
            note = f"; {sum(predicted)} predicted from the indirect data" if any(predicted) else ""
            yield f"  {call.describe()}{note}"
    for address, words in survey.flushes[shown.index]:
        yield f"  before     {address:#x}: {', '.join(words)}"


#: A line where no command has set the bases.
UNKNOWN_BASES = (
    "unknown: the bases of kernels, tables and states: no STATE_BASE_ADDRESS comes before;"
    " addresses are offsets"
)


def uses_lines(state: DrawState) -> Iterator[str]:
    """Counts, kernels, tables, samplers and buffers."""
    uses = state.uses
    for line in (describe_counts(state.action, uses), describe_predicate(state.action)):
        yield from (line,) if line else ()
    if not state.has_bases:
        yield UNKNOWN_BASES
    for kernel in state.kernels:
        size = "not in memory" if kernel.facts is None else f"{kernel.facts.size} bytes"
        stage = f"{kernel.stage} {kernel.width}".rstrip()
        yield f"{stage} kernel at {kernel.address:#x}, {size}"
    for table in uses.tables:
        yield table.describe()
        for entry in table.entries:
            yield f"  {entry.describe()}"
    for stage in uses.missing_tables:
        yield f"{stage} table is not in memory"
    yield from _set_lines(state)
    if uses.depth is not None:
        yield f"depth {uses.depth.describe()}{', with HiZ' if uses.has_hiz else ''}"
    if uses.stencil is not None:
        yield f"stencil at {uses.stencil.address:#x}"
    yield from _buffer_lines(state)


def _set_lines(state: DrawState) -> Iterator[str]:
    """Push constants and descriptor sets."""
    for block in state.pushed:
        yield from block.lines()
    for descriptor_set in state.sets:
        yield descriptor_set.describe()
        for descriptor in descriptor_set.descriptors:
            yield f"  {descriptor.describe()}"
        for sampler in descriptor_set.samplers:
            yield f"  sampler {sampler.number} at {sampler.address:#x}: {sampler.describe()}"


def _buffer_lines(state: DrawState) -> Iterator[str]:
    """Samplers, vertex buffers and constants."""
    for sampler in state.samplers:
        where = f"{sampler.stage} sampler {sampler.number} at {sampler.address:#x}"
        yield f"{where}: {sampler.describe()}"
    for buffer in state.vertex_buffers:
        yield (
            f"vertex buffer {buffer.number} at {buffer.address:#x}, {buffer.size} bytes,"
            f" pitch {buffer.pitch}"
        )
    for constants in state.constants:
        yield (
            f"{constants.stage} constants in slot {constants.slot} at {constants.address:#x},"
            f" {constants.size} bytes"
        )
