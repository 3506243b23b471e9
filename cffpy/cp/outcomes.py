# SPDX-License-Identifier: MIT
"""What callbacks of sinks decide: named outcomes, compared with ``is``.

They are constants of small classes: importing ``enum`` would cost start-up time.
"""

from __future__ import annotations

from cffpy.value_object import ValueObject


class _Outcome(ValueObject):
    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class WriteOutcome(_Outcome):
    """Which callbacks the machine still makes for a register-write packet."""

    __slots__ = ()


#: ``register`` for each register, then ``write_done``.
EACH_REGISTER = WriteOutcome("EACH_REGISTER")
#: ``write_done`` only.
WRITE_DONE = WriteOutcome("WRITE_DONE")
#: None.
NOTHING = WriteOutcome("NOTHING")


class BlockOutcome(_Outcome):
    """How the machine runs the dwords that a packet makes conditional."""

    __slots__ = ()


#: As part of the stream, like any other packets. The reference always does this.
INLINE = BlockOutcome("INLINE")
#: As a block that takes effect.
LIVE = BlockOutcome("LIVE")
#: As a block on a copy of the state. The copy is discarded at the end of the block, except for
#: the number of draws.
DISCARDED = BlockOutcome("DISCARDED")
