# SPDX-License-Identifier: MIT
"""The GPUs of captures, and their generations: one record each, with what decoders need to know.

Registers, packets and enums come from the descriptions of the record's ``chip``
(register_db/adreno), instructions from those of its ``instruction_set`` (register_db/isa). Facts
about single packets and registers that differ between generations stay where these are decoded.

A ``Gpu`` follows from RD_GPU_ID and RD_CHIP_ID, or from a name that the user gives.
``lookup_gpu_id`` and ``lookup_chip_id`` know the ids that Mesa 25.0.7's cffdump knows (it crashes
on others), and those of a8xx; ``guess`` derives the generation of an unknown id.

A chip id is ``core << 24 | major << 16 | minor << 8 | patch`` in bits 31:0, with fuses or a speed
bin in bits 47:32. Up to a6xx, core, major and minor are the digits of the GPU id.
"""

from __future__ import annotations

from cffpy.errors import UnsupportedGpu
from cffpy.value_object import ValueObject

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    from cffpy.capture.load import Identity

#: Shader stages, in the order of the blocks of CP_LOAD_STATE4 and 6.
STAGES = ("VS", "HS", "DS", "GS", "FS", "CS")


#: Dwords from one bindless descriptor to the next.
BINDLESS_STRIDE = 16

#: The bits of SP_BINDLESS_BASE and similar registers (the low dword) that are part of the address.
BINDLESS_ADDRESS_MASK = 0xFFFFFFFC

#: The bits of a register of ``program_registers`` that are part of the address.
PROGRAM_ADDRESS_MASK = ~0xF


class Microcode(ValueObject):
    """The microcode of a generation's command processor (cffpy.isa.afuc).

    ``sections``: names of the sections of a firmware file, in their order. ``has_marks``: the two
    dwords at a section's begin, which say its id and where its table is, have 1 in their top byte,
    as nops have that carry a number; so a file tells its GPU.
    """

    __slots__ = ("has_marks", "sections")

    def __init__(self, *sections: str, has_marks: bool = True) -> None:
        self.sections = sections
        self.has_marks = has_marks


class Lrz(ValueObject):
    """LRZ of a generation.

    ``fast_clear``: the most fast-clear flags, and bytes of the buffer with them and the direction;
    (0, 0) where the flags have a fixed place. ``tracks_direction``: the GPU keeps the direction in
    memory, and so finds a wrong one; else the device table says which parts do. ``tests_kills``:
    LRZ is on for programs that discard fragments (it does not write). ``is_for_each_draw``: no draw
    turns LRZ off for later ones.
    """

    __slots__ = ("fast_clear", "is_for_each_draw", "tests_kills", "tracks_direction")

    def __init__(
        self,
        fast_clear: tuple[int, int] = (0, 0),
        tracks_direction: bool = False,
        tests_kills: bool = True,
        is_for_each_draw: bool = False,
    ) -> None:
        self.fast_clear = fast_clear
        self.is_for_each_draw = is_for_each_draw
        self.tracks_direction = tracks_direction
        self.tests_kills = tests_kills


