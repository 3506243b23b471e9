# SPDX-License-Identifier: MIT
"""The passes of a capture as lines of text, and what the pipes BR and BV wait for."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from cffpy.analysis.lrz import lrz_of_passes
from cffpy.analysis.passes.transfers import used_attachment
from cffpy.capture.gpu import is_adreno
from cffpy.frame.execution import Executed
from cffpy.frame.places import DrawRange, draw_ranges
from cffpy.views.plain_text import Styled, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cffpy.analysis.lrz import PassLrz
    from cffpy.frame.action import Action, PacketFacts
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.execution import PipeWait
    from cffpy.frame.passes import DrawTotal, Lrz, Operation, Pass, Passes, SubmitPasses

_UNKNOWN = "unknown"
#: The order of components that is not shown: red first.
_USUAL_SWAP = "WZYX"
_STAGES = ("TASK", "MESH", "VS", "HS", "DS", "GS", "CLIP", "SF", "FS", "PS", "CS")


def lines(
    passes: Passes,
    submits: Iterable[SubmitPasses],
    more: Callable[[Pass], Iterable[str]] = lambda _one: (),
) -> Iterator[str]:
    """The tree of the submits that are given. ``more``: further lines of a pass."""
    lost = {
        pass_lrz.pass_.index: pass_lrz
        for pass_lrz in lrz_of_passes(passes)
        if pass_lrz.lost_by is not None
    }
    for submit in submits:
        yield Styled(f"submit {submit.number}: {total(submit)}")
        for pass_ in submit.passes:
            yield from pass_lines(pass_, lost.get(pass_.index))
            yield from (f"  {line}" for line in more(pass_))


def total(submit: SubmitPasses) -> str:
    """What a submit does, in one line."""
    render = [pass_ for pass_ in submit.passes if pass_.kind == "render"]
    draws = sum(len(pass_.draws) for pass_ in render)
    parts = [_count(len(render), "render pass", "render passes"), _count(draws, "program draw")]
    for kind in ("compute", "transfer"):
        groups = [pass_ for pass_ in submit.passes if pass_.kind == kind]
        parts.extend(_group_texts(action for group in groups for action in group.draws))
    return ", ".join(parts)


def title(pass_: Pass) -> str:
    """A pass in one line: kind, mode, size, samples."""
    if pass_.kind != "render":
        counts = ", ".join(_group_texts(pass_.draws)) or "nothing is executed"
        return f"pass {pass_.index}: {pass_.kind}, {counts}"
    parts = [*_mode_texts(pass_), f"framebuffer {size_text(pass_)}"]
    if pass_.samples is not None and pass_.samples > 1:
        parts.append(f"{pass_.samples} samples")
    if pass_.views:
        parts.append(f"{pass_.views} views")
    if pass_.layers and pass_.layers > 1:
        parts.append(f"{pass_.layers} layers")
    parts.append(_count(len(pass_.draws), "draw"))
    return f"pass {pass_.index}: {', '.join(parts)}"


def has_modes(pass_: Pass) -> bool:
    """Whether passes of the GPU have a mode: not of GPUs without tiles."""
    return pass_._frame is None or is_adreno(pass_._frame.generation)


def _mode_texts(pass_: Pass) -> Iterator[str]:
    """``gmem with hardware binning, concurrent``; nothing of GPUs without tiles."""
    mode = pass_.mode
    if mode is None:
        if has_modes(pass_):
            yield _UNKNOWN
        return
    if not pass_.hardware_binning:
        yield mode
        return
    concurrent = {"yes": ", concurrent", "decided by the GPU": ", concurrent if the GPU decides so"}
    yield f"{mode} with hardware binning{concurrent.get(pass_.concurrent or '', '')}"


_PLURALS = {"dispatch": "dispatches", "copy": "copies"}


def _group_texts(actions: Iterable[Action]) -> Iterator[str]:
    """How many dispatches, copies, fills ... there are."""
    names = Counter(
        "dispatch" if action.kind == "dispatch" else action.role or "copy" for action in actions
    )
    for name, number in names.items():
        yield _count(number, name, _PLURALS.get(name))


def size_text(pass_: Pass) -> str:
    """The framebuffer's size, or what is known of it."""
    if pass_.framebuffer is not None:
        return str(pass_.framebuffer)
    if pass_.framebuffer_limit is not None:
        return f"unknown, at most {pass_.framebuffer_limit}"
    return _UNKNOWN


