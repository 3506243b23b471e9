# SPDX-License-Identifier: MIT
"""The part of a report that is made of the registers at all draws, by a walk of its own.

A large capture has it made in a child process: registers, and what draws have bound, need as much
memory each as the capture itself.
"""

from __future__ import annotations

from array import array
from itertools import chain, islice
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.register_store.columns import RegisterWrites
from cffpy.reports.draws import MAX_DRAWS
from cffpy.reports.passes import MAX_PASSES
from cffpy.reports.registers import register_columns
from cffpy.reports.vertices import AttributeSets, DrawAttributes
from cffpy.reports.words import Cuts

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.api.capture import Capture
    from cffpy.frame.submit import Problem
    from cffpy.limits import Truncation


class RegisterPart(NamedTuple):
    """``registers`` and ``dump`` of the document, as the caller wants them.

    ``cuts``: what was left out. ``problems``, ``truncated``: of the capture, by then.
    """

    registers: object
    dump: object
    attributes: DrawAttributes
    cuts: list[str]
    problems: list[Problem]
    truncated: list[Truncation]

    def report_problems(self, capture: Capture) -> None:
        """Have the problems reported with those of what a capture finds itself, before them."""
        capture.problems_so_far.extend(self.problems)
        capture.content.note_truncated(self.truncated)


def register_part(capture: Capture, keep: Callable[[object], object]) -> RegisterPart:
    """Decode the commands; nothing else uses the capture. ``keep``: makes a member of the result.

    Raises CaptureError where the capture has no commands.
    """
    cuts, writes = Cuts(), RegisterWrites()
    capture.walk_registers(writes.add)
    orders, attributes = _draws(capture)
    registers: object = {"types": [], "columns": [], "writes": None}
    dump: object = None
    if orders:
        registers, dump = register_columns(capture, orders, cuts, releases=True, found=writes)
    del writes
    kept = keep(registers), keep(dump)
    problems = list(capture.problems_so_far)
    return RegisterPart(*kept, attributes, cuts.texts, problems, list(capture.truncated))


def _draws(capture: Capture) -> tuple[dict[int, int], DrawAttributes]:
    """``Action.order`` of each draw -> its number in the report; their attributes."""
    orders: dict[int, int] = {}
    sets, numbers = AttributeSets(capture), array("i")
    draws = chain.from_iterable(one.draws for one in capture.passes[:MAX_PASSES])
    for draw in islice(draws, MAX_DRAWS):
        orders[draw.order] = len(orders)
        numbers.append(sets.add(draw))
    return orders, DrawAttributes(numbers, sets.documents())