class Generation(ValueObject):
    """What is the same for all GPUs of a generation. ``number``: 2 for a2xx, ...

    ``is_64bit``: addresses take two dwords, and headers are of types 4 and 7, not 0, 2 and 3.
    ``groups_have_modes``: a draw-state group is loaded in the render modes of its enable mask.
    ``resolves_are_draws``: the events BLIT and LRZ_CLEAR count as draws.
    ``instruction_set``: "a2xx" or "ir3". ``program_unit``: dwords of the unit in which packets
    count programs. ``tracker``: which class finds passes (cffpy.analysis.passes.finder).
    ``program_registers``: (stage, register, register of the upper half) of each that holds a
    program's address; the last is empty where the first holds the whole address.
    ``enable_registers``: (stage, register) of each whose field ENABLED decides whether draws run
    the stage's program. An edition of the database need not have all registers.
    ``descriptors``: "sampler", "texture", "ubo" (of uniform data), "storage", "storage size" and
    "storage address" (the descriptors of a storage buffer or image, up to a5xx in several parts)
    -> (domain, dwords of a descriptor).
    ``constant_dwords``: of the unit in which packets count constants.
    ``has_bindless``: shaders use sets of bindless descriptors.
    ``level_address_blocks``: state block of CP_LOAD_STATE -> the stage for whose textures it loads
    the addresses of levels; else these are in the descriptors. Source: SB_*_MIPADDR, and fd3_emit
    of freedreno.
    ``pushes_by_storage``: drivers load push constants into the state block for storage, which is
    bindless itself (seen in captures of turnip).
    ``has_render_modes``: packets set the render mode. ``has_compression_bits``: a bit of each
    render target says whether it is compressed.
    ``load_state``: the packet whose fields all packets that load state have. ``has_a20x_draws``:
    draw packets may have the form of a20x, with the number of indices in another place.
    ``has_uncounted_blits``: the event BLIT moves pixels, but is not a draw of the dump.
    ``decodes_visibility``: the format of its visibility streams is known. ``merges_bins``: a tile
    may use the visibility streams of several bins. ``sysmem_buffers``: (register, field, value) by
    which buffers are in memory though the pass has them in GMEM; without a value, any but 0.
    ``image_layout``: the rules by which images and LRZ buffers lie in memory ("a5xx", "a6xx"; see
    cffpy.image.layout), empty where they are not known. ``has_tile_order``: the order of texels in
    tiles is known. ``tiles_depth``: depth buffers are tiled, though no field says so. ``lrz``: None
    without LRZ. ``has_turnip``: turnip may be the driver; else it is the Gallium driver.
    ``slot_registers``: which registers say what slots a stage has ("a2xx" to "a6xx"; see
    cffpy.analysis.inputs.uses), empty where programs name none.
    ``names_uniform_buffers``: instructions name them; else programs read them by address.
    ``counts_samples``: drivers count the samples of passes to choose their mode.
    ``has_resolve_cache``: resolves write through a cache of their own. ``merges_registers``: half
    registers are halves of full ones. ``microcode``: None where it is not known. ``gmu_registers``:
    (file, domain) of the GMU's registers in the database, empty without.
    ``ring_pointer_is_of_roq``: CP_RB_RPTR is where the ROQ reads the ring, else where the SQE does
    (crashdec.c of Mesa 25.3). ``is_checked``: the lints of cffpy.check were tried on its captures.
    """

    __slots__ = (
        "constant_dwords",
        "counts_samples",
        "decodes_visibility",
        "descriptors",
        "enable_registers",
        "gmu_registers",
        "groups_have_modes",
        "has_a20x_draws",
        "has_bindless",
        "has_compression_bits",
        "has_render_modes",
        "has_resolve_cache",
        "has_tile_order",
        "has_turnip",
        "has_uncounted_blits",
        "image_layout",
        "instruction_set",
        "is_64bit",
        "is_checked",
        "level_address_blocks",
        "load_state",
        "lrz",
        "merges_bins",
        "merges_registers",
        "microcode",
        "names_uniform_buffers",
        "number",
        "program_registers",
        "program_unit",
        "pushes_by_storage",
        "resolves_are_draws",
        "ring_pointer_is_of_roq",
        "slot_registers",
        "sysmem_buffers",
        "tiles_depth",
        "tracker",
    )

    def __init__(
        self,
        number: int,
        tracker: str,
        program_unit: int,
        program_registers: tuple[tuple[str, str, str], ...] = (),
        enable_registers: tuple[tuple[str, str], ...] = (),
        instruction_set: str = "ir3",
        is_64bit: bool = False,
        groups_have_modes: bool = False,
        resolves_are_draws: bool = False,
        descriptors: Mapping[str, tuple[str, int]] | None = None,
        constant_dwords: int = 4,
        has_bindless: bool = False,
        has_render_modes: bool = False,
        has_compression_bits: bool = False,
        level_address_blocks: Mapping[int, str] | None = None,
        pushes_by_storage: bool = False,
        load_state: str = "CP_LOAD_STATE6",
        has_a20x_draws: bool = False,
        has_uncounted_blits: bool = False,
        decodes_visibility: bool = False,
        merges_bins: bool = False,
        sysmem_buffers: tuple[str, str, str] = ("", "", ""),
        image_layout: str = "",
        has_tile_order: bool = False,
        tiles_depth: bool = False,
        lrz: Lrz | None = None,
        has_turnip: bool = False,
        counts_samples: bool = False,
        has_resolve_cache: bool = False,
        merges_registers: bool = False,
        microcode: Microcode | None = None,
        gmu_registers: tuple[str, str] | tuple[()] = (),
        ring_pointer_is_of_roq: bool = False,
        is_checked: bool = True,
        slot_registers: str = "",
        names_uniform_buffers: bool = False,
    ) -> None:
        self.number = number
        self.tracker = tracker
        self.program_unit = program_unit
        self.program_registers = program_registers
        self.enable_registers = enable_registers
        self.instruction_set = instruction_set
        self.is_64bit = is_64bit
        self.groups_have_modes = groups_have_modes
        self.resolves_are_draws = resolves_are_draws
        self.descriptors = descriptors or {}
        self.constant_dwords = constant_dwords
        self.has_bindless = has_bindless
        self.has_render_modes = has_render_modes
        self.has_compression_bits = has_compression_bits
        self.level_address_blocks = level_address_blocks or {}
        self.pushes_by_storage = pushes_by_storage
        self.load_state = load_state
        self.has_a20x_draws = has_a20x_draws
        self.has_uncounted_blits = has_uncounted_blits
        self.decodes_visibility = decodes_visibility
        self.merges_bins = merges_bins
        self.sysmem_buffers = sysmem_buffers
        self.image_layout = image_layout
        self.has_tile_order = has_tile_order
        self.tiles_depth = tiles_depth
        self.lrz = lrz
        self.has_turnip = has_turnip
        self.counts_samples = counts_samples
        self.has_resolve_cache = has_resolve_cache
        self.merges_registers = merges_registers
        self.microcode = microcode
        self.gmu_registers = gmu_registers
        self.ring_pointer_is_of_roq = ring_pointer_is_of_roq
        self.is_checked = is_checked
        self.slot_registers = slot_registers
        self.names_uniform_buffers = names_uniform_buffers

    @property
    def name(self) -> str:
        """What people call it, e.g. ``a6xx``."""
        return f"a{self.number}xx"

    @property
    def chip(self) -> str:
        """The register database's name, e.g. ``A6XX``."""
        return f"A{self.number}XX"


