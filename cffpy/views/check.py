# SPDX-License-Identifier: MIT
"""Findings of lints as lines of text, as a document for JSON, and as SARIF 2.1.0."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING, Annotated, Any, TypedDict

from cffpy.document_types import Facts, Of, OneCapture
from cffpy.frame.places import names_text
from cffpy.views.plain_text import Styled, headed_columns, visible

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

    from cffpy.check.model import Finding, Lint
    from cffpy.check.runner import Checked

    #: The name of a file, and its result.
    Results = Sequence[tuple[str, Checked]]

SCHEMA = "cffpy.check/1"

_SARIF_SCHEMA = (
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json"
)
_SARIF_LEVELS = {"error": "error", "warning": "warning", "info": "note"}
_STYLES = {"error": "red", "warning": "yellow", "info": ""}
_WIDTH = 96


# -- text -----------------------------------------------------------------------------------------


def lines(results: Results) -> Iterator[str]:
    """A line for each finding, then the counts."""
    for name, checked in results:
        for finding in checked.findings:
            yield Styled(_line(name, finding), _STYLES[finding.severity])
    yield counts_text([checked for _, checked in results])


def _line(name: str, finding: Finding) -> str:
    where = where_text(finding)
    times = f" ({finding.count} times)" if finding.count > 1 else ""
    head = f"{visible(name)}: {finding.severity} {finding.lint.id} {finding.lint.name}"
    place = finding.place
    at = "" if place is None else f" [{place}]"
    return f"{head}: {where}{visible(finding.text)}{times}{at}"


def where_text(finding: Finding) -> str:
    """The draw, dispatch or pass of the first place, with a colon; "" for neither."""
    if finding.draw is not None:
        names = names_text(finding.draw)
        if names:
            return f"{'dispatch' if finding.draw.kind == 'dispatch' else 'draw'} {names}: "
    return "" if finding.pass_ is None else f"pass {finding.pass_.index}: "


def counts_text(results: Iterable[Checked]) -> str:
    """How many findings there are of each severity."""
    findings = [finding for checked in results for finding in checked.findings]
    counts = [
        (sum(finding.severity == severity for finding in findings), severity)
        for severity in ("error", "warning", "info")
    ]
    parts = [f"{n} {name}{'s' * (n != 1 and name != 'info')}" for n, name in counts]
    return ", ".join(parts)


def explanation(lint: Lint) -> Iterator[str]:
    """What a lint finds, which places it reports, why it matters, what to do."""
    yield Styled(f"{lint.id} {lint.name} ({lint.severity}, {_generations(lint)})")
    for title, text in (("Finds", lint.summary), *_paragraphs(lint)):
        words = f"{text[0].upper()}{text[1:]}"
        yield from fill(f"{title}: {words}", _WIDTH, subsequent_indent="  ").splitlines()


def _generations(lint: Lint) -> str:
    first, last = min(lint.generations), max(lint.generations)
    return f"a{first}xx" if first == last else f"a{first}xx to a{last}xx"


def _paragraphs(lint: Lint) -> Iterator[tuple[str, str]]:
    if lint.reported:
        yield "Reports", lint.reported
    yield "Why", lint.why
    yield "What to do", lint.advice


def page(lints: Sequence[Lint]) -> Iterator[str]:
    """All lints as lines of Markdown: a table, then a chapter for each."""
    yield from ("| id | severity | name | finds |", "| --- | --- | --- | --- |")
    for lint in lints:
        yield f"| {lint.id} | {lint.severity} | `{lint.name}` | {lint.summary} |"
    for lint in lints:
        yield from ("", f"### {lint.id} {lint.name}", "")
        finds = f"{lint.summary[0].upper()}{lint.summary[1:]}"
        yield f"{finds} ({lint.severity}, {_generations(lint)})."
        yield ""
        for title, text in _paragraphs(lint):
            yield f"- **{title}**: {text[0].upper()}{text[1:]}"


def table(lints: Iterable[Lint]) -> list[str]:
    """All lints, a line each."""
    rows = [(lint.id, lint.severity, lint.name, lint.summary) for lint in lints]
    return headed_columns([("id", "severity", "name", "finds"), *rows])


# -- JSON -----------------------------------------------------------------------------------------


class FindingCounts(TypedDict):
    """How many findings of a file there are of each severity."""

    error: Annotated[int, "almost surely wrong"]
    warning: Annotated[int, "likely slow or wrong"]
    info: Annotated[int, "worth knowing"]


class CheckedFile(OneCapture):
    """The findings of a capture."""

    file: Annotated[str, "the file, as it was given"]
    problems: Annotated[list[str], "damage, and what limits left out, in words"]
    counts: Annotated[FindingCounts, "how many findings there are of each severity"]
    findings: Annotated[list[Facts], "the findings", Of("cffpy.check.model:Finding")]


class CheckDocument(TypedDict):
    """Findings of lints: cffpy check --json."""

    files: Annotated[list[CheckedFile], "an object for each file"]


def document(results: Results) -> CheckDocument:
    """An object for each file, with its findings."""
    return {"files": [_file(name, checked) for name, checked in results]}


def items(files: Iterable[CheckedFile]) -> Iterator[dict[str, Any]]:
    """The findings of the objects of files, each with its file."""
    for file in files:
        for finding in file["findings"]:
            yield {"file": file["file"], **finding}


def _file(name: str, checked: Checked) -> CheckedFile:
    from cffpy.frame.faces import facts_document  # lazily: text does without

    return {
        "file": name,
        "gpu": checked.passes.gpu,
        "generation": checked.passes.generation or None,
        "problems": checked.passes.problems,
        "counts": counts_of(checked.count),
        "findings": [facts_document(finding) for finding in checked.findings],
    }


def counts_of(count: Callable[[str], int]) -> FindingCounts:
    """The numbers of findings; ``count`` has the number of a severity."""
    return {"error": count("error"), "warning": count("warning"), "info": count("info")}


# -- SARIF ----------------------------------------------------------------------------------------


def sarif(results: Results, lints: Sequence[Lint], version: str) -> dict[str, Any]:
    """A SARIF log: one run with all files. Offsets are in the decompressed files."""
    index = {lint.id: number for number, lint in enumerate(lints)}
    return {
        "$schema": _SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [
            {
                "tool": {
                    "driver": {
                        "name": "cffpy",
                        "version": version,
                        "rules": [_rule(lint) for lint in lints],
                    }
                },
                "results": [
                    _result(name, finding, index)
                    for name, checked in results
                    for finding in checked.findings
                ],
            }
        ],
    }


def _rule(lint: Lint) -> dict[str, Any]:
    return {
        "id": lint.id,
        "name": lint.name,
        "shortDescription": {"text": lint.summary},
        "fullDescription": {"text": lint.why},
        "help": {"text": lint.advice},
        "defaultConfiguration": {"level": _SARIF_LEVELS[lint.severity]},
    }


def _result(name: str, finding: Finding, index: dict[str, int]) -> dict[str, Any]:
    place = finding.place
    location: dict[str, Any] = {"artifactLocation": {"uri": name.replace("\\", "/")}}
    if place is not None and place.file_offset is not None:
        location["region"] = {"byteOffset": place.file_offset, "byteLength": 4}
    result: dict[str, Any] = {
        "ruleId": finding.lint.id,
        "ruleIndex": index[finding.lint.id],
        "level": _SARIF_LEVELS[finding.severity],
        "message": {"text": where_text(finding) + finding.text},
        "locations": [{"physicalLocation": location}],
        "occurrenceCount": finding.count,
    }
    return result
