# SPDX-License-Identifier: MIT
"""Commands that show the same of each of several captures: files, and folders of them.

One file is shown as it is. Of several, text is headed by the file, CSV has a first column ``file``,
and JSON is one document with a document for each file. JSON lines are objects with a first member
``file``, whether there are several or not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from cffpy.cli.analysis_options import (
    check_one_form,
    decoding_options,
    write_csv,
    write_json,
    write_json_lines,
)
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.text_options import truncation_lines, write_lines
from cffpy.container.folder import captures_in
from cffpy.container.open import one_by_one
from cffpy.errors import CffpyError
from cffpy.views.plain_text import Styled, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from cffpy.api.capture import Capture

_Command = TypeVar("_Command", bound="Callable[..., Any]")

#: The document of several files.
SCHEMA = "cffpy.files/1"


class Shown(NamedTuple):
    """What a command shows of a capture; each form is made when it is written.

    ``schema``: of the document. ``columns``: of the rows. ``code``: the exit code. ``items``: the
    objects of the document's list, for JSON lines.
    """

    capture: Capture
    code: int
    schema: str
    document: Callable[[], dict[str, Any]]
    lines: Callable[[], Iterable[str]]
    columns: Sequence[str] = ()
    rows: Callable[[], Iterable[Sequence[object]]] = tuple
    items: Callable[[], Iterable[dict[str, Any]]] = tuple

    def text(self) -> Iterator[str]:
        """The lines, and what limits left out."""
        yield from self.lines()
        yield from truncation_lines(self.capture.truncated)

    def headed_document(self) -> dict[str, Any]:
        """The document with its schema, and with what limits left out; arrays are lists."""
        cuts = [cut.document() for cut in self.capture.truncated]
        head = {"schema": self.schema, **({"truncated": cuts} if cuts else {})}
        members = self.document().items()
        lists = {name: list(one) if isinstance(one, Iterator) else one for name, one in members}
        return {**head, **lists}


class Forms(NamedTuple):
    """Which form of output was asked for, of those that exclude each other; none: text."""

    as_json: bool = False
    as_jsonl: bool = False
    as_csv: bool = False

    def check(self) -> None:
        """Raise UsageError for several forms."""
        check_one_form(**self._asdict())


def files_options(command: _Command) -> _Command:
    """The argument FILE... and the decoding options."""
    argument = click.argument("files", nargs=-1, required=True, metavar="FILE...")
    return argument(decoding_options(command))


def named_error(path: str, message: str) -> str:
    """The message of an error with the name of the file, where it does not begin with it."""
    return message if message.startswith(path) else f"{path}: {message}"


def is_one_file(files: Sequence[str]) -> bool:
    """Whether one file was given, and no folder."""
    return len(files) == 1 and not os.path.isdir(files[0])


def write_shown(files: Sequence[str], show: Callable[[str], Shown], forms: Forms) -> int:
    """Write what ``show`` returns for each file; the exit code.

    Of several files, errors of one are reported, and the next one follows.
    """
    if is_one_file(files):
        shown = show(files[0])
        if forms.as_json:
            write_json(shown.schema, shown.document(), shown.capture.truncated)
        elif forms.as_jsonl:
            write_json_lines(shown.items(), files[0])
        elif forms.as_csv:
            write_csv(shown.columns, shown.rows())
        else:
            write_lines(shown.lines(), shown.capture.truncated)
        return shown.code
    several = _Several(files, show)
    if forms.as_json:
        write_json(SCHEMA, {"files": several.documents()})
    elif forms.as_jsonl:
        write_json_lines(several.items())
    elif forms.as_csv:
        _write_rows(several)
    else:
        write_lines(several.lines())
    return several.code


class _Several:
    """Shows one capture after another; each is closed before the next one is opened."""

    def __init__(self, files: Sequence[str], show: Callable[[str], Shown]) -> None:
        self._paths = captures_in(files)
        self._show = show
        self.code = EXIT_OK

    def _each(
        self, of: Callable[[Shown], Iterable[Any]]
    ) -> Iterator[tuple[str, Iterable[Any] | None, str]]:
        """Path, what ``of`` makes of the capture, and "" or the error."""
        for path in one_by_one(self._paths):
            shown = None
            try:
                shown = self._show(path)
                self.code = max(self.code, shown.code)
                yield path, of(shown), ""
            except (CffpyError, click.UsageError) as problem:
                message = problem.message if isinstance(problem, click.UsageError) else str(problem)
                message = named_error(path, message)
                print_error(message)
                self.code = EXIT_FAILURE
                yield path, None, message
            finally:
                if shown is not None:
                    shown.capture.close()

    def lines(self) -> Iterator[str]:
        """The lines of each file below its path."""
        gap: tuple[str, ...] = ()
        for path, lines, _ in self._each(Shown.text):
            if lines is not None:
                yield from gap
                yield Styled(f"{visible(path)}:")
                yield from lines
                gap = ("",)

    def documents(self) -> Iterator[dict[str, Any]]:
        """The document of each file, or why there is none."""
        for path, found, error in self._each(lambda shown: (shown.headed_document(),)):
            document = None if found is None else next(iter(found))
            yield {"file": path, "error": error or None, "document": document}

    def items(self) -> Iterator[dict[str, Any]]:
        """The objects of JSON lines, each with its file."""
        for path, items, _ in self._each(lambda shown: shown.items()):
            yield from ({"file": path, **item} for item in items or ())

    def rows(self) -> Iterator[Sequence[object]]:
        """The names of the columns once, then the rows, each with its file."""
        is_first = True
        for path, found, _ in self._each(lambda shown: (shown.columns, shown.rows())):
            if found is not None:
                columns, rows = found
                if is_first:
                    yield ("file", *columns)
                is_first = False
                yield from ((path, *row) for row in rows)


def _write_rows(several: _Several) -> None:
    rows = several.rows()
    columns: Sequence[Any] = next(rows, ("file",))
    write_csv(columns, rows)
