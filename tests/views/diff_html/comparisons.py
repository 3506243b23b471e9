# SPDX-License-Identifier: MIT
"""Comparisons put together from a few words, without captures."""

from __future__ import annotations

from collections import Counter
from typing import Any

from cffpy.analysis.diff.model import Comparison, Difference, Entry, Extent, PassPair
from cffpy.analysis.diff.recording import Recording
from cffpy.analysis.diff.rules import Category
from cffpy.analysis.inputs.recorder import DrawInputs
from cffpy.capture import load
from cffpy.capture.memory import Words
from cffpy.container.damage import Damage
from cffpy.frame.action import Action, Draw, PacketFacts
from cffpy.frame.attachment import Attachment
from cffpy.frame.execution import Executed
from cffpy.frame.geometry import Size
from cffpy.frame.passes import Operation, Pass, Passes, PassRun, SubmitPasses
from cffpy.frame.places import ExecutedStream, PacketLocation

#: Hostile strings of captures: the ends of elements, attributes, scripts and styles;
#: control characters for terminals and editors; half a surrogate pair, as file names have for
#: bytes that are not UTF-8.
HOSTILE = (
    "<script>window.injected = 1</script>\"' onload=window.injected=1 x='</style></script></title>"
    "<img src=x onerror=window.injected=1><!-- ]]> --!> &lt;&#x3c;&quot;"
    "\x00\x07\x1b[31m\r\n\t\x85\u202e\u2028\ufeff\ufffe\udc80\ud800${window.injected=1}`"
)

BLEND = Category("blend", 10)
SHADER = Category("shader", 3)
UNIFORM = Category("uniform data", 5)
LRZ = Category("lrz", 80, derived=True)

LISTING = ("--- good", "+++ bad", "@@ -1,3 +1,3 @@", " nop", "-mov.f32f32 r0.x, r0.y", "+end", "")


def place(offset: int = 0) -> PacketLocation:
    """A place in a draw state group of an IB."""
    submit = load.CommandStream(0, 0x1000, 64)
    outer = ExecutedStream("submit", submit, 0x1000, 64, None)
    words = Words(0x1000, memoryview(bytes(256)), 0x40)
    group = ExecutedStream("group", submit, 0x2000, 16, PacketLocation(outer, words, 0), 28)
    return PacketLocation(group, Words(0x2000, memoryview(bytes(256)), 0x200), offset)


def draw(number: int, vertices: int = 36) -> Action:
    """One of the program's draws."""
    return Draw(
        PacketFacts("draw", "CP_DRAW_INDX_OFFSET", "DI_PT_TRILIST", vertices, 1, indexed=True),
        order=number,
        number=number,
        dump_draw=100 + number,
        execution=Executed.YES,
        level=2,
        place=place(),
    )


def render_pass(index: int, draws: int, marker: str = "") -> Pass:
    """A pass with a colour buffer that is cleared."""
    target = Attachment("color 0", 0x1000, "FMT6_8_8_8_8_UNORM", "TILE6_3", 256, ubwc=True)
    clear = Operation("clear", "color 0", "BLIT event", draw(0), clear_value=(0xFF, 0, 0, 0))
    return Pass(
        index,
        "render",
        0,
        [0],
        place(),
        place(1),
        mode="sysmem",
        framebuffer=Size(640, 480),
        samples=1,
        attachments=[target],
        direct=PassRun(place(), operations=[clear]),
        draws=[draw(number) for number in range(draws)],
        markers=(marker,) if marker else (),
    )


def paired(good: Pass, bad: Pass, missing: int | None = None) -> PassPair:
    """Passes with all draws aligned; the one of good with this number is missing in bad."""
    pair = PassPair(good, bad)
    rest = iter(bad.draws)
    for action in good.draws:
        gone = action.number == missing
        other = None if gone else _record(next(rest))
        pair.draws.append((_record(action), other))
    return pair


def _record(action: Action) -> DrawInputs:
    memory: Any = None
    return DrawInputs(action, None, (), 0, memory)


def recording(name: str, passes: list[Pass], damage: list[Damage] | None = None) -> Recording:
    """A capture of one submit."""
    found = Passes(6, "FD630", [SubmitPasses(0, passes)], [])
    how: Any = {"database": None, "generation": 6}
    return Recording(name=name, passes=found, damage=damage or [], **how)


def entry(
    title: str, *differences: Difference, at: tuple[Extent, ...] = (), **more: list[Entry]
) -> Entry:
    """An entry, by default of draws 2 to 4 of the first pass."""
    return Entry(title, at or (Extent(0, 0, 2, 4),), list(differences), **more)


def field(name: str, good: str = "FALSE", bad: str = "TRUE", **more: object) -> Difference:
    """A field that packets have written."""
    more.setdefault("category", BLEND)
    return Difference(name, good, bad, good_place=place(), bad_place=place(2), **more)  # type: ignore[arg-type]


def comparison(hostile: str = "-", missing: int | None = 5) -> Comparison:
    """Three pairs of passes, one of them without a counterpart, and four entries."""
    good = [render_pass(0, 10, hostile), render_pass(1, 1), render_pass(2, 3)]
    bad = [render_pass(0, 9, hostile), render_pass(1, 1)]
    bad[1].framebuffer = Size(320, 240)
    damage = [Damage(16, f"what is damaged {hostile}", False)]
    result = Comparison(
        recording(f"/captures/good{hostile}.rd", good), recording("bad.rd", bad, damage)
    )
    result.pairs = [
        paired(good[0], bad[0], missing),
        paired(good[1], bad[1]),
        PassPair(good[2], None),
    ]
    depth = field("GRAS_LRZ_CNTL.LRZ_WRITE", category=LRZ)
    follows = [
        entry("draws p0:2-9: GRAS_LRZ_CNTL.LRZ_WRITE: FALSE → TRUE", depth),
        entry(f"pass 1: CONSEQUENCE_TWO {hostile}", field("SP_SRGB"), at=(Extent(1, 1),)),
    ]
    follows[0].extents = (Extent(0, 0, 2, 9),)
    blend = [field("RB_MRT[0].CONTROL.BLEND"), field(f"RB_BLEND{hostile}", hostile, hostile)]
    words = ("+0x0: 42800000 (64) → 41800000 (16)", "+0x4: 00000000 → 3f800000 (1)")
    result.entries = [
        entry("pass 2 of good is missing in bad (render)", at=(Extent(2, None),)),
        entry(
            "draws p0:2-4: RB_MRT[0].CONTROL.BLEND: FALSE → TRUE (+1 field)",
            *blend,
            consequences=follows,
        ),
        entry(
            f"draws p0:2-4: shader FS{hostile}",
            field("shader FS", "12 instructions", "13", category=SHADER, details=LISTING),
        ),
        entry(
            "draw p1:0: uniform data FS 0: 42800000 (64) → 41800000 (16)",
            field("uniform data FS 0", category=UNIFORM, details=(*words, hostile or "odd")),
            at=(Extent(1, 1, 0, 0),),
        ),
    ]
    if missing is not None:
        gone = entry(f"pass 0: draw {missing} of good is missing in bad")
        gone.extents = (Extent(0, 0, missing, missing),)
        result.entries.append(gone)
    result.hidden = {"addresses": Counter({f"SP_BASE{hostile}": 3, "RB_BASE": 1})}
    return result
