# SPDX-License-Identifier: MIT
"""Why passes are rendered in sysmem or in GMEM mode, by the rules of turnip and of gallium.

``ModeInputs`` walks: which passes count samples for the autotuner, and which colour buffers draws
read. ``mode_choices`` applies the rules of a driver in its order. What the driver knew besides the
commands (options, samples of earlier frames, barriers in passes) is inferred where no other rule is
left, or unknown.

Facts: use_sysmem_rendering, use_hw_binning, tu_autotune.cc, tu_pass.cc and tu_pipeline.cc of
turnip, freedreno_gmem.c, freedreno_autotune.c and freedreno_state.c of the Gallium driver; Mesa
25.0.7 and 25.3, which have the same rules.
"""

from __future__ import annotations

from bisect import bisect_right
from typing import TYPE_CHECKING, NamedTuple

from cffpy.analysis.depth_state import components
from cffpy.analysis.observer import Observer
from cffpy.analysis.pass_cost import bytes_of_format
from cffpy.analysis.registers import Remembered
from cffpy.capture.gpu import GENERATIONS
from cffpy.errors import UnsupportedGpu
from cffpy.formats import UnknownFormat, hardware_format
from cffpy.frame.attachment import MAX_COLOURS
from cffpy.frame.geometry import Rectangle
from cffpy.frame.objects import Shown
from cffpy.frame.render_mode import ModeChoice, ModeRule
from cffpy.image.devices import device
from cffpy.image.layout import LayoutError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.analysis.registers import RegisterReader
    from cffpy.analysis.walk import Walk
    from cffpy.capture.gpu import Gpu
    from cffpy.frame.action import Action
    from cffpy.frame.attachment import Attachment
    from cffpy.frame.driver import Certainty, DriverName
    from cffpy.frame.passes import Operation, Pass, Passes
    from cffpy.frame.places import PacketLocation
    from cffpy.frame.render_mode import Mode
    from cffpy.image.devices import Device
    from cffpy.regdb.database import Database

#: The event by which samples are counted.
_COUNT = "ZPASS_DONE"

#: Without history, more draws are rendered in GMEM mode (both drivers).
_FEW_DRAWS = 5

#: gallium's autotuner: fewer samples, and a lower cost of all draws, are rendered in sysmem mode.
_FEW_SAMPLES, _LOW_COST = 500, 3000

#: turnip binns from so many tiles on.
_LEAST_TILES = 3


# -- what takes a walk -----------------------------------------------------------------------------


class ModeInputs(Observer):
    """``counted``: indices of passes whose own commands count samples.

    The autotuner counts in the commands that the driver makes of a pass, which are on the level of
    its first packet; queries of programs count among the draws, one level below.
    """

    def __init__(self, walk: Walk, passes: PassFinder) -> None:
        self._walk = walk
        self._passes = passes
        self._levels: dict[int, int] = {}
        self.counted: set[int] = set()
        self._blended: Remembered[tuple[int, ...]]
        #: Actions from which on other colour buffers are read, and these buffers.
        self._orders: list[int] = []
        self._buffers: list[tuple[int, ...]] = []

    def bound(self, gpu: Gpu, database: Database) -> None:
        """Read registers by the generation's names."""
        self._blended = Remembered(self._walk.machine, _blended)

    def event(self, name: str | None) -> None:
        """A count of samples, of the pass that is open."""
        current = self._passes.current
        if name != _COUNT or current is None or not self._walk.runs_packets:
            return
        level = self._levels.get(current.index)
        if level is None:
            level = self._levels[current.index] = _level(current.first)
        if _level(self._walk.packet_location) == level:
            self.counted.add(current.index)

    def action(self, action: Action) -> None:
        """A draw: the colour buffers that it reads."""
        if action.kind == "draw" and action.execution.is_possible and not action.binning:
            buffers = self._blended()
            if not self._buffers or buffers != self._buffers[-1]:
                self._orders.append(action.order)
                self._buffers.append(buffers)

    def blended(self, draw: Action) -> tuple[int, ...]:
        """The colour buffers that blending or a logic operation of a draw reads."""
        position = bisect_right(self._orders, draw.order) - 1
        return self._buffers[position] if position >= 0 else ()


def _level(place: PacketLocation) -> int:
    """How many streams call the one that a packet is in."""
    level, stream = 0, place.stream
    while stream.caller is not None:
        level, stream = level + 1, stream.caller.stream
    return level


