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
    found: Passes,
    submits: Iterable[SubmitPasses],
    more: Callable[[Pass], Iterable[str]] = lambda _one: (),
) -> Iterator[str]:
    """The tree of the submits that are given. ``more``: further lines of a pass."""
    lost = {one.pass_.index: one for one in lrz_of_passes(found) if one.lost_by is not None}
    for submit in submits:
        yield Styled(f"submit {submit.number}: {total(submit)}")
        for one in submit.passes:
            yield from pass_lines(one, lost.get(one.index))
            yield from (f"  {line}" for line in more(one))


def total(submit: SubmitPasses) -> str:
    """What a submit does, in one line."""
    render = [one for one in submit.passes if one.kind == "render"]
    draws = sum(len(one.draws) for one in render)
    parts = [_count(len(render), "render pass", "render passes"), _count(draws, "program draw")]
    for kind in ("compute", "transfer"):
        groups = [one for one in submit.passes if one.kind == kind]
        parts.extend(_group_texts(action for one in groups for action in one.draws))
    return ", ".join(parts)


def title(one: Pass) -> str:
    """A pass in one line: kind, mode, size, samples."""
    if one.kind != "render":
        counts = ", ".join(_group_texts(one.draws)) or "nothing is executed"
        return f"pass {one.index}: {one.kind}, {counts}"
    parts = [*_mode_texts(one), f"framebuffer {size_text(one)}"]
    if one.samples is not None and one.samples > 1:
        parts.append(f"{one.samples} samples")
    if one.views:
        parts.append(f"{one.views} views")
    if one.layers and one.layers > 1:
        parts.append(f"{one.layers} layers")
    parts.append(_count(len(one.draws), "draw"))
    return f"pass {one.index}: {', '.join(parts)}"


def _mode_texts(one: Pass) -> Iterator[str]:
    """``gmem with hardware binning, concurrent``; nothing of GPUs without tiles."""
    mode = one.mode
    if mode is None:
        is_tiled = one.frame is None or is_adreno(one.frame.generation)
        if is_tiled:
            yield _UNKNOWN
        return
    if not one.hardware_binning:
        yield mode
        return
    concurrent = {"yes": ", concurrent", "decided by the GPU": ", concurrent if the GPU decides so"}
    yield f"{mode} with hardware binning{concurrent.get(one.concurrent or '', '')}"


_PLURALS = {"dispatch": "dispatches", "copy": "copies"}


def _group_texts(actions: Iterable[Action]) -> Iterator[str]:
    """How many dispatches, copies, fills ... there are."""
    names = Counter(
        "dispatch" if action.kind == "dispatch" else action.role or "copy" for action in actions
    )
    for name, number in names.items():
        yield _count(number, name, _PLURALS.get(name))


def size_text(one: Pass) -> str:
    """The framebuffer's size, or what is known of it."""
    if one.framebuffer is not None:
        return str(one.framebuffer)
    if one.framebuffer_limit is not None:
        return f"unknown, at most {one.framebuffer_limit}"
    return _UNKNOWN


def pass_lines(one: Pass, lost: PassLrz | None = None) -> Iterator[str]:
    """A pass in full. ``lost``: LRZ of the pass, where a draw lost it."""
    yield Styled(f"  {title(one)}")
    for marker in one.markers:
        yield f"    marker: {visible(marker)}"
    if one.render_area is not None:
        rounded = " (rounded outwards to blocks)" if one.render_area_rounded else ""
        yield f"    render area {one.render_area}{rounded}"
    if one.mode == "gmem":
        grid = f" in {one.grid.width} x {one.grid.height}" if one.grid else ""
        bins = f" of {one.bin_size}" if one.bin_size else ""
        yield f"    {_count(len(one.tiles), 'tile')}{bins}{grid}{_pipe_text(one)}"
    if one.kind == "render":
        yield from _attachment_lines(one)
        if one.lrz is not None:
            yield f"    LRZ {_lrz_text(one, lost)}"
    if one.draws:
        yield f"    {_draws_text(one)}"
        shaders = _shader_text(one.draws)
        if shaders:
            yield f"    shaders: {shaders}"
    if one.waits:
        yield from (f"    {line}" for line in summary_lines(one.waits))
    yield f"    from {one.first}"
    yield f"    to {one.last}"
    for unknown in one.unknown:
        yield f"    unknown: {unknown}"


def _attachment_lines(one: Pass) -> Iterator[str]:
    """Each attachment with its loads, clears and stores.

    Subpasses may have different attachments of one name; their draws distinguish them.
    """
    operations = _operations(one)
    names = Counter(attachment.name for attachment in one.attachments)
    for attachment in one.attachments:
        draws = _drawn_text(one, attachment) if names[attachment.name] > 1 else ""
        yield f"    {attachment_text(attachment)}{draws}"
        for text in operations.pop(attachment, ()):
            yield f"      {text}"
    for name, texts in operations.items():
        yield f"    {name}"
        for text in texts:
            yield f"      {text}"