def pass_lines(pass_: Pass, lost: PassLrz | None = None) -> Iterator[str]:
    """A pass in full. ``lost``: LRZ of the pass, where a draw lost it."""
    yield Styled(f"  {title(pass_)}")
    for marker in pass_.markers:
        yield f"    marker: {visible(marker)}"
    if pass_.render_area is not None:
        rounded = " (rounded outwards to blocks)" if pass_.render_area_rounded else ""
        yield f"    render area {pass_.render_area}{rounded}"
    if pass_.mode == "gmem":
        grid = f" in {pass_.grid.width} x {pass_.grid.height}" if pass_.grid else ""
        bins = f" of {pass_.bin_size}" if pass_.bin_size else ""
        yield f"    {_count(len(pass_.tiles), 'tile')}{bins}{grid}{_pipe_text(pass_)}"
    if pass_.kind == "render":
        yield from _attachment_lines(pass_)
        if pass_.lrz is not None:
            yield f"    LRZ {_lrz_text(pass_, lost)}"
    if pass_.draws:
        yield f"    {_draws_text(pass_)}"
        shaders = _shader_text(pass_.draws)
        if shaders:
            yield f"    shaders: {shaders}"
    if pass_.waits:
        yield from (f"    {line}" for line in summary_lines(pass_.waits))
    yield f"    from {pass_.first}"
    yield f"    to {pass_.last}"
    for unknown in pass_.unknown:
        yield f"    unknown: {unknown}"


def _attachment_lines(pass_: Pass) -> Iterator[str]:
    """Each attachment with its loads, clears and stores.

    Subpasses may have different attachments of one name; their draws distinguish them.
    """
    operations = _operations(pass_)
    names = Counter(attachment.name for attachment in pass_.attachments)
    for attachment in pass_.attachments:
        draws = _drawn_text(pass_, attachment) if names[attachment.name] > 1 else ""
        yield f"    {attachment_text(attachment)}{draws}"
        for text in operations.pop(attachment, ()):
            yield f"      {text}"
    for name, texts in operations.items():
        yield f"    {name}"
        for text in texts:
            yield f"      {text}"


def _drawn_text(pass_: Pass, attachment: Attachment) -> str:
    """Which of the program's draws have the attachment."""
    place = attachment.name, attachment.address, attachment.gmem
    draws = [
        number
        for number, draw in enumerate(pass_.draws)
        if any((target.name, target.address, target.gmem) == place for target in draw.targets)
    ]
    if not draws:
        return ", of no draw"
    return f", of {'draw' if len(draws) == 1 else 'draws'} {ranges_text(draws)}"


def _pipe_text(pass_: Pass) -> str:
    if not pass_.pipes:
        return ""
    pipe = pass_.pipes[0]
    return f", {_count(len(pass_.pipes), 'VSC pipe')} of {pipe.width} x {pipe.height} tiles"


def attachment_text(attachment: Attachment) -> str:
    """A buffer in one line."""
    parts = [
        attachment.name,
        attachment.format or f"format {_UNKNOWN}",
        *colour_texts(attachment.swap, attachment.srgb),
    ]
    if attachment.tiling:
        parts.append(attachment.tiling)
    where = _UNKNOWN if attachment.address is None else f"{attachment.address:#x}"
    parts.append(f"at {where}")
    if attachment.pitch:
        parts.append(f"pitch {attachment.pitch}")
    if attachment.ubwc:
        flags = f" flags at {attachment.flags:#x}" if attachment.flags else ""
        parts.append(f"UBWC{flags}")
    if attachment.gmem is not None:
        parts.append(f"GMEM {attachment.gmem:#x}")
    if attachment.write_mask == 0:
        parts.append("not written by draws")
    return ", ".join(parts)