def _blended(reader: RegisterReader) -> tuple[int, ...]:
    if not reader.offset("RB_MRT[0].CONTROL"):  # a2xx
        is_off = reader.flag("RB_COLORCONTROL", "BLEND_DISABLE")
        return () if is_off else (0,)
    return tuple(
        index
        for index in range(MAX_COLOURS)
        if reader.flag(f"RB_MRT[{index}].CONTROL", "BLEND")
        or reader.flag(f"RB_MRT[{index}].CONTROL", "ROP_ENABLE")
    )


# -- rules -----------------------------------------------------------------------------------------


class _Verdict(NamedTuple):
    """A rule that decided, or would have, for a mode."""

    mode: Mode
    rule: ModeRule
    detail: str = ""


def mode_choices(
    frame: Passes, inputs: ModeInputs, driver: DriverName | None = None
) -> list[ModeChoice]:
    """Why each render pass is in its mode, in order. ``driver``: None where it is not known."""
    facts = GENERATIONS.get(frame.generation)
    if facts is None:
        return []
    known: DriverName | None = driver if facts.has_turnip else "freedreno"
    passes = [pass_ for pass_ in frame.passes if pass_.kind == "render" and pass_.mode]
    part = _device(frame.gpu)
    choosers = {"turnip": _Turnip, "freedreno": _Gallium, None: _Unknown}
    chooser = choosers[known](passes, inputs, facts.counts_samples, part)
    return Shown(chooser.choice(pass_) for pass_ in passes)


def _device(gpu: str | None) -> Device | None:
    try:
        return device(gpu or "")
    except UnsupportedGpu:
        return None


class _Chooser:
    """The rules of a driver, and what all passes of the capture show of its options."""

    driver: DriverName | None = None
    #: The environment variable of debug options.
    option = ""

    def __init__(
        self, passes: list[Pass], inputs: ModeInputs, has_counts: bool, part: Device | None
    ) -> None:
        self.inputs, self.has_counts, self.part = inputs, has_counts, part
        self.modes = {pass_.mode for pass_ in passes}
        #: Whether a pass is in another mode than the autotuner chooses without history.
        self.contradicts = any(
            self.forced(pass_) is None and self.fallback(pass_).mode != pass_.mode
            for pass_ in passes
        )

    def forced(self, pass_: Pass) -> _Verdict | None:
        """What the driver must do, whatever its options are; None where it has a choice."""
        return _Verdict("sysmem", "tessellation") if _tessellates(pass_) else None

    def fallback(self, pass_: Pass) -> _Verdict:
        """What the autotuner chooses without history."""
        raise NotImplementedError

    def chosen(self, pass_: Pass, fallback: _Verdict) -> tuple[_Verdict, Certainty | None]:
        """The rule of a pass for which the driver has a choice."""
        raise NotImplementedError

    def choice(self, pass_: Pass) -> ModeChoice:
        """The answer for a pass, with what the driver counts."""
        assert pass_.mode is not None
        choice = ModeChoice(pass_.index, pass_.mode, self.driver)
        forced = self.forced(pass_)
        fallback = forced or self.fallback(pass_)
        choice.without_history = fallback.mode
        if forced is None:
            verdict, certainty = self.chosen(pass_, fallback)
        elif forced.mode == pass_.mode:
            verdict, certainty = forced, "sure"
        else:  # by none of the rules that are known
            verdict, certainty = _unknown(pass_, f"{forced.mode} is what the rules say"), None
        choice.rule, choice.detail, choice.certainty = verdict.rule, verdict.detail, certainty
        if self.has_counts:
            choice.counts_samples = pass_.index in self.inputs.counted
        choice.draws = len(pass_.draws)
        choice.pixels = _pixels(pass_)
        if pass_.mode == "gmem":
            choice.binning_reason = self.binning_reason(pass_)
        self.count(pass_, choice)
        return choice

    def count(self, pass_: Pass, choice: ModeChoice) -> None:
        """What the autotuner computes of a pass."""

    def binning_reason(self, pass_: Pass) -> str | None:
        """Why a GMEM pass has a binning run or none."""
        tiles, least = len(pass_.tiles), self.least_tiles
        if least is None:
            return None
        is_enough = tiles >= least
        if pass_.hardware_binning == is_enough:
            return f"{tiles} tiles, binning from {least} on"
        if is_enough:
            return f"{tiles} tiles: {self.option}=nobin, or too many tiles for the VSC pipes"
        return f"{tiles} tiles: {self.forces_binning}"

    @property
    def least_tiles(self) -> int | None:
        """Tiles from which on there is a binning run; None where the part is not known."""
        binning = None if self.part is None else self.part.binning
        return None if binning is None else binning.least_tiles

    @property
    def forces_binning(self) -> str:
        """Why few tiles have a binning run."""
        return "not known why"


