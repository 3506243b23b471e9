# SPDX-License-Identifier: MIT
"""Forms of output: what a command declares of them, and the only writers of each.

A command declares its forms by ``asks(forms=...)`` and writes a Result by ``write_result``: text,
one JSON document, JSON lines, CSV, or a form of few commands. Lines and objects are written as they
are made. Data goes to standard output, or to the file that the option of the form names.

Of several captures (``write_shown``) text is headed by the file, CSV has a first column ``file``,
and JSON is one document with a document for each file. JSON lines are objects with a first member
``file``, whether there are several or not.

Colour, pager and width are options of all commands that print text; the writers read them from the
click context, so commands need not pass them on.
"""

from __future__ import annotations

import os
import stat
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, Protocol, TypedDict, TypeVar

import click

from cffpy.cli.output import (
    EXIT_FAILURE,
    EXIT_OK,
    PagedOutput,
    is_terminal,
    print_error,
    use_colour,
    write_all,
)
from cffpy.container.kinds import captures_in
from cffpy.container.open import one_by_one
from cffpy.document_types import Facts, Values
from cffpy.errors import CffpyError
from cffpy.output_files import written_file
from cffpy.views.plain_text import Painted, Styled, folded, headed_columns, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from types import TracebackType

    from cffpy.api.capture import Capture
    from cffpy.frame.objects import Found
    from cffpy.limits import Truncation
    from cffpy.row_readers import BytesLike

_Command = TypeVar("_Command", bound="Callable[..., Any]")
_Content = TypeVar("_Content")

#: Where a command's context keeps what was given.
_GIVEN = f"{__name__}.given"

_LINES_AT_ONCE = 4096

#: Among lines or objects: what came before is written at once, as at the end of a file.
LINES_SO_FAR: str = Styled("")
OBJECTS_SO_FAR: Mapping[str, object] = {}

#: SGR parameters of the styles of lines.
_STYLES = {
    "bold": "1",
    "bold yellow": "1;33",
    "dim": "2",
    "dim italic": "2;3",
    "red": "31",
    "yellow": "33",
}


class TextOptions(NamedTuple):
    """What the user asked for; None where it depends on whether the output is a terminal."""

    color: bool | None = None
    pager: bool | None = None
    wide: bool = False


def _keep(context: click.Context, parameter: click.Parameter, value: bool | None) -> None:
    given = context.meta.get(_GIVEN, TextOptions())
    if value is not None:
        context.meta[_GIVEN] = given._replace(**{str(parameter.name): value})


def text_options(command: _Command) -> _Command:
    """Give a command ``--color``, ``--pager`` and ``--wide``."""
    for names, text in (
        (("--wide",), "Do not fold lines to the width of the terminal."),
        (("--pager/--no-pager",), "Use a pager, or not (default: on a terminal)."),
        (("--color/--no-color",), "Use colour, or not (default: on a terminal)."),
    ):
        decorate = click.option(
            *names,
            is_flag=True,
            default=None,
            callback=_keep,
            expose_value=False,
            help=text,
        )
        command = decorate(command)
    return command


def given_text_options() -> TextOptions:
    """The options of the command that runs."""
    context = click.get_current_context(silent=True)
    given: TextOptions = (
        TextOptions() if context is None else context.meta.get(_GIVEN, TextOptions())
    )
    return given


def _terminal_columns() -> int:
    from shutil import get_terminal_size  # lazy: for terminals only

    return get_terminal_size().columns


def rendered(lines: Iterable[str]) -> Iterator[str]:
    """The lines as they are shown: folded to the terminal's width, with colour if it is used."""
    given = given_text_options()
    colour = use_colour(given.color)
    fits = given.wide or not is_terminal(sys.stdout)
    width = 0 if fits else _terminal_columns()
    for line in lines:
        if line is LINES_SO_FAR:
            yield line
            continue
        if colour and isinstance(line, Painted) and not 0 < width < len(line):
            yield painted(line)
            continue
        style = _STYLES.get(line.style) if colour and isinstance(line, Styled) else None
        for part in folded(line, width) if width else (line,):
            yield part if style is None else f"\x1b[{style}m{part}\x1b[0m"


def painted(line: Painted) -> str:
    """The line with the colours of its parts, as far as the terminal has them."""
    from cffpy.cli.paint import paint  # lazily: rich takes 20 ms

    return paint(line)


def write_lines(lines: Iterable[str], truncated: Iterable[Truncation] = ()) -> None:
    """Write lines of text to standard output, through a pager on a terminal.

    ``truncated``: what limits left out, written as a line each at the end.
    """
    with PagedOutput(given_text_options().pager is not False) as stream:
        chunk: list[str] = []
        for line in rendered(chain(lines, truncation_lines(truncated))):
            is_line = line is not LINES_SO_FAR
            if is_line:
                chunk.append(line)
            if len(chunk) >= _LINES_AT_ONCE or not is_line:
                write_all(stream, _encoded(chunk))
                chunk.clear()
        write_all(stream, _encoded(chunk))


