# SPDX-License-Identifier: MIT
"""Parameters that many commands share: integers, ``--limit``, ``--edition``, ``--gpu``, ``-o``.

Integers are of ASCII digits only, where click takes all that ``int`` does.
"""

from __future__ import annotations

import os
import re
from typing import TYPE_CHECKING, Any, TypeVar

import click

from cffpy.c_numbers import whole_number
from cffpy.cli.dump_options import EDITION_OPTION, edition_directory
from cffpy.editions.folders import VARIABLE
from cffpy.errors import UnsupportedGpu, UsageError
from cffpy.frame.places import split_file
from cffpy.limits import HELP, Limits, chosen_limits, parse_options

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.capture.gpu import Gpu
    from cffpy.frame.places import Place

    _Parameter = click.Parameter | None
    _Context = click.Context | None
    _IntegerType = click.ParamType[int]
    _SizeType = click.ParamType[tuple[int, ...]]
else:
    _IntegerType = _SizeType = click.ParamType  # not generic before click 8.4

_Command = TypeVar("_Command", bound="Callable[..., Any]")

#: Where a command's context keeps the numbers of its options.
_OPTIONS = f"{__name__}.options"


class Integer(_IntegerType):
    """Any integer."""

    name = "integer"

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> int:  # noqa: ANN401
        """The number; fails as click does."""
        if isinstance(value, int):
            return value
        try:
            return whole_number(str(value))
        except ValueError:
            self.fail(f"{value!r} is not a valid integer.", param, ctx)


class IntegerRange(click.IntRange):
    """An integer within bounds, which are part of it."""

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> Any:  # noqa: ANN401
        """The number; fails as click does."""
        return super().convert(Integer().convert(value, param, ctx), param, ctx)


class Address(_IntegerType):
    """A number of at least 0, also as 0x...."""

    name = "number"

    def convert(self, value: Any, param: _Parameter, ctx: _Context) -> int:  # noqa: ANN401
        """The number; fails as click does."""
        if isinstance(value, int):
            return value
        try:
            number = whole_number(str(value), prefixes=True)
        except ValueError:
            number = -1
        if number < 0:
            self.fail(f"{value!r} is not a number", param, ctx)
        return number


def _keep(context: click.Context, _parameter: click.Parameter, texts: tuple[str, ...]) -> None:
    try:
        context.meta[_OPTIONS] = parse_options(texts)
    except ValueError as problem:
        raise click.BadParameter(str(problem)) from None


def limit_option(command: _Command) -> _Command:
    """Give a command the option; ``command_limits`` returns what it and the environment set."""
    decorate = click.option(
        "--limit",
        metavar="NAME=N",
        multiple=True,
        callback=_keep,
        expose_value=False,
        help=HELP,
    )
    return decorate(command)


def command_limits() -> Limits:
    """The limits of the command that runs. Raises click.UsageError for a wrong variable."""
    options: dict[str, int] = click.get_current_context().meta.get(_OPTIONS, {})
    try:
        return chosen_limits(options, os.environ)
    except ValueError as problem:
        raise click.UsageError(str(problem)) from None


def edition_option(command: _Command) -> _Command:
    """Adds ``--edition NAME``: the command's ``register_db`` is a directory, or None."""
    return _edition_option(command, knows_auto=False)


def capture_edition_option(command: _Command) -> _Command:
    """The same; ``register_db`` may also be "auto": the edition that each capture needs."""
    return _edition_option(command, knows_auto=True)


def _edition_option(command: _Command, knows_auto: bool) -> _Command:
    auto = "Analyses know 'auto': what the capture needs."
    decorate = click.option(
        f"--{EDITION_OPTION.long}",
        "register_db",
        metavar=EDITION_OPTION.metavar,
        callback=lambda _context, _parameter, name: edition_directory(name, knows_auto),
        help=f"{EDITION_OPTION.help} {auto}  [env: {VARIABLE}]",
    )
    return decorate(command)


