# SPDX-License-Identifier: MIT
"""The command lines to run on mutants: every command, with sets of options."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.fuzz import dumps, indexes, inputs, intel, texts


class Files(NamedTuple):
    """The files of a case: the mutant, the capture that it was made of, a folder for others."""

    mutant: Path
    original: Path
    folder: Path
    #: Whether mutant and original are crash dumps.
    are_dumps: bool
    #: What the command line adds to the environment.
    environment: dict[str, str]


Line = Callable[[Random, Files], list[str]]


#: Options of dump that can be combined; each chosen one is used with probability 1/2.
_DUMP_OPTIONS = (
    ["-s"],
    ["-a"],
    ["--color"],
    ["--once"],
    ["--not-once"],
    ["--textures"],
    ["--bindless"],
    ["--show-compositor"],
    ["--unit-test"],
    ["--annotate"],
    ["-v"],
    ["-e", "x"],
    ["-F", "0"],
    ["-S", "1"],
    ["-E", "0"],
    ["-D", "0"],
    ["-D", "3"],
    ["-q", "RB_MRT[0].CONTROL"],
    ["-q", "0x2000"],
    ["-q", "GRAS_CNTL", "--query-delta"],
    ["-q", "GRAS_CNTL", "--query-written"],
    ["-q", "GRAS_CNTL", "--query-all"],
    ["-q", "GRAS_CNTL", "--query-compare"],
)


def _dump(rng: Random, files: Files) -> list[str]:
    """Each option alone, and sets of them."""
    chosen = rng.sample(_DUMP_OPTIONS, rng.choice((0, 1, 1, 2, 3, 5)))
    given = [word for option in chosen for word in option]
    if rng.random() < 0.1:
        given += ["--limit", rng.choice(_LIMITS)]
    more = [str(files.original)] if rng.random() < 0.1 else []
    return ["dump", *given, *_gpu(rng), str(files.mutant), *more]


_LIMITS = ("depth=1", "depth=15", "commands=100", "draws=3", "elements=2", "bytes=999")


def _gpu(rng: Random) -> list[str]:
    """Mostly nothing; else any generation, not only the capture's."""
    return ["--gpu", f"a{rng.randrange(2, 8)}xx"] if rng.random() < 0.1 else []


def _limit(rng: Random) -> list[str]:
    return ["--limit", rng.choice(_LIMITS)] if rng.random() < 0.1 else []


def _form(rng: Random, *forms: str) -> list[str]:
    chosen = rng.choice(("", "", *forms))
    return [chosen] if chosen else []


#: Places, of which a mutant has some.
_PLACES = (
    *(
        "s0",
        "s1",
        "p0",
        "p1",
        "p0:0",
        "p1:1",
        "p0:0-3",
        "p0:t0",
        "p1:t1",
        "#0",
        "#2",
        "#7",
    ),
    *("p0:binning", "#0-4", "sh0", "sh2", "0x100001000", "s0:0x100008000", "+0x100", "+0x4000"),
    "stream 0 > IB 0x100001000 > 0x100001010",
)


def _place(rng: Random, share: float = 0.3) -> list[str]:
    """The option --at, in this share of the command lines."""
    return ["--at", rng.choice(_PLACES)] if rng.random() < share else []


def _passes(rng: Random, files: Files) -> list[str]:
    form = _form(rng, "--json", "--jsonl", "--csv", "--cost", "--plot")
    chosen = rng.choice(([], [], ["--pass", "1"], ["--submit", "0"], _place(rng, 1)))
    return ["passes", *form, *chosen, *_gpu(rng), *_limit(rng), str(files.mutant)]


def _draws(rng: Random, files: Files) -> list[str]:
    form = _form(rng, "--json", "--jsonl", "--csv") + _form(rng, "--program")
    chosen = _place(rng)
    return ["draws", *form, *chosen, *_gpu(rng), *_limit(rng), str(files.mutant)]


def _inherited(rng: Random, files: Files) -> list[str]:
    form = _form(rng, "--json")
    return ["draws", "--inherited", *form, *_gpu(rng), *_limit(rng), str(files.mutant)]


def _state(rng: Random, files: Files) -> list[str]:
    chosen = _place(rng, 1)
    if rng.random() < 0.3:
        chosen = ["--draw", "1", "--pass", str(rng.randrange(2))]
    if rng.random() < 0.2:
        chosen += ["--origin", rng.choice(("this pass", "before the pass", "earlier submit"))]
    names = ["RB_*", "0x8820"] if rng.random() < 0.2 else []
    form = _form(rng, "--json", "--jsonl", "--csv")
    return ["state", *chosen, *form, *_gpu(rng), str(files.mutant), *names]


