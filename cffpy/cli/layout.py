# SPDX-License-Identifier: MIT
"""``cffpy layout``: layouts of images, LRZ buffers, tiled memory and tiles; of a capture, too."""

from __future__ import annotations

import json
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, BinaryIO

import click

from cffpy.cli.captures import decode
from cffpy.cli.forms import Forms, Result, line_pieces, write_output, write_result
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.parameters import (
    IntegerRange,
    format_option,
    numbers,
    pitch_option,
    size_option,
    swizzle_options,
)
from cffpy.cli.question import EVERY_PLACE, Question, asks, asks_no_capture
from cffpy.errors import CffpyError
from cffpy.frame.faces import facts_document
from cffpy.frame.geometry import Size

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.layout_check.checks import LayoutChecks
    from cffpy.api.capture import Capture
    from cffpy.formats import ImageFormat

_CHECK_EPILOG = """\b
Examples:
  cffpy layout check capture.rd.gz
  cffpy layout check --all capture.rd.gz       what agrees, too
  cffpy layout check --at p3 capture.rd.gz     what pass 3 uses
  cffpy layout check --json capture.rd.gz | jq '.checks[] | select(.answer == "differs")'
"""


@click.command(epilog=_CHECK_EPILOG)
@click.option("--all", "show_all", is_flag=True, help="Also list what agrees.")
@asks(places=EVERY_PLACE, where=True, forms=Forms(json="cffpy.layout-check/1"))
def check(question: Question, show_all: bool) -> int:
    """Compare the images, LRZ buffers and tiles of a capture with the calculated layouts.

    The layout of each texture, attachment, LRZ buffer and grid of tiles that commands name is
    calculated from its format and size. It agrees, differs by a stated amount, or cannot be
    compared, with the reason. Images and LRZ buffers are known for a5xx to a7xx, tiles for a2xx to
    a7xx.

    FILE may be '-' for standard input. The exit code is 1 if something differs, or if the capture
    is damaged.
    """
    from cffpy.views import layout_check as view

    capture = question.open()

    def analysis(opened: Capture) -> LayoutChecks:
        scope = question.scope_or_none(opened)
        if scope is None:
            return opened.layout_checks
        return opened._source.layout_checks_of(scope.orders, scope.has_pass)

    checks, code = decode(capture, analysis)
    result = Result(
        view.SCHEMA,
        lambda: facts_document(view.document(checks)),
        lambda: view.lines(checks, show_all),
        truncated=lambda: capture.truncated,
    )
    write_result(result, question)
    differs = any(image.answer == "differs" for image in checks.checks)
    return EXIT_FAILURE if differs else code


#: Bytes of a line of a batch, at most.
_MOST_LINE = 1 << 26

#: Bytes of answers that are written together, about.
_AT_ONCE = 1 << 20

_EPILOG = """\b
Examples:
  cffpy layout image --gpu 650 --format R8G8B8A8_UNORM --size 1920x1080 --levels 11 --ubwc
  cffpy layout tiles --gpu 660 --size 1920x1080 --attachments RGBA8,D24S8
  cffpy layout lrz --gpu 740 --size 1920x1080 --json
  cffpy layout tile --gpu 650 --format RGBA8 --size 256x256 17,33
  cffpy layout image --batch questions.jsonl
  cffpy layout check capture.rd.gz
"""

_IMAGE_EPILOG = """\b
Examples:
  cffpy layout image --gpu 650 --format R8G8B8A8_UNORM --size 1920x1080 --levels 11 --ubwc
  cffpy layout image --gpu 530 --format RG16F --size 100x2000 --levels 11 --ubwc --vendor
  cffpy layout image --gpu 740 --format D24S8 --size 1920x1080 --ubwc --svg depth.svg
  cffpy layout image --batch questions.jsonl
"""
_LRZ_EPILOG = """\b
Examples:
  cffpy layout lrz --gpu 740 --size 1920x1080
  cffpy layout lrz --gpu 540 --size 1920x1080 --samples 4 --json
"""
_FORMATS_EPILOG = """\b
Examples:
  cffpy layout formats --gpu 650
  cffpy layout formats --gpu 650 VK_FORMAT_B8G8R8A8_SRGB
  cffpy layout formats --gpu 740 FMT6_10_10_10_2_UNORM --json
"""
_TILES_EPILOG = """\b
Examples:
  cffpy layout tiles --gpu 660 --size 1920x1080 --attachments RGBA8,D24S8
  cffpy layout tiles --gpu 430 --size 800x600 --attachments RGBA8 --svg tiles.svg
  cffpy layout tiles --gpu 620 --gmem 524288 --size 800x600 --attachments RGBA8,D24S8
"""
_TILE_EPILOG = """\b
Examples:
  cffpy layout tile --gpu 650 --format RGBA8 --size 256x256 17,33
  cffpy layout tile --gpu 740 --format R16F --size 64x64 --pitch 256 0,0 63,63 --json
  cffpy layout tile --gpu 650 --format RGBA8 --size 256x256 --offset 0x870c
"""


