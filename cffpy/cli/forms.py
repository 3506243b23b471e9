# SPDX-License-Identifier: MIT
"""Forms of output: text, ``--json``, ``--jsonl``, ``--csv``, of one capture or of several.

One file is shown as it is. Of several, text is headed by the file, CSV has a first column ``file``,
and JSON is one document with a document for each file. JSON lines are objects with a first member
``file``, whether there are several or not.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import chain, islice
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, TypedDict

import click

from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, PagedOutput, print_error, write_all
from cffpy.cli.text_options import truncation_lines, write_lines
from cffpy.container.kinds import captures_in
from cffpy.container.open import one_by_one
from cffpy.document_types import Facts, Values
from cffpy.errors import CffpyError
from cffpy.views.plain_text import Styled, headed_columns, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from cffpy.api.capture import Capture
    from cffpy.api.selection import Found
    from cffpy.limits import Truncation

_CHARACTERS_AT_ONCE = 1 << 18

#: Rows of CSV that are written together.
_ROWS_AT_ONCE = 1 << 6

#: The document of several files.
SCHEMA = "cffpy.files/1"
#: The documents of ``--columns``.
COLUMNS_SCHEMA, COLUMNS_LINE_SCHEMA = "cffpy.columns/1", "cffpy.columns.line/1"


class FileDocument(TypedDict):
    """What a command shows of one file."""

    file: Annotated[str, "the file"]
    error: Annotated[str | None, "why it could not be read"]
    document: Annotated[Facts | None, "the document of the file; its first member is its schema"]


class FilesDocument(TypedDict):
    """Several files: --json of cffpy draws, passes, tiles, state."""

    files: Annotated[list[FileDocument], "an object for each file"]


_Label = TypedDict(
    "_Label",
    {
        "draw": Annotated[str, "the draw, by the name that commands take"],
        "pass": Annotated[str, "number of the pass"],
        "tile": Annotated[str, "number of the tile"],
    },
    total=False,
)


class ColumnsRow(_Label):
    """The values of a draw, pass or tile."""

    values: Annotated[Values, "the values by the names of the columns"]


class ColumnsDocument(TypedDict):
    """Values of names: --columns --json of cffpy draws, passes, tiles."""

    columns: Annotated[list[str], "what rows are of, and the names"]
    rows: Annotated[list[ColumnsRow], "an object for each draw, pass or tile"]


class Result(NamedTuple):
    """What a command says, in each of its forms, which is made when it is written.

    ``schema``: of the document. ``columns``: of the rows. ``items``: the objects of JSON lines.
    ``truncated``: what limits left out.
    """

    schema: str
    document: Callable[[], Mapping[str, object]]
    lines: Callable[[], Iterable[str]]
    columns: Callable[[], Sequence[str]] = tuple
    rows: Callable[[], Iterable[Sequence[object]]] = tuple
    items: Callable[[], Iterable[Mapping[str, object]]] = tuple
    truncated: Callable[[], Sequence[Truncation]] = tuple


class Shown(NamedTuple):
    """What a command says of a capture, and the exit code for what is wrong with it."""

    capture: Capture
    code: int
    result: Result

    def text(self) -> Iterator[str]:
        """The lines, and what limits left out."""
        yield from self.result.lines()
        yield from truncation_lines(self.capture.truncated)

    def headed_document(self) -> dict[str, Any]:
        """The document with its schema, and with what limits left out; arrays are lists."""
        cuts = [cut.document() for cut in self.capture.truncated]
        head = {"schema": self.result.schema, **({"truncated": cuts} if cuts else {})}
        members = self.result.document().items()
        lists = {name: list(one) if isinstance(one, Iterator) else one for name, one in members}
        return {**head, **lists}


def write_result(result: Result, form: str, file: str | None = None) -> int:
    """Write a result in a form: "json", "jsonl", "csv", else as text; the exit code 0.

    ``file``: the first member of JSON lines, if it is given.
    """
    if form == "json":
        write_json(result.schema, result.document(), result.truncated())
    elif form == "jsonl":
        write_json_lines(result.items(), file)
    elif form == "csv":
        write_csv(result.columns(), result.rows())
    else:
        write_lines(result.lines(), result.truncated())
    return EXIT_OK


def write_json(
    schema: str, document: Mapping[str, object], truncated: Sequence[Truncation] = ()
) -> None:
    """Write one JSON document; its first member names the schema and version.

    ``truncated``: what limits left out. Without any, the document has no such member.
    """
    from cffpy.cli.json_text import json_pieces

    head: dict[str, Any] = {"schema": schema}
    if truncated:
        head["truncated"] = [cut.document() for cut in truncated]
    with PagedOutput(pager=False) as stream:
        for piece in json_pieces({**head, **document}):
            write_all(stream, piece.encode())
        write_all(stream, b"\n")


def write_json_lines(objects: Iterable[Mapping[str, object]], file: str | None = None) -> None:
    """Write a JSON object a line. ``file``: the first member of each, if it is given."""
    from cffpy.cli.json_text import json_text

    head = {} if file is None else {"file": file}
    waiting: list[str] = []
    length = 0
    with PagedOutput(pager=False) as stream:
        for one in objects:
            line = json_text({**head, **one}) + "\n"
            waiting.append(line)
            length += len(line)
            if length >= _CHARACTERS_AT_ONCE:
                write_all(stream, "".join(waiting).encode())
                waiting.clear()
                length = 0
        write_all(stream, "".join(waiting).encode())


def write_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write a table: column names, then the rows. None is an empty cell.

    Control characters are shown as in all text.
    """
    all_rows = chain((columns,), rows)
    with PagedOutput(pager=False) as stream:
        while some := list(islice(all_rows, _ROWS_AT_ONCE)):
            text = _csv_text(some)
            if text.count("\n") > len(some) or not text.replace("\n", "").isprintable():
                text = _csv_text(
                    [visible(cell) if isinstance(cell, str) else cell for cell in row]
                    for row in some
                )
            write_all(stream, text.encode("utf-8", "backslashreplace"))