def _lrz(rng: Random, files: Files) -> list[str]:
    chosen = _place(rng)
    return ["lrz", *chosen, *_form(rng, "--json"), *_gpu(rng), *_limit(rng), str(files.mutant)]


def _layout_check(rng: Random, files: Files) -> list[str]:
    form = _form(rng, "--json", "--all")
    return ["layout", "check", *form, *_place(rng), *_gpu(rng), *_limit(rng), str(files.mutant)]


def _image(rng: Random, files: Files) -> list[str]:
    out = ["-o", str(files.folder / "out.png")]
    chosen: list[str] = _place(rng, 1)
    which = rng.randrange(4)
    if which == 0:
        address = rng.choice(("0x100008000", "0x100001000", "0x1000"))
        form = rng.choice(("RGBA8", "D24S8", "R11G11B10_FLOAT", "ETC2_RGB8", "ASTC_6X5"))
        size = ["--size", f"{rng.randrange(1, 300)}x{rng.randrange(1, 300)}"]
        chosen = [
            "--at",
            address,
            "--format",
            form,
            *size,
            "--tile-mode",
            rng.choice(("3", "linear")),
        ]
    elif which < 3:
        chosen += [rng.choice(("--texture", "--target")), str(rng.randrange(4))]
        chosen += rng.choice(([], [], ["--level", "1"], ["--layer", "1"]))
    given = out if which < 3 else []
    return ["image", *chosen, *given, *_form(rng, "--json"), *_gpu(rng), str(files.mutant)]


def _check(rng: Random, files: Files) -> list[str]:
    form = _form(rng, "--json", "--sarif")
    if rng.random() < 0.2:
        return ["check", "--baseline", *form, str(files.original), str(files.mutant)]
    return ["check", *form, *_place(rng), *_gpu(rng), *_limit(rng), str(files.mutant)]


def _tiles(rng: Random, files: Files) -> list[str]:
    chosen = rng.choice(([], ["--pass", "0"], _place(rng, 1)))
    form = rng.choice(([], ["--json"], ["--csv"], ["--svg", "-"], ["--plot"]))
    return ["tiles", *chosen, *form, *_gpu(rng), str(files.mutant)]


def _vsc(rng: Random, files: Files) -> list[str]:
    if rng.random() < 0.7:
        chosen = rng.choice(
            ([], ["--pass", "0"], ["--json"], ["--pass", "1", "--json"], ["--svg", "-"])
        )
        return ["vsc", *chosen, str(files.mutant)]
    source = files.folder / "stream.hex"
    source.write_bytes(texts.hex_text(rng).encode("utf-8", "surrogatepass"))
    kind = rng.choice(([], ["--draws"], ["--primitive-count", "3"]))
    form = _form(rng, "--json")
    return ["vsc", "--hex", source.read_text(), "--bins", str(rng.randrange(1, 64)), *kind, *form]


def _diff(rng: Random, files: Files) -> list[str]:
    sides = [str(files.original), str(files.mutant)]
    rng.shuffle(sides)
    forms = [["--json"], ["--unified"], ["--all", "--strict"], ["--brief"], []]
    forms.append(["--html", str(files.folder / "report.html")])
    forms.append(["--html", "-"])
    forms.append(["--json", "--strict", "--all"])
    forms.append(["--color"])
    if rng.random() < 0.1:
        sides[1] = sides[0]
    return ["diff", *rng.choice(forms), *_gpu(rng), *_limit(rng), *sides]


def _report(rng: Random, files: Files) -> list[str]:
    form = rng.choice((["-o", str(files.folder / "page.html")], ["-o", "-"], ["--json"]))
    compare = ["--compare", str(files.original)] if rng.random() < 0.3 else []
    return ["report", *form, *compare, *_gpu(rng), *_limit(rng), str(files.mutant)]


#: Filters for any generation: find treats names that a GPU lacks as unknown.
_FILTERS = (
    "RB_DEPTH_CNTL.ZFUNC == FUNC_LESS or changed(RB_DEPTH_CNTL)",
    "written(RB_MRT[*].CONTROL) and not unknown(pass.mode)",
    "draw.vertices > 3 and draw.instances in (1, 4..8)",
    "all(target.format ~ '8') or pass.framebuffer.width * pass.framebuffer.height > 4KiB",
)


def _find(rng: Random, files: Files) -> list[str]:
    forms = rng.choice(([], ["--json"], ["--jsonl"], ["--count"], ["--all"]))
    mutant = str(files.mutant)
    return ["find", rng.choice(_FILTERS), *forms, "--jobs", "1", *_gpu(rng), *_limit(rng), mutant]


