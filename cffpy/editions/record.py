# SPDX-License-Identifier: MIT
"""The record of each edition: what its release's decoders do that no description says.

The only place that tells releases apart. An edition is a folder of descriptions
(``cffpy.editions.folders``) and a record here; all else asks ``edition_record`` for the record and
reads a member of it. What crashdec of a release does is a part of the record (``CrashDecoder``).
Source of the facts: recorded output, and cffdump's and crashdec's source.
"""

from __future__ import annotations

from cffpy.editions.folders import edition_name, release
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    #: The name of a register, and of what cffdump shows after its line.
    FollowUpRow = tuple[str, str]


class CrashDecoder(ValueObject):
    """crashdec of a release.

    ``look_back``: dwords before the read pointer from which the ring's commands are shown.
    ``reads_ring_registers``: the read pointer is the register CP_RB_RPTR, less, on a6xx, what
    waits in the ROQ (CP_ROQ_AVAIL_RB); else it is the line ``rptr`` of the ring.
    ``marks_places``: where the CP stood is compared by buffer and place, and may be in the ring;
    else it is compared by GPU address, from IB1 on. ``skips_finished_ib1``: where nothing is left
    of IB1, no IB before it is looked for. ``knows_new_names``: entries of indexed registers are
    known by all names that kernels give them, the microcode of BV among them. ``knows_locations``:
    clusters may have lines ``location``. ``has_new_control_registers``: a7xx has 0x100
    scratch registers, and those of gen 3 (a750) are laid out in another way; else all
    generations have 0x80 at 0x100.
    """

    __slots__ = (
        "has_new_control_registers",
        "knows_locations",
        "knows_new_names",
        "look_back",
        "marks_places",
        "reads_ring_registers",
        "skips_finished_ib1",
    )

    def __init__(
        self,
        look_back: int,
        reads_ring_registers: bool = False,
        marks_places: bool = False,
        skips_finished_ib1: bool = False,
        knows_new_names: bool = False,
        knows_locations: bool = False,
        has_new_control_registers: bool = False,
    ) -> None:
        self.look_back = look_back
        self.reads_ring_registers = reads_ring_registers
        self.marks_places = marks_places
        self.skips_finished_ib1 = skips_finished_ib1
        self.knows_new_names = knows_new_names
        self.knows_locations = knows_locations
        self.has_new_control_registers = has_new_control_registers


#: What cffdump shows after the line of a register: four scratch registers, memory at an address,
#: a program; on a5xx the low dword of an address, which is kept for the next row, and what follows
#: the high one; descriptors, as many as the register of the stage counts.
SCRATCH, MEMORY, PROGRAM = "scratch", "memory", "program"
LOW_HALF, MEMORY_5XX, PROGRAM_5XX = "low half", "memory, a5xx", "program, a5xx"
TEXTURES_5XX, SAMPLERS_5XX = "textures, a5xx", "samplers, a5xx"
TEXTURES, SAMPLERS, STORAGE = "textures", "samplers", "storage"

_STAGES = ("VS", "HS", "DS", "GS", "FS", "CS")


class Edition(ValueObject):
    """What cffdump and crashdec of one Mesa release do.

    ``release``: the first release with this record. ``followed``: packets whose commands the dump
    decodes where the packet stands, though the GPU runs them elsewhere. ``follow_ups``: generation
    -> what is shown after the lines of registers; the first row of a register counts. The names are
    those of the bundled edition, or, in a generation that it does not describe, of this one.
    ``keeps_radix``: fields that a register takes from a shared bitset keep their binary point.
    ``shows_empty_descriptors``: of bindless sets. ``counts_aliases``: registers that an ``alias``
    of textures defines are part of a program's footprint. ``crashdec``: what crashdec does.
    """

    __slots__ = (
        "counts_aliases",
        "crashdec",
        "follow_ups",
        "followed",
        "keeps_radix",
        "release",
        "shows_empty_descriptors",
    )

    def __init__(
        self,
        release: tuple[int, int],
        crashdec: CrashDecoder,
        follow_ups: Mapping[int, tuple[FollowUpRow, ...]],
        followed: frozenset[str] = frozenset(),
        keeps_radix: bool = False,
        shows_empty_descriptors: bool = False,
        counts_aliases: bool = False,
    ) -> None:
        self.release = release
        self.crashdec = crashdec
        self.follow_ups = follow_ups
        self.followed = followed
        self.keeps_radix = keeps_radix
        self.shows_empty_descriptors = shows_empty_descriptors
        self.counts_aliases = counts_aliases


def _rows(what: str, *names: str) -> tuple[FollowUpRow, ...]:
    return tuple([(name, what) for name in names])


