# SPDX-License-Identifier: MIT
"""``cffpy dump``: the options of Mesa's cffdump, its output and its exit codes."""

from __future__ import annotations

import gc
import sys

import click

from cffpy.capture.gpu import Gpu, guess
from cffpy.cli.output import (
    EXIT_USAGE,
    is_terminal,
    paged_output,
    print_warning,
    use_colour,
    write_all,
)
from cffpy.container.open import open_capture
from cffpy.errors import ContainerError
from cffpy.regdb.store import resolve_edition
from cffpy.views.cffdump.dump import Dump
from cffpy.views.cffdump.options import (
    LAST_SUBMIT,
    QUERY_ALL,
    QUERY_DELTA,
    QUERY_WRITTEN,
    DumpOptions,
)

_EXAMPLES = """\b
Examples:
  cffpy dump capture.rd.gz                 everything
  cffpy dump -s --once capture.rd.gz       registers at each draw, each IB once
  cffpy dump -F 2 -D 17 capture.rd.gz      one draw of one submit
  cffpy dump -q RB_MRT[0].CONTROL --query-delta capture.rd.gz
  ssh device cat /tmp/x.rd | cffpy dump --unit-test - > x.txt
"""


def _frame(context: click.Context, parameter: click.Parameter, value: int | None) -> None:
    """-S, -E and -F: the last one counts, and -F is both."""
    if value is None:
        return
    for name in ("start", "end") if parameter.name == "frame" else (str(parameter.name),):
        context.meta[f"cffpy.{name}"] = value


def _refuse_script(context: click.Context, parameter: click.Parameter, value: str | None) -> None:
    if value is not None:
        raise click.UsageError(
            "scripts (-L) are not supported yet; `cffpy dump -q REG` answers register queries.",
            context,
        )


def _gpu(context: click.Context, parameter: click.Parameter, value: int | None) -> Gpu | None:
    if value is None:
        return None
    gpu = guess(value)
    if gpu is None:
        raise click.BadParameter(f"{value} is no GPU id such as 630 or 740", context, parameter)
    return gpu


@click.command(epilog=_EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-v", "--verbose", is_flag=True, help="Accepted as by cffdump; changes nothing.")
@click.option("--dump-shaders", is_flag=True, help="Write each shader printed to 0000.vo3, ...")
@click.option("--color/--no-color", "color", default=None, help="Colour (default: on a terminal).")
@click.option("--pager/--no-pager", "pager", default=None, help="Page (default: on a terminal).")
@click.option("-s", "--summary", is_flag=True, help="Registers at draws only, not each write.")
@click.option("-a", "--allregs", is_flag=True, help="At draws, all registers ever written.")
@click.option(
    "-S", "--start", type=int, callback=_frame, expose_value=False, help="First submit to decode."
)
@click.option(
    "-E", "--end", type=int, callback=_frame, expose_value=False, help="Last submit to decode."
)
@click.option(
    "-F", "--frame", type=int, callback=_frame, expose_value=False, help="Only this submit."
)
@click.option("-D", "--draw", type=int, default=-1, help="Print only this draw.")
@click.option("-e", "--exe", metavar="NAME", help="Only submits of processes named so.")
@click.option("--textures", is_flag=True, help="Dump what texture descriptors point at.")
@click.option("--bindless", is_flag=True, help="Dump bindless descriptors at draws.")
@click.option("--show-compositor", is_flag=True, help="Do not pass over compositors' submits.")
@click.option(
    "-L", "--script", metavar="LUA", callback=_refuse_script, expose_value=False, help="Refused."
)
@click.option(
    "-q", "--query", multiple=True, metavar="REG", help="Print only this register at each draw."
)
@click.option(
    "--query-all",
    "query_mode",
    flag_value=QUERY_ALL,
    type=int,
    default=QUERY_ALL,
    help="Queries at every draw (default).",
)
@click.option(
    "--query-written",
    "query_mode",
    flag_value=QUERY_WRITTEN,
    type=int,
    help="Queries where a queried register was written.",
)
@click.option(
    "--query-delta",
    "query_mode",
    flag_value=QUERY_DELTA,
    type=int,
    help="Queries where a queried register changed.",
)
@click.option("--query-compare", is_flag=True, help="Compare binning with draw values.")
@click.option("--once/--not-once", "once", help="Decode each IB only once in each render mode.")
@click.option("--unit-test", is_flag=True, help="Leave out what names the file.")
@click.option("--register-db", metavar="DIR", help="Another edition of the register database.")
@click.option("--gpu", type=int, callback=_gpu, metavar="ID", help="Decode as this GPU, e.g. 630.")
@click.pass_context
def dump(
    context: click.Context,
    files: tuple[str, ...],
    verbose: bool,
    dump_shaders: bool,
    color: bool | None,
    pager: bool | None,
    summary: bool,
    allregs: bool,
    draw: int,
    exe: str | None,
    textures: bool,
    bindless: bool,
    show_compositor: bool,
    query: tuple[str, ...],
    query_mode: int,
    query_compare: bool,
    once: bool,
    unit_test: bool,
    register_db: str | None,
    gpu: Gpu | None,
) -> None:
    """Decode captures (.rd, maybe compressed; - is standard input) as Mesa's cffdump prints them.

    The output is that of cffdump of Mesa 25.0.7, byte for byte, with the same options.
    """
    options = DumpOptions(
        summary=summary,
        allregs=allregs,
        start=context.meta.get("cffpy.start", 0),
        end=context.meta.get("cffpy.end", LAST_SUBMIT),
        draw=None if draw == -1 else draw,
        exe=exe,
        query=query,
        query_mode=query_mode,
        query_compare=query_compare,
        once=once,
        textures=textures,
        bindless=bindless,
        dump_shaders=dump_shaders,
        show_compositor=show_compositor,
        unit_test=unit_test,
        color=use_colour(color),
    )
    edition = None if register_db is None else resolve_edition(register_db)
    # Nearly all objects live to the end: collecting them costs a third of the time.
    gc.disable()
    if pager is None:
        pager = is_terminal(sys.stdout) and not query
    with paged_output(pager) as stream:
        printer = Dump(options, lambda data: write_all(stream, data), print_warning, edition, gpu)
        failed = False
        for name in files:
            printer.begin(name)
            failed = False
            try:
                content = open_capture(name)
            except ContainerError as problem:
                print_warning(f"could not open {name}: {problem}")
                failed = True
                continue
            printer.file(content)
    if failed:
        context.fail("the last file could not be opened")
    if (query_mode != QUERY_ALL or query_compare) and not query:
        raise click.UsageError("query options are only valid with --query", context)
    assert EXIT_USAGE == click.UsageError.exit_code
