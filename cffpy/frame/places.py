# SPDX-License-Identifier: MIT
"""Places of a capture: where a packet is, and the texts that commands and all faces name places by.

    s2           submit 2
    p3           pass 3, counted through the capture
    p3:17        draw (or dispatch) 17 of pass 3; p3:5-9 is a range
    p3:t5        tile 5 of pass 3, in the order of execution
    p3:binning   the binning run of pass 3
    #62          draw 62 as cffdump counts, executions in tiles included; #5-9 is a range
    sh4          shader 4, as ``cffpy shaders`` lists them
    0x10002018   the packet at this GPU address; s2:0x10002018 in submit 2
    +0x1234      the packet at this offset in the decompressed file, in bytes
    stream 0 > IB 0x10002000 > 0x10002018    the packet, and the calls that lead to it

``str`` of a place is the text that ``parse_place`` reads. ``PacketLocation`` is the place of a
packet that was executed: its stream, what called the stream, its address and its file offset.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from cffpy.errors import CaptureError, UsageError
from cffpy.frame.facts import Address, described, fact
from cffpy.frame.objects import ModelObject

if TYPE_CHECKING:
    from collections.abc import Iterable
    from typing import Protocol

    class Numbered(Protocol):
        """The numbers of an action: see ``cffpy.frame.action``."""

        @property
        def number(self) -> int | None:
            """In its pass."""

        @property
        def pass_index(self) -> int | None:
            """Of its pass."""

        @property
        def dump_draw(self) -> int | None:
            """In cffpy dump."""

        @property
        def tile_number(self) -> int | None:
            """Of its tile."""


#: What messages show to who wrote a text that is no place.
SPELLINGS = "s2, p3, p3:17, p3:5-9, p3:t5, p3:binning, #62, sh4, 0x10002018, +0x1234"


class SubmitName(NamedTuple):
    """A submit: ``s2``."""

    number: int

    def __str__(self) -> str:
        return f"s{self.number}"


class PassName(NamedTuple):
    """A pass, or a group of dispatches or copies between passes: ``p3``."""

    number: int

    def __str__(self) -> str:
        return f"p{self.number}"


class TileName(NamedTuple):
    """A tile of a pass: ``p3:t5``."""

    number: int
    pass_index: int

    def __str__(self) -> str:
        return f"p{self.pass_index}:t{self.number}"


class BinningName(NamedTuple):
    """The binning run of a pass: ``p3:binning``."""

    pass_index: int

    def __str__(self) -> str:
        return f"p{self.pass_index}:binning"


class ShaderName(NamedTuple):
    """A shader: ``sh4``."""

    number: int

    def __str__(self) -> str:
        return f"sh{self.number}"


class DrawName(NamedTuple):
    """A draw, dispatch or blit: ``p3:17`` of the pass ``pass_index``, or ``#62`` of the dump."""

    number: int
    pass_index: int | None = None

    def __str__(self) -> str:
        prefix = "#" if self.pass_index is None else f"p{self.pass_index}:"
        return f"{prefix}{self.number}"


@described("range", first="number of the first draw", last="number of the last draw")
class DrawRange(NamedTuple):
    """The draws from ``first`` to ``last``, both included, of the dump or of a pass."""

    first: int
    last: int
    pass_index: int | None = None

    def __str__(self) -> str:
        first = str(DrawName(self.first, self.pass_index))
        return first if self.first == self.last else f"{first}-{self.last}"

    @property
    def numbers(self) -> range:
        """The numbers of its draws."""
        return range(self.first, self.last + 1)

    @property
    def numbers_text(self) -> str:
        """The numbers alone, where the pass is said: ``5-9``."""
        return f"{self.first}" if self.first == self.last else f"{self.first}-{self.last}"


class PacketAddress(NamedTuple):
    """A packet, or the data that a buffer holds, by GPU address: ``0x10002018``.

    ``s2:0x10002018``: in the memory of submit 2.
    """

    gpuaddr: int
    submit: int | None = None

    def __str__(self) -> str:
        return f"{'' if self.submit is None else f's{self.submit}:'}{self.gpuaddr:#x}"


class FileOffset(NamedTuple):
    """A packet by its offset in the decompressed file, in bytes: ``+0x1234``."""

    offset: int

    def __str__(self) -> str:
        return f"+{self.offset:#x}"


class StreamCall(NamedTuple):
    """A stream within another one: ``IB 0x10002000``, ``group 3 0x10002000``."""

    kind: str
    gpuaddr: int

    def __str__(self) -> str:
        return f"{self.kind} {self.gpuaddr:#x}"