def _of_stages(
    what: str, pattern: str, stages: tuple[str, ...] = _STAGES
) -> tuple[FollowUpRow, ...]:
    return _rows(what, *[pattern.format(stage) for stage in stages])


def _a5xx() -> tuple[FollowUpRow, ...]:
    return (
        *_rows(SCRATCH, *[f"CP_SCRATCH[{number:#x}].REG" for number in range(4, 8)]),
        *_of_stages(LOW_HALF, "SP_{}_OBJ_START_LO"),
        *_of_stages(PROGRAM_5XX, "SP_{}_OBJ_START_HI"),
        *_of_stages(LOW_HALF, "TPL1_{}_TEX_CONST_LO"),
        *_of_stages(TEXTURES_5XX, "TPL1_{}_TEX_CONST_HI"),
        *_of_stages(LOW_HALF, "TPL1_{}_TEX_SAMP_LO"),
        *_of_stages(SAMPLERS_5XX, "TPL1_{}_TEX_SAMP_HI"),
        ("TPL1_TP_BORDER_COLOR_BASE_ADDR_LO", LOW_HALF),
        ("TPL1_TP_BORDER_COLOR_BASE_ADDR_HI", MEMORY_5XX),
    )


_SCRATCH_A2XX = _rows(SCRATCH, *[f"CP_SCRATCH_REG{number}" for number in range(8)])
_PROGRAMS = _of_stages(PROGRAM, "SP_{}_OBJ_START")

_FOLLOW_UPS: dict[int, tuple[FollowUpRow, ...]] = {
    2: _SCRATCH_A2XX,
    3: (
        *_SCRATCH_A2XX,
        ("VSC_SIZE_ADDRESS", MEMORY),
        *_of_stages(MEMORY, "SP_{}_PVT_MEM_ADDR_REG", ("VS", "FS")),
        *_of_stages(PROGRAM, "SP_{}_OBJ_START_REG", ("VS", "FS")),
        ("TPL1_TP_FS_BORDER_COLOR_BASE_ADDR", MEMORY),
    ),
    4: (
        *_rows(SCRATCH, *[f"CP_SCRATCH[{number:#x}].REG" for number in range(8)]),
        *_of_stages(MEMORY, "SP_{}_PVT_MEM_ADDR"),
        *_PROGRAMS,
        *_of_stages(MEMORY, "TPL1_TP_{}_BORDER_COLOR_BASE_ADDR", _STAGES[:5]),
    ),
    5: _a5xx(),
    6: (
        *_rows(SCRATCH, *[f"CP_SCRATCH[{number:#x}].REG" for number in range(4, 8)]),
        *_PROGRAMS,
        *_of_stages(MEMORY, "SP_{}_TEX_CONST"),
        *_of_stages(MEMORY, "SP_{}_TEX_SAMP"),
    ),
    7: _PROGRAMS,
}

_STAGES_A8XX = ("VS", "HS", "DS", "GS", "PS", "CS")
_FOLLOW_UPS_A8XX = (
    *_of_stages(PROGRAM, "SP_{}_BASE", _STAGES_A8XX),
    *_of_stages(TEXTURES, "SP_{}_TEXMEMOBJ_BASE", _STAGES_A8XX),
    *_of_stages(SAMPLERS, "SP_{}_SAMPLER_BASE", _STAGES_A8XX),
    ("SP_GFX_UAV_BASE", STORAGE),
    ("SP_CS_UAV_BASE", STORAGE),
)

#: All records, the oldest first.
EDITIONS = (
    Edition(
        (25, 0),
        CrashDecoder(look_back=12),
        _FOLLOW_UPS,
        shows_empty_descriptors=True,
        counts_aliases=True,
    ),
    Edition(
        (25, 3),
        CrashDecoder(
            look_back=20,
            reads_ring_registers=True,
            marks_places=True,
            skips_finished_ib1=True,
            knows_new_names=True,
            knows_locations=True,
            has_new_control_registers=True,
        ),
        {**_FOLLOW_UPS, 8: _FOLLOW_UPS_A8XX},
        followed=frozenset(("CP_SET_AMBLE",)),
        keeps_radix=True,
    ),
)


def edition_record(directory: str | None) -> Edition:
    """The record of the edition in a directory; None: the bundled one.

    The newest record that is not of a later release than the edition. Editions without a release
    in their name have the bundled edition's.
    """
    if directory is None:
        return EDITIONS[0]
    version = release(edition_name(directory))
    if version is None:
        return EDITIONS[0]
    known = [edition for edition in EDITIONS if edition.release <= version]
    return known[-1] if known else EDITIONS[0]