def _from_a6xx(number: int) -> Generation:
    registers = []
    for stage in STAGES:
        registers.append((stage, f"SP_{stage}_OBJ_START", ""))
        # the names that Mesa gives them from 25.1 on
        registers.append((stage, f"SP_{'PS' if stage == 'FS' else stage}_BASE", ""))
    return Generation(
        number,
        tracker="a6xx",
        program_unit=32,
        program_registers=tuple(registers),
        enable_registers=_CONFIGS,
        is_64bit=True,
        groups_have_modes=True,
        resolves_are_draws=True,
        descriptors={
            "sampler": ("A8XX_TEX_SAMP" if number > 7 else "A6XX_TEX_SAMP", 4),
            "texture": ("A8XX_TEX_MEMOBJ" if number > 7 else "A6XX_TEX_CONST", 16),
            "ubo": ("A6XX_UBO", 2),
            "storage": ("A8XX_TEX_MEMOBJ" if number > 7 else "A6XX_TEX_CONST", 16),
        },
        has_bindless=True,
        has_render_modes=True,
        has_compression_bits=number > 6,
        pushes_by_storage=number == 6,
        # the streams of a8xx are not known
        decodes_visibility=number < 8,
        merges_bins=number > 6,
        sysmem_buffers=(
            ("RB_BIN_CONTROL", "BUFFERS_LOCATION", "BUFFERS_IN_SYSMEM")
            if number == 6
            else ("RB_UNKNOWN_8812", "", "")
        ),
        image_layout="a6xx" if number < 8 else "",
        has_tile_order=number < 8,
        tiles_depth=number < 8,
        lrz=_LRZ.get(number, Lrz(tracks_direction=True)),
        has_turnip=True,
        counts_samples=True,
        has_resolve_cache=number == 7,
        merges_registers=True,
        microcode=_MICROCODE.get(number),
        gmu_registers=("a6xx_gmu", "A6XX") if number < 8 else (),
        ring_pointer_is_of_roq=number == 6,
        is_checked=number < 8,
        slot_registers="a6xx",
        names_uniform_buffers=True,
    )