class PacketPath(NamedTuple):
    """A packet by the streams that lead to it: ``stream 0 > IB 0x10002000 > 0x10002018``.

    ``stream``: number of the command stream in the capture. ``calls``: from the outside inwards.
    ``file_offset``: written after the path, where it is known.
    """

    stream: int
    calls: tuple[StreamCall, ...]
    gpuaddr: int
    file_offset: int | None = None

    @property
    def streams_text(self) -> str:
        """The streams that the packet lies in, without the packet."""
        return " > ".join([f"stream {self.stream}", *map(str, self.calls)])

    def __str__(self) -> str:
        offset = "" if self.file_offset is None else f" +{self.file_offset:#x}"
        return f"{self.streams_text} > {self.gpuaddr:#x}{offset}"


PacketName = PacketAddress | FileOffset | PacketPath
RunName = TileName | BinningName
Place = SubmitName | PassName | RunName | DrawName | DrawRange | ShaderName | PacketName

_NUMBER = "([0-9]{1,9})"
_HEXADECIMAL = "(0x[0-9a-fA-F]{1,16})"
_DRAWS = re.compile(rf"(?:#|p{_NUMBER}:){_NUMBER}(?:-{_NUMBER})?")
_RUN = re.compile(rf"p{_NUMBER}:(?:t{_NUMBER}|binning)")
_NUMBERED = re.compile(rf"(s|p|sh){_NUMBER}")
_ADDRESS = re.compile(rf"(?:s{_NUMBER}:)?{_HEXADECIMAL}")
_OFFSET = re.compile(rf"\+{_HEXADECIMAL}")
_STREAM = re.compile(rf"stream {_NUMBER}")
_CALL = re.compile(rf"([A-Za-z][A-Za-z0-9_ ]*?) {_HEXADECIMAL}")
_PACKET_OF_PATH = re.compile(rf"{_HEXADECIMAL}(?: \+{_HEXADECIMAL})?")

#: Streams that may be written in a path; captures have fewer than ten.
_MAX_CALLS = 1000


def parse_place(text: str) -> Place:
    """A place, as the first lines of this file list them. Raises UsageError."""
    text = text.strip()
    if (match := _NUMBERED.fullmatch(text)) is not None:
        number = int(match[2])
        if match[1] == "s":
            return SubmitName(number)
        return PassName(number) if match[1] == "p" else ShaderName(number)
    if (match := _DRAWS.fullmatch(text)) is not None:
        return _draws(text, match)
    if (match := _RUN.fullmatch(text)) is not None:
        index, tile = int(match[1]), match[2]
        return BinningName(index) if tile is None else TileName(int(tile), index)
    if (match := _ADDRESS.fullmatch(text)) is not None:
        return PacketAddress(int(match[2], 16), None if match[1] is None else int(match[1]))
    if (match := _OFFSET.fullmatch(text)) is not None:
        return FileOffset(int(match[1], 16))
    path = _path(text)
    if path is None:
        raise UsageError(f"{text!r} is not a place: {SPELLINGS}{_hint(text)}")
    return path


def _draws(text: str, match: re.Match[str]) -> DrawName | DrawRange:
    pass_index = None if match[1] is None else int(match[1])
    first = int(match[2])
    last = first if match[3] is None else int(match[3])
    if last < first:
        raise UsageError(f"{text!r}: the last draw is before the first")
    if last == first:
        return DrawName(first, pass_index)
    return DrawRange(first, last, pass_index)


def _path(text: str) -> PacketPath | None:
    first, *calls = text.split(" > ", _MAX_CALLS)
    stream = _STREAM.fullmatch(first)
    packet = _PACKET_OF_PATH.fullmatch(calls.pop()) if calls else None
    matches = [_CALL.fullmatch(call) for call in calls]
    if stream is None or packet is None or None in matches:
        return None
    known = tuple(StreamCall(match[1], int(match[2], 16)) for match in matches if match is not None)
    offset = None if packet[2] is None else int(packet[2], 16)
    return PacketPath(int(stream[1]), known, int(packet[1], 16), offset)


def _hint(text: str) -> str:
    """What a bare number may have meant."""
    if re.fullmatch(_NUMBER, text):
        return f"; draw {text} of the dump is #{text}, that of pass 3 p3:{text}"
    return ""


def parse_draw_name(text: str) -> DrawName:
    """``p3:17`` or ``#62``. Raises UsageError."""
    place = parse_place(text)
    if not isinstance(place, DrawName):
        raise UsageError(f"{text.strip()!r} is not one draw: p3:17, or #62 as cffdump counts")
    return place


