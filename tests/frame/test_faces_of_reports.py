# SPDX-License-Identifier: MIT
"""Each fact of each object of each sample is in the document of a report, too."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import pytest

import cffpy
from cffpy.frame.faces import facts_document
from cffpy.frame.fact_columns import FactColumns, ValueColumn
from cffpy.frame.facts import model_of
from cffpy.query.properties import PROPERTIES, Subject
from cffpy.reports import documents
from cffpy.reports.columns import plain
from cffpy.reports.report import document
from cffpy.views.report_html.passes import rows_of
from tests.frame.test_faces import SAMPLES, WHOLE, Part, Spot, Whole


def value_at(facts: dict[str, Any], column: str) -> Any:
    """What a column has of the facts of an object: ``place.gpuaddr``."""
    found: Any = facts
    for name in column.split("."):
        found = None if found is None else found[name]
    return found


def check_columns(
    columns: dict[str, Any],
    objects: Iterable[object],
    own: Iterable[str] = (),
    large: tuple[str, ...] = (),
    without: tuple[str, ...] = (),
) -> None:
    """``own``: columns that are no facts."""
    rows = rows_of(columns)
    for row, one in zip(rows, list(objects), strict=True):
        facts = facts_document(one, large, without)
        found = {name: value for name, value in row.items() if name not in own}
        assert found == {name: value_at(facts, name) for name in found}
        assert {name.partition(".")[0] for name in found} == {*facts}


def check_object(
    found: dict[str, Any], one: object, own: Iterable[str] = (), without: tuple[str, ...] = ()
) -> None:
    facts = facts_document(one, without=without)
    shown = {name: value for name, value in found.items() if name not in own}
    assert shown == {name: value for name, value in facts.items() if name not in own}


def test_columns_have_what_documents_have() -> None:
    objects = [
        WHOLE,
        Whole(0, 1, spots=(Spot(1, 2),)),
        Whole(0, 2, parts=[Part(3)]),
        Whole(0, 4, parts=[Part(3)], notes=["a b", "c"]),
    ]
    columns = FactColumns(model_of(Whole))
    for one in objects:
        columns.add(one)
    found = plain(columns.to_document())
    check_columns(found, objects)
    assert found["notes"] == {"values": [["a b", "c"], []], "index": [0, 1, 1, 0]}
    parts = FactColumns(model_of(Part), without=("number",))
    for part in (Part(1, Spot(5, 6)), Part(2), None):
        parts.add(part)
    assert parts.to_document() == {"spot.x": [5, None, None], "spot.y": [6, None, None]}


def test_values_that_repeat_are_there_once() -> None:
    column = ValueColumn()
    for value in (1, 1, None, 1):
        column.append(value)
    assert plain(column.to_document()) == {"values": [1, None], "index": [0, 0, 1, 0]}
    for number in range(4):
        column.append_made(("key", number), lambda: [7])
    assert plain(column.to_document())["values"] == [1, None, [7]]
    column = ValueColumn()
    for value in (3, 4, 5):
        column.append(value)
    assert column.to_document() == [3, 4, 5]


@pytest.mark.parametrize("distinct", [1, 100, 600, 2000])
def test_many_rows(distinct: int) -> None:
    """However many values are distinct, and lists are made anew each time."""
    objects = [
        Whole(0, row, spots=(Spot(row % distinct, 2),), gaps=[row % distinct, None])
        for row in range(2000)
    ]
    columns = FactColumns(model_of(Whole))
    for one in objects:
        columns.add(one)
    found = plain(columns.to_document())
    check_columns(found, objects)
    repeats = distinct <= 100
    assert isinstance(found["gaps"], dict) == isinstance(found["spots"], dict) == repeats
    assert not repeats or len(found["gaps"]["values"]) == distinct


def check_commands(capture: cffpy.Capture, found: dict[str, Any]) -> None:
    """Draws, passes, their tiles, attachments and operations."""
    own = documents.ReportedDraws.__annotations__
    check_columns(found["draws"], capture.draws, own, documents.OF_DRAWS_LARGE)
    for row, draw in zip(rows_of(found["draws"]), capture.draws, strict=True):
        assert row["visible_primitives"] == draw.visible_primitives
        assert row["attributes"] == [facts_document(one) for one in draw.attributes]
    own = documents.ReportedPass.__annotations__
    for shown, one in zip(found["passes"], capture.passes, strict=True):
        check_object(shown, one, own, documents.OF_PASS_ELSEWHERE)
        without = documents.OF_RUN_ELSEWHERE
        check_columns(shown["tiles"] or {}, one.tiles, without=without)
        targets = zip(shown["attachments"], one.attachments, strict=True)
        for target, attachment in targets:
            check_object(target, attachment, documents.ReportedAttachment.__annotations__)
        operations = {json.dumps(facts_document(each)) for each in one.operations}
        for row in shown["operations"]:
            own_names = documents.ReportedOperation.__annotations__
            facts = {name: value for name, value in row.items() if name not in own_names}
            assert json.dumps(facts) in operations
        times = [row["times"] + row["in_binning"] for row in shown["operations"]]
        assert sum(times) == sum(each.action.execution.is_possible for each in one.operations)


@pytest.mark.parametrize("name", SAMPLES)
def test_a_report_has_every_fact(name: str, samples: Path) -> None:
    with cffpy.open(next(samples.glob(f"{name}.rd*"))) as capture:
        found = plain(document(capture))
        check_commands(capture, found)
        for member, objects in (
            ("problems", capture.problems),
            ("submits", capture.submits),
            ("costs", capture.costs),
            ("findings", capture.check()),
        ):
            assert found[member] == [facts_document(one) for one in objects], member
        lrz = documents.ReportedLrz.__annotations__
        for shown, one in zip(found["lrz"], capture.lrz, strict=True):
            check_object(shown, one, lrz, documents.OF_LRZ_ELSEWHERE)
        numbers = {number for row in rows_of(found["draws"]) for number in row["shaders"]}
        assert numbers - {None} == {one["shader"] for one in found["shaders"]}
        for row, draw in zip(rows_of(found["draws"]), capture.draws, strict=True):
            for number, (stage, _) in zip(row["shaders"], draw.programs, strict=True):
                if number is not None:
                    own = ("shader", "listing")
                    check_object(found["shaders"][number], draw.shaders[stage], own)
        check_search(capture, found)


def check_search(capture: cffpy.Capture, found: dict[str, Any]) -> None:
    """What the search reads is what filters read."""
    names = {name: one for name, one in found["filter"]["properties"].items() if one["path"]}
    elsewhere = {name.partition(".")[0] for name in PROPERTIES if name not in names}
    assert not capture.draws or elsewhere == {"draw", "pass", "tile"}
    for row, draw in zip(rows_of(found["draws"]), capture.draws, strict=True):
        subject = Subject(draw, draw.pass_)
        for name, one in names.items():
            owner, *steps = one["path"].split(".")
            values = values_at(row if owner == "draw" else found["passes"][row["pass"]], steps)
            if one["hexadecimal"]:
                values = [int(v, 16) if isinstance(v, str) else v for v in values]
            elif one["kind"] == "text":
                values = [None if value is None else str(value) for value in values]
            expected = PROPERTIES[name].get(subject)
            assert values == (expected if isinstance(expected, list) else [expected]), name


def values_at(part: Any, steps: list[str]) -> list[Any]:
    """As the page reads a path: see ``valuesAt`` in filter_names.js."""
    if not steps:
        return [part]
    for length in range(len(steps), 1, -1):  # of a row of columns
        name = ".".join(steps[:length])
        if isinstance(part, dict) and name.removesuffix("[]") in part:
            steps = [name, *steps[length:]]
            break
    name = steps[0].removesuffix("[]")
    value = None if part is None else part[name]
    if not steps[0].endswith("[]"):
        return values_at(value, steps[1:])
    items = [] if value is None else value if isinstance(value, list) else [value]
    return [one for item in items for one in values_at(item, steps[1:])]