def colour_texts(swap: str | None, srgb: bool | None) -> Iterator[str]:
    """How the format of an attachment is meant: an unusual order of components, sRGB."""
    if swap not in (None, _USUAL_SWAP):
        yield f"swap {swap}"
    if srgb:
        yield "sRGB"


def operation_text(operation: Operation) -> str:
    """A load, clear or store without its attachment."""
    verb = "resolve" if operation.resolves else operation.kind
    parts = [f"{verb} by {operation.how}"]
    if operation.clear_value is not None:
        parts.append("value " + " ".join(f"{word:08x}" for word in operation.clear_value))
    elif operation.address is not None:
        preposition = "from" if operation.kind == "load" else "to"
        parts.append(f"{preposition} {operation.address:#x}")
        if operation.format:
            parts.append(operation.format)
    if operation.action.execution is Executed.UNKNOWN:
        parts.append(f"conditional: {operation.action.condition}")
    return ", ".join(parts)


def _operations(pass_: Pass) -> dict[Attachment | str, list[str]]:
    """Attachment, or a name -> what is done to it, each once, with how often.

    The binning run is counted apart: the others are executed once a tile.
    """
    counts: dict[tuple[Attachment | str, str], Counter[bool]] = {}
    for run in pass_.runs:
        for operation in run.operations:
            if operation.action.execution.is_possible:
                counts.setdefault(_heading(pass_, operation), Counter())[run is pass_.binning] += 1
    operations: dict[Attachment | str, list[str]] = {}
    for (heading, text), number in counts.items():
        rendered, binned = number[False], number[True]
        times = f", {rendered} times" if rendered > 1 else ""
        if binned:
            once = "once" if binned == 1 else f"{binned} times"
            times += f"{', and' if rendered else ','} {once} in the binning run"
        operations.setdefault(heading, []).append(text + times)
    return operations


def _heading(pass_: Pass, operation: Operation) -> tuple[Attachment | str, str]:
    """The attachment of an operation, or a name where the pass has no such one; and its text."""
    name = operation.attachment or "attachment unknown"
    text = operation_text(operation)
    names = {attachment.name for attachment in pass_.attachments}
    if name in ("stencil", "depth+stencil") and "depth" in names and "stencil" not in names:
        name, text = "depth", f"{name}: {text}"
    same = [attachment for attachment in pass_.attachments if attachment.name == name]
    return (used_attachment(same, operation) if same else name), text


def ranges_text(numbers: Iterable[int]) -> str:
    """The text of rising numbers, as ``0-5, 7``."""
    return ", ".join(range_.numbers_text for range_ in draw_ranges(numbers))


def off_text(lrz: Lrz) -> str:
    """Which draws have LRZ off, where others have it on: ``off in draws p0:3, p0:8-9``; or ""."""
    ranges = lrz.off_draws
    if not ranges:
        return ""
    is_single = len(ranges) == 1 and ranges[0].first == ranges[0].last
    return f"off in {'draw' if is_single else 'draws'} {', '.join(map(str, ranges))}"


def _lrz_text(pass_: Pass, lost: PassLrz | None) -> str:
    lrz = pass_.lrz
    assert lrz is not None
    parts = [f"at {lrz.address:#x}" if lrz.address else "buffer unknown"]
    if lrz.disabled:
        parts.append("switched off for the pass")
    if lrz.cleared:
        parts.append("cleared before")
    if not lrz.disabled:
        parts.append("used" if lrz.used else "not used")
    if lrz.off_draws:
        parts.append(off_text(lrz))
    if lost is not None and lost.lost_why is not None:
        parts.append(f"lost by draw {lost.lost_name}: {lost.lost_why.text}")
    return ", ".join(parts)


def _draws_text(pass_: Pass) -> str:
    draws = pass_.draws
    packets = [draw._packet_facts for draw in draws]
    if pass_.kind != "render":
        labels = _label_counts(packet.primitive or packet.packet for packet in packets)
        return f"{labels}; {_dump_numbers(draws)}"
    parts = [
        _dump_numbers(draws),
        _label_counts(packet.primitive or "?" for packet in packets),
        f"{total_text(pass_.vertices)} vertices or indices",
    ]
    if any(packet.instances != 1 for packet in packets):
        parts.append(f"{total_text(pass_.instances)} instances")
    parts += _kind_counts(draws, packets)
    return f"draws: {', '.join(parts)}"