def parse_draws(text: str) -> DrawRange:
    """``p3:17``, ``p3:5-9``, ``#62`` or ``#5-9``. Raises UsageError."""
    place = parse_place(text)
    if isinstance(place, DrawName):
        return DrawRange(place.number, place.number, place.pass_index)
    if not isinstance(place, DrawRange):
        raise UsageError(f"{text.strip()!r} is no draw: p3:17, p3:5-9, or #62 as cffdump counts")
    return place


def split_file(text: str) -> tuple[str, Place | None]:
    """``FILE@p3:17`` -> the file and the place; a file without a place is all of it.

    Raises UsageError where what follows the last @ is not a place, unless it may be a part of the
    file's name: then it has a dot or a slash.
    """
    path, at, place = text.rpartition("@")
    if not at or not path:
        return text, None
    if "." in place or "/" in place:
        return text, None
    return path, parse_place(place)


def no_submit(number: int, count: int) -> CaptureError:
    """The error of a submit that the capture does not have."""
    return _absent("submit", SubmitName(number), "the capture", count)


def no_pass(number: int, count: int) -> CaptureError:
    """The error of a pass that the capture does not have."""
    return _absent("pass", PassName(number), "the capture", count)


def no_shader(number: int, count: int) -> CaptureError:
    """The error of a shader that the capture does not have."""
    return _absent("shader", ShaderName(number), "the capture", count)


def no_draw(name: DrawName, count: int) -> CaptureError:
    """The error of a draw that its pass, or the dump, does not have."""
    owner = "the dump" if name.pass_index is None else f"pass {name.pass_index}"
    return _absent("draw", name, owner, count)


def no_tile(name: TileName, count: int, more: str = "") -> CaptureError:
    """The error of a tile that its pass does not have. ``more``: the end of the text."""
    return _absent("tile", name, f"pass {name.pass_index}", count, more)


def no_binning_run(name: BinningName, more: str = "") -> CaptureError:
    """The error of a pass that has no binning run. ``more``: the end of the text."""
    return CaptureError(f"no binning run {name}: pass {name.pass_index} has none{more}")


def _absent(
    noun: str,
    name: SubmitName | PassName | ShaderName | DrawName | TileName,
    owner: str,
    count: int,
    more: str = "",
) -> CaptureError:
    ends = str(name._replace(number=0)), str(name._replace(number=max(0, count - 1)))
    return CaptureError.absent(noun, str(name), owner, ends, count, more)


def draw_ranges(numbers: Iterable[int], pass_index: int | None = None) -> tuple[DrawRange, ...]:
    """Rising numbers of the dump, or of a pass, as ranges, each as long as possible."""
    ranges: list[DrawRange] = []
    for number in numbers:
        if ranges and ranges[-1].last == number - 1:
            ranges[-1] = DrawRange(ranges[-1].first, number, pass_index)
        else:
            ranges.append(DrawRange(number, number, pass_index))
    return tuple(ranges)


def name_of(action: Numbered) -> DrawName | None:
    """The name of an action: in its pass if it is one of the program's, otherwise in the dump."""
    if action.number is not None and action.pass_index is not None:
        return DrawName(action.number, action.pass_index)
    return None if action.dump_draw is None else DrawName(action.dump_draw)


def names_text(action: Numbered) -> str:
    """Both names of an action: ``p3:17 (#62)``, or the one that it has; "" without."""
    name = name_of(action)
    if name is None:
        return ""
    if name.pass_index is None or action.dump_draw is None:
        return str(name)
    return f"{name} ({DrawName(action.dump_draw)})"


def tile_text(action: Numbered) -> str:
    """The tile that an action is executed in, ``p3:t5``; "" outside of tiles."""
    if action.tile_number is None or action.pass_index is None:
        return ""
    return str(TileName(action.tile_number, action.pass_index))


if TYPE_CHECKING:
    from typing import Protocol

    from cffpy.capture.load import Identity
    from cffpy.capture.memory import Words

    class Submitted(Protocol):
        """A command stream that was submitted."""

        @property
        def number(self) -> int:
            """Number among the command streams of the capture."""

        @property
        def submit(self) -> int:
            """Number of its submit."""

        @property
        def identity(self) -> Identity | None:
            """The last section before it that names a GPU."""

    #: An entry of the machine's stack of streams: its words, its first dword, how many dwords.
    StreamEntry = tuple[Words, int, int]


