# SPDX-License-Identifier: MIT
"""Debug markers: CP_NOP packets in which a driver leaves text (turnip, freedreno)."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.cp.machine import Machine
    from cffpy.cp.sink import Payload

#: First dword of such a packet ("MESG", "BEGN", "END").
MESSAGE, BEGIN, END = 0x4D455347, 0x4245474E, 0x454E4400


def is_marker(_machine: Machine, payload: Payload) -> bool:
    """Whether a CP_NOP is a debug marker."""
    return payload[0] in (MESSAGE, BEGIN, END)


def marker_text(payload: Payload, limit: int | None = None) -> str:
    """The ASCII characters after the first dword, up to a NUL; at most ``limit`` bytes."""
    content = payload.words.bytes(payload.index + 1, payload.count - 1)
    text = content.split(b"\0", 1)[0][:limit]
    return bytes(byte for byte in text if byte < 0x80).decode("ascii")


#: Markers that are nested, and the bytes of one's text, at most.
_MAX_OPEN = 64
_MAX_BYTES = 256


class OpenMarkers:
    """Tracks debug markers; ``texts``: the open ones, outermost first."""

    def __init__(self) -> None:
        self.texts: list[str] = []
        self._open = 0

    def nop(self, payload: Payload) -> None:
        """A CP_NOP, which may begin or end one."""
        kind = payload[0]
        if kind == BEGIN:
            self._open += 1
            if self._open <= _MAX_OPEN:
                self.texts.append(marker_text(payload, _MAX_BYTES))
        elif kind == END and self._open:
            self._open -= 1
            del self.texts[self._open :]