class _Turnip(_Chooser):
    driver: DriverName | None = "turnip"
    option = "TU_DEBUG"
    least_tiles = _LEAST_TILES
    forces_binning = "TU_DEBUG=forcebin, stream-out, or a query of generated primitives"

    def forced(self, pass_: Pass) -> _Verdict | None:
        area = pass_.render_area
        if area is not None and not (area.size.width > 0 and area.size.height > 0):
            return _Verdict("sysmem", "empty render area")
        if pass_.mode == "sysmem" and self._fits_no_tile(pass_):
            return _Verdict("sysmem", "does not fit")
        found = super().forced(pass_)
        if found is None and pass_.density_map:
            return _Verdict("gmem", "density map")
        return found

    def _fits_no_tile(self, pass_: Pass) -> bool:
        from cffpy.image.gmem import turnip_gmem  # lazily: few passes need it

        try:
            formats = [hardware_format(one.format or "") for one in pass_.attachments]
            if self.part is None:
                return False
            layout = turnip_gmem(self.part, formats, pass_.samples or 1)
        except (LayoutError, UnknownFormat):
            return False
        width, height = self.part.tile_align
        return layout.pixels < width * height

    def fallback(self, pass_: Pass) -> _Verdict:
        draws = _draws_text(len(pass_.draws))
        if len(pass_.draws) > _FEW_DRAWS:
            return _Verdict("gmem", "many draws", draws)
        if (pass_.samples or 1) > 1:
            return _Verdict("gmem", "multisampled", f"{pass_.samples} samples")
        return _Verdict("sysmem", "few draws", draws)

    def chosen(self, pass_: Pass, fallback: _Verdict) -> tuple[_Verdict, Certainty | None]:
        mode = pass_.mode
        if pass_.index in self.inputs.counted:  # the autotuner was asked: no option is set
            if mode == fallback.mode:
                return fallback, "likely"
            return _Verdict(fallback.mode, "history", fallback.mode), "sure"
        # without counts: an option, a command buffer that may be pending twice, or, in sysmem mode,
        # something in the pass that tiles cannot have
        if self.inputs.counted:  # no option, which would hold for all passes
            if mode == fallback.mode == "gmem":
                return fallback, "likely"
            text = (
                "the autotuner did not measure it, as it did other passes: something in it that"
                " tiles cannot have, as a barrier, or a command buffer for simultaneous use"
            )
            return _unknown(pass_, text), None
        if len(self.modes) == 1 and self.contradicts:
            return _Verdict(mode or "gmem", "debug option", f"TU_DEBUG={mode}"), "likely"
        if len(self.modes) == 1:
            text = (
                f"the autotuner did not measure it: TU_DEBUG={mode}, or a command buffer for"
                f" simultaneous use, for which {fallback.mode} is chosen by its {fallback.rule}"
            )
            return _unknown(pass_, text), None
        if mode == fallback.mode:
            return fallback, "likely"
        return _unknown(pass_, "the autotuner did not measure it"), None

    def count(self, pass_: Pass, choice: ModeChoice) -> None:
        choice.sysmem_bytes, choice.gmem_bytes = _bandwidth(pass_)
        costs = [_sample_bytes(draw, self.inputs.blended(draw), pass_) for draw in pass_.draws]
        if None in costs or not costs:
            return
        total, number = sum(cost or 0 for cost in costs), len(costs)
        choice.draw_cost = total / number
        sysmem, gmem, pixels = choice.sysmem_bytes, choice.gmem_bytes, choice.pixels
        if sysmem is None or gmem is None or pixels is None or not total:
            return
        # sysmem * pixels + X <= (11 * gmem * pixels + X) / 10, X = samples * total / number
        most = (11 * gmem - 10 * sysmem) * pixels // 9
        choice.sysmem_samples = -1 if most < 0 else -(-(most + 1) * number // total) - 1


class _Gallium(_Chooser):
    driver: DriverName | None = "freedreno"
    option = "FD_MESA_DEBUG"

    def forced(self, pass_: Pass) -> _Verdict | None:
        if not pass_.draws and not pass_.clears:
            return _Verdict("sysmem", "nothing drawn")
        if (pass_.layers or 1) > 1:
            return _Verdict("sysmem", "layers", f"{pass_.layers} layers")
        if pass_.mode == "sysmem" and not pass_.attachments:
            return _Verdict("sysmem", "no attachment")
        return super().forced(pass_)

    def fallback(self, pass_: Pass) -> _Verdict:
        if pass_.clears:
            return _Verdict("gmem", "cleared")
        state = sorted({text for draw in pass_.draws for text in self._state(draw)})
        if state:
            return _Verdict("gmem", "state of draws", ", ".join(state))
        draws = _draws_text(len(pass_.draws))
        if len(pass_.draws) > _FEW_DRAWS:
            return _Verdict("gmem", "many draws", draws)
        if (pass_.samples or 1) > 1:
            return _Verdict("gmem", "multisampled", f"{pass_.samples} samples")
        return _Verdict("sysmem", "few draws", draws)

    def _state(self, draw: Action) -> Iterator[str]:
        """The states for which a batch is rendered in GMEM mode."""
        if draw.depth is None:
            return
        if draw.depth.tests_depth:
            yield "a depth test"
        if draw.depth.tests_stencil:
            yield "a stencil test"
        if any(index < draw.depth.colours for index in self.inputs.blended(draw)):
            yield "blending"

    def chosen(self, pass_: Pass, fallback: _Verdict) -> tuple[_Verdict, Certainty | None]:
        mode = pass_.mode
        if mode == fallback.mode:
            is_free = self.has_counts or len(self.modes) == 1
            return fallback, "likely" if is_free else "sure"
        if mode == "gmem":  # few draws: only an option keeps them there
            return _Verdict("gmem", "debug option", "FD_MESA_DEBUG=gmem"), "likely"
        if self.has_counts and (len(self.modes) > 1 or fallback.rule == "multisampled"):
            return _Verdict("gmem", "history", "gmem"), "likely"
        if len(self.modes) > 1:
            return _unknown(pass_, f"{fallback.mode} is what the rules say"), None
        if self.has_counts:
            text = "FD_MESA_DEBUG=sysmem, or the autotuner's samples of earlier frames"
            return _unknown(pass_, text), None
        return _Verdict("sysmem", "debug option", "FD_MESA_DEBUG=sysmem"), "likely"

    def binning_reason(self, pass_: Pass) -> str | None:
        if not pass_.draws and not pass_.hardware_binning:
            return "no draws"
        return super().binning_reason(pass_)

    def count(self, pass_: Pass, choice: ModeChoice) -> None:
        costs = [self._reads_and_writes(draw) for draw in pass_.draws]
        if None in costs or not costs:
            return
        number, total = len(costs), sum(cost or 0 for cost in costs)
        choice.draw_cost = total / number
        if self.has_counts and choice.without_history == "gmem" and total:
            # samples < 500, or samples * total / number / number < 3000
            least = max(_FEW_SAMPLES, -(-_LOW_COST * number * number // total))
            choice.sysmem_samples = least - 1

    def _reads_and_writes(self, draw: Action) -> int | None:
        state = draw.depth
        if state is None:
            return None
        blended = sum(index < state.colours for index in self.inputs.blended(draw))
        return state.colours + blended + state.tests_depth + state.writes_depth


class _Unknown(_Chooser):
    """A driver that the capture does not show: turnip, gallium or the vendor's."""

    def __init__(
        self, passes: list[Pass], inputs: ModeInputs, has_counts: bool, part: Device | None
    ) -> None:
        given = passes, inputs, has_counts, part
        self._drivers = _Turnip(*given), _Gallium(*given)
        super().__init__(*given)

    def forced(self, pass_: Pass) -> _Verdict | None:
        verdicts = [driver.forced(pass_) for driver in self._drivers]
        return verdicts[0] if verdicts[0] == verdicts[1] else None

    def fallback(self, pass_: Pass) -> _Verdict:
        return self._drivers[0].fallback(pass_)

    def chosen(self, pass_: Pass, fallback: _Verdict) -> tuple[_Verdict, Certainty | None]:
        return _unknown(pass_, "the commands do not show which driver made them"), None

    def choice(self, pass_: Pass) -> ModeChoice:
        choice = super().choice(pass_)
        if choice.rule == "unknown":
            modes = {
                (driver.forced(pass_) or driver.fallback(pass_)).mode for driver in self._drivers
            }
            choice.without_history = modes.pop() if len(modes) == 1 else None
        return choice

    def binning_reason(self, pass_: Pass) -> str | None:
        return None


def _unknown(pass_: Pass, text: str) -> _Verdict:
    return _Verdict(pass_.mode or "gmem", "unknown", text)


def _draws_text(number: int) -> str:
    return f"{number} draw{'' if number == 1 else 's'}"


def _tessellates(pass_: Pass) -> bool:
    return any(program.stage in ("HS", "DS") for draw in pass_.draws for program in draw.programs)


def _pixels(pass_: Pass) -> int | None:
    area, size = pass_.render_area, pass_.framebuffer
    if area is None and size is None:
        return None
    if size is not None:
        whole = Rectangle(0, 0, size.width, size.height)
        area = whole if area is None else area.common(whole)
    assert area is not None
    return max(0, area.size.width) * max(0, area.size.height)


# -- turnip's formula ------------------------------------------------------------------------------


def _bandwidth(pass_: Pass) -> tuple[int | None, int | None]:
    """Bytes a pixel that sysmem and that GMEM rendering move besides draws (tu_pass.cc)."""
    samples = pass_.samples or 1
    sysmem = gmem = 0
    is_known = True
    for kind, size in _moved(pass_):
        if size is None:
            is_known = False
        elif kind == "clear":
            sysmem += size * samples
        elif kind == "resolve":
            sysmem += size * samples + size
            gmem += size
        else:
            gmem += size * samples
    if not is_known:
        return None, None
    return sysmem, gmem if pass_.mode == "gmem" else None


def _moved(pass_: Pass) -> Iterator[tuple[str, int | None]]:
    """Each load, clear, store or resolve of an attachment once, with the bytes of a sample."""
    seen: set[tuple[str, str | None]] = set()
    for operation in pass_.rendered_operations:
        kind = "resolve" if operation.resolves else operation.kind
        key = kind, _plane(operation, pass_)
        if key in seen or kind not in ("load", "clear", "store", "resolve"):
            continue
        seen.add(key)
        yield kind, _operation_bytes(operation, pass_)


def _plane(operation: Operation, pass_: Pass) -> str | None:
    """The attachment; depth and stencil in one buffer are one."""
    name = operation.attachment
    depth = _attachment(pass_, "depth")
    packs = depth is not None and depth.packs_stencil
    return "depth" if packs and name in ("stencil", "depth+stencil") else name


def _operation_bytes(operation: Operation, pass_: Pass) -> int | None:
    name = operation.attachment or ""
    depth = _attachment(pass_, "depth")
    if name == "stencil" and depth is not None:
        return 0  # of D32S8 turnip counts depth alone
    target = _attachment(pass_, "depth" if "depth" in name else name)
    size = None if target is None else bytes_of_format(target.format)
    return size or bytes_of_format(operation.format)


def _attachment(pass_: Pass, name: str) -> Attachment | None:
    return next((one for one in pass_.attachments if one.name == name), None)


def _sample_bytes(draw: Action, blended: tuple[int, ...], pass_: Pass) -> int | None:
    """Bytes that a draw moves of each sample (tu_calc_bandwidth, tu6_draw_common)."""
    state = draw.depth
    if state is None:
        return None
    total = 0
    for target in draw.targets:
        if not target.name.startswith("color"):
            continue
        bits = _written_bits(target)
        if bits is None:
            return None
        is_read = int(target.name.removeprefix("color ")) in blended
        total += 2 * bits if is_read else bits
    depth_bits, stencil_bits = _depth_bits(draw, pass_)
    size = total // 8 + depth_bits // 8 * (state.tests_depth + state.writes_depth)
    return size + stencil_bits // 8 * 2 * state.tests_stencil


def _written_bits(target: Attachment) -> int | None:
    """Bits of the components that a draw writes."""
    mask, size = target.write_mask, bytes_of_format(target.format)
    if mask is None or size is None or target.format is None:
        return None
    if mask == (1 << 4) - 1:
        return 8 * size
    count = components(target.format)
    return 8 * size * (mask & ((1 << count) - 1)).bit_count() // count


def _depth_bits(draw: Action, pass_: Pass) -> tuple[int, int]:
    """Bits of depth and of stencil of a sample."""
    targets = {one.name: one for one in (*pass_.attachments, *draw.targets)}
    depth, stencil = targets.get("depth"), targets.get("stencil")
    depth_bits = 0
    if depth is not None:
        is_packed = depth.packs_stencil
        depth_bits = 24 if is_packed else 8 * (bytes_of_format(depth.format) or 0)
        if is_packed:
            return depth_bits, 8
    return depth_bits, 0 if stencil is None else 8
