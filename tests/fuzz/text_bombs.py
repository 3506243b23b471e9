# SPDX-License-Identifier: MIT
"""Texts designed to take time or memory, or to break parsers: name -> command line, writer."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

from tests.fuzz.captures import CHECKOUT

#: How deep braces are nested, and how many things a text has.
DEPTH = 100_000

_IMPORTS = 'import "adreno_common"\nimport "adreno_pm4"\n'

_HEAD = "pm4 1\ngpu_id 630\n"


def _text(content: str) -> Callable[[Path], None]:
    def write(folder: Path) -> None:
        (folder / "TEXT").write_text(content)

    return write


def _edition(**changed: str) -> Callable[[Path], None]:
    """The project's descriptions with another file of registers or instructions."""

    def write(folder: Path) -> None:
        edition = folder / "EDITION"
        shutil.rmtree(edition, ignore_errors=True)
        shutil.copytree(CHECKOUT / "register_db", edition)
        for name, content in changed.items():
            stem, _, suffix = name.rpartition("_")
            (edition / ("isa" if suffix == "isa" else "adreno") / f"{stem}.{suffix}").write_text(
                content
            )

    return write


def _many(line: str, count: int = DEPTH // 10) -> str:
    return "".join(line.format(number) for number in range(count))


TEXT_BOMBS: dict[str, tuple[str, Callable[[Path], None]]] = {
    "pm4: blocks within blocks": (
        "compile --check TEXT",
        _text(_HEAD + "buffer b 0x1000 {\n" + _many("commands c{0} {{\n", DEPTH)),
    ),
    "pm4: braces within braces": (
        "compile --check TEXT",
        _text(_HEAD + "buffer b 0x1000 {\n  RB_CCU_CNTL = " + "{" * DEPTH + "\n}\n"),
    ),
    "pm4: closed braces within braces": (
        "compile --check TEXT",
        _text(_HEAD + "buffer b 0x1000 {\n  X = " + "{" * DEPTH + "}" * DEPTH + "\n}\n"),
    ),
    "pm4: fields within fields": (
        "compile --check TEXT",
        _text(_HEAD + "buffer b 0x1000 {\n  X = " + "{A=" * (DEPTH // 2) + "\n}\n"),
    ),
    "pm4: parentheses within parentheses": (
        "compile --check TEXT",
        _text(_HEAD + "buffer b 0x1000 {\n  RB_CCU_CNTL = " + "sizeof(" * (DEPTH // 3) + "\n}\n"),
    ),
    "pm4: 10,000 labels": (
        "compile -o OUT TEXT",
        _text(
            _HEAD
            + "buffer b 0x1000 {\n"
            + _many(
                "commands c{0} {{\n  CP_INDIRECT_BUFFER IB_BASE=c{0} IB_SIZE=sizeof(c{0})\n}}\n"
            )
            + "}\n"
        ),
    ),
    "pm4: a line of 1 MB": ("compile --check TEXT", _text(_HEAD + "x" * DEPTH * 10)),
    "pm4: sizes of 2^60": (
        "compile -o OUT TEXT",
        _text(
            _HEAD + "buffer b 0x1000 contents 1152921504606846976 {\n}\nmarker * 1000000000000\n"
        ),
    ),
    "db: braces within braces": ("db check EDITION", _edition(a6xx_regs="{" * DEPTH)),
    "db: enums within enums": ("db check EDITION", _edition(a6xx_regs="enum x {\n" * DEPTH)),
    "db: parentheses within parentheses": ("db check EDITION", _edition(a6xx_regs="(" * DEPTH)),
    "db: a line of 1 MB": ("db check EDITION", _edition(a6xx_regs="x" * (DEPTH * 10))),
    "db: a number of 100,000 digits": (
        "db check EDITION",
        _edition(a6xx_regs="enum x {\n    A = " + "9" * DEPTH + "\n}\n"),
    ),
    "db: one enum 10,000 times": (
        "db check EDITION",
        _edition(a6xx_regs=_IMPORTS + _many("enum x {{\n    A = {0}\n}}\n")),
    ),
    "db: one value 10,000 times": (
        "db check EDITION",
        _edition(a6xx_regs=_IMPORTS + "enum x {\n" + _many("    A = {0}\n") + "}\n"),
    ),
    "db: imports itself": (
        "db check EDITION",
        _edition(
            a6xx_regs=_IMPORTS + 'import "a6xx"\n', a5xx_regs='import "a6xx"\nimport "a5xx"\n'
        ),
    ),
    "db: contradicts itself, dump": (
        "dump --edition EDITION FILE",
        _edition(a6xx_regs=_IMPORTS + _many("enum x {{\n    A = {0}\n}}\n")),
    ),
    "db: braces within braces, dump": (
        "dump --edition EDITION FILE",
        _edition(a6xx_regs="enum x {\n" * DEPTH),
    ),
    "isa: braces within braces": ("db check EDITION", _edition(ir3_isa="bitset x {" * DEPTH)),
    "isa: parentheses within parentheses": (
        "db check EDITION",
        _edition(ir3_isa="expr #x = " + "(" * DEPTH),
    ),
    "asm: parentheses within parentheses": ("asm TEXT", _text("mov.f32f32 r0.x, " + "(" * DEPTH)),
    "asm: a line of 400 KB": ("asm TEXT", _text("nop " * DEPTH)),
    "asm: 100,000 lines": ("asm TEXT", _text("nop\n" * DEPTH)),
}