def _lines(rng: Random, files: Files) -> list[str]:
    forms = rng.choice(([], ["--unique"], ["--changed"], ["--only", "shaders"], ["--jsonl"]))
    where = ["--where", "draw.vertices > 3"] if rng.random() < 0.2 else []
    return ["lines", *forms, *where, *_place(rng, 0.2), *_gpu(rng), *_limit(rng), str(files.mutant)]


def _export(rng: Random, files: Files) -> list[str]:
    output = f"{files.folder}/tables{rng.randrange(1 << 30)}.{rng.choice(('csv', 'jsonl'))}/"
    more = ["--all"] if rng.random() < 0.3 else []
    return ["export", "-o", str(output), *more, *_gpu(rng), *_limit(rng), str(files.mutant)]


def _decompile(rng: Random, files: Files) -> list[str]:
    return ["decompile", *rng.choice(([], [], ["--submit", "0"])), str(files.mutant)]


def _compile(rng: Random, files: Files) -> list[str]:
    text = rng.choice(texts.capture_texts())
    source = files.folder / "mutant.pm4"
    source.write_bytes(texts.mutated_text(rng, text).encode("utf-8", "surrogatepass"))
    return ["compile", *rng.choice(([], ["--check"])), str(source), "-o", str(files.folder / "o")]


def _edit(rng: Random, files: Files) -> list[str]:
    number = str(rng.randrange(5))
    change = rng.choice(
        (
            ["--nop-draw", f"#{number}"],
            ["--truncate-after-draw", f"p0:{number}"],
            ["--drop-group", number],
            ["--set", "RB_DEPTH_CNTL.ZFUNC=FUNC_ALWAYS"],
            ["--set", "GRAS_SU_CNTL.CULL_BACK=0", "--at", f"#{number}"],
        )
    )
    out = files.folder / rng.choice(("o.rd", "o.rd", "o.rd.gz"))
    return ["edit", *change, *_limit(rng), "-o", str(out), str(files.mutant)]


def _repair(rng: Random, files: Files) -> list[str]:
    more = rng.choice(([], [], ["--address", "0x100000", "--dwords", str(rng.randrange(99))]))
    return ["repair", *more, "-o", str(files.folder / "o.rd"), str(files.mutant)]


def _info(rng: Random, files: Files) -> list[str]:
    parts = [*_form(rng, "--buffers"), *_form(rng, "--device")]
    form = [*_form(rng, "--json"), *parts, *_form(rng, "--color")]
    more = [str(files.original)] if rng.random() < 0.1 else []
    return ["info", *form, *_limit(rng), str(files.mutant), *more]


def _shaders(rng: Random, files: Files) -> list[str]:
    form = _form(rng, "--json", "--no-listings")
    return ["shaders", *form, *_gpu(rng), str(files.mutant)]


def _disasm(rng: Random, files: Files) -> list[str]:
    source = files.folder / "shader.bin"
    source.write_bytes(rng.randbytes(rng.choice((0, 7, 8, 64, 4000))))
    kind = rng.choice((["--gpu", "a2xx"], ["--gpu", "a6xx"], ["--input-format", "hex"], []))
    return ["disasm", *kind, str(source)]


def _asm(rng: Random, files: Files) -> list[str]:
    source = files.folder / "shader.asm"
    source.write_bytes(texts.assembly_text(rng).encode("utf-8", "surrogatepass"))
    return [
        "asm",
        *_form(rng, "--output-format=raw"),
        "--gpu",
        rng.choice(("a6xx", "a7xx")),
        str(source),
    ]


def _db(rng: Random, files: Files) -> list[str]:
    edition = files.folder / "edition"
    texts.write_edition(rng, edition)
    kind = rng.random()
    if kind < 0.5:
        return ["db", "check", *_form(rng, "--json"), str(edition)]
    if kind < 0.7:
        name = rng.choice(("RB_MRT[0].CONTROL", "0x8820", "a6xx_tile_mode", "CP_NOP", "\x1b[0m"))
        return ["db", "show", name, "--edition", str(edition)]
    command = rng.choice(("dump", "passes", "draws"))
    return [command, "--edition", str(edition), str(files.mutant)]


def _dump_file(rng: Random, files: Files) -> str:
    """A mutant of a crash dump, as a file."""
    if files.are_dumps:
        return str(files.mutant)
    path = files.folder / "crash.devcore"
    path.write_bytes(dumps.mutant(rng, rng.choice(dumps.sources())))
    return str(path)


def _crashdec(rng: Random, files: Files) -> list[str]:
    chosen = ("-s", "-a", "-c", "-m", "-v", "--annotate")
    options = [one for one in chosen if rng.random() < 0.3]
    return ["crashdec", *options, *_limit(rng), _dump_file(rng, files)]


