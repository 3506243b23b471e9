# SPDX-License-Identifier: MIT
"""Question: what a command is asked: files, how to decode them, place, filter, form of output.

``asks`` gives a command the options, each with one spelling and one meaning, and the Question that
is made of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cffpy.cli.captures import decode, not_there, open_for
from cffpy.cli.forms import COLUMNS_LINE_SCHEMA, COLUMNS_SCHEMA
from cffpy.cli.parameters import capture_edition_option, gpu_option, limit_option
from cffpy.cli.text_options import text_options
from cffpy.errors import CaptureError, UsageError
from cffpy.frame.places import (
    DrawName,
    DrawRange,
    PacketAddress,
    PassName,
    Place,
    SubmitName,
    TileName,
    parse_place,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from cffpy.api.capture import Capture
    from cffpy.api.places import Scope
    from cffpy.capture.gpu import Gpu
    from cffpy.query.filters import Filter

    _PlaceType = click.ParamType[Place]
else:
    _PlaceType = click.ParamType  # not generic before click 8.4

_Command = TypeVar("_Command", bound="Callable[..., Any]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What a command is asked.

    ``place``: of ``--at`` or of the options that name its parts. ``query``: the filter of
    ``--where`` and ``--columns``. ``form``: "text", "json", "jsonl", "csv", or another option of
    the command that excludes these.
    """

    files: tuple[str, ...] = ()
    gpu: Gpu | None = None
    register_db: str | None = None
    place: Place | None = None
    query: Filter | None = None
    columns: str | None = None
    form: str = "text"

    @property
    def path(self) -> str:
        """The file of a command that takes one."""
        return self.files[0]

    def of_files(self, *files: str) -> Question:
        """The same of other files."""
        return replace(self, files=files)

    def open(self, path: str | None = None) -> Capture:
        """Open the capture, or that at ``path``. Raises CffpyError."""
        return open_for(self.path if path is None else path, self.gpu, self.register_db)

    def find(self, path: str | None = None, at_draws: bool = True) -> tuple[Capture, int]:
        """A capture whose passes and actions are decoded, and the exit code.

        The registers that the filter reads come from the same walk. ``at_draws``: it is asked about
        the program's draws only.
        """

        def analysis(opened: Capture) -> None:
            if self.query is None:
                opened.walk(registers=False)
            else:
                opened.ask(self.query, at_draws)

        capture = self.open(path)
        return capture, decode(capture, analysis)[1]

    def scope(self, capture: Capture, with_filter: bool = False) -> Scope:
        """What the place covers. Raises ``not_there`` where the capture has no such place.

        ``with_filter``: and for which the filter holds; otherwise the command asks it itself.
        """
        try:
            return capture.scope(self.place, self.query if with_filter else None)
        except CaptureError as problem:
            raise not_there(capture, problem) from None

    def scope_or_none(self, capture: Capture) -> Scope | None:
        """The scope with the filter; None, without decoding, where all of the capture is asked."""
        if self.place is None and self.query is None:
            return None
        return self.scope(capture, with_filter=True)


def place_option(text: str) -> Callable[[_Command], _Command]:
    """The option ``--at`` alone, of commands that take few kinds of places."""
    return click.option("--at", type=PLACE, metavar="PLACE", help=text)


