# SPDX-License-Identifier: MIT
"""The state of a bisection as lines and as a JSON document."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated, TypedDict

from cffpy.document_types import Hex

if TYPE_CHECKING:
    from cffpy.analysis.bisect import Try, Verdict

SCHEMA = "cffpy.bisect/1"


_Key = Annotated[str, "what is tried, as in the state file"]
_Text = Annotated[str, "the same in words"]
_WithTry = TypedDict("_WithTry", {"try": _Key})
_WithPass = TypedDict("_WithPass", {"pass": Annotated[int | None, "number of its pass"]})


class AnswerGiven(_WithTry):
    """What was answered of a try."""

    answer: Annotated[str, "good, bad or skip"]


class NextTry(_WithTry):
    """What is tried next."""

    text: _Text
    reason: Annotated[str, "why it is tried, in words"]
    last_draw: Annotated[int | None, "draws of the dump after this one are left out"]
    nops: Annotated[list[int], "draws of the dump that are left out"]
    groups: Annotated[list[int], "numbers of draw state groups that are left out"]
    packets: Annotated[list[Hex], "GPU addresses of packets that are left out"]


class Found(_WithPass):
    """What makes the problem appear."""

    text: _Text
    draw: Annotated[str | None, "the draw by the name that commands take"]
    groups: Annotated[list[int], "numbers of draw state groups without which it is gone"]
    packets: Annotated[list[Hex], "GPU addresses of packets without which it is gone"]
    is_exact: Annotated[bool, "nothing was skipped that could be the cause, too"]


class BisectDocument(TypedDict):
    """A search for what makes a problem appear: cffpy bisect --json."""

    file: Annotated[str, "the capture"]
    answers: Annotated[Sequence[AnswerGiven], "the answers so far, in order"]
    next: Annotated[NextTry | None, "what is tried next; null at the end"]
    found: Annotated[Found | None, "the result; null before the end"]


def lines(answers: Sequence[AnswerGiven], now: Try | Verdict, output: str | None) -> list[str]:
    """The answers so far, and the next try or the result.

    ``answers`` have "try" and "answer". ``output``: the file that the try was written to.
    """
    from cffpy.analysis.bisect import Try

    shown = [f"{answer['try']}: {answer['answer']}" for answer in answers]
    if not isinstance(now, Try):
        return [*shown, f"found: {now.text}"]
    shown += [f"next: {now.text}", f"      {now.reason}"]
    if output is not None:
        shown.append(f"      written to {output}: replay it, then say --good, --bad or --skip")
    return shown


def document(path: str, answers: Sequence[AnswerGiven], now: Try | Verdict) -> BisectDocument:
    """The same for ``--json``; either ``next`` or ``found`` is null."""
    from cffpy.analysis.bisect import Try

    return {
        "file": path,
        "answers": answers,
        "next": _try_document(now) if isinstance(now, Try) else None,
        "found": None if isinstance(now, Try) else _verdict_document(now),
    }


def _try_document(now: Try) -> NextTry:
    return {
        "try": now.key,
        "text": now.text,
        "reason": now.reason,
        "last_draw": now.last,
        "nops": list(now.nops),
        "groups": list(now.groups),
        "packets": [f"{packet:#x}" for packet in now.packets],
    }


def _verdict_document(now: Verdict) -> Found:
    return {
        "text": now.text,
        "pass": now.pass_index,
        "draw": now.draw,
        "groups": list(now.groups),
        "packets": [f"{packet:#x}" for packet in now.packets],
        "is_exact": now.is_exact,
    }
