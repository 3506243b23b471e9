# SPDX-License-Identifier: MIT
"""``cffpy.report``: the page of a capture, as ``cffpy report`` writes it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

from cffpy.api.arguments import expect_callable, expect_path
from cffpy.api.capture import expect_capture
from cffpy.errors import CffpyError
from cffpy.reports.document import document
from cffpy.reports.words import plain

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.api.capture import Capture


class Report:
    """What the page of a capture shows."""

    def __init__(self, found: dict[str, Any], start: tuple[int, int | None] | None = None) -> None:
        """``found``: the document of ``cffpy.reports.document``.

        ``start``: the pass, and its draw, that the page shows first.
        """
        self._document = found
        self._start = start

    def page(self) -> bytes:
        """The page of ``cffpy report``, in UTF-8: one HTML file that needs nothing else."""
        return b"".join(self.pieces())

    def pieces(self) -> list[bytes]:
        """The page in pieces."""
        from cffpy.views.report_html.page import page_pieces

        return page_pieces(self._document, start=self._start)

    def to_dict(self) -> dict[str, Any]:
        """The document of ``cffpy report --json``, without its schema."""
        return {name: plain(part) for name, part in self._document.items()}

    @property
    def cut(self) -> list[str]:
        """What was left out, as text."""
        cut: list[str] = self._document["cut"]
        return cut

    def __repr__(self) -> str:
        passes, draws = (
            len(self._document["passes"]),
            sum(one["rows"][1] for one in self._document["passes"]),
        )
        return f"<Report: {passes} passes, {draws} draws>"


def report(
    capture: Capture,
    path: str | os.PathLike[str] | None = None,
    *,
    compare: Capture | None = None,
    progress: Callable[[str], None] | None = None,
) -> Report:
    """Make the report of a capture, and write its page to ``path`` if one is given.

    ``compare``: another capture; the report shows what differs from it. ``progress`` is called with
    the name of each step. Raises CaptureError where the capture has no commands, CffpyError if the
    file cannot be written.
    """
    expect_capture("capture", capture)
    if compare is not None:
        expect_capture("compare", compare)
    if path is not None:
        expect_path("path", path)
    if progress is not None:
        expect_callable("progress", progress)
    found = Report(document(capture, compare, progress or (lambda _step: None)))
    if path is not None:
        try:
            with open(path, "wb") as file:
                file.writelines(found.pieces())
        except OSError as problem:
            raise CffpyError(f"{os.fspath(path)}: {problem.strerror or problem}") from None
    return found