def total_text(total: DrawTotal) -> str:
    """A sum; of numbers that only the GPU knows nothing is assumed."""
    if total.unknown and not total.known:
        return "unknown"
    return f"{'at least ' if total.unknown else ''}{total.number:,}"


def _kind_counts(draws: list[Action], packets: list[PacketFacts]) -> list[str]:
    """How many of the draws are special in some way."""
    counts = {
        "indexed": sum(packet.indexed for packet in packets),
        "indirect": sum(packet.indirect for packet in packets),
        "conditional": sum(draw.execution is Executed.UNKNOWN for draw in draws),
    }
    return [f"{number} {text}" for text, number in counts.items() if number]


def _label_counts(labels: Iterable[str]) -> str:
    """How many draws there are of each label."""
    return ", ".join(f"{number} {label}" for label, number in Counter(labels).items())


def _dump_numbers(draws: list[Action]) -> str:
    numbers = [draw.dump_draw for draw in draws if draw.dump_draw is not None]
    if not numbers:
        return "without numbers in the dump"
    return str(DrawRange(numbers[0], numbers[-1]))


def _shader_text(draws: list[Action]) -> str:
    stages: dict[str, set[int]] = {}
    for shaders in dict.fromkeys([draw.programs for draw in draws]):
        for stage, address in shaders:
            stages.setdefault(stage, set()).add(address)
    parts = []
    for stage in _STAGES:
        addresses = stages.get(stage, ())
        if len(addresses) == 1:
            parts.append(f"{stage} {next(iter(addresses)):#x}")
        elif addresses:
            parts.append(f"{len(addresses)} {stage}")
    return ", ".join(parts)


def _count(number: int, noun: str, plural: str | None = None) -> str:
    return f"{number} {noun if number == 1 else plural or noun + 's'}"


# -- waits of the pipes ----------------------------------------------------------------------------

#: Waits of a pass that are listed as text.
_MAX_WAITS = 64


def summary_lines(waits: Sequence[PipeWait]) -> Iterator[str]:
    """How often each pipe waits for the other one; then the waits at which a pipe may hang."""
    counts = [(pipe, [wait for wait in waits if wait.pipe == pipe]) for pipe in ("BR", "BV")]
    parts = [f"{pipe} {len(of_pipe)}" for pipe, of_pipe in counts if of_pipe]
    yield f"waits of the pipes for each other: {', '.join(parts)}"
    for wait in [wait for wait in waits if wait.state in ("never", "race")][:_MAX_WAITS]:
        yield f"  {wait_text(wait)}"


def wait_lines(waits: Sequence[PipeWait]) -> Iterator[str]:
    """Each wait and its signal."""
    for wait in waits[:_MAX_WAITS]:
        yield wait_text(wait)
    if len(waits) > _MAX_WAITS:
        yield f"{len(waits) - _MAX_WAITS:,} more waits of the pipes"


def wait_text(wait: PipeWait) -> str:
    """A wait and its signal in one line."""
    head = f"{wait.pipe} waits for {wait.wanted}, {wait.place}"
    if wait.state == "race":
        return f"{head}: {_race_text(wait)}"
    if wait.signal is not None:
        return f"{head}: by {wait.signal.pipe}, {wait.signal.place}"
    reasons = {
        "held before": "holds before",
        "never": "nobody signals it",
        "unknown": "not known who signals it",
    }
    return f"{head}: {reasons[wait.state]}"


def _race_text(wait: PipeWait) -> str:
    """In which order it holds, and in which it does not."""
    signal, overwritten = wait.signal, wait.overwritten
    held = "holds before" if signal is None else f"by {signal.pipe}, {signal.place}"
    if overwritten is None:
        return f"{held}; in another order it never holds"
    return f"{held}, unless {overwritten.pipe}, {overwritten.place}, writes over it first"
