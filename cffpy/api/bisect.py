# SPDX-License-Identifier: MIT
"""bisect: find the draw with which a problem appears, judged by a function.

found = cffpy.bisect("hang.rd.gz", lambda capture: replay(capture) != 0)
print(found.text, found.draw, found.groups)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.analysis.bisect import Bisection, Try, Verdict
from cffpy.analysis.crash.opening import check_capture
from cffpy.api.arguments import expect_callable, given_edition, given_gpu
from cffpy.api.capture import read_content
from cffpy.capture.gpu import Gpu

if TYPE_CHECKING:
    import os
    from collections.abc import Callable, Mapping
    from typing import BinaryIO

    from cffpy.limits import Limits

__all__ = ("Verdict", "bisect")


def bisect(
    source: str | os.PathLike[str] | bytes | bytearray | memoryview | BinaryIO,
    is_bad: Callable[[bytes], bool | None],
    *,
    gpu: str | int | Gpu | None = None,
    register_db: str | None = None,
    limits: Limits | Mapping[str, int] | None = None,
) -> Verdict:
    """Find the pass, draw, draw-state group and packet with which a problem appears.

    ``is_bad`` gets the bytes of a capture (.rd) with fewer passes, draws, groups or packets, and
    returns whether the problem is there; None: it cannot be told. The capture itself is taken to
    have it. The result has ``text``, ``pass_index``, ``draw`` (as in "p0:8"), ``groups``,
    ``packets`` (GPU addresses) and ``is_exact``.
    The other arguments are those of ``open``.

    Raises what ``open`` raises, CaptureError where there are no draws, and what ``is_bad`` raises.
    """
    expect_callable("is_bad", is_bad)
    content = check_capture(read_content(source, limits))
    directory, given = given_edition(register_db, knows_auto=True), given_gpu(gpu)
    search = Bisection(content, directory, given)
    answers: list[bool | None] = []
    while isinstance(now := search.next(answers), Try):
        answers.append(is_bad(search.capture(now)[0]))
    return now