#: SP_PS_CONFIG: the name from Mesa 25.1 on.
_CONFIGS = (*[(stage, f"SP_{stage}_CONFIG") for stage in STAGES], ("FS", "SP_PS_CONFIG"))

_LRZ = {6: Lrz((512, 520)), 7: Lrz((1024, 0x1800), tracks_direction=True)}

_MICROCODE = {6: Microcode("SQE", "LPAC"), 7: Microcode("SQE", "BV", "LPAC")}

#: Number -> generation.
GENERATIONS = {
    one.number: one
    for one in (
        # programs are loaded by packets or lie in them
        Generation(
            2,
            tracker="a2xx",
            program_unit=2,
            instruction_set="a2xx",
            descriptors={"texture": ("A2XX_SQ_TEX", 6)},
            constant_dwords=2,
            load_state="CP_LOAD_STATE",
            has_a20x_draws=True,
            slot_registers="a2xx",
        ),
        Generation(
            3,
            tracker="a3xx",
            program_unit=8,
            program_registers=tuple(
                [(stage, f"SP_{stage}_OBJ_START_REG", "") for stage in ("VS", "FS")]
            ),
            descriptors={"sampler": ("A3XX_TEX_SAMP", 2), "texture": ("A3XX_TEX_CONST", 4)},
            constant_dwords=2,
            level_address_blocks={1: "VS", 3: "FS"},
            load_state="CP_LOAD_STATE",
            slot_registers="a3xx",
        ),
        Generation(
            4,
            tracker="a4xx",
            program_unit=32,
            program_registers=tuple([(stage, f"SP_{stage}_OBJ_START", "") for stage in STAGES]),
            # old drivers wrote the registers of VS and FS in another form
            enable_registers=tuple(
                [(stage, f"HLSQ_{stage}_CONTROL_REG") for stage in ("HS", "DS", "GS")]
            ),
            descriptors={
                "sampler": ("A4XX_TEX_SAMP", 2),
                "texture": ("A4XX_TEX_CONST", 8),
                "storage": ("A4XX_SSBO_0", 4),
                "storage size": ("A4XX_SSBO_1", 2),
            },
            load_state="CP_LOAD_STATE4",
            slot_registers="a4xx",
        ),
        Generation(
            5,
            tracker="a5xx",
            program_unit=32,
            program_registers=tuple(
                [
                    (stage, f"SP_{stage}_OBJ_START_LO", f"SP_{stage}_OBJ_START_HI")
                    for stage in STAGES
                ]
            ),
            enable_registers=_CONFIGS,
            is_64bit=True,
            descriptors={
                "sampler": ("A5XX_TEX_SAMP", 4),
                "texture": ("A5XX_TEX_CONST", 12),
                "ubo": ("A5XX_UBO", 2),
                "storage": ("A5XX_SSBO_0", 4),
                "storage size": ("A5XX_SSBO_1", 2),
                "storage address": ("A5XX_SSBO_2", 2),
            },
            has_render_modes=True,
            load_state="CP_LOAD_STATE4",
            has_uncounted_blits=True,
            image_layout="a5xx",
            lrz=Lrz(tests_kills=False, is_for_each_draw=True),
            microcode=Microcode("SQE", has_marks=False),
            slot_registers="a5xx",
        ),
        _from_a6xx(6),
        _from_a6xx(7),
        _from_a6xx(8),
    )
}


