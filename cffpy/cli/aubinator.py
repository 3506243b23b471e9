# SPDX-License-Identifier: MIT
"""``cffpy aubinator`` and ``cffpy aubinator-error-decode``: the options of Mesa's tools."""

from __future__ import annotations

import gc
import os
import sys

from cffpy.cli.dump_options import (
    EDITION_OPTION,
    Option,
    UsageProblem,
    edition_directory,
    limits_of,
    parse,
)
from cffpy.cli.output import (
    EXIT_FAILURE,
    EXIT_OK,
    EXIT_USAGE,
    PagedOutput,
    is_terminal,
    print_error,
    print_on_standard_error,
    use_colour,
    write_all,
)
from cffpy.container.open import open_capture
from cffpy.errors import ContainerError
from cffpy.intel.views.aubinator.context import (
    COLOUR,
    FLOATS,
    FULL,
    OFFSETS,
    DecodeOptions,
    read_environment,
)
from cffpy.intel.views.aubinator.kernels import KernelText
from cffpy.limits import HELP as LIMIT_HELP

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

    from cffpy.container.damage import Damage
    from cffpy.container.open import Content
    from cffpy.limits import Limits

    Print = Callable[[Content, DecodeOptions, int, KernelText, Callable[[str], object]], "_Result"]
    _Result = list[Damage]


def _colour(text: str) -> str:
    if text not in ("always", "never", "auto"):
        raise UsageProblem(f"--color is always, never or auto, not {text!r}.")
    return text


def _lines(text: str) -> int:
    """As C's atoi: what begins as no number is 0."""
    text = text.strip()
    digits = text[1:] if text[:1] in ("+", "-") else text
    length = len(digits) - len(digits.lstrip("0123456789"))
    number = int(digits[:length] or 0)
    return -number if text.startswith("-") else number


_COLOUR = Option(
    "color",
    "Use colour: always, never, auto (default: auto; without WHEN, always).",
    metavar="WHEN",
    convert=_colour,
    default="always",
)
_SHARED = (
    Option("headers", "Print only the first line of each command."),
    _COLOUR,
    Option("no-pager", "Do not use a pager."),
    Option("no-offsets", "Print 0 for the address of each command."),
    EDITION_OPTION,
    Option(
        "xml",
        "Use the genxml in DIR, a folder or a Mesa tree.",
        metavar="DIR",
    ),
    Option("dump-kernels", "Write each kernel to a file in DIR.", metavar="DIR"),
    Option(
        "follow-stores",
        "Execute MI_STORE_DATA_IMM, so that secondary command buffers return to their caller.",
    ),
    Option("kernel-names", "Print address, size and SHA-256 of each kernel."),
    Option("limit", LIMIT_HELP, metavar="NAME=N", repeats=True, names=("limits",)),
    Option("help", "Show this message and exit."),
)

AUB_OPTIONS = (
    Option("gen", "The GPU (skl, gfx125) of a file that names none.", metavar="GPU"),
    Option(
        "max-vbo-lines",
        "Lines of each vertex buffer (see INTEL_DECODE).",
        metavar="N",
        convert=_lines,
    ),
    *_SHARED,
)
ERROR_OPTIONS = (
    Option("all-bb", "Decode buffers of every kind."),
    Option("kernels", "Write each kernel to a file in the current directory."),
    *_SHARED,
)

#: Options that the reference does not have: its abbreviations keep their meaning.
_ADDED = frozenset(("edition", "dump-kernels", "follow-stores", "kernel-names", "limit"))

_USAGE = "Usage: cffpy {0} [OPTIONS] {1}\nTry 'cffpy {0} --help' for help.\n\nError: {2}\n"


def run(arguments: list[str], show_help: Callable[[], int]) -> int:
    """``cffpy aubinator``: print an AUB file; the exit code."""
    return _guarded("aubinator", "FILE", AUB_OPTIONS, arguments, show_help, _aub)


def run_error_decode(arguments: list[str], show_help: Callable[[], int]) -> int:
    """``cffpy aubinator-error-decode``: print an error state or a devcoredump; the exit code."""
    name = "aubinator-error-decode"
    return _guarded(name, "[FILE]", ERROR_OPTIONS, arguments, show_help, _error_state)


