# SPDX-License-Identifier: MIT
"""A lint of another package: submits with more render passes than a limit."""

from __future__ import annotations

from collections.abc import Iterator

from cffpy.check.model import CheckedCapture, Report, lint

_MOST = 100


@lint("EXA001", "info")
def many_passes(capture: CheckedCapture) -> Iterator[Report]:
    """A submit has many render passes.

    Reported is the first pass beyond a hundred.

    Why: Each pass loads and stores its attachments.

    Advice: Merge passes that render to the same attachments.
    """
    counts: dict[int, int] = {}
    for pass_ in capture.render_passes():
        counts[pass_.submit] = counts.get(pass_.submit, 0) + 1
        if counts[pass_.submit] == _MOST + 1:
            text = f"submit {pass_.submit} has more than {_MOST} render passes"
            yield Report(text, pass_.submit, pass_.first, pass_)