def _drawn_text(one: Pass, attachment: Attachment) -> str:
    """Which of the program's draws have the attachment."""
    place = attachment.name, attachment.address, attachment.gmem
    draws = [
        number
        for number, draw in enumerate(one.draws)
        if any((target.name, target.address, target.gmem) == place for target in draw.targets)
    ]
    if not draws:
        return ", of no draw"
    return f", of {'draw' if len(draws) == 1 else 'draws'} {ranges_text(draws)}"


def _pipe_text(one: Pass) -> str:
    if not one.pipes:
        return ""
    pipe = one.pipes[0]
    return f", {_count(len(one.pipes), 'VSC pipe')} of {pipe.width} x {pipe.height} tiles"


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


def _operations(one: Pass) -> dict[Attachment | str, list[str]]:
    """Attachment, or a name -> what is done to it, each once, with how often.

    The binning run is counted apart: the others are executed once a tile.
    """
    counts: dict[tuple[Attachment | str, str], Counter[bool]] = {}
    for run in one.runs:
        for operation in run.operations:
            if operation.action.execution.is_possible:
                counts.setdefault(_heading(one, operation), Counter())[run is one.binning] += 1
    found: dict[Attachment | str, list[str]] = {}
    for (heading, text), number in counts.items():
        rendered, binned = number[False], number[True]
        times = f", {rendered} times" if rendered > 1 else ""
        if binned:
            once = "once" if binned == 1 else f"{binned} times"
            times += f"{', and' if rendered else ','} {once} in the binning run"
        found.setdefault(heading, []).append(text + times)
    return found


def _heading(one: Pass, operation: Operation) -> tuple[Attachment | str, str]:
    """The attachment of an operation, or a name where the pass has no such one; and its text."""
    name = operation.attachment or "attachment unknown"
    text = operation_text(operation)
    names = {attachment.name for attachment in one.attachments}
    if name in ("stencil", "depth+stencil") and "depth" in names and "stencil" not in names:
        name, text = "depth", f"{name}: {text}"
    same = [attachment for attachment in one.attachments if attachment.name == name]
    return (used_attachment(same, operation) if same else name), text


def ranges_text(numbers: Iterable[int]) -> str:
    """Rising numbers: ``0-5, 7``."""
    return ", ".join(one.numbers_text for one in draw_ranges(numbers))


def off_text(lrz: Lrz) -> str:
    """Which draws have LRZ off, where others have it on: ``off in draws p0:3, p0:8-9``; or ""."""
    ranges = lrz.off_draws
    if not ranges:
        return ""
    is_single = len(ranges) == 1 and ranges[0].first == ranges[0].last
    return f"off in {'draw' if is_single else 'draws'} {', '.join(map(str, ranges))}"


def _lrz_text(one: Pass, lost: PassLrz | None) -> str:
    lrz = one.lrz
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


def _draws_text(one: Pass) -> str:
    draws = one.draws
    packets = [draw.packet_facts for draw in draws]
    if one.kind != "render":
        labels = _label_counts(packet.primitive or packet.packet for packet in packets)
        return f"{labels}; {_dump_numbers(draws)}"
    parts = [
        _dump_numbers(draws),
        _label_counts(packet.primitive or "?" for packet in packets),
        f"{total_text(one.vertices)} vertices or indices",
    ]
    if any(packet.instances != 1 for packet in packets):
        parts.append(f"{total_text(one.instances)} instances")
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
    counts = [(pipe, [one for one in waits if one.pipe == pipe]) for pipe in ("BR", "BV")]
    parts = [f"{pipe} {len(found)}" for pipe, found in counts if found]
    yield f"waits of the pipes for each other: {', '.join(parts)}"
    for one in [one for one in waits if one.state in ("never", "race")][:_MAX_WAITS]:
        yield f"  {wait_text(one)}"


def wait_lines(waits: Sequence[PipeWait]) -> Iterator[str]:
    """Each wait and its signal."""
    for one in waits[:_MAX_WAITS]:
        yield wait_text(one)
    if len(waits) > _MAX_WAITS:
        yield f"{len(waits) - _MAX_WAITS:,} more waits of the pipes"


def wait_text(one: PipeWait) -> str:
    """A wait and its signal in one line."""
    head = f"{one.pipe} waits for {one.wanted}, {one.place}"
    if one.state == "race":
        return f"{head}: {_race_text(one)}"
    if one.signal is not None:
        return f"{head}: by {one.signal.pipe}, {one.signal.place}"
    reasons = {
        "held before": "holds before",
        "never": "nobody signals it",
        "unknown": "not known who signals it",
    }
    return f"{head}: {reasons[one.state]}"


def _race_text(one: PipeWait) -> str:
    """In which order it holds, and in which it does not."""
    signal, overwritten = one.signal, one.overwritten
    held = "holds before" if signal is None else f"by {signal.pipe}, {signal.place}"
    if overwritten is None:
        return f"{held}; in another order it never holds"
    return f"{held}, unless {overwritten.pipe}, {overwritten.place}, writes over it first"
