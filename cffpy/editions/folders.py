# SPDX-License-Identifier: MIT
"""Editions of the descriptions: their directories, names and source files.

An edition is a directory with ``adreno/*.regs``, and ``isa/*.isa`` where it has instruction sets of
its own. The first line of the file ``EDITION`` in it is its name. A second line ``based on NAME``
names the edition whose files it shares: it has only the files that differ.
"""

from __future__ import annotations

import os

from cffpy._data import data_path
from cffpy.errors import RegisterDbError

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

#: The environment variable that names the edition where no option does.
VARIABLE = "CFFPY_EDITION"

#: The name that stands for the edition that each capture needs.
AUTO = "auto"

_EDITION_FILE = "EDITION"

#: Kinds of files: the folder, and what their names end with.
_REGISTERS = ("adreno", ".regs")
_INSTRUCTIONS = ("isa", ".isa")
_INTEL = ("intel", ".gen")

_BASED_ON = "based on "
_NO_EDITION = "no edition of the register database (no adreno/*.regs)"


def resolve_edition(name_or_path: str | None) -> str:
    """The directory of an edition: None is the bundled one, else a name (``editions``) or a path.

    Raises RegisterDbError if there is none.
    """
    bundled = data_path("register_db")
    if name_or_path is None:
        return bundled
    if os.path.basename(name_or_path) == name_or_path:
        named = os.path.join(bundled, "editions", name_or_path)
        if _own_files(named):
            return named
        if name_or_path in _names_of(edition_name(bundled)):
            return bundled
    if _own_files(name_or_path):
        return name_or_path
    raise RegisterDbError(f"{_NO_EDITION}; known: {', '.join(editions())}", name_or_path)


def chosen_edition(
    option: str | None, environment: Mapping[str, str], knows_auto: bool = False
) -> str | None:
    """The directory of the edition that an option, or else the environment, names.

    None is the bundled one. ``knows_auto``: ``AUTO`` may be named, and is returned. Raises
    RegisterDbError if there is no such edition.
    """
    name = option if option is not None else environment.get(VARIABLE) or None
    if name is None or (name == AUTO and knows_auto):
        return name
    directory = resolve_edition(name)
    return None if directory == data_path("register_db") else directory


def editions() -> dict[str, str]:
    """The installed editions: short name (``mesa-25.0``) -> directory, the bundled one first."""
    bundled = data_path("register_db")
    folders = {_names_of(edition_name(bundled))[0]: bundled}
    folder = os.path.join(bundled, "editions")
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return folders
    for name in names:
        if _own_files(os.path.join(folder, name)):
            folders[name] = os.path.join(folder, name)
    return folders


def source_files(directory: str) -> list[str]:
    """The files that an edition is compiled from, sorted by name: adreno/*.regs, then EDITION.

    Raises RegisterDbError for a directory that is not an edition.
    """
    if not _own_files(directory):
        raise RegisterDbError(_NO_EDITION, directory)
    paths = _with_shared(directory, _REGISTERS)
    named = os.path.join(directory, _EDITION_FILE)
    return [*paths, named] if os.path.exists(named) else paths


def instruction_files(directory: str) -> list[str]:
    """The files that an edition's instruction sets are compiled from, sorted by name: isa/*.isa.

    Empty for an edition without own files, which uses the bundled edition's.
    """
    return _with_shared(directory, _INSTRUCTIONS) if _own_files(directory, _INSTRUCTIONS) else []


def intel_files(directory: str) -> list[str]:
    """The files that an edition's descriptions of Intel GPUs are compiled from: intel/*.gen.

    Empty for an edition without own files, which uses the bundled edition's.
    """
    return _own_files(directory, _INTEL)


def edition_name(directory: str) -> str:
    """The name in the directory's EDITION file, or else the directory's own."""
    lines = _edition_lines(directory)
    return lines[0] if lines else os.path.basename(os.path.abspath(directory))


def base_edition(directory: str) -> str | None:
    """The directory of the edition whose files this one shares, or None.

    That one has all its files itself. Raises RegisterDbError if there is no such edition.
    """
    for line in _edition_lines(directory)[1:]:
        if line.startswith(_BASED_ON):
            base = resolve_edition(line.removeprefix(_BASED_ON).strip())
            if any(line.startswith(_BASED_ON) for line in _edition_lines(base)):
                raise RegisterDbError("based on an edition that is based on another", directory)
            return base
    return None


def edition_text(name: str, based_on: str | None) -> str:
    """What the file EDITION contains."""
    return f"{name}\n" if based_on is None else f"{name}\n{_BASED_ON}{based_on}\n"


def packaged_kind(kind: str, directory: str) -> str:
    """What the compiled form of an edition's descriptions is called in a wheel.

    ``kind``: of the bundled edition ("registers"). "" for an edition that is not in a wheel.
    """
    bundled = data_path("register_db")
    if directory == bundled:
        return kind
    folder, name = os.path.split(directory)
    return f"{kind}-{name}" if folder == os.path.join(bundled, "editions") else ""


def release(name: str) -> tuple[int, int] | None:
    """The Mesa release of an edition's name, "mesa 25.3" -> (25, 3); None for other names."""
    words = name.replace("-", " ").split()
    numbers = words[1].split(".") if len(words) > 1 and words[0] == "mesa" else []
    if len(numbers) < 2 or not all(number.isascii() and number.isdigit() for number in numbers[:2]):
        return None
    return int(numbers[0]), int(numbers[1])


# "mesa 25.0.7" is also called mesa-25.0 and mesa-25.0.7, the short form first.
def _names_of(name: str) -> tuple[str, ...]:
    full = name.replace(" ", "-")
    version = release(name)
    return (full,) if version is None else (f"mesa-{version[0]}.{version[1]}", full, name)


def _edition_lines(directory: str) -> list[str]:
    try:
        with open(os.path.join(directory, _EDITION_FILE), encoding="utf-8") as file:
            return [line.strip() for line in file if line.strip()]
    except OSError:
        return []


def _own_files(directory: str, kind: tuple[str, str] = _REGISTERS) -> list[str]:
    """The files of one kind, (folder, suffix), in an edition's own directory."""
    subfolder, suffix = kind
    folder = os.path.join(directory, subfolder)
    try:
        names = sorted(os.listdir(folder))
    except OSError:
        return []
    return [os.path.join(folder, name) for name in names if name.endswith(suffix)]


def _with_shared(directory: str, kind: tuple[str, str]) -> list[str]:
    """The files of one kind, with the files of the edition that this edition is based on."""
    files = {os.path.basename(path): path for path in _own_files(directory, kind)}
    base = base_edition(directory)
    if base is not None:
        files = {**{os.path.basename(path): path for path in _own_files(base, kind)}, **files}
    return [files[name] for name in sorted(files)]