class _Point(click.ParamType[tuple[int, int]]):
    """X,Y."""

    name = "X,Y"

    def convert(
        self, value: object, parameter: click.Parameter | None, context: click.Context | None
    ) -> tuple[int, int]:
        point = numbers(str(value), ",")
        if len(point) != 2:
            self.fail(f"{value!r} is not a point like 17,33", parameter, context)
        return point[0], point[1]


class _Place(click.ParamType[int]):
    """A byte offset, decimal or 0x..."""

    name = "BYTES"

    def convert(
        self, value: object, parameter: click.Parameter | None, context: click.Context | None
    ) -> int:
        text = str(value)
        try:
            place = int(text, 0) if text.isascii() else -1
        except ValueError:
            place = -1
        if not 0 <= place < 1 << 40:
            self.fail(f"{value!r} is not an offset like 0x870c", parameter, context)
        return place


_gpu = click.option("--gpu", "name", metavar="GPU", help="The GPU, such as 650, 740 or x1-85.")
_size = size_option("Width and height in texels; for a 3D image also depth.")
_batch = click.option(
    "--batch", metavar="FILE", help="Answer questions in JSON lines from this file ('-': stdin)."
)
_samples = click.option(
    "--samples", type=IntegerRange(1, 64), default=1, show_default=True, help="Samples per pixel."
)
_layers = click.option(
    "--layers", type=IntegerRange(1, 1 << 20), default=1, show_default=True, help="Array layers."
)


@click.group(epilog=_EPILOG)
@click.help_option("-h", "--help")
def layout() -> None:
    """Calculate layouts of images in memory and of tiles in GMEM; compare those of a capture.

    Rules are those of Mesa's drivers for a5xx, a6xx and a7xx; sizes are in bytes.
    """


layout.add_command(check)


@layout.command(epilog=_IMAGE_EPILOG)
@format_option
@_size
@click.option(
    "--levels", type=IntegerRange(1, 32), default=1, show_default=True, help="Mip levels."
)
@_layers
@_samples
@click.option("--ubwc", is_flag=True, help="Request compression (UBWC).")
@click.option("--linear", is_flag=True, help="Do not tile the image.")
@click.option("--tile-all", is_flag=True, help="Also tile narrow levels.")
@click.option("--mutable", "is_mutable", is_flag=True, help="Allow views with other formats.")
@click.option(
    "--vendor", is_flag=True, help="a5xx with UBWC: use the layout of the vendor's driver."
)
@_batch
@asks_no_capture(forms=Forms(json="cffpy.layout.image/1", svg="the levels in memory"), gpu=_gpu)
def image(
    question: Question,
    name: str | None,
    texel_format: str | None,
    size: tuple[int, ...] | None,
    levels: int,
    layers: int,
    samples: int,
    ubwc: bool,
    linear: bool,
    tile_all: bool,
    is_mutable: bool,
    vendor: bool,
    batch: str | None,
) -> int:
    """Offset, pitch and size of each level of an image, of its UBWC flags and its LRZ buffer."""
    from cffpy.formats import image_format
    from cffpy.image.devices import device
    from cffpy.image.layout import ImageRequest, image_layout, lrz_of_image, vendor_flags_layout
    from cffpy.views.layout import IMAGE_SCHEMA, ImageLayoutDocument, image_lines, image_svg

    if batch is not None:
        return _answer_batch("image", batch)
    gpu, form, size = _required(name, texel_format, size)
    if linear and ubwc:
        raise click.UsageError("--linear and --ubwc exclude each other")
    part = device(gpu)
    request = ImageRequest(
        image_format(form),
        size[0],
        size[1],
        depth=size[2] if len(size) == 3 else 1,
        levels=levels,
        layers=layers,
        samples=samples,
        is_3d=len(size) == 3,
        tile_mode=0 if linear else 3,
        ubwc=ubwc,
        tile_all=tile_all,
        is_mutable=is_mutable,
    )
    if vendor and part.facts.image_layout != "a5xx":
        raise click.UsageError("--vendor is known for a5xx only")
    layout = (
        vendor_flags_layout(request)
        if vendor
        else image_layout(request, part.generation, part.has_linear_mip_fallback)
    )
    buffer = lrz_of_image(request, part.generation, has_fast_clear=part.has_lrz_fast_clear)
    result = Result(
        IMAGE_SCHEMA,
        lambda: facts_document(ImageLayoutDocument(part.name, request, layout, buffer)),
        lambda: image_lines(request, layout, part, buffer),
        files={"svg": lambda _path: line_pieces(image_svg(request, layout, part))},
    )
    return write_result(result, question)


