# SPDX-License-Identifier: MIT
"""Manual pages: of section 1 from the help of the commands, of section 7 from the topics of help.

click-man is not used: it does not find commands that are loaded when they are run, and writes
neither the examples nor escapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from cffpy._version import __version__
from cffpy.cli.help import (
    PAGES,
    command_page_path,
    page_path,
    page_text,
    title,
    topic_names,
    without_files,
)
from tools.command_help import CommandHelp, commands
from tools.command_pages import END
from tools.man_markdown import escaped, troff


def man_pages() -> dict[str, str]:
    """All pages: file name -> text in troff."""
    found = list(commands())
    made = {"cffpy.1": _lines_text(_overview(found))}
    for command in found:
        made[f"{_title(command)}.1"] = _lines_text(_command_page(command))
    for name in topic_names():
        made[f"{topic_title(name)}.7"] = _lines_text(_topic_page(name))
    return made


def topic_title(name: str) -> str:
    """The manual page of a topic: ``cffpy-guide-look``, ``cffpy-filter``."""
    return f"cffpy-guide-{name}" if name in PAGES["guide"] else f"cffpy-{name}"


def write_man_pages(folder: Path) -> list[Path]:
    """Write all pages into a folder; their paths."""
    paths = []
    for name, text in man_pages().items():
        path = folder / name
        path.write_text(text, "utf-8")
        paths.append(path)
    return paths


def _overview(found: Iterable[CommandHelp]) -> Iterator[str]:
    yield _head("cffpy")
    yield from (".SH NAME", "cffpy \\- decode Adreno GPU command-stream captures")
    yield from (".SH SYNOPSIS", ".B cffpy", escaped("[--debug] COMMAND [OPTIONS] [ARGS]..."))
    yield ".SH DESCRIPTION"
    yield escaped(
        "cffpy decodes captures of Adreno command streams (.rd files, also compressed) as Mesa's"
        " cffdump does, finds render passes and tiles in them, compares and edits them."
    )
    yield ".SH COMMANDS"
    for command in found:
        yield from (".TP", f".BR {escaped(_title(command))} (1)", escaped(command.summary))
    yield ".SH GUIDE AND REFERENCE"
    for name in topic_names():
        yield from (".TP", f".BR {escaped(topic_title(name))} (7)", escaped(title(name)))


def _topic_page(name: str) -> Iterator[str]:
    yield _head(topic_title(name), 7)
    yield from (".SH NAME", f"{escaped(topic_title(name))} \\- {escaped(title(name))}")
    yield ".SH DESCRIPTION"
    yield from troff(page_text(page_path(name)).partition("\n")[2])
    yield from (".SH SEE ALSO", ".BR cffpy (1)")


def _command_page(command: CommandHelp) -> Iterator[str]:
    yield _head(_title(command))
    yield from (".SH NAME", f"{escaped(_title(command))} \\- {escaped(command.summary)}")
    yield from (".SH SYNOPSIS", escaped(command.usage))
    yield ".SH DESCRIPTION"
    for number, paragraph in enumerate(command.description):
        if number:
            yield ".PP"
        yield escaped(paragraph)
    yield ".SH OPTIONS"
    for names, text in command.options:
        yield from (".TP", f"\\fB{escaped(names)}\\fR", escaped(text))
    yield from (".SH EXAMPLES", ".nf", *map(escaped, command.examples), ".fi")
    path = command_page_path(command.name.split())
    if path is not None:
        _, _, notes = path.read_text("utf-8").partition(END)
        yield from troff(without_files(notes))
    yield from (".SH SEE ALSO", ".BR cffpy (1)")


def _head(name: str, section: int = 1) -> str:
    return f'.TH "{name.upper()}" "{section}" "" "cffpy {__version__}" "cffpy"'


def _title(command: CommandHelp) -> str:
    return f"cffpy-{command.name.replace(' ', '-')}"


def _lines_text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
