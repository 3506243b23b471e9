# SPDX-License-Identifier: MIT
"""What ``model`` makes of a class: how its objects compare, hash and print."""

from __future__ import annotations

import dataclasses
import pickle

import pytest

from cffpy.frame.facts import model, stored


@model("point", frozen=True)
class Point:
    x: int = stored("across")
    y: int = stored("down", default=0)
    label: str = stored("what it is called", default="", compare=False, repr=False)


@model("list", eq=True)
class Listed:
    points: list[Point] = stored("all points")


@model("thing")
class Thing:
    x: int = stored("across")
    other: Thing | None = stored("another one", default=None)


@model("text")
class WithText:
    x: int = stored("across")

    def __repr__(self) -> str:
        return "as it says"


def test_frozen_models_are_values():
    assert Point(1, 2, "a") == Point(1, 2, "b") != Point(1, 3)
    assert len({Point(1, 2, "a"), Point(1, 2, "b"), Point(2, 1)}) == 2
    assert Point(1).__eq__((1, 0)) is NotImplemented
    assert pickle.loads(pickle.dumps(Point(1, 2, "a"))).label == "a"
    with pytest.raises(dataclasses.FrozenInstanceError):
        Point(1).x = 2  # type: ignore[misc]


def test_other_models_compare_by_fields_where_asked_for():
    assert Listed([Point(1)]) == Listed([Point(1)]) != Listed([])
    with pytest.raises(TypeError, match="unhashable"):
        hash(Listed([]))
    assert Thing(1) != Thing(1)
    assert len({Thing(1), Thing(1)}) == 2


def test_text():
    assert repr(Point(1, 2, "a")) == "Point(x=1, y=2)"
    assert repr(Listed([Point(1)])) == "Listed(points=[Point(x=1, y=0)])"
    assert repr(WithText(1)) == "as it says"
    endless = Thing(1)
    endless.other = endless
    assert repr(endless) == "Thing(x=1, other=...)"