@layout.command(epilog=_LRZ_EPILOG)
@_size
@_samples
@_layers
@_batch
@asks_no_capture(forms=Forms(json="cffpy.layout.lrz/1"), gpu=_gpu)
def lrz(
    question: Question,
    name: str | None,
    size: tuple[int, ...] | None,
    samples: int,
    layers: int,
    batch: str | None,
) -> int:
    """Pitch, size and fast-clear part of an LRZ buffer."""
    from cffpy.image.devices import device
    from cffpy.image.layout import lrz_layout
    from cffpy.views.layout import LRZ_SCHEMA, LrzLayoutDocument, lrz_lines

    if batch is not None:
        return _answer_batch("lrz", batch)
    gpu, _, size = _required(name, "", size)
    part = device(gpu)
    width, height = size[:2]
    has_fast_clear = part.has_lrz_fast_clear
    layout = lrz_layout(
        part.generation, width, height, samples, layers, has_fast_clear=has_fast_clear
    )
    result = Result(
        LRZ_SCHEMA,
        lambda: facts_document(
            LrzLayoutDocument(part.name, width, height, samples, layers, layout)
        ),
        lambda: lrz_lines(layout, part, (width, height)),
    )
    return write_result(result, question)


@layout.command(epilog=_FORMATS_EPILOG)
@click.argument("wanted", metavar="[NAME]", required=False)
@asks_no_capture(forms=Forms(item="format", json="cffpy.layout.formats/1", csv=True), gpu=_gpu)
def formats(question: Question, name: str | None, wanted: str | None) -> int:
    """List the formats of a GPU by its names, and by those of Gallium and Vulkan.

    With NAME, of Vulkan, of Gallium or of the GPU: what registers hold for this format, or all
    formats for which they hold it. A tiled image of a6xx and later has no order of components.
    """
    from cffpy.frame.faces import columns, facts_document, row
    from cffpy.frame.facts import model_of
    from cffpy.image.devices import device
    from cffpy.regdb.database import Database
    from cffpy.views import formats as view
    from cffpy.views.plain_text import headed_columns

    if name is None:
        raise click.UsageError("Missing option '--gpu'.")
    part = device(name)
    hardware = view.hardware_formats(Database.open(part.facts.chip), wanted)
    result = Result(
        view.SCHEMA,
        lambda: {"gpu": part.name, "formats": map(facts_document, hardware)},
        lambda: headed_columns(view.table(hardware)),
        columns=lambda: [column.name for column in columns(model_of(view.HardwareFormat))],
        rows=lambda: map(row, hardware),
    )
    return write_result(result, question)


