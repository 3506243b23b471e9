# SPDX-License-Identifier: MIT
"""Writes an edition of Intel's descriptions: ``intel/*.gen``, from genxml."""

from __future__ import annotations

import os
import zlib

from cffpy import compiled
from cffpy.errors import RegisterDbError
from cffpy.intel.descriptions.import_xml import import_folder
from cffpy.intel.descriptions.printer import print_description
from cffpy.intel.descriptions.store import EXTENSION, FOLDER

_ORIGIN = "src/intel/genxml"


def genxml_texts(directory: str) -> dict[str, str]:
    """File name -> text, of the genxml in a Mesa tree or folder. Raises RegisterDbError."""
    texts = {}
    for name, description in import_folder(directory).items():
        try:
            text = print_description(description)
        except ValueError as problem:
            raise RegisterDbError(str(problem), f"{name}.xml") from None
        texts[f"{name}{EXTENSION}"] = _header(name) + text
    return texts


def write_genxml(directory: str, output: str) -> list[str]:
    """Write ``output``/intel/*.gen; the paths. Nothing is written if anything is wrong."""
    texts = genxml_texts(directory)
    folder = os.path.join(output, FOLDER)
    os.makedirs(folder, exist_ok=True)
    paths = []
    for name, text in texts.items():
        path = os.path.join(folder, name)
        if not _has(path, text):
            with open(path, "w", encoding="utf-8", newline="\n") as file:
                file.write(text)
        paths.append(path)
    return paths


def edition_of_genxml(directory: str) -> str:
    """A directory with the edition that is made of this genxml, in the user's cache.

    Raises RegisterDbError where the XML is wrong, OSError where it cannot be written.
    """
    cache = compiled.cache_directory()
    if cache is None:
        import tempfile

        output = tempfile.mkdtemp(prefix="cffpy-genxml-")
    else:
        number = zlib.crc32(os.path.abspath(directory).encode("utf-8", "surrogateescape"))
        output = os.path.join(cache, f"genxml-{number:08x}")
    write_genxml(directory, output)
    return output


def _has(path: str, text: str) -> bool:
    try:
        with open(path, encoding="utf-8", newline="") as file:
            return file.read() == text
    except (OSError, ValueError):
        return False


def _header(name: str) -> str:
    origin = {
        "formats": "the numbers and names of src/intel/isl",
        "devices": "PCI ids of src/intel/dev",
    }.get(name, f"{_ORIGIN}/{name}.xml")
    return (
        "# SPDX-License-Identifier: MIT\n"
        f"# Facts from Mesa's {origin} (MIT), by `cffpy db import --genxml`.\n\n"
    )