def _guarded(
    name: str,
    usage: str,
    options: tuple[Option, ...],
    arguments: list[str],
    show_help: Callable[[], int],
    action: Callable[[dict[str, Any], str, Limits], int],
) -> int:
    try:
        settings, files = parse(arguments, options, _ADDED)
        if settings.pop("help", False):
            return show_help()
        if not files and usage == "FILE":
            raise UsageProblem("no FILE is named.")
        limits = limits_of(settings.pop("limits", []))
        # as the reference does, only the first file is decoded
        return action(settings, files[0] if files else "-", limits)
    except UsageProblem as problem:
        sys.stdout.flush()
        print_on_standard_error(_USAGE.format(name, usage, problem))
        return EXIT_USAGE


def _aub(settings: dict[str, Any], name: str, limits: Limits) -> int:
    def show(
        content: Content,
        options: DecodeOptions,
        flags: int,
        kernels: KernelText,
        write: Callable[[str], object],
    ) -> list[Damage]:
        from cffpy.intel.views.aubinator.aub import AubDump

        options.max_vertex_lines = settings.get("max_vbo_lines", -1)
        directory = _directory(settings)
        fallback = _fallback(settings.get("gen"), directory)
        return AubDump(options, write, kernels, fallback, directory).file(content, name)

    return _print(settings, name, limits, show)


def _error_state(settings: dict[str, Any], name: str, limits: Limits) -> int:
    def show(
        content: Content,
        options: DecodeOptions,
        flags: int,
        kernels: KernelText,
        write: Callable[[str], object],
    ) -> list[Damage]:
        from cffpy.intel.container.error_state import is_xe_devcoredump
        from cffpy.intel.views.aubinator.error_dump import ErrorStateDump, XeDump

        directory = _directory(settings)
        if is_xe_devcoredump(content.data):
            return XeDump(options, flags, write, kernels, directory).file(content)
        dump = ErrorStateDump(options, flags, write, kernels, directory)
        dump.all_batches = settings.get("all_bb", False)
        return dump.file(content)

    return _print(settings, name, limits, show)


def _print(settings: dict[str, Any], name: str, limits: Limits, show: Print) -> int:
    flags = FLOATS
    if not settings.get("headers"):
        flags |= FULL
    if not settings.get("no_offsets"):
        flags |= OFFSETS
    when = settings.get("color", "auto")
    if use_colour(None if when == "auto" else when == "always"):
        flags |= COLOUR
    options = DecodeOptions(flags, follows_stores=settings.get("follow_stores", False))
    read_environment(options, os.environ)
    directory = settings.get("dump_kernels") or ("." if settings.get("kernels") else None)
    kernels = KernelText(
        settings.get("kernel_names", False), directory, "dump_kernels" not in settings
    )
    try:
        content = open_capture(name, limits)
    except ContainerError as problem:
        print_error(str(problem))
        return EXIT_FAILURE
    gc.disable()  # nearly all objects live until the end
    pager = not settings.get("no_pager") and is_terminal(sys.stdout)
    with PagedOutput(pager) as stream:
        damage = show(
            content,
            options,
            flags,
            kernels,
            lambda text: write_all(stream, text.encode("utf-8", "surrogateescape")),
        )
    damage = [*content.faults, *damage]
    for each in damage:
        print_error(f"{content.name}: {each}")
    return EXIT_FAILURE if damage else EXIT_OK


def _directory(settings: dict[str, Any]) -> str | None:
    """The edition that was chosen, None for the bundled one."""
    if "xml" in settings:
        from cffpy.intel.descriptions.edition import edition_of_genxml

        return edition_of_genxml(settings["xml"])
    from cffpy.intel.descriptions.store import has_descriptions

    chosen: str | None = settings.get("register_db")
    if chosen is not None and has_descriptions(chosen):  # it need not have Adreno's, too
        return chosen
    return edition_directory(chosen)


def _fallback(name: str | None, directory: str | None) -> int:
    """The PCI id of a device of the named generation; 0 where none is named."""
    if name is None:
        return 0
    from cffpy.errors import UnsupportedGpu
    from cffpy.intel.descriptions import store
    from cffpy.intel.descriptions.store import parse_gpu

    try:
        verx10 = parse_gpu(name, directory)
    except UnsupportedGpu as problem:
        raise UsageProblem(f"--gen: {problem}.") from None
    for pci_id, (_, version) in store.devices(directory).items():
        if version == verx10:
            return pci_id
    raise UsageProblem(f"--gen: no device of generation {name}.")