@layout.command(epilog=_TILES_EPILOG)
@size_option("Width and height of the framebuffer in pixels.", required=True)
@click.option(
    "--attachments",
    default="",
    metavar="FORMATS",
    help="Formats in the order of the pass: RGBA8,D24S8.",
)
@_samples
@click.option(
    "--driver",
    type=click.Choice(["turnip", "gallium"]),
    help="Driver whose rules are used. Default: turnip.",
)
@click.option("--avoid-ccu", is_flag=True, help="Use turnip's layout for unaligned stores.")
@click.option(
    "--layers",
    type=IntegerRange(1, 2048),
    default=1,
    show_default=True,
    help="Layers or views of the framebuffer (turnip).",
)
@click.option(
    "--gmem",
    type=IntegerRange(4096, 1 << 30),
    metavar="BYTES",
    help="Size of GMEM. Default: that of the GPU.",
)
@click.option(
    "--force-binning", is_flag=True, help="Use hardware binning as with TU_DEBUG=forcebin."
)
@click.option(
    "--merge-bins",
    is_flag=True,
    help="Use the large pipes of a pass with a fragment density map (turnip, a7xx).",
)
@asks_no_capture(forms=Forms(json="cffpy.layout.tiles/1", svg="the grid"), gpu=_gpu)
def tiles(
    question: Question,
    name: str | None,
    size: tuple[int, ...],
    attachments: str,
    samples: int,
    driver: str | None,
    avoid_ccu: bool,
    layers: int,
    gmem: int | None,
    force_binning: bool,
    merge_bins: bool,
) -> int:
    """How a framebuffer is divided into tiles, and the offsets of attachments in GMEM."""
    from cffpy.formats import image_format
    from cffpy.image.devices import device
    from cffpy.image.gmem import gallium_tiles, turnip_layouts, turnip_tiles
    from cffpy.views.layout import (
        TILES_SCHEMA,
        TilesLayoutDocument,
        driver_layouts,
        tiling_lines,
        tiling_svg,
    )

    gpu, _, size = _required(name, "", size)
    part = device(gpu)
    if gmem is not None:
        part = part._replace(gmem=gmem)
    elif part.gmem is None:
        raise CffpyError(f"the size of GMEM of a{part.name} is not known; --gmem sets it")
    formats = [image_format(one.strip()) for one in attachments.split(",") if one.strip()]
    if driver is None:
        driver = "turnip" if part.facts.has_turnip else "gallium"
    width, height = size[:2]
    if driver == "turnip":
        tiling = turnip_tiles(
            part,
            width,
            height,
            formats,
            samples,
            layers=layers,
            avoid_ccu=avoid_ccu,
            force_binning=force_binning,
            merge_bins=merge_bins,
        )
        layouts = turnip_layouts(part, formats, samples)
    else:
        colors, depth = _split(formats)
        tiling = gallium_tiles(part, width, height, colors, depth, samples)
        layouts = {"Gallium": tiling.layout}
    result = Result(
        TILES_SCHEMA,
        lambda: facts_document(
            TilesLayoutDocument(
                part.name, Size(width, height), tiling, driver_layouts(tiling, layouts)
            )
        ),
        lambda: tiling_lines(tiling, part, (width, height), layouts),
        files={"svg": lambda _path: line_pieces(tiling_svg(tiling, part, (width, height)))},
    )
    return write_result(result, question)


def _split(formats: list[ImageFormat]) -> tuple[list[ImageFormat], ImageFormat | None]:
    """Colours, and depth or stencil."""
    colors = [form for form in formats if not form.is_depth_stencil]
    depth = [form for form in formats if form.is_depth_stencil]
    if len(depth) > 1:
        raise click.UsageError("a batch has one depth or stencil attachment")
    return colors, depth[0] if depth else None


