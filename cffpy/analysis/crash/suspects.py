# SPDX-License-Identifier: MIT
"""What is suspicious in a dump: each finding with its reasons and its evidence."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from cffpy.analysis.crash.context import Evidence, addresses, lines
from cffpy.analysis.crash.flight import AddressUse, address_uses, textures
from cffpy.analysis.crash.model import FaultUse, Suspicion
from cffpy.analysis.crash.status import WAITS, errors, sqe_states, wait_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.crash.context import CrashContext
    from cffpy.analysis.crash.flight import DrawState, Flight, TextureUse
    from cffpy.analysis.crash.position import CpPosition
    from cffpy.container.crash_dump import BufferObject
    from cffpy.frame.shader import CapturedShader

#: Findings of one kind.
_MOST = 12

#: Addresses below are offsets in GMEM or small numbers, not memory.
_LOWEST_ADDRESS = 1 << 20

#: Alignment of a texture's base in bytes, and the widest texture (a6xx and a7xx).
_TEXTURE_ALIGNMENT, _LARGEST = 64, 16384

#: The largest compression: ASTC with blocks of 12 x 12 pixels, 16 bytes each.
_PIXELS_A_BYTE = 12

#: What ends a program: ``end``, the jump to the next stage of tessellation and geometry, or, of
#: a2xx, the last control instruction.
_END = re.compile(r"\b(end|chsh)$|EXEC_END", re.MULTILINE)

#: Waits of one thread for the other.
_CROSS_WAITS = ("CP_BV_BR_COUNT_OPS", "CP_THREAD_CONTROL", "CP_WAIT_TIMESTAMP", "CP_WAIT_REG_MEM")


def find_suspicions(
    context: CrashContext, cp: CpPosition, flight: Flight | None, shaders: list[CapturedShader]
) -> list[Suspicion]:
    """All findings, the most certain ones first."""
    suspicions = [
        *_errors(context),
        *_fault(context, flight),
        *_headers(context, cp),
        *_wait(context, cp),
        *_threads(context),
        *_handlers(context),
        *_position(context, cp),
        *_calls(context, cp),
    ]
    if flight is not None:
        states = [
            flight.states[action.order]
            for action in flight.actions
            if action.order in flight.states
        ]
        suspicions += _shaders(context, states, shaders)
        for draw in states[:1]:
            suspicions += _descriptors(context, draw)
            suspicions += _pointers(context, draw)
    return suspicions


def _errors(context: CrashContext) -> Iterator[Suspicion]:
    for error in errors(context):
        shown = f"{error.register} is {error.value:#x}"
        if error.is_described:
            text, reason = f"the GPU reports {', '.join(error.set_fields)}", shown
        else:
            text, reason = shown, "the GPU sets it at an error; what its bits mean is not described"
        yield Suspicion("error", text, (reason,), error.evidence)


# -- addresses --------------------------------------------------------------------------------


def where(context: CrashContext, address: int) -> tuple[str, tuple[Evidence, ...]]:
    """Where an address lies among the buffers of the dump, in words."""
    buffer = context.dump.buffer_at(address)
    if buffer is not None:
        name = f" ({buffer.name})" if buffer.name else ""
        offset = address - buffer.iova
        text = f"{offset:#x} bytes into buffer {buffer.iova:#x}-{buffer.end:#x}{name}"
        return text, lines(buffer.line)
    ring = next(
        (one for one in context.dump.rings if one.iova <= address < one.iova + one.size), None
    )
    if ring is not None:
        return f"{address - ring.iova:#x} bytes into ring {ring.number}", lines(ring.line)
    change = context.mappings.last_change(address)
    if change is not None:
        how = "but mapped" if change.is_mapped else "and not mapped"
        return f"in no buffer, {how}; vm-log: {change}", lines(change.line)
    below = nearest_below(context, address)
    if below is None:
        return "in no buffer, below all of them", ()
    name = f" ({below.name})" if below.name else ""
    beyond = address - below.end
    text = f"in no buffer; {beyond:#x} bytes beyond the end of {below.iova:#x}-{below.end:#x}{name}"
    return text, lines(below.line)


def nearest_below(context: CrashContext, address: int) -> BufferObject | None:
    """The last buffer that ends at or below an address; None where there is none."""
    below = [buffer for buffer in context.dump.buffers if buffer.end <= address]
    return max(below, key=lambda one: one.end) if below else None


def fault_users(context: CrashContext, flight: Flight | None) -> list[FaultUse]:
    """Uses by the draws in flight that may have touched the fault's address.

    Those that hold it, else the nearest below, in the same buffer or in the one that the address is
    beyond.
    """
    fault = context.dump.fault_address
    if fault is None or flight is None:
        return []
    buffer = context.dump.buffer_at(fault) or nearest_below(context, fault)
    users = []
    for action in flight.actions:
        draw = flight.states.get(action.order)
        for use, is_sure in () if draw is None else _users(draw, fault, buffer):
            users.append(FaultUse(use, action, is_sure))
    return users[:_MOST]


def by_use(users: list[FaultUse]) -> Iterator[tuple[FaultUse, str]]:
    """Each use once, with the first of its draws and the number of the others, in words."""
    draws: dict[tuple[str, int, bool], list[FaultUse]] = {}
    for user in users:
        draws.setdefault((user.use.what, user.use.address, user.sure), []).append(user)
    for first, *others in draws.values():
        more = f" and {len(others)} more" if others else ""
        yield first, f"{first.draw_text}{more}"


def _users(
    draw: DrawState, fault: int, buffer: BufferObject | None
) -> Iterator[tuple[AddressUse, bool]]:
    """Of one draw; ``buffer``: the one that holds the address, or ends nearest below it."""
    uses = address_uses(draw)
    sure = [use for use in uses if use.holds(fault) or use.address == fault]
    yield from ((one, True) for one in sure)
    if not sure and buffer is not None:
        near = [use for use in uses if buffer.iova <= use.address <= fault]
        if near:
            yield max(near, key=lambda one: one.address), False


def _fault(context: CrashContext, flight: Flight | None) -> Iterator[Suspicion]:
    dump = context.dump
    if dump.fault_address is None:
        return
    place, evidence = where(context, dump.fault_address)
    reasons = [f"the address is {place}"]
    page = context.mappings.page_of_fault()
    if page is not None:
        reasons.append(page[0])
        evidence = (*evidence, *lines(page[1]))
    places: list[int | None] = []
    for use, names in by_use(fault_users(context, flight)):
        how = "" if use.sure else ", the nearest address below"
        reasons.append(f"{use.use.what} of {names} begins at {use.use.address:#x}{how}")
        places.append(use.use.packet)
    direction = dump.fault.get("dir", ("access", 0))[0].lower()
    source = dump.fault.get("source", ("", 0))[0]
    by = f" by {source}" if source else ""
    text = f"page fault: {direction}{by} at {dump.fault_address:#x}"
    evidence = (*lines(dump.fault_line), *evidence, *addresses(*places))
    yield Suspicion("page-fault", text, tuple(reasons), tuple(dict.fromkeys(evidence)))


def _is_known(context: CrashContext, address: int) -> bool:
    """Whether an address is in a buffer or ring, is mapped, or is too small to be in memory."""
    if address < _LOWEST_ADDRESS or context.dump.buffer_at(address) is not None:
        return True
    if context.mappings.holds(address):
        return True
    return any(ring.iova <= address < ring.iova + ring.size for ring in context.dump.rings)


def _pointers(context: CrashContext, draw: DrawState) -> Iterator[Suspicion]:
    """Addresses in the state of a draw that lie in no buffer."""
    dump = context.dump
    if draw.state is None or not dump.buffers:
        return
    outside = [use for use in address_uses(draw) if not _is_known(context, use.address)]
    if not outside:
        return
    reasons = [
        f"{pointer.what}: {pointer.address:#x}, {where(context, pointer.address)[0]}"
        for pointer in outside
    ]
    if len(reasons) > _MOST:
        reasons[_MOST:] = [f"and {len(reasons) - _MOST} more"]
    if all(buffer.block is not None for buffer in dump.buffers):
        reasons.append("the dump lists only buffers with contents: others may be there")
    text = "an address" if len(outside) == 1 else f"{len(outside)} addresses"
    lie = "lies" if len(outside) == 1 else "lie"
    places = addresses(draw.action.place.gpuaddr, *[pointer.packet for pointer in outside[:_MOST]])
    text = f"{text} in the state of the draw {lie} outside of all buffers"
    yield Suspicion("pointer", text, tuple(reasons), places)


# -- the CP -----------------------------------------------------------------------------------


def _wait(context: CrashContext, cp: CpPosition) -> Iterator[Suspicion]:
    packet = cp.packet
    if packet is None or packet.name not in WAITS:
        return
    reasons = [f"the packet waits {WAITS[packet.name]}"]
    evidence = addresses(packet.gpuaddr)
    wait = wait_of(context, packet)
    if wait is not None:
        reasons.append(f"it waits for {wait}")
        if wait.is_met:
            reasons.append(
                "the condition is met in the dump: the value came after the snapshot began,"
                " or the CP is about to go on"
            )
        evidence += (*addresses(wait.address), *lines(wait.line))
    yield Suspicion("wait", f"the CP is at {packet.name}", tuple(reasons), evidence)


def _threads(context: CrashContext) -> Iterator[Suspicion]:
    states = {state.thread: state for state in sqe_states(context)}
    both = [states[thread] for thread in ("BR", "BV") if thread in states]
    if len(both) == 2 and all(state.packet in _CROSS_WAITS for state in both):
        reasons = tuple(
            [f"{state.thread} is in {state.packet} (PC {state.counter:#x})" for state in both]
        )
        evidence = (*both[0].evidence, *both[1].evidence)
        yield Suspicion("threads", "BR and BV may be waiting for each other", reasons, evidence)


def _handlers(context: CrashContext) -> Iterator[Suspicion]:
    """A thread of the SQE that has met a packet that its microcode does not handle."""
    for state in sqe_states(context):
        if state.handler is not None and not state.handler.packets:
            text = f"the SQE ({state.thread}) has met a packet that its microcode does not handle"
            reason = f"its PC {state.counter:#x} is in the handler of such packets, at "
            yield Suspicion("sqe", text, (f"{reason}{state.handler.start:#x}",), state.evidence)


def _headers(context: CrashContext, cp: CpPosition) -> Iterator[Suspicion]:
    """The first dword of each level, up to the CP's position, that is no packet header."""
    for level in cp.ibs:
        place, position = context.place(level.gpuaddr), level.position
        if place is None or position is None:
            continue
        words, first = place
        executed = (position - level.gpuaddr) // 4
        bad = context.bad_header(words, first, first + min(executed + 1, level.dwords or 0))
        if bad is None:
            continue
        dword = bad - first
        text = f"{level.name} has {words.data[bad]:08x} where a packet header should be"
        reason = f"it is dword {dword}; the CP has executed {executed} of {level.dwords}"
        yield Suspicion("header", text, (reason,), addresses(level.gpuaddr + 4 * dword))


