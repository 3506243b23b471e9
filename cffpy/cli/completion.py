# SPDX-License-Identifier: MIT
"""What a shell completes besides commands and options: names of facts, registers and pages.

Names of facts are those that filters have, from the declarations. A filter is a word of the shell:
its last name is completed, and what stands before it is kept.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    import click
    from click.shell_completion import CompletionItem

    from cffpy.regdb.database import Database

#: The name at the end of an expression, and what compares the name before it.
_LAST_NAME = re.compile(r"[A-Za-z_][\w.\[\]*]*$")
#: A pass, and the beginning of what lies in it.
_PASS = re.compile(r"p\d+:\w*")
_COMPARED = re.compile(r"([A-Za-z_][\w.\[\]*]*)\s*(?:==|!=)\s*$")

#: The fewest characters of a register's name: with one, there are too many to show.
_REGISTER_PREFIX = 2


def expressions(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """A filter: its last name, or a word that the fact before ``==`` may be."""
    word = _last_name(incomplete)
    before = incomplete[: len(incomplete) - len(word)]
    compared = _COMPARED.search(before)
    names: Iterable[str] = _names(ctx, word)
    if compared is not None:
        names = [*_words(compared[1]), *(names if word else ())]
    return beginning(word, names, before)


def columns(ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Names after commas: the last one."""
    before, comma, word = incomplete.rpartition(",")
    return beginning(word, _names(ctx, word), before + comma)


def runs(_ctx: click.Context, _param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """A place in a pass: ``p3:`` a tile or the binning run."""
    if _PASS.fullmatch(incomplete) is None:
        return []
    before, colon, word = incomplete.partition(":")
    return beginning(word, ("binning", "t0"), before + colon)


def expression_or_files(
    ctx: click.Context, param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The arguments of ``find``: a filter, which comes first if there is no ``--where``; files."""
    if not ctx.params.get("arguments") and not ctx.params.get("where") and incomplete:
        items = expressions(ctx, param, incomplete)
        if items:
            return items
    return _files(incomplete)


def files_or_registers(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """The arguments of ``state``: files, then registers."""
    registers = _registers(ctx, incomplete) if ctx.params.get("arguments") else ()
    items = beginning(incomplete, registers)
    return items or _files(incomplete)


def descriptions(
    ctx: click.Context, _param: click.Parameter, incomplete: str
) -> list[CompletionItem]:
    """What ``db show`` explains: registers, packets, enums."""
    if len(incomplete) < _REGISTER_PREFIX:
        return []
    names = [*_registers(ctx, incomplete)]
    for database in _databases(ctx):
        names += [*database.domain_names(), *database.enum_names()]
    return beginning(incomplete, names)


def _files(incomplete: str) -> list[CompletionItem]:
    from click.shell_completion import CompletionItem  # lazily: only completion needs it

    return [CompletionItem(incomplete, type="file")]


def _last_name(text: str) -> str:
    match = _LAST_NAME.search(text)
    return match[0] if match else ""


def beginning(word: str, names: Iterable[str], before: str = "") -> list[CompletionItem]:
    """The names that begin with a word, each once, in their order."""
    from click.shell_completion import CompletionItem

    kept = dict.fromkeys(name for name in names if name.startswith(word))
    return [CompletionItem(before + name) for name in kept]


def _names(ctx: click.Context, word: str) -> Iterator[str]:
    yield from facts()
    yield from _registers(ctx, word)


def facts() -> Iterator[str]:
    """Names of facts in filters: of captures' objects, and of what draws have bound."""
    from cffpy.query.properties import BINDING_FACTS, OWNERS, PROPERTIES

    yield from PROPERTIES
    yield from (f"{owner}.{name}" for owner in OWNERS for name in BINDING_FACTS)


def _words(name: str) -> list[str]:
    """All values that a text fact may have; empty for a name that is none."""
    from cffpy.query.properties import PROPERTIES

    known = PROPERTIES.get(name)
    return [] if known is None else known.values(None)


def _registers(ctx: click.Context, word: str) -> Iterator[str]:
    from cffpy.regdb.registers import Registers

    if len(word) < _REGISTER_PREFIX or not word[0].isupper():
        return
    register, dot, _ = word.rpartition(".")
    for database in _databases(ctx):
        yield from (name for name, _ in database.register_names())
        known = Registers(database).find(register) if dot else None
        if known is not None:
            yield from (f"{register}.{field.name}" for field in known.fields)


def _databases(ctx: click.Context) -> Iterator[Database]:
    """The descriptions of ``--gpu``, or of all generations."""
    from cffpy.regdb import store
    from cffpy.regdb.database import Database

    directory = ctx.params.get("register_db")
    gpu = ctx.params.get("gpu")
    chips = store.chips(directory) if gpu is None else [gpu.chip]
    for chip in chips:
        yield Database.open(chip, directory)