def write_page(text: bytes) -> None:
    """Write a text that is laid out already, through a pager on a terminal."""
    with PagedOutput(given_text_options().pager is not False) as stream:
        write_all(stream, text)


def truncation_lines(truncated: Iterable[Truncation]) -> Iterator[str]:
    """A line for each thing that a limit left out."""
    return (f"truncated: {visible(str(cut))}" for cut in truncated)


def _encoded(lines: list[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


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


class Forms(NamedTuple):
    """The forms of output, besides text, that a command has.

    ``item``: what a row of CSV or an object of ``--jsonl`` is of. ``json``, ``jsonl``: the schema
    of the document or of an object; "" without that form. ``plot``, ``svg``: what is drawn.
    ``html``: a page. ``others``: options that the command declares itself and that are forms, too.
    """

    item: str = ""
    json: str = ""
    jsonl: str = ""
    csv: bool = False
    plot: str = ""
    svg: str = ""
    html: bool = False
    others: Sequence[str] = ()

    def options(self) -> list[Callable[[_Command], _Command]]:
        """The options of all but ``others``."""
        stdout = "('-': standard output)"
        rows = [
            (self.plot, "--plot", f"Draw {self.plot} with characters."),
            (self.json, "--json", f"Print one JSON document ({self.json})."),
            (self.jsonl, "--jsonl", f"Print an object for each {self.item} ({self.jsonl})."),
            (self.csv, "--csv", f"Print CSV with a row for each {self.item}."),
        ]
        files = [
            (self.svg, "--svg", "OUT.svg", f"Draw {self.svg} to this SVG file {stdout}."),
            (self.html, "--html", "OUT.html", f"Write an HTML page to this file {stdout}."),
        ]
        options: list[Callable[[_Command], _Command]] = []
        for is_there, name, text in rows:
            if is_there:
                parameter = name[2:] if name == "--plot" else f"as_{name[2:]}"
                options.append(click.option(name, parameter, is_flag=True, help=text))
        for is_there, name, metavar, text in files:
            if is_there:
                options.append(click.option(name, metavar=metavar, help=text))
        return options

    def chosen(self, given: dict[str, Any]) -> tuple[str, str | None]:
        """The form of the options, "text" without any, and the file that it is written to.

        Takes the options out of ``given``. Raises click.UsageError for several.
        """
        flags = [(name, given.pop(f"as_{name}", False)) for name in ("json", "jsonl", "csv")]
        drawn = [name for name in ("plot", "svg", "html") if getattr(self, name)]
        flags += [(name, given.pop(name)) for name in (*drawn, *self.others)]
        forms = [(name, value) for name, value in flags if value not in (None, False)]
        if len(forms) > 1:
            raise click.UsageError(f"--{forms[0][0]} and --{forms[1][0]} cannot be used together")
        name, value = forms[0] if forms else ("text", None)
        return name, value if isinstance(value, str) else None


NO_FORMS = Forms()


class Asked(Protocol):
    """What a Question says of the form of output."""

    @property
    def form(self) -> str:
        """Its name: "text", "json" and so on."""

    @property
    def output(self) -> str | None:
        """The file that it is written to; None for standard output."""

    @property
    def files(self) -> tuple[str, ...]:
        """The files that the command reads."""


class Result(NamedTuple):
    """What a command says, in each of its forms, which is made when it is written.

    ``schema``: of the document. ``columns``: of the rows. ``items``: the objects of JSON lines.
    ``truncated``: what limits left out. ``texts``: lines of other forms of text, by the form.
    ``files``: the bytes of forms that are written to a file, made for its name. ``file``: the first
    member of JSON lines, if it is given.
    """

    schema: str = ""
    document: Callable[[], Mapping[str, object]] | None = None
    lines: Callable[[], Iterable[str]] | None = None
    columns: Callable[[], Sequence[str]] | None = None
    rows: Callable[[], Iterable[Sequence[object]]] | None = None
    items: Callable[[], Iterable[Mapping[str, object]]] | None = None
    truncated: Callable[[], Sequence[Truncation]] = tuple
    texts: Mapping[str, Callable[[], Iterable[str]]] = MappingProxyType({})
    sarif: Callable[[], Mapping[str, object]] | None = None
    files: Mapping[str, Callable[[str], Iterable[BytesLike]]] = MappingProxyType({})
    file: str | None = None

    def text(self, form: str = "text") -> Iterable[str]:
        """The lines of a form of text. Raises click.UsageError where there are none."""
        return _made(self.lines if form == "text" else self.texts.get(form), form)


class ListView(Protocol):
    """A module of views that shows a list of objects of the model."""

    SCHEMA: str

    def document(self, objects: Any, /) -> Mapping[str, Any]:  # noqa: ANN401 - of its model
        """The document that has them."""

    def lines(self, objects: Any, /) -> Iterable[str]:  # noqa: ANN401 - of its model
        """The lines of text."""


def listing(view: ListView, objects: Sequence[Any]) -> Result:
    """Objects of the model, as their view shows them; JSON lines have their facts."""
    from cffpy.frame.faces import facts_documents  # lazily: text does without

    return Result(
        view.SCHEMA,
        lambda: view.document(objects),
        lambda: view.lines(objects),
        items=lambda: facts_documents(objects),
    )


def _made(make: Callable[[], _Content] | None, form: str) -> _Content:
    """The content of a form. Raises click.UsageError where the result has none."""
    if make is None:
        raise click.UsageError(f"there is no --{form} of this output")
    return make()


class Shown(NamedTuple):
    """What a command says of a capture, and the exit code for what is wrong with it."""

    capture: Capture
    code: int
    result: Result

    def text(self, form: str) -> Iterator[str]:
        """The lines, and what limits left out."""
        yield from self.result.text(form)
        yield from truncation_lines(self.capture.truncated)

    def headed_document(self) -> dict[str, Any]:
        """The document with its schema, and with what limits left out; arrays are lists."""
        cuts = [cut.document() for cut in self.capture.truncated]
        head = {"schema": self.result.schema, **({"truncated": cuts} if cuts else {})}
        members = _made(self.result.document, "json").items()
        lists = {
            name: list(value) if isinstance(value, Iterator) else value for name, value in members
        }
        return {**head, **lists}


def write_result(result: Result, asked: Asked) -> int:
    """Write a result in the form that is asked for; the exit code 0.

    Raises click.UsageError where the result has no such form.
    """
    form = asked.form
    if form == "json":
        document = _made(result.document, form)
        head: dict[str, Any] = {"schema": result.schema}
        truncated = result.truncated()
        if truncated:
            head["truncated"] = [cut.document() for cut in truncated]
        _write_json({**head, **document})
    elif form == "sarif":
        _write_json(_made(result.sarif, form))
    elif form == "jsonl":
        _write_json_lines(_made(result.items, form), result.file)
    elif form == "csv":
        _write_csv(_made(result.columns, form), _made(result.rows, form))
    elif asked.output is not None:
        if form not in result.files:
            raise click.UsageError(f"there is no --{form} of this output")
        write_output(asked.output, result.files[form](asked.output), asked.files)
    else:
        write_lines(result.text(form), result.truncated())
    return EXIT_OK


def _write_json(document: Mapping[str, object]) -> None:
    """Write one JSON document."""
    from cffpy.cli.json_text import json_pieces

    with PagedOutput(pager=False) as stream:
        for piece in json_pieces(document):
            write_all(stream, piece.encode())
        write_all(stream, b"\n")


def _write_json_lines(objects: Iterable[Mapping[str, object]], file: str | None) -> None:
    """Write a JSON object a line. ``file``: the first member of each, if it is given."""
    from cffpy.cli.json_text import json_text

    head = {} if file is None else {"file": file}
    waiting: list[str] = []
    length = 0
    with PagedOutput(pager=False) as stream:
        for each in objects:
            if each is not OBJECTS_SO_FAR:
                line = json_text({**head, **each}) + "\n"
                waiting.append(line)
                length += len(line)
            if length >= _CHARACTERS_AT_ONCE or each is OBJECTS_SO_FAR:
                write_all(stream, "".join(waiting).encode())
                waiting.clear()
                length = 0
        write_all(stream, "".join(waiting).encode())


def _write_csv(columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
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
        for label, row in chosen:
            yield {what: label, "values": {each.name: each.value for each in row.columns}}

    def rows() -> Iterator[Sequence[str]]:
        return ((name, *(each.text for each in row.columns)) for name, row in chosen)

    def lines() -> Iterator[str]:
        table = [headings]
        table += [[name, *(visible(each.text) for each in row.columns)] for name, row in chosen]
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


def write_shown(asked: Asked, show: Callable[[str], Shown]) -> int:
    """Write what ``show`` returns for each file; the exit code.

    Of several files, errors of one are reported, and the next one follows.
    """
    files = asked.files
    if is_one_file(files):
        capture, code, result = show(files[0])
        result = result._replace(truncated=lambda: capture.truncated, file=files[0])
        write_result(result, asked)
        return code
    several = _Several(files, show)
    rows = several.rows()
    text = lambda: several.lines(asked.form)  # noqa: E731 - of each form of text
    result = Result(
        SCHEMA,
        lambda: {"files": several.documents()},
        text,
        lambda: next(rows, ("file",)),
        lambda: rows,
        several.items,
        texts={"plot": text},
    )
    write_result(result, asked)
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

    def lines(self, form: str) -> Iterator[str]:
        """The lines of each file below its path."""
        gap: tuple[str, ...] = ()
        for path, lines, _ in self._each(lambda shown: shown.text(form)):
            if lines is not None:
                yield from gap
                yield Styled(f"{visible(path)}:")
                yield from lines
                yield LINES_SO_FAR
                gap = ("",)

    def documents(self) -> Iterator[dict[str, Any]]:
        """The document of each file, or why there is none."""
        for path, found, error in self._each(lambda shown: (shown.headed_document(),)):
            document = None if found is None else next(iter(found))
            yield {"file": path, "error": error or None, "document": document}

    def items(self) -> Iterator[Mapping[str, object]]:
        """The objects of JSON lines, each with its file."""
        for path, items, _ in self._each(lambda shown: _made(shown.result.items, "jsonl")):
            yield from ({"file": path, **item} for item in items or ())
            yield OBJECTS_SO_FAR

    def rows(self) -> Iterator[Sequence[Any]]:
        """The names of the columns once, then the rows, each with its file."""
        is_first = True
        for path, table, _ in self._each(_table):
            if table is not None:
                columns, rows = table
                if is_first:
                    yield ("file", *columns)
                is_first = False
                yield from ((path, *row) for row in rows)


def _table(shown: Shown) -> tuple[Sequence[str], Iterable[Sequence[object]]]:
    return _made(shown.result.columns, "csv"), _made(shown.result.rows, "csv")


class LineStream:
    """Lines that are written while a capture is read: columns, separated by tabs.

    The context manager gives a function that takes the text of one or more lines. With the form
    "jsonl" each is an object of its columns; ``numbers``: the columns that have numbers.
    """

    def __init__(self, asked: Asked, columns: Sequence[str], numbers: Collection[str]) -> None:
        self.output = PagedOutput(pager=False)
        self._as_objects = asked.form == "jsonl"
        self._columns = columns
        self._numbers = numbers

    def __enter__(self) -> Callable[[str], None]:
        stream = self.output.__enter__()
        if self._as_objects:
            return lambda text: write_all(stream, self._objects(text).encode())
        return lambda text: write_all(stream, text.encode("utf-8", "backslashreplace"))

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        traceback: TracebackType | None,
    ) -> bool:
        return self.output.__exit__(kind, problem, traceback)

    def _objects(self, text: str) -> str:
        from cffpy.cli.json_text import json_text

        numbers = self._numbers
        rows = []
        for line in text.splitlines():
            row: dict[str, object] = {}
            for name, value in zip(self._columns, line.split("\t"), strict=True):
                row[name] = (int(value) if value else None) if name in numbers else value
            rows.append(json_text(row) + "\n")
        return "".join(rows)


def write_output(path: str, pieces: Iterable[BytesLike], read: Iterable[str]) -> None:
    """Write a file, or standard output for ``-``. ``read``: the files that the pieces come from.

    On failure no file is created, and an existing one is not changed. Raises CffpyError if the file
    is one of those read, or a link, OSError with the name of the file.
    """
    if path == "-":
        with PagedOutput(pager=False) as stream:
            for piece in pieces:
                write_all(stream, piece)
        return
    refuse_inputs(path, read)
    with written_file(path) as file:
        for piece in pieces:
            file.write(piece)


def line_pieces(lines: Iterable[str]) -> Iterator[bytes]:
    """The bytes of a text file."""
    return (f"{line}\n".encode("utf-8", "backslashreplace") for line in lines)


def refuse_inputs(path: str, read: Iterable[str]) -> None:
    """Raise CffpyError if ``path`` is one of the input files, or the file of standard input."""
    for name in read:
        with suppress(OSError, ValueError, AttributeError):
            if _is_standard_input(path) if name == "-" else os.path.samefile(path, name):
                raise CffpyError(f"{path}: the output file is also an input file")


def _is_standard_input(path: str) -> bool:
    """Whether standard input is redirected from this file."""
    status = os.fstat(sys.stdin.fileno())
    return stat.S_ISREG(status.st_mode) and os.path.samestat(os.stat(path), status)


def capture_file(path: str, pieces: Iterable[BytesLike], size: int) -> Iterable[BytesLike]:
    """A capture's ``size`` bytes as stored in ``path``: compressed if its name ends in ``.gz``."""
    if not path.endswith(".gz"):
        return pieces
    from cffpy.container.writer import gzip_pieces

    return gzip_pieces(pieces, size)
