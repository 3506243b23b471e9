# SPDX-License-Identifier: MIT
"""Observer: the events that a Walk publishes.

An observer overrides the events that it uses. A walk collects the overridden methods once, when the
observers are attached: an event without any costs nothing. An observer that needs the
results of another receives that other one in its constructor and reads its documented state.

Order: each event goes first to the trackers (``is_tracker``), whose state other observers read,
then to all others. Within these two groups the order has no meaning.

Commands that are known not to be executed publish ``action``, ``conditional_block``,
``indirect_buffer`` and ``draw_state_group`` only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Mapping

    from cffpy.analysis.conditions import ConditionalBlock
    from cffpy.analysis.pipes import PipeRegisters
    from cffpy.capture.gpu import Gpu
    from cffpy.capture.load import CommandStream
    from cffpy.cp.stored import StoredRegisters
    from cffpy.frame.action import Action
    from cffpy.frame.execution import Executed
    from cffpy.frame.places import ExecutedStream, PacketLocation
    from cffpy.pm4.reader import Payload
    from cffpy.regdb.database import Database


class StopWalk(Exception):
    """Raised by an observer: the walk ends here, as if the capture did.

    Its text is added to what is left out of the results. Not for ``finished``: nothing is left to
    end, and the other observers are to finish, too.
    """

    #: Name of the limit that was met.
    limit = ""


class Observer:
    """Receives the events of a walk; every method here does nothing."""

    #: Whether this observer receives each event before those that are not trackers.
    is_tracker = False

    # -- the capture ------------------------------------------------------------------------

    def bound(self, gpu: Gpu, database: Database) -> None:
        """The commands that follow are for this GPU. The walk's register reader is a new one."""

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """A handler for each packet with an opcode that is observed, by the packet's name.

        Asked after each ``bound``. A packet without a name has its opcode as name, as in "0x4c".
        A handler is called before the machine runs the packet; its payload begins after the
        packet's header.
        """
        return {}

    def skippable_packets(self) -> Collection[str]:
        """Names of packets that it need not see in draw-state groups while it ``skips_packets``.

        If several observers have any, all packets are passed on.
        """
        return ()

    def skips_packets(self) -> bool:
        """Whether it does without the handlers of ``skippable_packets`` now."""
        return False

    def stream_begins(self, stream: CommandStream, is_new_submit: bool) -> None:
        """A command stream begins. ``is_new_submit``: its submit has new buffers."""

    def finished(self) -> None:
        """The last command stream has ended, or a limit has ended the walk."""

    # -- packets ----------------------------------------------------------------------------

    def registers_written(self, registers: range, location: PacketLocation, ndwords: int) -> None:
        """A packet is about to write these registers.

        ``ndwords``: dwords of the packet, counted from its header, that the values are among.
        """

    def registers_stored(
        self, stored: StoredRegisters, stream: ExecutedStream, caller: PacketLocation | None
    ) -> None:
        """Registers were stored at once, by packets of ``stream`` and groups that it loads.

        An observer that has this method and ``registers_written`` receives each write by one of
        them. If all observers of writes have both, walks are much faster. ``caller`` is that of a
        group alone (``stored.words`` is None). ``StoredWrites`` finds the packets.
        """

    def stored_log(self, stream: ExecutedStream) -> list[StoredRegisters] | None:
        """A list that takes what steps of ``stream`` store, in place of ``registers_stored``.

        Used if it is the only observer that has ``registers_stored``. It is asked for again for the
        first step after anything else but draws of steps, whose ``action`` it does not get. None:
        ``registers_stored`` is called.
        """
        return None

    def registers_unknown(self, registers: range, location: PacketLocation) -> None:
        """The packet fills these registers with values that only the GPU knows.

        Published before the packet's handlers are called; for CP_REG_RMW, after them.
        """

    def memory_written(self, gpuaddr: int, payload: Payload, before: bytes) -> None:
        """CP_MEM_WRITE has stored ``payload`` at ``gpuaddr``, over the bytes ``before``.

        Only of a walk that applies such writes.
        """

    def event(self, name: str | None) -> None:
        """CP_EVENT_WRITE of this event."""

    def action(self, action: Action) -> None:
        """A draw, dispatch, blit or resolve, executed or not."""

    # -- streams ----------------------------------------------------------------------------

    def indirect_buffer(self, gpuaddr: int, executed: Executed) -> None:
        """CP_INDIRECT_BUFFER calls the commands at ``gpuaddr``, which may not be captured."""

    def commands_missing(self, gpuaddr: int) -> None:
        """Commands that are called were not captured, or a limit keeps them from being run."""

    def draw_state_group_missing(self, gpuaddr: int) -> None:
        """A draw-state group is loaded whose commands were not captured."""

    def commands_damaged(self, text: str) -> None:
        """Commands that are executed are damaged; ``text`` says how, without addresses."""

    def pipe_changes(self, registers: PipeRegisters) -> None:
        """Another pipe executes what follows, with the registers of this one, or of both.

        Until all observers have been called, registers are those of the pipe before.
        """

    def conditional_block(self, block: ConditionalBlock) -> None:
        """Commands under a condition begin, executed or not."""

    def draw_state_group(self, gpuaddr: int) -> None:
        """The captured commands of a draw-state group begin, executed or not."""
