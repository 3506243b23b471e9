# SPDX-License-Identifier: MIT
"""Manual pages, made from the help of the commands: cffpy.1 and one for each command.

click-man is not used: it does not find commands that are loaded when they are run, and writes
neither the examples nor escapes.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from cffpy._version import __version__
from tools.command_help import CommandHelp, commands


def man_pages() -> dict[str, str]:
    """All pages: file name -> text in troff."""
    found = list(commands())
    made = {"cffpy.1": _lines_text(_overview(found))}
    for command in found:
        made[f"{_title(command)}.1"] = _lines_text(_command_page(command))
    return made


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
    yield from (".SH SYNOPSIS", ".B cffpy", _escaped("[--debug] COMMAND [OPTIONS] [ARGS]..."))
    yield ".SH DESCRIPTION"
    yield _escaped(
        "cffpy decodes captures of Adreno command streams (.rd files, also compressed) as Mesa's"
        " cffdump does, finds render passes and tiles in them, compares and edits them."
    )
    yield ".SH COMMANDS"
    for command in found:
        yield from (".TP", f".BR {_escaped(_title(command))} (1)", _escaped(command.summary))


def _command_page(command: CommandHelp) -> Iterator[str]:
    yield _head(_title(command))
    yield from (".SH NAME", f"{_escaped(_title(command))} \\- {_escaped(command.summary)}")
    yield from (".SH SYNOPSIS", _escaped(command.usage))
    yield ".SH DESCRIPTION"
    for number, paragraph in enumerate(command.description):
        if number:
            yield ".PP"
        yield _escaped(paragraph)
    yield ".SH OPTIONS"
    for names, text in command.options:
        yield from (".TP", f"\\fB{_escaped(names)}\\fR", _escaped(text))
    yield from (".SH EXAMPLES", ".nf", *map(_escaped, command.examples), ".fi")
    yield from (".SH SEE ALSO", ".BR cffpy (1)")


def _head(title: str) -> str:
    return f'.TH "{title.upper()}" "1" "" "cffpy {__version__}" "cffpy"'


def _title(command: CommandHelp) -> str:
    return f"cffpy-{command.name.replace(' ', '-')}"


def _escaped(text: str) -> str:
    """Text without requests: backslashes, hyphens and a leading dot or quote are escaped."""
    text = text.replace("\\", "\\e").replace("-", "\\-").replace("'", "\\(aq")
    return f"\\&{text}" if text.startswith(".") else text


def _lines_text(lines: Iterable[str]) -> str:
    return "".join(f"{line}\n" for line in lines)