def _position(context: CrashContext, cp: CpPosition) -> Iterator[Suspicion]:
    for level in cp.ibs:
        if not level.captured and context.dump.buffers:
            place, evidence = where(context, level.gpuaddr)
            buffer = context.dump.buffer_at(level.gpuaddr)
            if buffer is None and not context.mappings.holds(level.gpuaddr):
                text = f"{level.name} at {level.gpuaddr:#x} lies outside of all buffers"
                yield Suspicion("ib", text, (f"the address is {place}",), evidence)
        if level.dwords is None or level.buffer_end is None:
            continue
        beyond = level.gpuaddr + 4 * level.dwords - level.buffer_end
        if beyond > 0:
            text = f"{level.name} at {level.gpuaddr:#x} is longer than its buffer"
            reason = f"its {level.dwords} dwords end {beyond:#x} bytes beyond {level.buffer_end:#x}"
            yield Suspicion("ib", text, (reason,), addresses(level.caller, level.gpuaddr))
    packet = cp.packet
    if packet is not None and packet.name.startswith("opcode "):
        text = f"the CP is at a packet with {packet.name}, which has no name"
        reason = "no packet of this generation has the opcode"
        yield Suspicion("opcode", text, (reason,), addresses(packet.gpuaddr))


def _calls(context: CrashContext, cp: CpPosition) -> Iterator[Suspicion]:
    """IBs that the levels call and that do not lie in their buffers."""
    count = 0
    for level in cp.ibs:
        place = context.place(level.gpuaddr)
        if place is None or level.dwords is None:
            continue
        words, index = place
        for call in context.calls(words, index, index + level.dwords):
            buffer = context.dump.buffer_at(call.gpuaddr)
            end = call.gpuaddr + 4 * call.dwords
            if buffer is not None and end <= buffer.end:
                continue
            if buffer is None and context.mappings.holds(call.gpuaddr):
                continue
            if any(call.gpuaddr == cp_level.gpuaddr for cp_level in cp.levels):
                continue  # reported for the level
            count += 1
            if count > _MOST:
                return
            packet = level.gpuaddr + 4 * call.index
            where_text, evidence = where(context, call.gpuaddr)
            text = f"{level.name} calls {call.dwords} dwords at {call.gpuaddr:#x}: "
            text += "outside of all buffers" if buffer is None else "beyond the end of the buffer"
            reasons = (f"the address is {where_text}",)
            yield Suspicion("ib", text, reasons, (*addresses(packet), *evidence))


