# SPDX-License-Identifier: MIT
"""``cffpy image``: a texture, an attachment, or any memory of a capture as a PNG file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from cffpy.cli.captures import not_there, report
from cffpy.cli.forms import Forms, Result, write_output, write_result
from cffpy.cli.output import print_note
from cffpy.cli.parameters import (
    IntegerRange,
    format_option,
    output_option,
    pitch_option,
    size_option,
    swizzle_options,
)
from cffpy.cli.progress import progress
from cffpy.cli.question import EVERY_PLACE, Question, asks
from cffpy.errors import CaptureError, CffpyError
from cffpy.frame.places import DrawName, PacketAddress
from cffpy.views import image as view

if TYPE_CHECKING:
    from cffpy.api.capture import Capture
    from cffpy.api.pictures import CapturedImage
    from cffpy.frame.action import Action
    from cffpy.frame.pictures import NamedImage, Picture
    from cffpy.image.tiled import BankSwizzle

_EPILOG = """\b
Examples:
  cffpy image capture.rd.gz --at p3:17                         which images the draw has
  cffpy image capture.rd.gz --at p3:17 --texture 0 -o out.png
  cffpy image capture.rd.gz --at '#57' --texture 2 --level 3 --layer 1 -o out.png
  cffpy image capture.rd.gz --at p3:17 --target 1 --aspect stencil -o out.png
  cffpy image capture.rd.gz --at p0:3 --source 0 -o uploaded.png
  cffpy image capture.rd.gz --at 0x10039e000 --format RGBA8 --size 256x256 -o out.png