def generation_of(number: int) -> Generation:
    """The record of a generation. Raises UnsupportedGpu for an unknown one."""
    generation = GENERATIONS.get(number)
    if generation is None:
        raise UnsupportedGpu(f"GPUs of a{number}xx are not known")
    return generation


def is_adreno(number: int | None) -> bool:
    """Whether a number names a generation of Adreno; numbers of Intel GPUs are larger."""
    return number in GENERATIONS


def generation_name(number: int) -> str:
    """``a7xx``; of an Intel GPU, whose number is ten times its version, ``gfx12.5``."""
    return f"a{number}xx" if is_adreno(number) else f"gfx{number / 10:g}"


class Gpu(ValueObject):
    """A GPU. ``gpu_id`` or ``chip_id`` is 0 where only the other one names it."""

    __slots__ = ("chip_id", "generation", "gpu_id", "name")

    def __init__(self, gpu_id: int, chip_id: int, generation: int, name: str) -> None:
        self.gpu_id = gpu_id
        self.chip_id = chip_id
        #: 2 to 8: a2xx to a8xx
        self.generation = generation
        #: e.g. "FD630"
        self.name = name

    @property
    def facts(self) -> Generation:
        """What is the same for all GPUs of the generation."""
        return GENERATIONS[self.generation]

    @property
    def is_64bit(self) -> bool:
        """Whether addresses take two dwords."""
        return self.facts.is_64bit

    @property
    def chip(self) -> str:
        """The register database's name of the generation, e.g. ``A6XX``."""
        return self.facts.chip


# The GPUs that have a GPU id.
_GPU_IDS = frozenset(
    [
        *(200, 201, 205, 220),
        *(305, 307, 320, 330),
        *(405, 420, 430),
        *(505, 506, 508, 509, 510, 512, 530, 540),
        *(605, 608, 610, 612, 615, 616, 618, 619, 620, 630, 640, 650, 660, 680, 690),
        740,
    ]
)
_CLASSIC_GENERATIONS = range(2, 7)
#: a702 is an a6xx part in spite of its number. Source: Mesa's freedreno_devices.py.
_GENERATIONS = {702: 6}
_A702 = 0x07002000
#: Chip ids since a735 carry no digits of the name.
_CORES = {7: 7, 0x43: 7, 0x44: 8}

# Chip id -> generation, name, "any fuse bits".
_CHIP_IDS = {
    0x03000512: (3, "FD305B", True),
    0x03000620: (3, "FD306A", False),
    0x06020100: (6, "FD621", True),
    0x06030500: (6, "Adreno 7c+ Gen 3", True),
    0x06060201: (6, "FD644", False),
    0x06060300: (6, "FD663", True),
    0x06090000: (6, "FD690", True),
    0x07030001: (7, "FD730", True),
    0x07030002: (7, "FD725", True),
    0x43030B00: (7, "FD735", False),
    0x43050A00: (7, "FDA32", True),
    0x43050A01: (7, "FD740", True),
    0x43050B00: (7, "FD740v3", True),
    0x43050C01: (7, "FDX1-85", True),
    0x43051401: (7, "FD750", True),
    # known to later versions of Mesa
    0x44010000: (8, "Adreno (TM) 810", True),
    0x44030A20: (8, "Adreno (TM) 829", True),
    0x44050000: (8, "Adreno (TM) 830", True),
    0x44050001: (8, "Adreno (TM) 830", True),
    0x44050A31: (8, "Adreno (TM) 840", True),
    0x44070041: (8, "Adreno (TM) X2-85", True),
}


