# SPDX-License-Identifier: MIT
"""Answers of ``cffpy db``: their documents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from cffpy._data import data_path
from cffpy.editions.folders import editions
from cffpy.errors import UnsupportedGpu
from cffpy.findings import ERROR
from cffpy.frame.description import (
    DescribedArray,
    DescribedBitset,
    DescribedDomain,
    DescribedEnum,
    DescribedGroup,
    DescribedName,
    DescribedRegister,
    DescriptionFinding,
)
from cffpy.frame.device import DeviceProperty, KnownDevice
from cffpy.frame.facts import model, stored
from cffpy.regdb.compare import EditionChange

if TYPE_CHECKING:
    from collections.abc import Sequence

    from cffpy.findings import Finding
    from cffpy.image.devices import Device

SHOW_SCHEMA = "cffpy.db-show/1"
SEARCH_SCHEMA = "cffpy.db-search/1"
CHECK_SCHEMA = "cffpy.db-check/1"
EDITIONS_SCHEMA = "cffpy.db-editions/1"
DIFF_SCHEMA = "cffpy.db-diff/1"
DEVICE_SCHEMA = "cffpy.db-device/1"


@model("db_show", is_value=False)
class ShowDocument:
    """What a name or offset is: cffpy db show --json."""

    asked: str = stored("the name or offset")
    found: list[
        DescribedRegister
        | DescribedArray
        | DescribedDomain
        | DescribedEnum
        | DescribedBitset
        | DescribedGroup
    ] = stored("what it may be")


@model("db_search", is_value=False)
class SearchDocument:
    """Names that contain a text: cffpy db search --json."""

    asked: str = stored("the text")
    found: list[DescribedName] = stored("the names")


@model("db_check", is_value=False)
class DbCheckDocument:
    """Findings in an edition: cffpy db check --json."""

    parts: list[str] = stored("the parts of the edition that were checked")
    errors: int = stored("how many findings are errors")
    notices: int = stored("how many are not, shown or not")
    findings: list[DescriptionFinding] = stored("the findings")


@model("edition", frozen=True, is_value=False)
class Edition:
    """An edition of the descriptions."""

    name: str = stored("its short name, as --edition takes it")
    edition: str = stored("its full name")
    generations: list[str] = stored("the generations of GPUs that it describes, as in A6XX")


@model("db_editions", is_value=False)
class EditionsDocument:
    """Installed editions: cffpy db editions --json."""

    editions: list[Edition] = stored("the editions")


@model("db_diff", is_value=False)
class EditionDiffDocument:
    """What differs between two editions: cffpy db diff --json."""

    old: str = stored("name of the old edition")
    new: str = stored("name of the new edition")
    generations: Mapping[str, list[EditionChange]] = stored(
        "the changes of each generation of GPUs, as in A6XX"
    )


@model("db_device", is_value=False)
class DeviceDocument:
    """Parts and their properties, side by side: cffpy db device --json."""

    devices: list[KnownDevice] = stored("the parts, as they were asked for")
    properties: list[DeviceProperty] = stored(
        "their properties; of several parts those that differ, unless all were asked for"
    )
    same: int = stored("how many properties are left out, since the parts have them in common")


def check_document(
    parts: Mapping[str, Sequence[Finding] | None], errors_only: bool
) -> DbCheckDocument:
    """The findings by part of an edition. The counts include findings that are not shown."""
    findings = [finding for of_part in parts.values() for finding in of_part or ()]
    errors = [finding for finding in findings if finding.severity == ERROR]
    return DbCheckDocument(
        [part for part, of_part in parts.items() if of_part is not None],
        len(errors),
        len(findings) - len(errors),
        [
            DescriptionFinding(each.file, each.line, each.severity, each.kind, each.message)
            for each in (errors if errors_only else findings)
        ],
    )


def device_document(
    names: Sequence[str], directory: str | None, shows_all: bool
) -> tuple[DeviceDocument, list[str]]:
    """The answer for parts by name or chip id, and a name of each that no other has.

    ``directory``: of the edition that is asked first. Raises UnsupportedGpu.
    """
    from cffpy.image.devices import device_properties, known_device

    known = [_known_part(name, directory) for name in names]
    properties = device_properties([part for part, _ in known])
    shown = [row for row in properties if shows_all or len(known) == 1 or not row.is_same]
    answer = DeviceDocument(
        [known_device(part, edition) for part, edition in known],
        shown,
        len(properties) - len(shown),
    )
    columns: list[str] = []
    for part, _ in known:
        columns.append(part.name if part.name not in columns else f"{part.name} {len(columns) + 1}")
    return answer, columns


def _known_part(name: str, directory: str | None) -> tuple[Device, str]:
    """A part and the edition that has it."""
    from cffpy.image.devices import device_of_chip_id, devices, find_device

    installed = editions()
    folders = {data_path("register_db") if directory is None else directory: None}
    folders |= dict.fromkeys(installed.values())
    for folder in folders:
        part = (
            device_of_chip_id(_chip_id(name), folder)
            if name.startswith("0x")
            else find_device(name, folder)
        )
        if part is not None:
            short = next((each for each, where in installed.items() if where == folder), folder)
            return part, short
    known = dict.fromkeys(each for folder in folders for each in devices(folder))
    raise UnsupportedGpu(f"no GPU called {name!r} is known: {' '.join(known)}")


def _chip_id(text: str) -> int:
    try:
        return int(text, 16)
    except ValueError:
        raise UnsupportedGpu(f"{text!r} is no chip id, as 0x06030500") from None