"""

_TILE_MODES = {"linear": 0, "3": 3}

#: Texels of a side of a picture.
_MOST = 1 << 14


#: Options that choose an image of a draw or copy.
_IMAGES = ("texture", "target", "source", "destination")

#: Options that describe memory at an address.
_MEMORY = ("format", "size", "pitch", "tile-mode")


class _Range(click.ParamType[tuple[float, float]]):
    """LOW:HIGH."""

    name = "LOW:HIGH"

    def convert(
        self, value: object, parameter: click.Parameter | None, context: click.Context | None
    ) -> tuple[float, float]:
        low, colon, high = str(value).partition(":")
        try:
            limits = float(low), float(high)
        except ValueError:
            colon = ""
        if not colon or not limits[0] < limits[1] or limits[1] - limits[0] == float("inf"):
            self.fail(f"{value!r} is not a range like 0:1", parameter, context)
        return limits


@click.command(epilog=_EPILOG)
@click.option("--texture", type=IntegerRange(min=0), metavar="K", help="Its texture K.")
@click.option("--target", type=IntegerRange(min=0), metavar="K", help="Its target K.")
@click.option("--source", type=IntegerRange(min=0), metavar="K", help="The source K of a copy.")
@click.option(
    "--destination", type=IntegerRange(min=0), metavar="K", help="The destination K of a copy."
)
@format_option
@size_option("Width and height of the memory at --at, in texels.")
@pitch_option
@click.option(
    "--tile-mode",
    type=click.Choice(list(_TILE_MODES)),
    help="Tile mode of the memory at --at. Default: linear.",
)
@click.option(
    "--level", type=IntegerRange(min=0), default=0, metavar="N", help="Mip level, of the view."
)
@click.option(
    "--layer",
    type=IntegerRange(min=0),
    default=0,
    metavar="N",
    help="Array layer, face of a cube (+x -x +y -y +z -z), or slice of a 3D image.",
)
@click.option(
    "--aspect",
    type=click.Choice(["depth", "stencil"]),
    help="Part to show. Default: depth, or stencil without depth.",
)
@click.option(
    "--channels",
    type=click.Choice(["rgb", "rgba", "r", "g", "b", "a"]),
    help="Channels to show. Default: rgb.",
)
@click.option("--range", "extent", type=_Range(), help="Values that are black and white.")
@swizzle_options
@output_option("OUT.png", "The PNG file ('-': standard output).")
@asks(places=EVERY_PLACE, forms=Forms(json="cffpy.image/1"))
def image(
    question: Question,
    texture: int | None,
    target: int | None,
    source: int | None,
    destination: int | None,
    texel_format: str | None,
    size: tuple[int, ...] | None,
    pitch: int | None,
    tile_mode: str | None,
    level: int,
    layer: int,
    aspect: str | None,
    channels: str | None,
    extent: tuple[float, float] | None,
    bank_bit: int | None,
    bank_levels: int | None,
    memory_channels: str | None,
    output: str | None,
) -> int:
    """Write a picture of a texture, a render target, a copy, or of any memory, as captured.

    With a draw alone, its images are listed, and whether they can be shown. A copy or blit has a
    source and a destination, a load a source, a store, clear or fill a destination. Contents are
    those from before the submit ran; of an address with --format, --submit chooses it. Linear and
    TILE6_3 images (a6xx, a7xx) can be shown, and BC, ETC2 and ASTC blocks; compressed images
    (UBWC), multisampled ones and other tile modes cannot. Values of colours from 0 to 1 become 0 to
    255; depth, integers and larger floats are shown from their least to their greatest value,
    unless --range is given.

    It needs numpy, Pillow and texture2ddecoder: pip install 'cffpy[image]'. The exit code is 1 if
    there is no picture, or if the capture is damaged.
    """
    memory = dict(zip(_MEMORY, (texel_format, size, pitch, tile_mode), strict=True))
    numbers = dict(zip(_IMAGES, (texture, target, source, destination), strict=True))
    chosen = [(kind, number) for kind, number in numbers.items() if number is not None]
    address = _address(question, chosen, memory)
    is_list = not chosen and address is None
    _check_output(output, is_list)
    path = question.path
    capture = question.open()
    with progress(f"Reading {path}", capture._source.content):
        if address is not None:
            from cffpy.frame.pictures import NamedImage

            images = [NamedImage("memory", 0, "", _memory(capture, address, memory), "")]
        else:
            images = _images_of_draw(capture, question, *chosen)
    if is_list or output is None:
        return _list(question, capture, images)
    options: dict[str, Any] = {
        "bank_swizzle": _swizzle(capture, bank_bit, bank_levels, memory_channels)
    }
    options |= {key: value for key, value in (("aspect", aspect), ("channels", channels)) if value}
    if extent is not None:
        options["low"], options["high"] = extent
    picture = _picture(capture, images[0], level, layer, options)
    data = picture.png()
    code = report(capture)
    write_output(output, [data], [path])
    if question.form == "json" and output != "-":
        written = view.WrittenPicture(output, level, layer, picture)
        shown = [_shown(images[0], "")]
        write_result(Result(view.SCHEMA, lambda: view.document(shown, written)), question)
        return code
    for note in picture.notes:
        print_note(f"note: {note}")
    return code


def _picture(
    capture: Capture, image: NamedImage, level: int, layer: int, options: dict[str, Any]
) -> Picture:
    """The picture; an error names the image."""
    if image.image is None:
        raise CffpyError(f"{image}: {image.problem}")
    try:
        return image.image.picture(level, layer, **options)
    except CffpyError as problem:
        report(capture)
        raise type(problem)(f"{image}: {problem}") from None


def _address(
    question: Question, chosen: list[tuple[str, int]], memory: dict[str, Any]
) -> PacketAddress | None:
    """The address of the memory to show; None for an image of a draw.

    Raises click.UsageError for options that do not go together.
    """
    place = question.place
    if place is None:
        raise click.UsageError("name an image: --at p3:17 with --texture, --target, ...")
    if len(chosen) > 1:
        names = " and ".join(f"--{kind}" for kind, _ in chosen)
        raise click.UsageError(f"{names} exclude each other")
    if all(value is None for value in memory.values()):
        return None
    if not isinstance(place, PacketAddress):
        given = next(name for name, value in memory.items() if value is not None)
        raise click.UsageError(f"--{given} goes with an address: --at 0x10039e000")
    for option in ("format", "size"):
        if memory[option] is None:
            raise click.UsageError(f"memory at an address needs --{option}")
    if len(memory["size"]) != 2 or not all(0 < part <= _MOST for part in memory["size"]):
        raise click.UsageError(f"--size of a picture is WxH, with 1 to {_MOST} texels each")
    for kind, _ in chosen:
        raise click.UsageError(f"--{kind} is of a draw, not of memory at {place}")
    return place


def _check_output(output: str | None, is_list: bool) -> None:
    """Raise UsageError for a picture without a file to write, and for a file without a picture."""
    if output is None and not is_list:
        raise click.UsageError("-o is missing: the PNG file to write ('-': standard output)")
    if output is not None and is_list:
        raise click.UsageError("-o is for one picture: choose it with --texture, --target, ...")


def _memory(capture: Capture, address: PacketAddress, memory: dict[str, Any]) -> CapturedImage:
    """The image that the options describe."""
    return capture.image_at(
        address.gpuaddr,
        memory["format"],
        *memory["size"],
        pitch=memory["pitch"],
        tile_mode=_TILE_MODES[memory["tile-mode"] or "linear"],
        submit=address.submit,
    )


def _draw(capture: Capture, question: Question) -> Action:
    """The draw or copy of the place. Raises ``not_there``, click.UsageError for several."""
    place = question.place
    if isinstance(place, DrawName):
        try:
            return capture.draw(str(place))
        except CaptureError as problem:
            raise not_there(capture, problem) from None
    scope = question.scope(capture)
    actions = capture.actions if scope.is_of_executions else capture.draws
    draws = [action for action in actions if scope.has_action(action)]
    if len(draws) != 1:
        raise click.UsageError(f"{place} is {len(draws)} draws: an image is of one")
    return draws[0]


def _images_of_draw(
    capture: Capture, question: Question, *chosen: tuple[str, int]
) -> list[NamedImage]:
    """The image that is asked for, or all of the draw or copy."""
    draw = _draw(capture, question)
    name = draw.name or question.place
    if not draw.is_counted and not draw.transfers:
        raise not_there(capture, f"{name} is not a draw of the program, nor a copy")
    images = draw.images
    if not chosen:
        return images
    wanted = [image for image in images if (image.kind, image.number) in chosen]
    if not wanted:
        ((kind, number),) = chosen
        count = sum(image.kind == kind for image in images)
        raise not_there(capture, f"draw {name} has no {kind} {number}; it has {count}")
    return wanted


def _list(question: Question, capture: Capture, images: list[NamedImage]) -> int:
    with progress(f"Reading {capture.name}", capture._source.content):
        shown = [
            _shown(image, image.problem if image.image is None else image.image.problem())
            for image in images
        ]
    code = report(capture)
    result = Result(
        view.SCHEMA,
        lambda: view.document(shown),
        lambda: view.lines(shown),
        truncated=lambda: capture.truncated,
    )
    write_result(result, question)
    return code


def _shown(image: NamedImage, problem: str) -> view.ShownImage:
    seen = None if image.image is None else image.image.view
    return view.ShownImage(image.kind, image.number, image.label, seen, problem)


def _swizzle(
    capture: Capture, bit: int | None, levels: int | None, channels: str | None
) -> BankSwizzle | None:
    """The bank swizzle with the values that are given; None for that of the GPU."""
    if bit is None and levels is None and channels is None:
        return None
    from cffpy.image.devices import device_of
    from cffpy.image.tiled import BankSwizzle

    usual = None if capture.gpu is None else device_of(capture.gpu).swizzle
    if usual is None:
        if bit is None or levels is None or channels is None:
            raise click.UsageError(
                "the GPU is not known: give --bank-bit, --bank-levels and --memory-channels"
            )
        return BankSwizzle(bit, levels, int(channels))
    return BankSwizzle(
        usual.highest_bank_bit if bit is None else bit,
        usual.levels if levels is None else levels,
        usual.channels if channels is None else int(channels),
    )
