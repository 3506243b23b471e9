# SPDX-License-Identifier: MIT
"""Summaries of captures as a JSON document."""

from __future__ import annotations

from typing import Annotated, TypedDict

from cffpy.document_types import Facts, Of

SCHEMA = "cffpy.info/1"


class UnreadFile(TypedDict):
    """A file that could not be read."""

    file: Annotated[str, "the file, as it was given"]
    error: Annotated[str, "why it could not be read"]


class InfoDocument(TypedDict):
    """What is in captures: cffpy info --json."""

    files: Annotated[
        list[Annotated[Facts, Of("cffpy.analysis.summary:CaptureSummary")] | UnreadFile],
        "an object for each file",
    ]


def error_document(path: str, message: str) -> UnreadFile:
    """A file that could not be read."""
    return {"file": path, "error": message}
