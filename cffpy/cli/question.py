# SPDX-License-Identifier: MIT
"""Question: what a command is asked: files, how to decode them, place, filter, form of output.

``asks`` gives a command the options, each with one spelling and one meaning, and the Question that
is made of them.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import wraps
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from cffpy.cli import completion
from cffpy.cli.captures import decode, not_there, open_for
from cffpy.cli.forms import COLUMNS_LINE_SCHEMA, COLUMNS_SCHEMA, NO_FORMS, Forms, text_options
from cffpy.cli.parameters import capture_edition_option, gpu_option, limit_option
from cffpy.errors import CaptureError, UsageError
from cffpy.frame.places import (
    BinningName,
    DrawName,
    DrawRange,
    PacketAddress,
    PassName,
    Place,
    ShaderName,
    SubmitName,
    TileName,
    parse_place,
)

if TYPE_CHECKING:
    from collections.abc import Callable

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
    ``--where`` and ``--columns``. ``form``: "text", "json", "jsonl", "csv", or another form of
    output of the command. ``output``: the file that the form is written to.
    """

    files: tuple[str, ...] = ()
    gpu: Gpu | None = None
    register_db: str | None = None
    place: Place | None = None
    query: Filter | None = None
    columns: str | None = None
    form: str = "text"
    output: str | None = None

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
                opened._source.ask(self.query, at_draws)

        capture = self.open(path)
        return capture, decode(capture, analysis)[1]

    def scope(self, capture: Capture, with_filter: bool = False) -> Scope:
        """What the place covers. Raises ``not_there`` where the capture has no such place.

        ``with_filter``: and for which the filter holds; otherwise the command asks it itself.
        """
        try:
            return capture._scope(self.place, self.query if with_filter else None)
        except CaptureError as problem:
            raise not_there(capture, problem) from None

    def scope_or_none(self, capture: Capture) -> Scope | None:
        """The scope with the filter; None, without decoding, where all of the capture is asked."""
        if self.place is None and self.query is None:
            return None
        return self.scope(capture, with_filter=True)


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

_SUBMIT = PlaceType(SubmitName, what="submit", of_number=SubmitName)
_PASS = PlaceType(PassName, what="pass", of_number=PassName)

#: The options that name a place, by their parameters.
_PLACE_OPTIONS = ("at", "submit", "pass_", "tile", "draw")

#: What ``--at`` takes, in the order of its help: kinds of places, and how they are written.
_SPELLINGS: tuple[tuple[tuple[type, ...], str], ...] = (
    ((SubmitName,), "s2 a submit"),
    ((PassName,), "p3 a pass"),
    ((DrawName, DrawRange), "p3:17 a draw"),
    ((TileName,), "p3:t5 a tile"),
    ((BinningName,), "p3:binning its binning run"),
    ((DrawName, DrawRange), "'#62' a draw as cffdump counts"),
    ((ShaderName,), "sh4 a shader"),
    ((PacketAddress,), "or a packet: its address, or where it is as printed"),
)


class Places(NamedTuple):
    """The places that a command takes.

    ``kinds``: all if there are none. ``verb``: what the command does with the place.
    """

    kinds: tuple[type, ...] = ()
    verb: str = "Only"

    def takes(self, *kinds: type) -> bool:
        """Whether it takes one of these."""
        return not self.kinds or any(kind in self.kinds for kind in kinds)

    def options(self, command: _Command) -> _Command:
        """Give a command ``--at``, and ``--submit``, ``--pass``, ``--tile``, ``--draw``.

        It gets those that its kinds of places need.
        """
        of_draws = self.takes(DrawName)
        this = f"{self.verb} this"
        complete = completion.runs if self.takes(BinningName) else None
        text = f"{this}: {self._taken}."
        options = [
            click.option("--at", type=PLACE, metavar="PLACE", shell_complete=complete, help=text)
        ]
        if self.takes(SubmitName):
            text = f"{this} submit, by its number in 'cffpy info'."
            options.append(click.option("--submit", type=_SUBMIT, metavar="N", help=text))
        if self.takes(PassName, TileName, DrawName):
            text = f"{this} pass."
            options.append(click.option("--pass", "pass_", type=_PASS, metavar="N", help=text))
        if self.takes(TileName):
            text = f"{self.verb} tile N of the pass; also a PLACE."
            options.append(click.option("--tile", metavar="N", help=text))
        if of_draws:
            text = f"{self.verb} draw N of the pass, or N-M; also a PLACE."
            options.append(click.option("--draw", metavar="N", help=text))
        for decorate in reversed(options):
            command = decorate(command)
        return command

    def refusal(self, place: str) -> str:
        """What is said of a place of another kind."""
        return f"{place} is no place for this command, which takes {self._taken}"

    @property
    def _taken(self) -> str:
        return ", ".join(text for kinds, text in _SPELLINGS if self.takes(*kinds))