@described(
    "executed_stream",
    kind='"submit", "IB", "group", or the name of the packet that carries it',
    gpuaddr="GPU address of its first dword",
    group="number of the draw state group",
)
class ExecutedStream:
    """A run of commands: a submit's own stream, an IB, a draw-state group, a conditional block.

    ``caller`` is the packet that had it run, None for a submit's own stream. Of a draw-state group
    that a draw loads it is the last packet with an opcode before the draw.
    """

    __slots__ = ("_submitted", "caller", "gpuaddr", "group", "kind", "ndwords")

    kind: str
    gpuaddr: Address
    group: int | None

    def __init__(
        self,
        kind: str,
        submit: Submitted,
        gpuaddr: int,
        ndwords: int,
        caller: PacketLocation | None,
        group: int | None = None,
    ) -> None:
        #: "submit", "IB", "group", "block", or the name of the packet that carries it.
        self.kind = kind
        self._submitted = submit
        self.gpuaddr = gpuaddr
        self.ndwords = ndwords
        self.caller = caller
        self.group = group

    def __str__(self) -> str:
        return f"{self.kind}:{self.gpuaddr:#x}"

    def __repr__(self) -> str:
        return f"<ExecutedStream {self}, {self.ndwords} dwords>"

    @property
    def called(self) -> str:
        """What a path calls it: ``IB``, ``group 3``."""
        return f"group {self.group}" if self.kind == "group" else self.kind

    @property
    def state_group(self) -> ExecutedStream | None:
        """The innermost draw-state group that it is in, which may be itself."""
        stream: ExecutedStream | None = self
        while stream is not None and stream.kind != "group":
            stream = None if stream.caller is None else stream.caller.stream
        return stream

    @property
    def path(self) -> list[ExecutedStream]:
        """The streams down to this one, the submit's own first."""
        path = [self]
        while path[-1].caller is not None:
            path.append(path[-1].caller.stream)
        return path[::-1]


@described("place")
class PacketLocation(ModelObject):
    """A packet's place: its GPU address, and the streams that lead to it."""

    __slots__ = ("_index", "_words", "stream")

    def __init__(self, stream: ExecutedStream, words: Words, index: int) -> None:
        self.stream = stream
        #: The packet is dword ``_index`` of these. A subclass may know its address in another way.
        self._words = words
        self._index = index

    @fact(name="stream")
    def number(self) -> int:
        """Number of the command stream in the capture."""
        return self.stream._submitted.number

    @fact()
    def path(self) -> list[ExecutedStream]:
        """The streams that lead to the packet, from the submit's own inwards."""
        path, stream = [], self.stream
        while True:  # without a call: places are shown for each action
            if stream.kind != "block":
                path.append(stream)
            if stream.caller is None:
                return path[::-1]
            stream = stream.caller.stream

    @fact()
    def gpuaddr(self) -> Address:
        """The packet's GPU address."""
        return self._words.address + 4 * self._index

    @fact()
    def file_offset(self) -> Address | None:
        """The packet's offset in the decompressed file, in bytes; None where the file has memory
        in pages, or encoded.
        """
        return self._words.file_offset + 4 * self._index

    @property
    def submit(self) -> int:
        """Number of its submit."""
        return self.stream._submitted.submit

    @property
    def key(self) -> tuple[int, ...]:
        """Identifies this execution: stream number, addresses from the outside.

        Conditional blocks do not count: their packets are part of the stream around them, as they
        are for a dump, which follows no conditions.
        """
        addresses = [self.gpuaddr]
        stream = self.stream
        while stream.caller is not None:
            if stream.kind != "block":
                addresses.append(stream.caller.gpuaddr)
            stream = stream.caller.stream
        return (self.number, *reversed(addresses))

    @property
    def name(self) -> PacketPath:
        """The place that commands take."""
        calls = (stream for stream in self.stream.path[1:] if stream.kind != "block")
        return PacketPath(
            self.number,
            tuple(StreamCall(stream.called, stream.gpuaddr) for stream in calls),
            self.gpuaddr,
            self.file_offset,
        )

    def __str__(self) -> str:
        """``stream 0 > IB 0x1008ce000 > 0x1008ce464 +0x1234``; the last is the file offset."""
        return str(self.name)


class Frame:
    """A stream that runs: its entry in the machine's stack, and its current packet.

    The current packet is the last one with an opcode, else the first of the stream.
    """

    __slots__ = ("entry", "index", "location", "stream", "words")

    def __init__(
        self, entry: StreamEntry, stream: ExecutedStream, words: Words, index: int
    ) -> None:
        self.entry = entry
        self.stream = stream
        self.words = words
        self.index = index
        #: Made when it is first asked for.
        self.location: PacketLocation | None = None

    def packet(self) -> PacketLocation:
        """Where the current packet is: one object each time."""
        location = self.location
        if location is None:
            location = self.location = PacketLocation(self.stream, self.words, self.index)
        return location