class PlaceType(_PlaceType):
    """A place, as ``cffpy.frame.places`` lists them.

    ``kinds``: those that the option takes; all if there are none. ``of_number``: what a number
    alone is.
    """

    name = "place"

    def __init__(
        self,
        *kinds: type,
        what: str = "place",
        of_number: Callable[[int], Place] | None = None,
    ) -> None:
        self._kinds = kinds
        self._what = what
        self._of_number = of_number

    def convert(
        self,
        value: Any,  # noqa: ANN401
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> Place:
        """The place; fails as click does."""
        if not isinstance(value, str):
            return value  # type: ignore[no-any-return] # converted before
        try:
            if self._of_number is not None and _is_number(value):
                return self._of_number(int(value))
            place = parse_place(value)
        except UsageError as problem:
            self.fail(str(problem), param, ctx)
        if self._kinds and not isinstance(place, self._kinds):
            self.fail(f"{value!r} is not a {self._what}", param, ctx)
        return place


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


PLACE = PlaceType()
#: One or more draws.
DRAWS = PlaceType(DrawName, DrawRange, what="draw: p3:17, p3:5-9, or #62 as cffdump counts")
DRAW = PlaceType(DrawName, what="draw: p3:17, or #62 as cffdump counts")

SUBMIT = PlaceType(SubmitName, what="submit", of_number=SubmitName)
_PASS = PlaceType(PassName, what="pass", of_number=PassName)


def submit_option(command: _Command) -> _Command:
    """The option ``--submit``."""
    text = "Only this submit, by its number in 'cffpy info'."
    return click.option("--submit", type=SUBMIT, metavar="N", help=text)(command)


#: The options that name a place, by their parameters.
_PLACE_OPTIONS = ("at", "submit", "pass_", "tile", "draw")


def place_options(command: _Command) -> _Command:
    """Give a command ``--at``, and ``--submit``, ``--pass``, ``--tile``, ``--draw``."""
    for decorate in (
        click.option("--draw", metavar="N", help="Only draw N of the pass, or N-M; also a PLACE."),
        click.option("--tile", metavar="N", help="Only tile N of the pass; also a PLACE."),
        click.option("--pass", "pass_", type=_PASS, metavar="N", help="Only this pass."),
        submit_option,
        click.option(
            "--at",
            type=PLACE,
            metavar="PLACE",
            help="Only this: s2 a submit, p3 a pass, p3:17 a draw, p3:t5 a tile, '#62' a draw as"
            " cffdump counts, sh4 a shader, or a packet: its address, or where it is as printed.",
        ),
    ):
        command = decorate(command)
    return command


def chosen_place(
    at: Place | None,
    submit: SubmitName | None = None,
    pass_: PassName | None = None,
    tile: str | None = None,
    draw: str | None = None,
) -> Place | None:
    """The place of the options. Raises click.UsageError where they do not go together."""
    if isinstance(at, PacketAddress) and submit is not None and at.submit is None:
        at, submit = at._replace(submit=submit.number), None
    given = zip(("--at", "--submit", "--tile", "--draw"), (at, submit, tile, draw), strict=True)
    names = [name for name, value in given if value is not None]
    if pass_ is not None and (at or submit) is not None:
        names.append("--pass")
    if len(names) > 1:
        raise click.UsageError(f"{names[0]} and {names[1]} cannot be used together")
    try:
        if tile is not None:
            return _in_pass("--tile", tile, f"t{tile}", pass_, TileName)
        if draw is not None:
            return _in_pass("--draw", draw, draw, pass_, DrawName, DrawRange)
    except UsageError as problem:
        raise click.UsageError(str(problem)) from None
    return at or submit or pass_


def _in_pass(option: str, given: str, text: str, pass_: PassName | None, *kinds: type) -> Place:
    """The place that a number of ``--tile`` or ``--draw`` is in a pass, or a place as it is."""
    if _is_number(given.replace("-", "", 1)):
        if pass_ is None:
            hint = f"as in --pass 3 {option} {given}, or --at p3:{text}"
            dump = "" if option != "--draw" else f"; draw {given} of the dump is --at '#{given}'"
            raise UsageError(f"{option} {given} needs the pass, {hint}{dump}")
        return parse_place(f"{pass_}:{text}")
    place = parse_place(given)
    if not isinstance(place, kinds):
        raise UsageError(f"{option}: {given!r} is not a {option[2:]}")
    if pass_ is not None:
        raise UsageError(f"--pass cannot be used with {option} {given}, which has its pass")
    return place


def _filter_options(columns: bool) -> list[Callable[[_Command], _Command]]:
    options = [
        click.option(
            "--where",
            metavar="EXPR",
            help="Only those for which this holds, as in 'cffpy find --help'.",
        )
    ]
    if columns:
        schemas = f"({COLUMNS_SCHEMA}, {COLUMNS_LINE_SCHEMA})"
        text = f"Show the values of these names instead {schemas}."
        options.append(click.option("--columns", metavar="A,B,C", help=text))
    return options


def form_options(
    item: str = "", json: str = "", jsonl: str = "", csv: bool = False
) -> list[Callable[[_Command], _Command]]:
    """The options of the forms that a command has. ``json``, ``jsonl``: what their help names."""
    options: list[Callable[[_Command], _Command]] = []
    if json:
        text = f"Print one JSON document ({json})."
        options.append(click.option("--json", "as_json", is_flag=True, help=text))
    if jsonl:
        text = f"Print an object for each {item} ({jsonl})."
        options.append(click.option("--jsonl", "as_jsonl", is_flag=True, help=text))
    if csv:
        text = f"Print CSV with a row for each {item}."
        options.append(click.option("--csv", "as_csv", is_flag=True, help=text))
    return options


def chosen_form(given: dict[str, Any], others: Sequence[str] = ()) -> str:
    """The form of the options, which are taken out of ``given``; "text" without any.

    ``others``: parameters of the command that are forms, too, and stay. Raises click.UsageError
    for several.
    """
    flags = [name for name in ("json", "jsonl", "csv") if given.pop(f"as_{name}", False)]
    flags += [name for name in others if given[name] not in (None, False)]
    if len(flags) > 1:
        raise click.UsageError(f"--{flags[0]} and --{flags[1]} cannot be used together")
    return flags[0] if flags else "text"


def asks(
    files: str = "FILE",
    *,
    place: bool = False,
    where: bool = False,
    columns: bool = False,
    item: str = "",
    json: str = "",
    jsonl: str = "",
    csv: bool = False,
    forms: Sequence[str] = (),
    text: bool = True,
    edition: Callable[[Any], Any] = capture_edition_option,
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command the options of a question, and the Question as its first argument.

    ``files``: "FILE" or "FILE..."; "" for a command that declares its own arguments. ``item``:
    what a row or an object of ``--jsonl`` is of. ``forms``: options of the command that are forms
    of output, too. ``text``: the options of text. ``edition``: of commands that need its name.
    """
    options: list[Callable[[Any], Any]] = []
    if files:
        shape = {"nargs": -1, "required": True} if files.endswith("...") else {}
        options.append(click.argument("files", metavar=files, **shape))  # type: ignore[arg-type]
    options += [place_options] if place else []
    options += _filter_options(columns) if where or columns else []
    options += form_options(item, json, jsonl, csv)
    options += [text_options] if text else []
    options += [gpu_option, edition, limit_option, click.help_option("-h", "--help")]

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def run(**given: Any) -> int:  # noqa: ANN401
            named = given.pop("files", ())
            question = Question(
                files=named if isinstance(named, tuple) else (named,),
                gpu=given.pop("gpu"),
                register_db=given.pop("register_db"),
                place=chosen_place(*(given.pop(one) for one in _PLACE_OPTIONS)) if place else None,
                columns=given.get("columns") if columns else None,
                query=_query(
                    given.pop("where") if where or columns else None,
                    given.pop("columns") if columns else None,
                ),
                form=chosen_form(given, forms),
            )
            return command(question, **given)

        decorated = run
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def has_forms(
    *,
    item: str = "",
    json: str = "",
    jsonl: str = "",
    csv: bool = False,
    forms: Sequence[str] = (),
    text: bool = True,
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command that is asked about no capture its forms, and ``form`` as an argument."""
    options = form_options(item, json, jsonl, csv)
    options += [text_options] if text else []
    options.append(click.help_option("-h", "--help"))

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def run(**given: Any) -> int:  # noqa: ANN401
            form = chosen_form(given, forms)
            return command(form=form, **given)

        decorated = run
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def _query(where: str | None, columns: str | None) -> Filter | None:
    """The filter of the options; None where neither is given. Raises FilterError."""
    if where is None and columns is None:
        return None
    from cffpy.query.filters import Filter

    return Filter(where, columns)
