# SPDX-License-Identifier: MIT
"""The report on a crash: its sections, from the dump alone. Unknown facts are listed as unknown."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.crash.context import CrashContext, addresses, lines, read_dump
from cffpy.analysis.crash.flight import find_flight, textures
from cffpy.analysis.crash.model import (
    CrashReport,
    DrawData,
    DrawProgram,
    DumpHead,
    DumpLine,
    Fault,
    GmuSection,
    Hang,
    InFlight,
    LacksSection,
    PassSection,
    PositionSection,
    Rings,
    RingState,
    ShadersSection,
    SnapshotSection,
    SnapshotSections,
    StatusSection,
)
from cffpy.analysis.crash.position import find_position, opened_with
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
from cffpy.frame.places import names_text, tile_text

if TYPE_CHECKING:
    from cffpy.analysis.crash.flight import DrawState, Flight
    from cffpy.analysis.crash.position import CpPosition
    from cffpy.analysis.crash.status import SqeHandler
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
    return CrashReport(
        file=content.name,
        suspicious=find_suspicions(context, cp, flight, shaders),
        hang=_hang(cp, flight),
        dump=_head(context),
        fault=_fault(context, flight),
        rings=_rings(context),
        position=_position(context, cp),
        in_flight=_in_flight(cp, flight),
        pass_=_pass(flight),
        shaders=_shaders(context, flight, shaders),
        status=_status(context),
        gmu=_gmu(context, register_db),
        lacks=_lacks(context),
        sections=_binary_sections(context),
        context=context,
        cp=cp,
        flight=flight,
        problems=[*map(str, content.faults), *context.dump.problems],
    )


def _collect(capture: Content, register_db: str | None, gpu: Gpu | None) -> list[CapturedShader]:
    try:
        collector, _ = collect_shaders(capture, lambda _line: None, register_db, gpu)
    except UnsupportedGpu:
        return []
    assert isinstance(collector, ShaderCollector)
    return collector.shaders


def _hang(cp: CpPosition, flight: Flight | None) -> Hang:
    """What hangs, in a sentence."""
    section = Hang(packet=cp.packet)
    packet = cp.packet
    draw = None
    if flight is not None:
        draw = flight.at or (flight.sent[-1] if flight.sent else None)
    if packet is None:
        section.say_unknown("the position of the CP is unknown")
    else:
        path = " > ".join(f"{level.name} {level.gpuaddr:#x}" for level in cp.levels)
        text = f"the CP is at {packet.name}, {packet.gpuaddr:#x}, in {path}"
        section.say(text, addresses(packet.gpuaddr))
    if flight is not None and draw is not None:
        section.action, section.exact = draw, draw is flight.at
        what = "it is" if section.exact else "sent last:"
        where_text = "" if draw.pass_index is None else f", pass {draw.pass_index}"
        text = f"{what} {action_text(draw)}{where_text}"
        section.say(text, addresses(draw.place.gpuaddr))
    elif packet is not None:
        text = "no draw was sent since the GPU was idle last"
        section.say(text, addresses(packet.gpuaddr))
    return section


def _head(context: CrashContext) -> DumpHead:
    header, gpu = context.dump.header, context.gpu
    section = DumpHead(
        gpu=None if gpu is None else gpu.name,
        generation=None if gpu is None else gpu.generation,
        header={key: DumpLine(*line) for key, line in header.items()},
        skipped_lines=context.dump.skipped,
        problems=list(context.dump.problems),
    )
    if gpu is None:
        section.say_unknown("the GPU is unknown")
    else:
        section.say(
            f"GPU {gpu.name} (a{gpu.generation}xx)", lines(header.get("revision", ("", 0))[1])
        )
    for key in _HEADER:
        if key in header:
            text, line = header[key]
            section.say(f"{key}: {text}", lines(line))
    return section


def _fault(context: CrashContext, flight: Flight | None) -> Fault:
    dump = context.dump
    section = Fault(address=dump.fault_address)
    address = dump.fault_address
    if address is None:
        section.say("the dump reports no page fault")
        return section
    section.details = {key: DumpLine(*line) for key, line in dump.fault.items()}
    told = [f"{key} {dump.fault[key][0]}" for key in ("dir", "type", "source") if key in dump.fault]
    shown = f" ({', '.join(told)})" if told else ""
    section.say(f"page fault at {address:#x}{shown}", lines(dump.fault_line))
    section.where, evidence = where(context, address)
    section.say(f"the address is {section.where}", evidence)
    page = context.mappings.page_of_fault()
    if page is not None:
        section.page_table = page[0]
        section.say(page[0], lines(page[1]))
    section.users = fault_users(context, flight)
    for use, names in by_use(section.users):
        text = f"{use.use.what} of {names} begins at {use.use.address:#x}"
        text += ", and holds it" if use.sure else ": the nearest address below"
        section.say(text, addresses(use.use.packet))
    if not section.users:
        text = "no address that the draws in flight use lies at or below it in its buffer"
        section.say_unknown(text)
    return section


def _rings(context: CrashContext) -> Rings:
    section = Rings(calls=context.pending_calls())
    used = context.ring
    for ring in context.dump.rings:
        waiting = (ring.wptr - ring.rptr) % max(1, ring.size // 4)
        pending = None
        if ring.last_fence is not None and ring.retired_fence is not None:
            pending = ring.last_fence - ring.retired_fence & 0xFFFFFFFF
        section.rings.append(
            RingState(
                ring=ring.number,
                gpuaddr=ring.iova,
                dwords=ring.size // 4,
                rptr=ring.rptr,
                wptr=ring.wptr,
                last_fence=ring.last_fence,
                retired_fence=ring.retired_fence,
                read=ring is used,
            )
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
            section.say_unknown("the fences are not in the dump")
    for call in section.calls:
        section.say(f"calls IB1 {call.gpuaddr:#x}, {call.dwords} dwords", addresses(call.gpuaddr))
    if not context.dump.rings:
        section.say_unknown("the dump has no rings")
    return section


def _position(context: CrashContext, cp: CpPosition) -> PositionSection:
    section = PositionSection(cp.method, cp.levels, list(cp.unknown))
    for level in cp.levels:
        size = "of unknown size" if level.dwords is None else f"{level.dwords} dwords"
        text = f"{level.name} {level.gpuaddr:#x}, {size}"
        if level.left is not None:
            text += f", {level.left} left"
        names = {"ring": "CP_RB_RPTR", "IB1": "CP_IB1_BASE", "IB2": "CP_IB2_BASE"}
        section.say(text, lines(context.line(names.get(level.name, "CP_SDS_BASE"))))
        packet = level.packet
        if packet is not None:
            offset = (packet.gpuaddr - level.gpuaddr) // 4
            text = f"at {packet.name}, {packet.gpuaddr:#x} (dword {offset})"
            section.say(text, addresses(packet.gpuaddr))
            wait = wait_of(context, packet)
            if wait is not None:
                section.say(f"it waits for {wait}", (*addresses(wait.address), *lines(wait.line)))
    places = addresses(*[cp_level.gpuaddr for cp_level in cp.levels])
    if cp.method == "look-ahead":
        section.say("the fetcher is ahead: found by following the calls back from it", places)
    if cp.inferred:
        section.say(cp.inferred, places)
    for text in cp.notes:
        section.say(text, places)
    for text in cp.unknown:
        section.say_unknown(text)
    return section


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


def _in_flight(cp: CpPosition, flight: Flight | None) -> InFlight:
    section = InFlight()
    if flight is None:
        section.say_unknown("no commands of the submit are in the dump")
        return section
    section.at, section.next, section.waited = flight.at, flight.next, flight.waited
    section.sent, section.sent_count = [one.order for one in flight.sent], flight.sent_count
    section.actions = [*flight.sent, *(one for one in (flight.at, flight.next) if one is not None)]
    if cp.packet is None:
        section.say_unknown("the position is unknown: these are the last draws of the commands")
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
    return section


def _pass(flight: Flight | None) -> PassSection:
    current = None if flight is None else flight.current
    section = PassSection(current)
    if current is None:
        text = "the pass is unknown: the dump lacks the packets that begin it"
        section.say_unknown(text)
        return section
    mode = f"{current.mode} " if current.mode else ""
    text = f"pass {current.index}, {mode}{current.kind}"
    if current.framebuffer is not None:
        text += f", framebuffer {current.framebuffer}"
    section.say(text, addresses(current.first.gpuaddr))
    for attachment in current.attachments:
        at = "no address" if attachment.address is None else f"{attachment.address:#x}"
        text = f"{attachment.name}: {attachment.format} at {at}, pitch {attachment.pitch}"
        section.say(text, addresses(_first_draw_to(current, attachment)))
    for text in current.unknown:
        section.say_unknown(text)
    return section


def _first_draw_to(pass_: Pass, attachment: Attachment) -> int:
    """Address of the packet of the first draw of a pass to an attachment, else of its marker."""
    place = attachment.name, attachment.address
    draws = (
        action.place.gpuaddr
        for action in pass_.actions
        if any((target.name, target.address) == place for target in action.targets)
    )
    return next(draws, pass_.first.gpuaddr)


def _shaders(
    context: CrashContext, flight: Flight | None, shaders: list[CapturedShader]
) -> ShadersSection:
    draw = None if flight is None else flight.main
    if draw is None:
        section = ShadersSection()
        section.say_unknown("no draw is known to be in flight")
        return section
    section = ShadersSection(draw.action)
    section.say(f"of: {action_text(draw.action)}", addresses(draw.action.place.gpuaddr))
    programs = {(shader.stage, shader.gpuaddr): shader for shader in shaders}
    for stage, address in draw.action.programs:
        place, evidence = where(context, address)
        program = DrawProgram(stage, address, place, programs.get((stage, address)))
        section.shaders.append(program)
        section.say(f"{_program_text(program)}; {place}", (*addresses(address), *evidence))
        if program.shader is None:
            section.say_unknown(f"the {stage} program at {address:#x} is not in the dump")
    if not draw.action.programs:
        evidence = addresses(draw.action.place.gpuaddr)
        section.say("its registers name no program", evidence)
    _inputs(section, draw)
    return section


def _program_text(program: DrawProgram) -> str:
    text = f"{program.stage} at {program.gpuaddr:#x}"
    if program.shader is None:
        return text
    text += f", {program.instructions} instructions"
    if program.full_registers is not None:
        text += (
            f", full registers {program.full_registers}, half registers {program.half_registers}, "
        )
        text += f"constlen {program.constlen}"
    return text


def _inputs(section: ShadersSection, draw: DrawState) -> None:
    """Constants and textures of a draw."""
    for key, fact in draw.facts.items():
        if key[0] not in ("constants", "push constants", "uniform buffer", "vertex buffer"):
            continue
        size = None if fact.data is None else len(fact.data)
        data = DrawData(" ".join(map(str, key)), size)
        section.constants.append(data)
        if len(section.constants) <= _MOST:
            place = addresses(None if fact.place is None else fact.place.gpuaddr, fact.address)
            shown = "not in the dump" if size is None else f"{size} bytes"
            section.say(f"{data.name}: {shown}", place)
    section.textures = textures(draw)
    for texture in section.textures[:_MOST]:
        extent = f"{texture.text('WIDTH') or '?'} x {texture.text('HEIGHT') or '?'}"
        at = "no address" if texture.address is None else f"{texture.address:#x}"
        text = f"{texture.name}: {texture.text('FMT') or 'unknown format'}, {extent}, at {at}"
        section.say(text, addresses(texture.address))


def _handler_text(handler: SqeHandler, counter: int) -> str:
    """The handler of the microcode that a thread executes, and the position in it."""
    named = ", ".join(handler.packets[:_MOST]) or "packets that the microcode does not handle"
    return f"dword {counter - handler.start} of the handler of {named} ({handler.start:#x})"


def _status(context: CrashContext) -> StatusSection:
    section = StatusSection(busy_units(context), sqe_states(context))
    for register in section.registers:
        busy = ", ".join(register.set_fields) or "nothing is busy"
        section.say(f"{register.register} {register.value:#010x}: {busy}", register.evidence)
    if not section.registers:
        section.say_unknown("the status registers are not in the dump")
    for state in section.sqe:
        packet = state.packet or "no packet that is known"
        text = f"SQE, thread {state.thread}: PC {state.counter:#06x}, in {packet}"
        if state.handler is not None:
            text += f"; {_handler_text(state.handler, state.counter)}"
        section.say(text, state.evidence)
    return section


def _gmu(context: CrashContext, register_db: str | None) -> GmuSection:
    registers = gmu_registers(context, register_db, *_GMU_REGISTERS)
    section = GmuSection(registers, memory_queues(context))
    for register in section.registers:
        text = f"{register.register}: {', '.join(register.set_fields)}"
        if register.register == "GMU_CM3_FW_INIT_RESULT":
            started = register.value == _STARTED or register.value & _STARTED_MASK == _STARTED_FLAG
            text += (
                " (the firmware has started)" if started else " (not that of a started firmware)"
            )
        section.say(text, register.evidence)
    if not section.registers:
        section.say_unknown("the dump has no registers of a GMU")
    memory = context.dump.gmu_hfi
    for queue in section.queues:
        state = "empty"
        if queue.read_index != queue.write_index:
            state = f"messages wait: read index {queue.read_index}, write index {queue.write_index}"
        dropped = f", {queue.dropped} dropped" if queue.dropped else ""
        text = f"queue {queue.number} ({queue.name}): {state}{dropped}"
        section.say(text, lines(None if memory is None else memory.line))
    if memory is None:
        section.say_unknown("the dump has no message queues (gmu-hfi)")
    return section


def _lacks(context: CrashContext) -> LacksSection:
    dump = context.dump
    without = [buffer for buffer in dump.buffers if buffer.block is None]
    section = LacksSection(
        missing=dump.missing,
        other_sections=list(dump.others),
        buffers=len(dump.buffers),
        buffers_without_contents=len(without),
        shader_blocks=shader_block_names(context),
    )
    for name in dump.missing:
        section.say_unknown(f"no section {name}")
    if without:
        text = f"{len(without)} of {len(dump.buffers)} buffers have no contents in the dump"
        section.say(text, lines(*[one.line for one in without[:_MOST]]))
    for problem in dump.problems[:_MOST]:
        section.say_unknown(f"skipped: {problem}")
    if not section.statements:
        section.say("nothing: all sections are there")
    return section


def _binary_sections(context: CrashContext) -> SnapshotSections | None:
    """The sections of a binary dump, by type: how many, how large."""
    by_name: dict[str, list[DumpSection]] = {}
    for one in context.dump.binary_sections:
        by_name.setdefault(one.name, []).append(one)
    if not by_name:
        return None
    section = SnapshotSections([SnapshotSection(*one) for one in context.dump.binary_sections])
    for name, found in by_name.items():
        number, size = len(found), sum(one.size for one in found)
        shown = f"{number} x {name} ({found[0].type:#06x}), {size:,} bytes"
        section.say(shown, lines(found[0].offset))
    return section
