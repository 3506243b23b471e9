# SPDX-License-Identifier: MIT
"""``cffpy crash``: what a GPU crash dump means, on one page; the capture that it holds."""

from __future__ import annotations

import gc
from typing import TYPE_CHECKING

import click

from cffpy.cli.captures import decode, open_for, print_problems, refuse_for_intel
from cffpy.cli.forms import Forms, Result, capture_file, write_result
from cffpy.cli.output import EXIT_FAILURE, EXIT_OK, print_error
from cffpy.cli.parameters import command_limits, edition_option
from cffpy.cli.question import Question, asks
from cffpy.container.kinds import intel_kind
from cffpy.container.open import open_capture
from cffpy.views.plain_text import Styled, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from cffpy.container.open import Content
    from cffpy.row_readers import BytesLike

_EPILOG = """\b
Examples:
  cffpy crash crash.devcore.gz                           the page
  cffpy crash --json crash.devcore | jq .suspicious
  cffpy crash crash.devcore --extract hang.rd.gz         a capture of what hangs
  cffpy crash crash.devcore --html crash.html            the page for a browser
  cffpy diff good.rd.gz crash.devcore                    dumps are captures, too
"""


@click.command(epilog=_EPILOG)
@click.option(
    "--extract",
    metavar="OUT.rd[.gz]",
    help="Write a capture instead: the memory of the dump, the IBs of the ring as submits.",
)
@asks(forms=Forms(json="cffpy.crash/1", html=True, others=("extract",)), edition=edition_option)
def crash(question: Question) -> int:
    """Report on a GPU crash dump: what hangs, and the likely causes.

    Dumps are devcoredumps of the msm driver, snapshots of the KGSL driver, and error states and
    devcoredumps of Intel's drivers i915 and Xe.

    The report has the position of the CP, the draw that it is at and those that were sent before,
    their pass, shaders and textures, the page fault and what of the draws uses the address, the
    state of the ring, the GMU and the SQE, and what is suspicious, with reasons. Each statement
    is followed by its source: a line of the dump, or an address in its memory. What is not known
    is shown as unknown.

    FILE may be '-' for standard input. The exit code is 1 if the dump is damaged or cannot be read.
    """
    from cffpy.api.crash import crash_of
    from cffpy.views import crash as view

    path = question.path
    gc.disable()  # what is found lives as long as the command
    content = open_capture(path, command_limits())
    if intel_kind(content.data) is not None:
        return _crash_of_intel(question, content)
    analysis = crash_of(content, question.gpu, question.register_db)
    print_problems(path, analysis.problems, print_error)

    def page(_path: str) -> list[bytes]:
        from cffpy.views.crash import page as page_of

        return [page_of(analysis.report)]

    def capture(output: str) -> Iterable[BytesLike]:
        data = analysis.extract()
        return capture_file(output, [data], len(data))

    result = Result(
        view.SCHEMA,
        analysis.to_dict,
        lambda: view.lines(analysis.report),
        files={"html": page, "extract": capture},
    )
    write_result(result, question)
    return EXIT_FAILURE if analysis.problems else EXIT_OK


def _crash_of_intel(question: Question, content: Content) -> int:
    """Report on an error state or a devcoredump; the exit code."""
    from cffpy.intel.views.crash import SCHEMA

    capture = open_for(question.path, question.gpu, question.register_db, lambda: content)
    refuse_for_intel(capture, (f"--{question.form}", question.output))
    assert capture.intel is not None
    code = decode(capture, lambda opened: opened.walk())[1]
    report = capture.intel.crash

    def shown() -> Iterator[str]:
        yield Styled(visible(content.name))
        for line in map(visible, report.lines()):
            yield line if line.startswith(" ") else Styled(line)

    write_result(Result(SCHEMA, report.to_dict, shown), question)
    return code
