# SPDX-License-Identifier: MIT
"""Writes an edition of Intel's descriptions: ``intel/*.gen``, from genxml."""

from __future__ import annotations

import os
import zlib

from cffpy import compiled
from cffpy.descriptions.importing import texts_of, write_texts
from cffpy.intel.descriptions.import_xml import import_folder
from cffpy.intel.descriptions.model import Description
from cffpy.intel.descriptions.printer import print_description

_ORIGIN = "src/intel/genxml"


def write_genxml(directory: str, output: str) -> list[str]:
    """Write ``output``/intel/*.gen from the genxml in a Mesa tree or folder; the paths.

    Nothing is written if anything is wrong: raises RegisterDbError.
    """
    texts = texts_of(import_folder(directory), _text, ".gen")
    return write_texts(os.path.join(output, "intel"), texts)


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


def _text(name: str, description: Description) -> str:
    origin = {
        "formats": "the numbers and names of src/intel/isl",
        "devices": "PCI ids of src/intel/dev",
    }.get(name, f"{_ORIGIN}/{name}.xml")
    return (
        "# SPDX-License-Identifier: MIT\n"
        f"# Facts from Mesa's {origin} (MIT), by `cffpy db import --genxml`.\n\n"
        f"{print_description(description)}"
    )
