# SPDX-License-Identifier: MIT
"""The report on a crash: its sections, from the dump alone. Unknown facts are listed as unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cffpy.analysis.crash.capture import opened_with
from cffpy.analysis.crash.context import CrashContext, read_dump
from cffpy.analysis.crash.flight import find_flight, textures
from cffpy.analysis.crash.model import CrashReport, Section, addresses, lines
from cffpy.analysis.crash.position import find_position
from cffpy.analysis.crash.status import (
    busy_units,
    gmu_registers,
    memory_queues,
    shader_block_names,
    sqe_states,
    wait_of,
)
from cffpy.analysis.crash.suspects import by_use, fault_users, find_suspicions, where
from cffpy.analysis.shaders import ShaderCollector, collect_shaders
from cffpy.errors import ContainerError, UnsupportedGpu
from cffpy.frame.places import name_of, names_text, tile_text

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.crash.flight import DrawState, Flight
    from cffpy.analysis.crash.position import CpPosition
    from cffpy.analysis.crash.status import Handler
    from cffpy.capture.gpu import Gpu
    from cffpy.container.crash_dump import DumpSection
    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.passes import Pass
    from cffpy.frame.shader import CapturedShader

#: Lines of the dump's head that the report shows.
_HEADER = (
    "kernel",
    "module",
    "time",
    "comm",
    "cmdline",
    "pid",
    "context",
    "state",
    "memory",
    "gpu-initialized",
    "rbbm-status",
)

#: Registers of the GMU that the report shows.
_GMU_REGISTERS = (
    "GMU_CM3_FW_BUSY",
    "GMU_CM3_FW_INIT_RESULT",
    "GMU_SPTPRAC_PWR_CLK_STATUS",
    "GPU_GMU_CX_GMU_RPMH_POWER_STATE",
    "GMU_GMU2HOST_INTR_INFO",
    "GMU_AO_HOST_INTERRUPT_STATUS",
)
#: What the firmware writes when it is up. Source: a6xx_gmu_start of the kernel driver.
_STARTED, _STARTED_MASK, _STARTED_FLAG = 0xBABEFACE, 0x1FF, 0x100

#: Textures, constants and draws that are listed.
_MOST = 16


def analyse_crash(
    content: Content, register_db: str | None = None, gpu: Gpu | None = None
) -> CrashReport:
    """Report on a crash dump. ``gpu``: decode for this GPU, instead of that of the dump.

    Raises ContainerError for a file that is not a crash dump, IntelFileError for one of Intel.
    """
    from cffpy.container.kinds import check_capture, intel_kind, is_crash_dump, kind_of

    if not is_crash_dump(content.data):
        if intel_kind(content.data) is not None:
            check_capture(content)
        kind = kind_of(content.data)
        raise ContainerError(f"{content.name}: not a GPU crash dump, but {kind}")
    context = CrashContext(read_dump(content.data), register_db, gpu)
    cp = find_position(context)
    capture, streams = opened_with(content, context, cp)
    flight = find_flight(capture, cp, len(streams) - 1, register_db, gpu) if streams else None
    shaders = _collect(capture, register_db, gpu) if flight is not None else []
    sections = [
        _summary(cp, flight),
        _head(context),
        _fault(context, flight),
        _rings(context),
        _position(context, cp),
        _draws(context, cp, flight),
        _pass(flight),
        _shaders(context, flight, shaders),
        _status(context),
        _gmu(context, register_db),
        _lacks(context),
        *_binary_sections(context),
    ]
    suspicions = find_suspicions(context, cp, flight, shaders)
    problems = [*map(str, content.faults), *context.dump.problems]
    return CrashReport(content.name, context, cp, flight, sections, suspicions, problems)


def _collect(capture: Content, register_db: str | None, gpu: Gpu | None) -> list[CapturedShader]:
    try:
        collector, _ = collect_shaders(capture, lambda _line: None, register_db, gpu)
    except UnsupportedGpu:
        return []
    assert isinstance(collector, ShaderCollector)
    return collector.shaders


def _summary(cp: CpPosition, flight: Flight | None) -> Section:
    """What hangs, in a sentence."""
    section = Section("hang", "what hangs")
    section.data = {"packet": None, "draw": None, "is_exact": False}
    packet = cp.packet
    draw = None
    if flight is not None:
        draw = flight.at or (flight.sent[-1] if flight.sent else None)
    if packet is None:
        section.unknown("the position of the CP is unknown")
    else:
        path = " > ".join(f"{one.name} {one.gpuaddr:#x}" for one in cp.levels)
        text = f"the CP is at {packet.name}, {packet.gpuaddr:#x}, in {path}"
        section.say(text, addresses(packet.gpuaddr))
        section.data["packet"] = {"name": packet.name, "gpuaddr": f"{packet.gpuaddr:#x}"}
    if flight is not None and draw is not None:
        what = "it is" if draw is flight.at else "sent last:"
        where_text = "" if draw.pass_index is None else f", pass {draw.pass_index}"
        text = f"{what} {action_text(draw)}{where_text}"
        section.say(text, addresses(draw.place.gpuaddr))
        section.data["draw"] = action_data(draw)
        section.data["is_exact"] = draw is flight.at
    elif packet is not None:
        text = "no draw was sent since the GPU was idle last"
        section.say(text, addresses(packet.gpuaddr))
    return section


def _head(context: CrashContext) -> Section:
    section = Section("dump", "dump")
    header = context.dump.header
    gpu = context.gpu
    if gpu is None:
        section.unknown("the GPU is unknown")
    else:
        section.say(
            f"GPU {gpu.name} (a{gpu.generation}xx)", lines(header.get("revision", ("", 0))[1])
        )
    for key in _HEADER:
        if key in header:
            text, line = header[key]
            section.say(f"{key}: {text}", lines(line))
    section.data = {
        "gpu": None if gpu is None else {"name": gpu.name, "generation": gpu.generation},
        "header": {key: text for key, (text, _) in header.items()},
        "skipped_lines": context.dump.skipped,
        "problems": list(context.dump.problems),
    }
    return section


def _fault(context: CrashContext, flight: Flight | None) -> Section:
    section = Section("fault", "fault")
    dump = context.dump
    address = dump.fault_address
    section.data = {"address": None}
    if address is None:
        section.say("the dump reports no page fault")
        return section
    facts = {key: text for key, (text, _) in dump.fault.items()}
    line = dump.fault_line
    shown = ", ".join(f"{key} {facts[key]}" for key in ("dir", "type", "source") if key in facts)
    section.say(f"page fault at {address:#x}{f' ({shown})' if shown else ''}", lines(line))
    place, evidence = where(context, address)
    section.say(f"the address is {place}", evidence)
    page = context.mappings.page_of_fault()
    if page is not None:
        section.say(page[0], lines(page[1]))
    users = fault_users(context, flight)
    for use, names, is_sure in by_use(users):
        text = f"{use.what} of {names} begins at {use.address:#x}"
        text += ", and holds it" if is_sure else ": the nearest address below"
        section.say(text, addresses(use.packet))
    if not users:
        section.unknown("no address that the draws in flight use lies at or below it in its buffer")
    section.data = {
        "address": f"{address:#x}",
        "facts": facts,
        "where": place,
        "page_table": None if page is None else page[0],
        "users": [
            {"what": use.what, "draw": name, "address": f"{use.address:#x}", "certain": is_sure}
            for use, name, is_sure in users
        ],
    }
    return section


def _rings(context: CrashContext) -> Section:
    section = Section("rings", "rings")
    used = context.ring
    entries = []
    for ring in context.dump.rings:
        waiting = (ring.wptr - ring.rptr) % max(1, ring.size // 4)
        pending = None
        if ring.last_fence is not None and ring.retired_fence is not None:
            pending = ring.last_fence - ring.retired_fence & 0xFFFFFFFF
        entries.append(
            {
                "id": ring.number,
                "iova": f"{ring.iova:#x}",
                "rptr": ring.rptr,
                "wptr": ring.wptr,
                "dwords": ring.size // 4,
                "last_fence": ring.last_fence,
                "retired_fence": ring.retired_fence,
                "is_read": ring is used,
            }
        )
        if ring is not used and not waiting and not pending:
            continue
        text = f"ring {ring.number} at {ring.iova:#x}: rptr {ring.rptr}, wptr {ring.wptr}, "
        text += f"{waiting} dwords are not read"
        section.say(text, lines(ring.line, ring.rptr_line))
        if pending is not None:
            text = f"fence {ring.retired_fence} is retired, {ring.last_fence} is the last: "
            submits = "1 submit is" if pending == 1 else f"{pending} submits are"
            text += f"{submits} not finished" if pending else "all submits are finished"
            section.say(text, lines(ring.line))
        else:
            section.unknown("the fences are not in the dump")
    for call in context.pending_calls():
        section.say(f"calls IB1 {call.gpuaddr:#x}, {call.ndwords} dwords", addresses(call.gpuaddr))
    if not context.dump.rings:
        section.unknown("the dump has no rings")
    section.data = {
        "rings": entries,
        "calls": [
            {"gpuaddr": f"{c.gpuaddr:#x}", "dwords": c.ndwords} for c in context.pending_calls()
        ],
    }
    return section


def _position(context: CrashContext, cp: CpPosition) -> Section:
    section = Section("position", "where the CP is")
    levels: list[dict[str, Any]] = []
    for level in cp.levels:
        size = "of unknown size" if level.ndwords is None else f"{level.ndwords} dwords"
        text = f"{level.name} {level.gpuaddr:#x}, {size}"
        if level.left is not None:
            text += f", {level.left} left"
        names = {"ring": "CP_RB_RPTR", "IB1": "CP_IB1_BASE", "IB2": "CP_IB2_BASE"}
        section.say(text, lines(context.line(names.get(level.name, "CP_SDS_BASE"))))
        packet = level.packet
        levels.append(
            {
                "name": level.name,
                "gpuaddr": f"{level.gpuaddr:#x}",
                "dwords": level.ndwords,
                "left": level.left,
                "packet": None
                if packet is None
                else {
                    "gpuaddr": f"{packet.gpuaddr:#x}",
                    "name": packet.name,
                    "dwords": packet.ndwords,
                    "values": [f"{value:#x}" for value in packet.values],
                },
            }
        )
        if packet is not None:
            offset = (packet.gpuaddr - level.gpuaddr) // 4
            text = f"at {packet.name}, {packet.gpuaddr:#x} (dword {offset})"
            section.say(text, addresses(packet.gpuaddr))
            wait = wait_of(context, packet)
            if wait is not None:
                section.say(f"it waits for {wait}", (*addresses(wait.address), *lines(wait.line)))
    places = addresses(*[one.gpuaddr for one in cp.levels])
    if cp.method == "look-ahead":
        section.say("the fetcher is ahead: found by following the calls back from it", places)
    if cp.inferred:
        section.say(cp.inferred, places)
    for text in cp.notes:
        section.say(text, places)
    for text in cp.unknown:
        section.unknown(text)
    section.data = {
        "method": cp.method or None,
        "levels": levels,
        "unknown": list(cp.unknown),
    }
    return section


def action_data(action: Action) -> dict[str, Any]:
    """An action as values."""
    name = name_of(action)
    return {
        "kind": action.kind,
        "label": action.primitive or action.packet,
        "role": action.role or None,
        "dump_draw": action.dump_draw,
        "name": None if name is None else str(name),
        "pass": action.pass_index,
        "tile": action.tile_number,
        "is_binning": action.binning,
        "gpuaddr": f"{action.place.gpuaddr:#x}",
        "vertices": action.vertices,
        "instances": action.instances,
        "shaders": [{"stage": stage, "address": f"{at:#x}"} for stage, at in action.programs],
    }


def action_text(action: Action) -> str:
    """An action in a line."""
    parts = [f"{action.role} {action.primitive or action.packet}".strip()]
    names = names_text(action)
    if names:
        parts.append(f"draw {names}")
    if action.binning:
        parts.append("binning run")
    elif action.tile_number is not None:
        parts.append(f"tile {tile_text(action)}")
    if action.vertices is not None:
        parts.append(f"{action.vertices} vertices")
    return ", ".join(parts)


def _idle_text(flight: Flight) -> str:
    """What the last wait for idle has shown; of one pipe (a7xx), that of what it was given."""
    is_alone = flight.waited_pipe in ("BR", "BV")
    given = f"{flight.waited_pipe} was given" if is_alone else "came"
    return f"what {given} before the last wait for idle is finished"


def _draws(context: CrashContext, cp: CpPosition, flight: Flight | None) -> Section:
    section = Section("in_flight", "in flight")
    section.data = {"at": None, "next": None, "sent": [], "sent_count": 0, "waited": None}
    if flight is None:
        section.unknown("no commands of the submit are in the dump")
        return section
    if cp.packet is None:
        section.unknown("the position is unknown: these are the last draws of the commands")
    if flight.at is not None:
        text = f"the CP is at: {action_text(flight.at)}"
        section.say(text, addresses(flight.at.place.gpuaddr))
    if flight.waited is not None:
        section.say(_idle_text(flight), addresses(flight.waited.gpuaddr))
    if flight.sent:
        text = f"sent, and perhaps not finished: {flight.sent_count}"
        section.say(text, addresses(*[one.place.gpuaddr for one in flight.sent]))
    elif cp.packet is not None:
        section.say("nothing else was sent since", addresses(cp.packet.gpuaddr))
    for action in reversed(flight.sent):
        section.say(f"sent: {action_text(action)}", addresses(action.place.gpuaddr))
    if flight.at is None and flight.next is not None:
        text = f"not reached yet: {action_text(flight.next)}"
        section.say(text, addresses(flight.next.place.gpuaddr))
    waited = flight.waited
    section.data = {
        "at": None if flight.at is None else action_data(flight.at),
        "next": None if flight.next is None else action_data(flight.next),
        "sent": [action_data(one) for one in flight.sent],
        "sent_count": flight.sent_count,
        "waited": None if waited is None else f"{waited.gpuaddr:#x}",
    }
    return section


def _pass(flight: Flight | None) -> Section:
    section = Section("pass", "pass")
    found = None if flight is None else flight.current
    section.data = {"index": None}
    if found is None:
        section.unknown("the pass is unknown: the dump lacks the packets that begin it")
        return section
    mode = f"{found.mode} " if found.mode else ""
    text = f"pass {found.index}, {mode}{found.kind}"
    if found.framebuffer is not None:
        text += f", framebuffer {found.framebuffer}"
    section.say(text, addresses(found.first.gpuaddr))
    for one in found.attachments:
        at = "no address" if one.address is None else f"{one.address:#x}"
        text = f"{one.name}: {one.format} at {at}, pitch {one.pitch}"
        section.say(text, addresses(_first_draw_to(found, one)))
    for text in found.unknown:
        section.unknown(text)
    section.data = {
        "index": found.index,
        "kind": found.kind,
        "mode": found.mode,
        "framebuffer": None if found.framebuffer is None else str(found.framebuffer),
        "attachments": [
            {
                "name": one.name,
                "format": one.format,
                "address": None if one.address is None else f"{one.address:#x}",
                "pitch": one.pitch,
            }
            for one in found.attachments
        ],
        "unknown": list(found.unknown),
    }
    return section


def _first_draw_to(found: Pass, attachment: Attachment) -> int:
    """Address of the packet of the first draw of a pass to an attachment, else of its marker."""
    place = attachment.name, attachment.address
    draws = (
        action.place.gpuaddr
        for action in found.actions
        if any((one.name, one.address) == place for one in action.targets)
    )
    return next(draws, found.first.gpuaddr)


def _shaders(
    context: CrashContext, flight: Flight | None, shaders: list[CapturedShader]
) -> Section:
    section = Section("shaders", "shaders of the draw")
    draw = None if flight is None else flight.main
    section.data = {"shaders": [], "textures": [], "constants": []}
    if draw is None:
        section.unknown("no draw is known to be in flight")
        return section
    section.say(f"of: {action_text(draw.action)}", addresses(draw.action.place.gpuaddr))
    programs = {(one.stage, one.gpuaddr): one for one in shaders}
    for stage, address in draw.action.programs:
        place, evidence = where(context, address)
        shader = programs.get((stage, address))
        entry: dict[str, Any] = {"stage": stage, "address": f"{address:#x}", "where": place}
        text = f"{stage} at {address:#x}"
        statistics = None if shader is None else shader.program.statistics
        if shader is not None:
            entry["instructions"] = shader.program.instructions
            text += f", {shader.program.instructions} instructions"
        if statistics is not None:
            entry.update(full=statistics.full, half=statistics.half, constlen=statistics.constlen)
            text += f", full registers {statistics.full}, half registers {statistics.half}, "
            text += f"constlen {statistics.constlen}"
        section.say(f"{text}; {place}", (*addresses(address), *evidence))
        if shader is None:
            section.unknown(f"the {stage} program at {address:#x} is not in the dump")
        section.data["shaders"].append(entry)
    if not draw.action.programs:
        evidence = addresses(draw.action.place.gpuaddr)
        section.say("its registers name no program", evidence)
    _inputs(section, draw)
    return section


def _inputs(section: Section, draw: DrawState) -> None:
    """Constants and textures of a draw."""
    for key, fact in draw.facts.items():
        if key[0] not in ("constants", "push constants", "uniform buffer", "vertex buffer"):
            continue
        name = " ".join(map(str, key))
        size = None if fact.data is None else len(fact.data)
        entry = {"name": name, "bytes": size}
        section.data["constants"].append(entry)
        if len(section.data["constants"]) <= _MOST:
            place = addresses(None if fact.place is None else fact.place.gpuaddr, fact.address)
            shown = "not in the dump" if size is None else f"{size} bytes"
            section.say(f"{name}: {shown}", place)
    for texture in textures(draw):
        fields = {one.name: one.text for one in texture.fields if one.text}
        section.data["textures"].append({"name": texture.name, "fields": fields})
        if len(section.data["textures"]) <= _MOST:
            extent = f"{fields.get('WIDTH', '?')} x {fields.get('HEIGHT', '?')}"
            at = "no address" if texture.address is None else f"{texture.address:#x}"
            text = f"{texture.name}: {fields.get('FMT', 'unknown format')}, {extent}, at {at}"
            section.say(text, addresses(texture.address))


def _handler_text(handler: Handler, counter: int) -> str:
    """The handler of the microcode that a thread executes, and the position in it."""
    named = ", ".join(handler.packets[:_MOST]) or "packets that the microcode does not handle"
    return f"dword {counter - handler.start} of the handler of {named} ({handler.start:#x})"


def _status(context: CrashContext) -> Section:
    section = Section("status", "status")
    units = busy_units(context)
    for one in units:
        busy = ", ".join(one.names) or "nothing is busy"
        section.say(f"{one.register} {one.value:#010x}: {busy}", one.evidence)
    if not units:
        section.unknown("the status registers are not in the dump")
    states = sqe_states(context)
    for state in states:
        packet = state.packet or "no packet that is known"
        text = f"SQE, thread {state.thread}: PC {state.counter:#06x}, in {packet}"
        if state.handler is not None:
            text += f"; {_handler_text(state.handler, state.counter)}"
        section.say(text, state.evidence)
    section.data = {
        "registers": {
            one.register: {"value": f"{one.value:#x}", "set": list(one.names)} for one in units
        },
        "sqe": [
            {
                "thread": one.thread,
                "pc": f"{one.counter:#x}",
                "packet": one.packet,
                "handler": None if one.handler is None else list(one.handler.packets),
            }
            for one in states
        ],
    }
    return section


def _gmu(context: CrashContext, register_db: str | None) -> Section:
    section = Section("gmu", "GMU")
    registers = gmu_registers(context, register_db, *_GMU_REGISTERS)
    for one in registers:
        text = f"{one.register}: {', '.join(one.names)}"
        if one.register == "GMU_CM3_FW_INIT_RESULT":
            started = one.value == _STARTED or one.value & _STARTED_MASK == _STARTED_FLAG
            text += (
                " (the firmware has started)" if started else " (not that of a started firmware)"
            )
        section.say(text, one.evidence)
    if not registers:
        section.unknown("the dump has no registers of a GMU")
    queues = memory_queues(context)
    memory = context.dump.gmu_hfi
    for queue in queues:
        state = "empty"
        if queue.read_index != queue.write_index:
            state = f"messages wait: read index {queue.read_index}, write index {queue.write_index}"
        dropped = f", {queue.dropped} dropped" if queue.dropped else ""
        text = f"queue {queue.number} ({queue.name}): {state}{dropped}"
        section.say(text, lines(None if memory is None else memory.line))
    if memory is None:
        section.unknown("the dump has no message queues (gmu-hfi)")
    section.data = {
        "registers": {one.register: f"{one.value:#x}" for one in registers},
        "queues": [one._asdict() for one in queues],
    }
    return section


def _lacks(context: CrashContext) -> Section:
    section = Section("lacks", "what the dump lacks")
    dump = context.dump
    for name in dump.missing:
        section.unknown(f"no section {name}")
    without = [one for one in dump.buffers if one.block is None]
    if without:
        text = f"{len(without)} of {len(dump.buffers)} buffers have no contents in the dump"
        section.say(text, lines(*[one.line for one in without[:_MOST]]))
    for problem in dump.problems[:_MOST]:
        section.unknown(f"skipped: {problem}")
    if not section.statements:
        section.say("nothing: all sections are there")
    section.data = {
        "missing": dump.missing,
        "other_sections": list(dump.others),
        "buffers": len(dump.buffers),
        "buffers_without_contents": len(without),
        "shader_blocks": shader_block_names(context),
    }
    return section


def _binary_sections(context: CrashContext) -> Iterator[Section]:
    """The sections of a binary dump, by type: how many, how large."""
    by_name: dict[str, list[DumpSection]] = {}
    for one in context.dump.binary_sections:
        by_name.setdefault(one.name, []).append(one)
    if not by_name:
        return
    section = Section("sections", "sections of the snapshot")
    for name, found in by_name.items():
        number, size = len(found), sum(one.size for one in found)
        shown = f"{number} x {name} ({found[0].type:#06x}), {size:,} bytes"
        section.say(shown, lines(found[0].offset))
    section.data = {
        "sections": [
            {
                "type": f"{one.type:#06x}",
                "name": one.name,
                "offset": f"{one.offset:#x}",
                "bytes": one.size,
            }
            for one in context.dump.binary_sections
        ]
    }
    yield section