def _csv_text(rows: Iterable[Sequence[object]]) -> str:
    import csv
    from io import StringIO

    text = StringIO()
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def shown_columns(
    what: str, chosen: Sequence[tuple[str, Found]], names: str, capture: Capture, code: int
) -> Shown:
    """A table of the columns ``names``; ``what``: the heading of the first column."""
    headings = [what, *(name.strip() for name in names.split(","))]

    def items() -> Iterator[dict[str, Any]]:
        for label, found in chosen:
            yield {what: label, "values": {one.name: one.value for one in found.columns}}

    def rows() -> Iterator[Sequence[str]]:
        return ((name, *(one.text for one in f.columns)) for name, f in chosen)

    def lines() -> Iterator[str]:
        table = [headings]
        table += [[name, *(visible(one.text) for one in f.columns)] for name, f in chosen]
        return iter(headed_columns(table))

    result = Result(
        COLUMNS_SCHEMA,
        lambda: {"columns": headings, "rows": items()},
        lines,
        lambda: headings,
        rows,
        items,
    )
    return Shown(capture, code, result)


def named_error(path: str, message: str) -> str:
    """The message of an error with the name of the file, where it does not begin with it."""
    return message if message.startswith(path) else f"{path}: {message}"


def is_one_file(files: Sequence[str]) -> bool:
    """Whether one file was given, and no folder."""
    return len(files) == 1 and not os.path.isdir(files[0])


def write_shown(files: Sequence[str], show: Callable[[str], Shown], form: str) -> int:
    """Write what ``show`` returns for each file; the exit code.

    Of several files, errors of one are reported, and the next one follows.
    """
    if is_one_file(files):
        capture, code, result = show(files[0])
        write_result(result._replace(truncated=lambda: capture.truncated), form, files[0])
        return code
    several = _Several(files, show)
    if form == "json":
        write_json(SCHEMA, {"files": several.documents()})
    elif form == "jsonl":
        write_json_lines(several.items())
    elif form == "csv":
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
        for path, items, _ in self._each(lambda shown: shown.result.items()):
            yield from ({"file": path, **item} for item in items or ())

    def rows(self) -> Iterator[Sequence[object]]:
        """The names of the columns once, then the rows, each with its file."""
        is_first = True
        for path, found, _ in self._each(_table):
            if found is not None:
                columns, rows = found
                if is_first:
                    yield ("file", *columns)
                is_first = False
                yield from ((path, *row) for row in rows)


def _table(shown: Shown) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
    return shown.result.columns(), shown.result.rows()


def _write_rows(several: _Several) -> None:
    rows = several.rows()
    columns: Sequence[Any] = next(rows, ("file",))
    write_csv(columns, rows)