# -- draws ------------------------------------------------------------------------------------


def _shaders(
    context: CrashContext, states: list[DrawState], shaders: list[CapturedShader]
) -> Iterator[Suspicion]:
    programs = {(shader.stage, shader.gpuaddr): shader for shader in shaders}
    seen: set[tuple[str, int]] = set()
    for draw in states:
        for stage, address in draw.action.programs:
            if (stage, address) in seen or len(seen) > _MOST:
                continue
            seen.add((stage, address))
            yield from _program(context, draw, stage, address, programs.get((stage, address)))


def _program(
    context: CrashContext, draw: DrawState, stage: str, address: int, shader: CapturedShader | None
) -> Iterator[Suspicion]:
    name = f"the {stage} program at {address:#x}"
    evidence = addresses(draw.action.place.gpuaddr, address)
    buffer = context.dump.buffer_at(address)
    if buffer is None and context.mappings.holds(address):
        return
    if buffer is None:
        place, more = where(context, address)
        text = f"{name} lies outside of all buffers"
        yield Suspicion("shader", text, (f"the address is {place}",), (*evidence, *more))
        return
    if shader is None:
        return
    listing = shader._program.text
    if not _END.search(listing) and buffer.block is not None:
        reason = f"its buffer ends at {buffer.end:#x}, and no instruction before ends the program"
        yield Suspicion("shader", f"{name} has no end", (reason,), (*evidence, *lines(buffer.line)))
    unknown = [line.strip() for line in listing.splitlines() if "no match" in line]
    if unknown:
        reasons = tuple([f"not an instruction: {line}" for line in unknown[:3]])
        yield Suspicion("shader", f"{name} has unknown instructions", reasons, evidence)