def _parse_gpu(
    _context: click.Context, _parameter: click.Parameter, text: str | None
) -> Gpu | None:
    """The GPU for a number like 630 or a generation like a6xx."""
    if text is None:
        return None
    from cffpy.capture import gpu

    try:
        return gpu.parse_gpu(text)
    except UnsupportedGpu as problem:
        raise click.BadParameter(str(problem)) from None


def gpu_option(command: _Command) -> _Command:
    """Give a command ``--gpu``."""
    decorate = click.option(
        "--gpu",
        metavar="GPU",
        callback=_parse_gpu,
        help="Decode as this GPU (630) or generation (a6xx).",
    )
    return decorate(command)


def jobs_option(command: _Command) -> _Command:
    """Give a command ``--jobs``."""
    decorate = click.option(
        "--jobs",
        type=IntegerRange(min=1, max=1024),
        metavar="N",
        help="Worker processes (default: one for each processor).",
    )
    return decorate(command)


#: Of commands that are asked about memory with texels.
format_option = click.option(
    "--format",
    "texel_format",
    metavar="FORMAT",
    help="Format of the texels, such as R8G8B8A8_UNORM or RGBA8.",
)
pitch_option = click.option(
    "--pitch",
    type=IntegerRange(1, 1 << 28),
    metavar="N",
    help="Bytes per row. Default: calculated.",
)


#: A number in a text like 1920x1080; longer ones are no sizes of anything.
_NUMBER = re.compile(r"[0-9]{1,10}")


def numbers(text: str, separator: str) -> tuple[int, ...]:
    """The numbers in a text like 1920x1080; () where it is not of this form."""
    parts = text.split(separator)
    return tuple(map(int, parts)) if all(map(_NUMBER.fullmatch, parts)) else ()


class _Size(_SizeType):
    """WIDTHxHEIGHT, or WIDTHxHEIGHTxDEPTH."""

    name = "WxH"

    def convert(self, value: object, param: _Parameter, ctx: _Context) -> tuple[int, ...]:
        """Width, height, and depth if it is given; fails as click does."""
        size = numbers(str(value).lower(), "x")
        if len(size) not in (2, 3):
            self.fail(f"{value!r} is not a size like 1920x1080", param, ctx)
        return size


def size_option(text: str, required: bool = False) -> Callable[[_Command], _Command]:
    """The option ``--size``: width and height, of a 3D image also depth."""
    return click.option("--size", type=_Size(), required=required, help=text)


def swizzle_options(command: _Command) -> _Command:
    """Give a command the options of the order of tiles in memory."""
    of_gpu = "Default: that of the GPU."
    for decorate in (
        click.option(
            "--memory-channels",
            type=click.Choice(["4", "8"]),
            help="Memory channels. Default: those of the GPU.",
        ),
        click.option(
            "--bank-levels",
            type=IntegerRange(0, 7),
            metavar="N",
            help=f"Mask of swizzled levels. {of_gpu}",
        ),
        click.option(
            "--bank-bit",
            type=IntegerRange(11, 31),
            metavar="N",
            help=f"Highest bank bit. {of_gpu}",
        ),
    ):
        command = decorate(command)
    return command


def output_option(
    metavar: str, text: str, required: bool = False, default: str | None = None
) -> Callable[[_Command], _Command]:
    """The option ``-o``, ``--output``: the file that a command writes."""
    names = "-o", "--output"
    if default is not None:
        return click.option(*names, metavar=metavar, default=default, help=text)
    return click.option(*names, metavar=metavar, required=required, help=text)


def paths_and_places(
    good: str, bad: str, at: Place | None
) -> tuple[tuple[str, Place | None], tuple[str, Place | None]]:
    """The files, and the place of each. Raises click.UsageError."""
    try:
        named = _path_and_place(good), _path_and_place(bad)
    except UsageError as problem:
        raise click.UsageError(str(problem)) from None
    if at is None:
        return named
    if any(place is not None for _, place in named):
        raise click.UsageError("--at cannot be used with FILE@PLACE")
    return (named[0][0], at), (named[1][0], at)


def _path_and_place(text: str) -> tuple[str, Place | None]:
    """A path, and the place that is written after it: ``FILE@p3:17``. Raises UsageError."""
    return (text, None) if os.path.exists(text) else split_file(text)
