# SPDX-License-Identifier: MIT
"""Picture: 8-bit pixels of a surface, and how its values were mapped to them.

numpy, Pillow and texture2ddecoder are imported when a picture is made: the extra ``image``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from cffpy.frame.pictures import LIBRARIES, Mode, Picture, library
from cffpy.image.texels import Kind, PictureError, TexelFormat, texel_format

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.image.tiled import Surface

#: The part of a depth-stencil image that is shown; of colours, with alpha or one channel.
Aspect = Literal["depth", "stencil"]
Channels = Literal["rgb", "rgba", "r", "g", "b", "a"]

#: What a descriptor gives a shader as x, y, z, w: its own channels, 0 or 1.
IDENTITY = ("R", "G", "B", "A")


@dataclass(frozen=True, slots=True)
class PictureOptions:
    """How values become pixels. ``low``, ``high``: shown as black and white; None: by the values.

    ``aspect``: None is depth, or stencil where there is no depth. ``swizzle``: for red, green,
    blue and alpha, which channel is shown: R, G, B, A, 0 or 1.
    """

    aspect: Aspect | None = None
    channels: Channels = "rgb"
    low: float | None = None
    high: float | None = None
    swap: str = "WZYX"
    swizzle: tuple[str, ...] = IDENTITY


def make_picture(surface: Surface, data: bytes, options: PictureOptions | None = None) -> Picture:
    """The picture of a surface. ``data``: memory from its address on.

    Raises PictureError where the texels cannot be read, where too few bytes were captured, or where
    all are zero; MissingLibrary.
    """
    options = options or PictureOptions()
    check_contents(surface, data, options.swap)
    for name in LIBRARIES:
        if name != "texture2ddecoder" or surface.form.is_compressed:
            library(name)
    if surface.form.is_compressed:
        return _of_blocks(surface, data, options)
    form = texel_format(surface.form, options.swap)
    if not form.is_color:
        form = form.only("Z" if _shows_depth(form, options.aspect) else "S")
    return _Mapping(surface, form, data, options).picture()


def _shows_depth(form: TexelFormat, aspect: Aspect | None) -> bool:
    if aspect is None:
        return any(channel.letter == "Z" for channel in form.channels)
    return aspect == "depth"


def check_contents(surface: Surface, data: bytes, swap: str = "WZYX") -> None:
    """Raise PictureError where the texels cannot be read, or where there is nothing to show.

    ``data``: memory from the surface's address on; ``swap``: of its components.
    """
    needed = surface.byte_size()
    if not surface.form.is_compressed:
        texel_format(surface.form, swap)
    reason = ""
    if not data:
        reason = f"nothing at {surface.address:#x} was captured"
    elif data.count(0) == len(data):
        reason = f"all {len(data)} captured bytes at {surface.address:#x} are zero"
    if reason:
        raise PictureError(f"there is nothing to show: {reason}")
    if len(data) < needed and len(data) < surface.texel_extent():
        raise surface.too_short(len(data))


def _of_blocks(surface: Surface, data: bytes, options: PictureOptions) -> Picture:
    from cffpy.image.pixels import decode_blocks, whole

    np = library("numpy")
    texels = decode_blocks(surface.form, whole(surface, data), surface.width, surface.height)
    has_one = surface.form.components == 1
    planes = _chosen(options, dict(zip(IDENTITY, range(4), strict=True)), has_one)
    shown = [
        texels[..., plane] if plane is not None else np.full(texels.shape[:2], value, np.uint8)
        for plane, value in ((plane, 255 * constant) for plane, constant in planes)
    ]
    notes = ("values above 1 are cut",) if surface.form.name == "BPTC_RGB_UFLOAT" else ()
    pixels = np.ascontiguousarray(np.stack(shown, axis=-1))
    return Picture(
        surface.width, surface.height, _mode(len(shown)), pixels.tobytes(), 0.0, 1.0, notes
    )


def _mode(planes: int) -> Mode:
    modes: dict[int, Mode] = {1: "L", 3: "RGB", 4: "RGBA"}
    return modes[planes]


def _chosen(
    options: PictureOptions, planes: dict[str, Any], is_grey: bool
) -> list[tuple[Any, int]]:
    """For each plane of the picture: the plane that it shows, or None and 0 or 1."""
    if is_grey:
        return [(next(iter(planes.values())), 0)]
    chosen: list[tuple[Any, int]] = []
    for letter in options.channels.upper():
        source = options.swizzle["RGBA".index(letter)]
        missing = 1 if source == "1" or (source == "A" and "A" not in planes) else 0
        chosen.append((planes.get(source), missing))
    return chosen


class _Mapping:
    """Maps values to pixels: once over the surface for their range, once for the pixels."""

    def __init__(
        self, surface: Surface, form: TexelFormat, data: bytes, options: PictureOptions
    ) -> None:
        self._surface = surface
        self._form = form
        self._data = data
        self._options = options
        self._np = library("numpy")
        letters = [one.letter for one in form.channels if one.letter != "E"]
        self._planes = _chosen(options, {letter: letter for letter in letters}, len(letters) == 1)
        self._notes: list[str] = []

    def picture(self) -> Picture:
        low, high = self._range()
        np, surface = self._np, self._surface
        count = len(self._planes)
        pixels = np.empty((surface.height, surface.width, count), np.uint8)
        row = 0
        for values in self._bands():
            rows = next(iter(values.values())).shape[0]
            for number, (letter, constant) in enumerate(self._planes):
                if letter is None:
                    pixels[row : row + rows, :, number] = 255 * constant
                    continue
                is_alpha = letter == "A" and count > 1
                least, most = (0.0, 1.0) if is_alpha else (low, high)
                pixels[row : row + rows, :, number] = self._scaled(values[letter], least, most)
            row += rows
        return Picture(
            surface.width,
            surface.height,
            _mode(count),
            pixels.tobytes(),
            low,
            high,
            tuple(self._notes),
        )

    def _bands(self) -> Any:  # noqa: ANN401 - an iterator of arrays by letter
        from cffpy.image.pixels import bands, channel_values

        for texels in bands(self._surface, self._data):
            yield channel_values(self._form, texels)

    def _scaled(self, values: Any, low: float, high: float) -> Any:  # noqa: ANN401 - arrays
        np = self._np
        with np.errstate(invalid="ignore", over="ignore"):
            scaled = (np.nan_to_num(values, nan=low) - low) * (255.0 / (high - low))
            return np.clip(np.rint(scaled), 0, 255).astype(np.uint8)

    def _range(self) -> tuple[float, float]:
        """The values that are shown as black and white."""
        options = self._options
        kinds: set[Kind] = {one.kind for one in self._form.channels}
        if self._form.shared_exponent:
            kinds = {"float"}
        low, high = options.low, options.high
        if low is None or high is None:
            usual = (0.0, 1.0) if kinds == {"unorm"} and self._form.is_color else None
            if kinds == {"snorm"}:
                usual = (-1.0, 1.0)
                if low is None and high is None:
                    self._notes.append("values from -1 to 1 are shown as black to white")
            least, most = usual or self._extent(kinds)
            low, high = least if low is None else low, most if high is None else high
        if not low < high:
            raise PictureError(f"the range from {low:g} to {high:g} is empty")
        return low, high

    def _extent(self, kinds: set[Kind]) -> tuple[float, float]:
        """The least and the greatest value; 0 to 1 if that contains all, and for a constant."""
        extremes = self._extremes()
        if not extremes:
            return 0.0, 1.0
        least, most = min(one[0] for one in extremes), max(one[1] for one in extremes)
        if least == most:
            self._notes.append(f"all values are {least:g}")
            return (0.0, 1.0) if 0 <= least <= 1 else (min(0.0, least), max(0.0, most))
        is_plain = kinds <= {"float", "ufloat"} and self._form.is_color
        if is_plain and least >= 0 and most <= 1:
            return 0.0, 1.0
        self._notes.append(f"values from {least:g} to {most:g} are shown as black to white")
        return least, most

    def _extremes(self) -> list[tuple[float, float]]:
        """The least and the greatest finite value of each channel in each band."""
        np = self._np
        letters = {letter for letter, _ in self._planes if letter not in (None, "A")} or {"A"}
        extremes: list[tuple[float, float]] = []
        others = 0
        for values in self._bands():
            for letter in letters & values.keys():
                finite = values[letter][np.isfinite(values[letter])]
                others += values[letter].size - finite.size
                if finite.size:
                    extremes.append((float(finite.min()), float(finite.max())))
        if others:
            are = "1 value is" if others == 1 else f"{others} values are"
            self._notes.append(f"{are} infinite or NaN")
        return extremes


def parse_swizzle(names: Sequence[str]) -> tuple[str, ...]:
    """A descriptor's names of x, y, z and w (A6XX_TEX_X, ...) as letters for PictureOptions."""
    letters = {"X": "R", "Y": "G", "Z": "B", "W": "A", "ZERO": "0", "ONE": "1"}
    return tuple(letters.get(name.rpartition("_")[2], "0") for name in names)
