# SPDX-License-Identifier: MIT
"""GpuQuery: a query of the driver, such as an occlusion query: what it counts, and where.

``cffpy.analysis.gpu_queries`` finds them, and says by which rules. All counters are numbers of 64
bits in memory, unless a packet writes 32 bits.
"""

from __future__ import annotations

from dataclasses import field
from typing import Literal, NamedTuple

from cffpy.frame.facts import Address, described, fact, model, stored
from cffpy.frame.objects import ModelObject, Shown
from cffpy.frame.places import DrawRange, PacketLocation, draw_ranges

#: What a query counts. "primitives generated": the counter of primitives that reach the clipper,
#: alone. "stream-out": primitives that are written, and that would be.
QueryKind = Literal[
    "occlusion",
    "primitives generated",
    "stream-out",
    "pipeline statistics",
    "timestamp",
    "time elapsed",
    "performance counters",
]

#: How begin and end were found. "sum": a packet adds the difference of both. "event": the event at
#: the end names the begin, too. "packet": a timestamp is one packet. "address": the end is stored
#: 16 bytes behind the begin. "order": the end is the next sample of the same counter.
Pairing = Literal["sum", "event", "packet", "address", "order"]

#: Who asks. "program": the driver marks the result as available. "autotuner": the driver counts the
#: samples of a whole pass for itself.
Asker = Literal["program", "autotuner"]

#: In which executions of commands it counts.
QueryRuns = Literal[
    "once", "binning run", "each tile", "binning run and each tile", "several times"
]


@model("counter", is_value=False)
class QueryCounter(ModelObject):
    """A counter of a query: where it is stored at begin and end, and its result."""

    name: str = stored(
        "what is counted: the register, or of an event samples passed, or primitives written or "
        "generated of a stream"
    )
    statistic: str | None = stored("of pipeline statistics, what the register counts", default=None)
    countable: str | None = stored(
        "of a performance counter, what its register for that selects at begin; None where no "
        "packet has written it",
        default=None,
    )
    begin_address: Address | None = stored("GPU address of its value at begin", default=None)
    end_address: Address | None = stored("GPU address of its value at end", default=None)
    result_address: Address | None = stored(
        "GPU address of the result; None where the CPU computes it", default=None
    )
    value: int | None = stored(
        "the result as it was captured after the query: with the first later submit whose buffers "
        "have it, or in the dump of a crash; None where it was not captured",
        default=None,
    )


@model("query_copy", is_value=False)
class QueryCopy(ModelObject):
    """A packet that copies results of a query."""

    place: PacketLocation = stored("where its packet is")
    source: Address = stored("GPU address of what it copies")
    destination: Address = stored("GPU address that it writes")
    size: int = stored("what it copies", "bytes")
    is_availability: bool = stored(
        "it copies the mark that the result is available, not a result",
        name="availability",
        default=False,
    )
    condition: str | None = stored("the condition that it is under, in words", default=None)


@model("query_predicate", is_value=False)
class QueryPredicate(ModelObject):
    """A packet that makes what follows depend on the result of a query, or on a copy of it."""

    place: PacketLocation = stored("where its packet is")
    packet: str = stored("name of the packet")
    address: Address = stored("GPU address that it reads")


@described(
    "query_draws",
    names={"pass_index": "pass"},
    pass_index="number of the pass",
    first="number of the first draw",
    last="number of the last draw",
)
class QueryDraws(NamedTuple):
    """Draws of a pass that a query counts, from the first to the last."""

    pass_index: int
    first: int
    last: int

    def __str__(self) -> str:
        return str(DrawRange(self.first, self.last, self.pass_index))


@model("query")
class GpuQuery(ModelObject):
    """A query of the driver: its counters, what they count, and what becomes of the results."""

    number: int = stored("position among the queries of the capture, by their begin", is_key=True)
    kind: QueryKind = stored("what it counts")
    submit: int = stored("number of the submit that it ends in")
    pairing: Pairing = stored(
        "how begin and end were found: a packet adds the difference of both (sum); the event at "
        "the end names the begin (event); a timestamp is one packet (packet); the end is stored 16 "
        "bytes behind the begin (address); the end is the next sample of the counter (order)"
    )
    begin: PacketLocation = stored("where the packet is that stores the counters at begin")
    end: PacketLocation = stored("where the packet is that stores them at end")
    counters: list[QueryCounter] = stored("its counters", default_factory=list)
    available: Address | None = stored(
        "GPU address that a packet sets to 1 after it, just below its counters", default=None
    )
    times: int = stored("how often its end is executed", default=0)
    tiles: int = stored("tiles in which its end is executed", default=0)
    binning: bool = stored("its end is executed in a binning run, too", default=False)
    #: Index of a pass -> rising numbers of its draws between begin and end.
    counted: dict[int, list[int]] = field(default_factory=dict)
    draws_known: bool = stored(
        "the draws between begin and end are known: not where a limit ended the search",
        default=True,
    )
    captured_with: int | None = stored(
        "number of the submit whose buffers have the values", default=None
    )
    copies: list[QueryCopy] = stored("packets that copy its results", default_factory=list)
    predicates: list[QueryPredicate] = stored(
        "packets that decide by its results, or by copies of them", default_factory=list
    )

    @fact()
    def certain(self) -> bool:
        """Whether the stream itself says which end belongs to the begin: not by order alone."""
        return self.pairing != "order"

    @fact()
    def asked_by(self) -> Asker | None:
        """Who asks: "program" where a packet marks the result as available; "autotuner" where the
        samples of one whole pass are counted, once, without such a mark; None: not known.
        """
        if self.available is not None:
            return "program"
        is_whole = self.counts_whole_pass and self.times == 1 and not self.binning
        return "autotuner" if self.kind == "occlusion" and is_whole and self.certain else None

    #: Whether it counts all draws of one render pass, and of no other.
    counts_whole_pass: bool = False

    @fact()
    def runs(self) -> QueryRuns:
        """In which executions of commands it counts: once, in the binning run, in each tile that
        its end is executed in, or several times outside of tiles.
        """
        if self.tiles:
            return "binning run and each tile" if self.binning else "each tile"
        if self.binning:
            return "binning run"
        return "once" if self.times == 1 else "several times"

    @fact()
    def passes(self) -> list[int]:
        """Numbers of the passes with draws between begin and end."""
        return Shown(sorted(self.counted))

    @fact()
    def draws(self) -> tuple[QueryDraws, ...]:
        """The program's draws and dispatches between begin and end, as ranges."""
        return tuple(
            QueryDraws(index, numbers.first, numbers.last)
            for index in sorted(self.counted)
            for numbers in draw_ranges(self.counted[index])
        )

    @fact()
    def draw_count(self) -> int:
        """How many these are."""
        return sum(map(len, self.counted.values()))

    @fact()
    def value(self) -> int | None:
        """The captured result, where it has one counter."""
        return self.counters[0].value if len(self.counters) == 1 else None
