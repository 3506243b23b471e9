# SPDX-License-Identifier: MIT
"""The rules of a comparison: what differences are about, and which are counted instead of shown.

What each register is for stands in the register database (``about``, ``role``, ``engine``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal

from cffpy.analysis.inputs.vertex_buffers import COUNTS
from cffpy.regdb.subjects import RegisterSubject

RuleName = Literal[
    "addresses",
    "scratch",
    "gmem",
    "tiles",
    "engines",
    "unused",
    "inherited",
    "barriers",
    "timestamps",
    "written",
    "blocks",
    "skipped",
    "pipes",
    "overwritten",
    "unread",
    "uncaptured",
    "uncompared",
]


@dataclass(frozen=True, slots=True)
class Rule:
    """A named rule by which differences are counted instead of shown.

    ``counted``: what they are, of one and of several. ``meaning``: when the rule holds.
    ``is_decided``: they have no effect; else the captures do not tell whether they have one.
    """

    name: RuleName
    counted: tuple[str, str]
    meaning: str
    is_decided: bool = True

    def text(self, number: int) -> str:
        """``12 timestamps``."""
        return f"{number:,} {self.counted[number != 1]}"


_RULES = (
    Rule(
        "addresses",
        ("address that moved together with others", "addresses that moved together"),
        "addresses that play the same role in both captures",
    ),
    Rule(
        "scratch",
        ("scratch register", "scratch registers"),
        "scratch registers, performance counters, debug marks of the driver",
    ),
    Rule(
        "gmem",
        ("place in GMEM", "places in GMEM"),
        "where attachments lie in GMEM, where the tiles differ",
    ),
    Rule(
        "tiles",
        ("register of tiles", "registers of tiles"),
        "registers that drivers set for each tile or bin, where the tiles differ",
    ),
    Rule(
        "engines",
        ("register that the command does not use", "registers that the command does not use"),
        "registers that the kind of command does not use: of the 2D engine, of dispatches at draws,"
        " of draws at dispatches",
    ),
    Rule(
        "unused",
        ("unused descriptor or element", "unused descriptors and elements"),
        "descriptors of bindless sets, and bases of sets, that no instruction of the draw's shaders"
        " names; elements of arrays of registers after those in use",
    ),
    Rule(
        "inherited",
        ("value left over", "values left over"),
        "values left over from earlier passes, reported there; registers that only one of two modes"
        " or generations has",
    ),
    Rule(
        "barriers",
        ("wait or command of another mode", "waits and commands of another mode"),
        "waits, cache events and other commands between draws where the modes of the passes differ",
    ),
    Rule(
        "timestamps",
        ("timestamp", "timestamps"),
        "values that events write and that waits compare, to tell how far the GPU is",
    ),
    Rule(
        "written",
        ("value that commands write to memory", "values that commands write to memory"),
        "data of packets that write to memory: what is read there is compared",
    ),
    Rule(
        "blocks",
        ("size of a conditional block", "sizes of conditional blocks"),
        "sizes of conditional blocks: what they execute is compared",
    ),
    Rule(
        "skipped",
        ("packet that does nothing", "packets that do nothing"),
        "contents of CP_NOP; loads of descriptors of bindless sets, which only fill a cache",
    ),
    Rule(
        "pipes",
        ("action of a pipe that is not named", "actions of a pipe that is not named"),
        "actions that BR executes in one capture, and of which the other does not name the pipe",
    ),
    Rule(
        "overwritten",
        ("value that is overwritten", "values that are overwritten"),
        "values of registers that are overwritten before an action uses them: only events between"
        " could see them",
    ),
    Rule(
        "unread",
        ("register written after the last action", "registers written after the last action"),
        "values that registers get after the last action: only events there could see them",
    ),
    Rule(
        "uncaptured",
        ("difference in what was not captured", "differences in what was not captured"),
        "contents that one of the captures does not hold, and values that only the GPU knows",
        is_decided=False,
    ),
    Rule(
        "uncompared",
        ("part that is not compared", "parts that are not compared"),
        "registers of tiles that limits keep no record of, or whose order differs too often",
        is_decided=False,
    ),
)

#: All rules, by their names.
RULES: dict[RuleName, Rule] = {rule.name: rule for rule in _RULES}

#: The registers of those fields.
COUNTERS = frozenset(register for fields in COUNTS.values() for register, _ in fields)

#: Kind of command -> the engines whose registers it uses.
_USES: dict[str, frozenset[str]] = {
    "draw": frozenset(("draw", "shaders", "any")),
    "dispatch": frozenset(("dispatch", "shaders", "any")),
    "blit": frozenset(("blit", "any")),
    "resolve": frozenset(("blit", "any")),
}


@dataclass(frozen=True, slots=True)
class RegisterCase:
    """A register that differs between two commands, as the rules see it."""

    subject: RegisterSubject
    #: ``draw``, ``dispatch``, ``blit`` or ``resolve``, which is an event.
    kind: str
    #: By its type, or by its role.
    is_address: bool
    #: Whether both passes are cut into the same tiles.
    is_laid_out_alike: bool
    #: Whether both captures have written it.
    is_in_both: bool
    #: Whether both generations have it.
    is_of_both_generations: bool = True
    #: Whether it is an element of an array after those that the command uses.
    is_behind_count: bool = False
    #: Whether it is the base of a set of descriptors that no instruction of the draw names.
    is_of_unused_set: bool = False
    #: Whether both are draws in tiles that a fragment density map scales.
    is_scaled_by_tile: bool = False
    #: Whether the same two values, by the same packets, were reported at earlier draws.
    is_reported: bool = False


@dataclass(frozen=True, slots=True)
class RegisterRule:
    """When a rule holds for a difference of a register."""

    name: str
    rule: RuleName
    holds: Callable[[RegisterCase], bool]


#: The first rule that holds counts.
REGISTER_RULES: tuple[RegisterRule, ...] = (
    RegisterRule(
        "the command does not use the register",
        "engines",
        lambda case: not is_used(case.subject, case.kind),
    ),
    RegisterRule("scratch", "scratch", lambda case: "scratch" in case.subject.roles),
    RegisterRule("after the elements in use", "unused", lambda case: case.is_behind_count),
    RegisterRule("base of a set that is not used", "unused", lambda case: case.is_of_unused_set),
    RegisterRule(
        "offset in GMEM, and the tiles differ",
        "gmem",
        lambda case: "gmem" in case.subject.roles and not case.is_laid_out_alike,
    ),
    RegisterRule(
        "set for each tile, and the tiles differ",
        "tiles",
        lambda case: "tile" in case.subject.roles and not case.is_laid_out_alike,
    ),
    RegisterRule(
        "scaled for each tile, and the tiles differ",
        "tiles",
        lambda case: (
            case.is_scaled_by_tile
            and not case.is_laid_out_alike
            and register_category(case.subject).name in ("viewport", "scissor")
        ),
    ),
    RegisterRule(
        "only one of the two generations has it",
        "inherited",
        lambda case: not case.is_in_both and not case.is_of_both_generations,
    ),
    RegisterRule(
        "written in one capture only, and the modes differ",
        "inherited",
        lambda case: not case.is_in_both and not case.is_laid_out_alike,
    ),
    RegisterRule("reported at earlier draws", "inherited", lambda case: case.is_reported),
    RegisterRule(
        "address, compared by what lies there",
        "addresses",
        lambda case: case.is_address and case.is_in_both,
    ),
)


def rule_of(case: RegisterCase) -> RuleName | None:
    """The rule that holds for a difference of a register, or None where it is shown."""
    return next((rule.rule for rule in REGISTER_RULES if rule.holds(case)), None)


def is_read(name: str, kind: str) -> bool:
    """Whether a register may be read by commands of this kind: by LRZ_CLEAR events few are."""
    return kind != "lrz clear" or name.startswith("GRAS_LRZ_")


def is_used(subject: RegisterSubject, kind: str) -> bool:
    """Whether commands of this kind use a register."""
    return (subject.engine or "draw") in _USES.get(kind, _USES["draw"])


_HIDDEN_ROLES = frozenset(("scratch", "gmem", "tile"))


def is_program_state(subject: RegisterSubject, kind: str) -> bool:
    """Whether a register is state that a program sets for such a command."""
    return is_used(subject, kind) and not _HIDDEN_ROLES.intersection(subject.roles)


#: What differences are about.
CategoryName = Literal[
    "pass",
    "targets",
    "mode",
    "load, clear and store",
    "draw parameters",
    "shader",
    "texture",
    "sampler",
    "storage",
    "uniform data",
    "push constants",
    "constants",
    "uniform buffer",
    "vertex data",
    "index data",
    "blend",
    "depth and stencil",
    "colour mask",
    "rasterizer",
    "samples",
    "descriptor",
    "loaded program",
    "viewport",
    "scissor",
    "vertex input",
    "tiles",
    "UBWC",
    "barriers",
    "image",
    "address",
    "other",
    "instructions",
    "lrz",
]


@dataclass(frozen=True, slots=True)
class Category:
    """What a difference is about; a lower rank comes first in a report.

    ``derived``: drivers work it out from other state, so it follows from another difference.
    """

    name: CategoryName
    rank: int
    derived: bool = False


OTHER = Category("other", 60)

#: Topic of the register database, and whether it is derived -> category.
TOPICS: dict[tuple[str, bool], Category] = {
    ("push_constants", False): Category("push constants", 6),
    ("blend", False): Category("blend", 10),
    ("blend", True): Category("blend", 15, True),
    ("depth_stencil", False): Category("depth and stencil", 11),
    ("colour_mask", False): Category("colour mask", 12),
    ("rasterizer", False): Category("rasterizer", 13),
    ("samples", False): Category("samples", 14),
    ("viewport", False): Category("viewport", 20),
    ("viewport", True): Category("viewport", 22, True),
    ("scissor", False): Category("scissor", 21),
    ("vertex_input", False): Category("vertex input", 25),
    ("targets", False): Category("targets", 30),
    ("tiles", True): Category("tiles", 35, True),
    ("ubwc", False): Category("UBWC", 40),
    ("texture_layout", True): Category("texture", 41, True),
    ("instructions", True): Category("instructions", 70, True),
    ("lrz", True): Category("lrz", 80, True),
}


def register_category(subject: RegisterSubject, field: str = "") -> Category:
    """What a register is about, or one field of it."""
    own = subject.fields.get(field)
    if own is not None and own[0] is not None:
        return TOPICS.get((own[0], own[1]), OTHER)
    return TOPICS.get((subject.topic or "", subject.derived), OTHER)


def is_address_field(subject: RegisterSubject, field: str) -> bool:
    """Whether a field of a register or of a descriptor holds an address."""
    own = subject.fields.get(field)
    return own is not None and "address" in own[2]


#: Another image is used where both captures use one. It comes late: allocations may have moved.
IMAGES = Category("image", 50)

#: Another buffer is used; what lies there is not the same, or not captured.
ADDRESSES = Category("address", 51)


def descriptor_category(kind: str, subject: RegisterSubject, field: str) -> Category:
    """What a field of a descriptor is about. ``kind``: the first part of its fact's key."""
    if kind == "texture":
        topic, derived, _ = subject.fields.get(field, (None, False, ()))
        if topic is None and not subject.fields:
            topic, derived = subject.topic, subject.derived
        if topic is not None:
            return TOPICS[topic, derived]
    return FACT_CATEGORIES.get(kind, OTHER)


#: Categories of facts, by the first part of their keys.
FACT_CATEGORIES = {
    "draw": Category("draw parameters", 2),
    "indirect parameters": Category("draw parameters", 2),
    "shader": Category("shader", 3),
    "loaded program": Category("loaded program", 16),
    "texture": Category("texture", 4),
    "sampler": Category("sampler", 4),
    "storage": Category("storage", 4),
    "storage size": Category("storage", 4),
    "storage address": Category("storage", 4),
    "uniform data": Category("uniform data", 5),
    "push constants": Category("push constants", 6),
    "constants": Category("constants", 7),
    "uniform buffer": Category("uniform buffer", 8),
    "vertex buffer": Category("vertex data", 9),
    "index buffer": Category("index data", 9),
    "descriptor": Category("descriptor", 15),
    "barriers": Category("barriers", 40),
    "write of": Category("barriers", 40),
    "commands": Category("barriers", 41),
}