def _crash(rng: Random, files: Files) -> list[str]:
    if rng.random() < 0.3:
        command = rng.choice(("dump", "info", "passes", "draws", "decompile"))
        return [command, _dump_file(rng, files)]
    extracted = ["--extract", str(files.folder / "out.rd.gz")]
    form = rng.choice(([], [], ["--json"], extracted, ["--html", str(files.folder / "out.html")]))
    return ["crash", *form, *_gpu(rng), *_limit(rng), _dump_file(rng, files)]


def _afuc(rng: Random, files: Files) -> list[str]:
    """Firmware files, and their texts, changed."""
    gpu = ["--gpu", rng.choice(("a5xx", "630", "a7xx", "750"))] if rng.random() < 0.8 else []
    raw = _form(rng, "--raw")
    if rng.random() < 0.5:
        source = files.folder / "a630.fw"
        source.write_bytes(texts.firmware(rng))
        return ["afuc", "disasm", *raw, *_form(rng, "--json"), *gpu, str(source)]
    source = files.folder / "a630.asm"
    text = texts.mutated_text(rng, texts.microcode_text())
    source.write_bytes(text.encode("utf-8", "surrogatepass"))
    return ["afuc", "asm", *raw, *gpu, "-o", str(files.folder / "out.fw"), str(source)]


def _bisect(rng: Random, files: Files) -> list[str]:
    state = ["--state-file", str(files.folder / "state.json")]
    output = ["-o", str(files.folder / "try.rd")] if rng.random() < 0.7 else []
    return ["bisect", *state, *output, *_form(rng, "--json"), *_gpu(rng), str(files.mutant)]


#: Name -> how to make a command line, and how often it is chosen.
LINES: dict[str, tuple[Line, float]] = {
    "dump": (_dump, 4),
    "info": (_info, 1),
    "passes": (_passes, 2),
    "draws": (_draws, 1.5),
    "draws --inherited": (_inherited, 1),
    "state": (_state, 1.5),
    "lrz": (_lrz, 1),
    "layout check": (_layout_check, 1),
    "image": (_image, 1),
    "check": (_check, 2),
    "tiles": (_tiles, 1.5),
    "vsc": (_vsc, 1),
    "diff": (_diff, 2),
    "report": (_report, 1),
    "shaders": (_shaders, 1.2),
    "disasm": (_disasm, 0.3),
    "decompile": (_decompile, 2),
    "find": (_find, 1),
    "lines": (_lines, 1),
    "export": (_export, 1),
    "export, libraries": (inputs.exported, 0.2),
    "sql": (inputs.sql, 0.3),
    "filter": (inputs.filtered, 0.5),
    "script": (inputs.scripted, 0.3),
    "editions": (inputs.editions, 0.7),
    "intel, AUB": (intel.line_of(intel.AUB), 0.2),
    "intel, i915": (intel.line_of(intel.I915), 0.2),
    "intel, Xe": (intel.line_of(intel.XE), 0.2),
    "layout": (inputs.layouts, 0.4),
    "index": (indexes.damaged, 0.3),
    "compile": (_compile, 1.5),
    "edit": (_edit, 1.5),
    "repair": (_repair, 1),
    "crashdec": (_crashdec, 1),
    "crash": (_crash, 1),
    "bisect": (_bisect, 0.5),
    "asm": (_asm, 0.7),
    "afuc": (_afuc, 0.5),
    "db": (_db, 0.3),
}

#: Commands that take neither capture nor crash dump.
WITHOUT_CAPTURE = (
    *("afuc", "asm", "compile", "index", "layout"),
    *("intel, AUB", "intel, i915", "intel, Xe"),
)

#: Bytes of address space of a command whose libraries reserve more than the limit: the threads of
#: DuckDB and pyarrow together end the process where they get none. And what it may really use.
_LIBRARIES = (12 << 30, 400 << 20)
RESERVED = dict.fromkeys(("export, libraries", "index", "sql"), _LIBRARIES)

#: Commands that work on texts: the generation of a mutant does not matter.
TEXT_COMMANDS = (*WITHOUT_CAPTURE, "crash", "crashdec", "db")


def choose(rng: Random, only: str | None = None, of_dumps: bool = False) -> str:
    """A command of the table, weighted. ``of_dumps``: one that takes crash dumps."""
    if only is not None:
        return only
    names = [name for name in LINES if not (of_dumps and name in WITHOUT_CAPTURE)]
    return rng.choices(names, [LINES[name][1] for name in names], k=1)[0]
