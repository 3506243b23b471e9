# SPDX-License-Identifier: MIT
"""The state of a bisection as lines and as a JSON document."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.analysis.bisect import Try, Verdict

SCHEMA = "cffpy.bisect/2"


def lines(answers: Sequence[dict[str, str]], now: Try | Verdict, output: str | None) -> list[str]:
    """The answers so far, and the next try or the result.

    ``answers`` have "try" and "answer". ``output``: the file that the try was written to.
    """
    from cffpy.analysis.bisect import Try

    found = [f"{one['try']}: {one['answer']}" for one in answers]
    if not isinstance(now, Try):
        return [*found, f"found: {now.text}"]
    found += [f"next: {now.text}", f"      {now.reason}"]
    if output is not None:
        found.append(f"      written to {output}: replay it, then say --good, --bad or --skip")
    return found


def document(path: str, answers: Sequence[dict[str, str]], now: Try | Verdict) -> dict[str, Any]:
    """The same for ``--json``; either ``next`` or ``found`` is null."""
    from cffpy.analysis.bisect import Try

    return {
        "file": path,
        "answers": answers,
        "next": _try_document(now) if isinstance(now, Try) else None,
        "found": None if isinstance(now, Try) else _verdict_document(now),
    }


def _try_document(now: Try) -> dict[str, Any]:
    return {
        "try": now.key,
        "text": now.text,
        "reason": now.reason,
        "last_draw": now.last,
        "nops": list(now.nops),
        "groups": list(now.groups),
        "packets": [f"{one:#x}" for one in now.packets],
    }


def _verdict_document(now: Verdict) -> dict[str, Any]:
    return {
        "text": now.text,
        "pass": now.pass_index,
        "draw": now.draw,
        "groups": list(now.groups),
        "packets": [f"{one:#x}" for one in now.packets],
        "is_exact": now.is_exact,
    }