def _descriptors(context: CrashContext, draw: DrawState) -> Iterator[Suspicion]:
    count = 0
    for texture in textures(draw):
        reasons = list(_layout_problems(context, texture))
        if reasons and count < _MOST:
            count += 1
            text = f"the descriptor {texture.name} is impossible"
            yield Suspicion(
                "descriptor", text, tuple(reasons), addresses(draw.action.place.gpuaddr)
            )


def _layout_problems(context: CrashContext, texture: TextureUse) -> Iterator[str]:
    width, height = texture.number("WIDTH"), texture.number("HEIGHT")
    kind = texture.text("TYPE")
    if "BUFFER" in kind or width is None or height is None:
        return
    if not texture.address:
        if width and height:
            yield f"it is {width} x {height}, but its address is 0"
        return
    for name, size in (("width", width), ("height", height)):
        if not 0 < size <= _LARGEST:
            yield f"its {name} is {size}"
    pitch = texture.number("PITCH")
    if pitch is not None and pitch < width // _PIXELS_A_BYTE:
        yield f"a row of {width} pixels does not fit its pitch of {pitch} bytes"
    yield from _place_problems(context, texture.address, pitch if "2D" in kind else None)


def _place_problems(context: CrashContext, address: int, pitch: int | None) -> Iterator[str]:
    """``pitch``: bytes of a row, where its first row has to be in the buffer."""
    if address % _TEXTURE_ALIGNMENT:
        yield f"its address {address:#x} is not a multiple of {_TEXTURE_ALIGNMENT}"
    buffer = context.dump.buffer_at(address)
    if buffer is None and context.mappings.holds(address):
        return
    if buffer is None:
        place, _ = where(context, address)
        yield f"its address {address:#x} is {place}"
    elif pitch is not None and address + pitch > buffer.end:
        yield f"its first row ends beyond its buffer, which ends at {buffer.end:#x}"