@layout.command(epilog=_TILE_EPILOG)
@format_option
@_size
@pitch_option
@swizzle_options
@click.option(
    "--offset",
    "places",
    type=_Place(),
    multiple=True,
    help="Also print the texel at this byte offset; repeatable.",
)
@click.argument("points", type=_Point(), nargs=-1, metavar="[X,Y]...")
@_batch
@asks_no_capture(forms=Forms(json="cffpy.layout.texels/1"), gpu=_gpu)
def tile(
    question: Question,
    name: str | None,
    texel_format: str | None,
    size: tuple[int, ...] | None,
    pitch: int | None,
    bank_bit: int | None,
    bank_levels: int | None,
    memory_channels: str | None,
    places: tuple[int, ...],
    points: tuple[tuple[int, int], ...],
    batch: str | None,
) -> int:
    """Byte offsets of texels in tiled memory (TILE6_3 of a6xx and a7xx)."""
    from cffpy.formats import image_format
    from cffpy.image.devices import device
    from cffpy.image.layout import ImageRequest, image_layout
    from cffpy.image.tiled import BankSwizzle, TiledMemory, TilingError
    from cffpy.views.layout import TEXELS_SCHEMA, Texel, TexelsDocument

    if batch is not None:
        return _answer_batch("tile", batch)
    gpu, form, size = _required(name, texel_format, size)
    part, texel = device(gpu), image_format(form)
    if not part.facts.has_tile_order or part.swizzle is None:
        raise TilingError(f"the tiled order of a{part.name} is not known, only a6xx's and a7xx's")
    if texel.is_r8g8:
        raise TilingError(f"the tiled order of {texel.name} is not known exactly")
    usual = part.swizzle
    swizzle = BankSwizzle(
        usual.highest_bank_bit if bank_bit is None else bank_bit,
        usual.levels if bank_levels is None else bank_levels,
        usual.channels if memory_channels is None else int(memory_channels),
    )
    request = ImageRequest(texel, size[0], size[1])
    whole = image_layout(request, part.generation, part.has_linear_mip_fallback)
    memory = TiledMemory(whole.cpp, pitch or whole.levels[0].pitch, swizzle)
    texels = [Texel(x, y, memory.offset(x, y)) for x, y in points]
    texels += [Texel(*memory.texel(place), place) for place in places]
    result = Result(
        TEXELS_SCHEMA,
        lambda: facts_document(
            TexelsDocument(part.name, texel.name, memory.pitch, memory.cpp, texels)
        ),
        lambda: (f"{known.x},{known.y}: {known.offset:#x}" for known in texels),
    )
    return write_result(result, question)


def _required(
    gpu: str | None, form: str | None, size: tuple[int, ...] | None
) -> tuple[str, str, tuple[int, ...]]:
    """The options that only a batch does without."""
    for name, value in (("--gpu", gpu), ("--format", form), ("--size", size)):
        if value is None:
            raise click.UsageError(f"{name} is missing (or --batch)")
    assert gpu is not None
    assert form is not None
    assert size is not None
    return gpu, form, size


def _answer_batch(kind: str, path: str) -> int:
    """Answer each line of a file. The exit code is 1 if a line is not a question."""
    failed = [False]

    def answers(stream: BinaryIO) -> Iterator[bytes]:
        waiting: list[bytes] = []
        size = 0
        for number, line in enumerate(_lines(stream), 1):
            if line is not None and not line.strip():
                continue
            answer, problem = _answer(kind, line)
            if problem is not None:
                failed[0] = True
                print_error(f"{path}: line {number}: {problem}")
            waiting.append(answer + b"\n")
            size += len(answer)
            if size >= _AT_ONCE:
                yield b"".join(waiting)
                waiting.clear()
                size = 0
        yield b"".join(waiting)

    with _batch_file(path) as stream:
        write_output("-", answers(stream), [path])
    return EXIT_FAILURE if failed[0] else EXIT_OK


@contextmanager
def _batch_file(path: str) -> Iterator[BinaryIO]:
    if path == "-":
        yield sys.stdin.buffer
        return
    with open(path, "rb") as file:
        yield file


def _lines(stream: BinaryIO) -> Iterator[bytes | None]:
    """The lines; None for one that is too long."""
    while line := stream.readline(_MOST_LINE):
        if len(line) < _MOST_LINE or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = stream.readline(_MOST_LINE)
        yield None


def _no_number(name: str) -> object:
    """NaN and infinities, which are not JSON."""
    raise ValueError(f"{name} is not a number of JSON")


def _answer(kind: str, line: bytes | None) -> tuple[bytes, str | None]:
    """The answer to a question, as JSON; what is wrong with the question."""
    from cffpy.image.vectors import ANSWERS

    question: object = None
    try:
        if line is None:
            raise CffpyError(f"the line has more than {_MOST_LINE} bytes")
        question = json.loads(line.decode("utf-8"), parse_constant=_no_number)
        if not isinstance(question, dict):
            raise CffpyError("a question must be a JSON object")
        return json.dumps(ANSWERS[kind](question)).encode(), None
    except CffpyError as error:
        problem = str(error)
    except (ValueError, RecursionError) as error:
        problem = f"no JSON: {error}"
        question = None
    given = question if isinstance(question, dict) else {}
    try:
        return json.dumps({**given, "error": problem}).encode(), problem
    except RecursionError:
        return json.dumps({"error": problem}).encode(), problem