def lookup_gpu_id(gpu_id: int) -> Gpu | None:
    """The GPU of an RD_GPU_ID, or None for an id that the reference does not know."""
    return _of_gpu_id(gpu_id) if gpu_id in _GPU_IDS else None


def lookup_chip_id(chip_id: int) -> Gpu | None:
    """The GPU of an RD_CHIP_ID, or None for an id that the reference does not know."""
    core_id = chip_id & 0xFFFFFFFF
    listed = _CHIP_IDS.get(core_id)
    if listed is not None:
        generation, name, any_fuses = listed
        if any_fuses or chip_id == core_id:
            return Gpu(0, chip_id, generation, name)
    gpu_id = _classic_gpu_id(core_id)
    if gpu_id in _GPU_IDS and gpu_id // 100 in _CLASSIC_GENERATIONS:
        return Gpu(gpu_id, chip_id, gpu_id // 100, f"FD{gpu_id}")
    return None


def named_gpu(identity: Identity | None) -> Gpu | None:
    """The GPU that a section names, None for an unknown one."""
    if identity is None:
        return None
    if identity.chip_id:
        return lookup_chip_id(identity.chip_id)
    return lookup_gpu_id(identity.gpu_id or 0)


def guess(gpu_id: int = 0, chip_id: int = 0) -> Gpu | None:
    """The GPU of any ids, by their generation; None if that is unclear, too.

    The hundreds of a GPU id are the generation; so is a chip id's core, with 0x43 for later a7xx.
    """
    known = lookup_gpu_id(gpu_id) or (lookup_chip_id(chip_id) if chip_id else None)
    if known is not None:
        return known
    if gpu_id // 100 in GENERATIONS:
        return _of_gpu_id(gpu_id)
    core = chip_id >> 24 & 0xFF
    if chip_id & 0xFFFFFFFF == _A702:
        return Gpu(0, chip_id, _GENERATIONS[702], "FD702")
    if core in _CORES:
        return Gpu(0, chip_id, _CORES[core], f"chip {chip_id & 0xFFFFFFFF:#010x}")
    if core in _CLASSIC_GENERATIONS:
        classic = _classic_gpu_id(chip_id & 0xFFFFFFFF)
        if classic:
            return Gpu(classic, chip_id, core, f"FD{classic}")
        return Gpu(0, chip_id, core, f"chip {chip_id & 0xFFFFFFFF:#010x}")
    return None


def parse_gpu(text: str) -> Gpu:
    """The GPU of a user's text: an id (``630``, ``a630``) or a generation (``a6xx``, ``6``).

    A generation is a GPU without ids. Raises UnsupportedGpu.
    """
    name = text.lower().removeprefix("a")
    generation, rest = name[:1], name[1:]
    if generation.isdecimal() and int(generation) in GENERATIONS:
        if rest in ("", "xx"):
            return Gpu(0, 0, int(generation), f"a{generation}xx")
        if len(rest) == 2 and rest.isascii() and rest.isdigit():
            return _of_gpu_id(int(name))
    raise UnsupportedGpu(f"'{text}' is neither a GPU (630) nor a generation (a6xx)")


def _of_gpu_id(gpu_id: int) -> Gpu:
    return Gpu(gpu_id, 0, _GENERATIONS.get(gpu_id, gpu_id // 100), f"FD{gpu_id}")


def _classic_gpu_id(core_id: int) -> int:
    """The GPU id whose digits are core, major and minor; 0 if they are not digits."""
    core, major, minor = core_id >> 24, core_id >> 16 & 0xFF, core_id >> 8 & 0xFF
    if core > 9 or major > 9 or minor > 9:
        return 0
    return core * 100 + major * 10 + minor