#: Of commands that show a part of a capture, and of those that show all and begin somewhere.
EVERY_PLACE, FIRST_PLACE = Places(), Places(verb="Begin at")


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


#: The schemas of the documents of ``--columns``.
_COLUMNS_SCHEMAS = f"{COLUMNS_SCHEMA}, {COLUMNS_LINE_SCHEMA}"

where_option = click.option(
    "--where",
    metavar="EXPR",
    shell_complete=completion.expressions,
    help="Only those for which this holds ('cffpy help filter').",
)


def columns_option(schemas: str = _COLUMNS_SCHEMAS) -> Callable[[_Command], _Command]:
    """The option ``--columns``. ``schemas``: of the documents that have the values."""
    text = f"Show the values of these names ({schemas})."
    return click.option("--columns", metavar="A,B,C", shell_complete=completion.columns, help=text)


def asks(
    files: str = "FILE",
    *,
    places: Places | None = None,
    where: bool = False,
    columns: bool = False,
    forms: Forms = NO_FORMS,
    text: bool = True,
    gpu: Callable[[Any], Any] | None = gpu_option,
    edition: Callable[[Any], Any] | None = capture_edition_option,
    limits: bool = True,
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """Give a command the options of a question, and the Question as its first argument.

    ``files``: "FILE" or "FILE..."; "" for a command that declares its own arguments. ``text``: the
    options of text. ``gpu``, ``edition``, ``limits``: how captures are decoded; options of these
    names that are of the command alone keep their parameters.
    """
    options: list[Callable[[Any], Any]] = []
    if files:
        shape = {"nargs": -1, "required": True} if files.endswith("...") else {}
        options.append(click.argument("files", metavar=files, **shape))  # type: ignore[arg-type]
    options += [] if places is None else [places.options]
    options += [where_option] if where else []
    options += [columns_option()] if columns else []
    options += forms.options()
    options += [text_options] if text else []
    options += [] if gpu is None else [gpu]
    options += [] if edition is None else [edition]
    options += [limit_option] if limits else []
    options.append(click.help_option("-h", "--help"))

    def decorate(command: Callable[..., int]) -> Callable[..., int]:
        @wraps(command)
        def run(**given: Any) -> int:  # noqa: ANN401
            named = given.pop("files", ())
            names = given.pop("columns") if columns else None
            form, output = forms.chosen(given)
            question = Question(
                files=named if isinstance(named, tuple) else (named,),
                gpu=given.pop("gpu", None),
                register_db=None if edition is None else given.pop("register_db"),
                place=None if places is None else _place(places, given),
                columns=names,
                query=_query(given.pop("where") if where else None, names),
                form=form,
                output=output,
            )
            return command(question, **given)

        decorated = run
        for option in reversed(options):
            decorated = option(decorated)
        return decorated

    return decorate


def asks_no_capture(
    *,
    forms: Forms = NO_FORMS,
    gpu: Callable[[Any], Any] | None = None,
    edition: Callable[[Any], Any] | None = None,
) -> Callable[[Callable[..., int]], Callable[..., int]]:
    """The same of a command that reads no capture: the options of its forms and of text."""
    return asks("", forms=forms, gpu=gpu, edition=edition, limits=False)


def _place(places: Places, given: dict[str, Any]) -> Place | None:
    """The place of the options, which are taken out of ``given``. Raises click.UsageError."""
    place = chosen_place(*(given.pop(name, None) for name in _PLACE_OPTIONS))
    if place is not None and not places.takes(type(place)):
        raise click.UsageError(places.refusal(str(place)))
    return place


def _query(where: str | None, columns: str | None) -> Filter | None:
    """The filter of the options; None where neither is given. Raises FilterError."""
    if where is None and columns is None:
        return None
    from cffpy.query.filters import Filter

    return Filter(where, columns)
