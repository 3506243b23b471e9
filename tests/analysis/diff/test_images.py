# SPDX-License-Identifier: MIT
"""Which image of one capture is which of the other."""

from __future__ import annotations

from cffpy.analysis.diff.images import Images
from cffpy.analysis.diff.model import Extent


def found(*pairs: tuple[int, int]) -> list[tuple[str, str]]:
    images = Images()
    for number, (good, bad) in enumerate(pairs):
        images.note(good, bad, f"role {number}", Extent(0, 0, number, number))
    return [(difference.name, difference.bad) for difference, _ in images.differences()]


def test_the_same_addresses_are_the_same_images() -> None:
    assert found((1, 1), (2, 2), (1, 1)) == []


def test_one_that_alone_is_elsewhere_is_another_image() -> None:
    assert found((1, 1), (2, 2), (3, 9)) == [("role 2: image", "0x9")]


def test_one_in_place_of_another_that_is_there() -> None:
    assert found((1, 1), (2, 2), (3, 3), (2, 3)) == [("role 3: image", "0x3")]


def test_images_that_have_changed_places() -> None:
    assert len(found((1, 1), (2, 2), (5, 6), (6, 5))) == 2


def test_other_addresses_throughout_are_no_difference() -> None:
    assert found((1, 101), (2, 57), (3, 999), (1, 101)) == []


def test_other_addresses_throughout_and_one_role_with_another_image() -> None:
    assert found((1, 101), (2, 57), (3, 999), (2, 57), (1, 57)) == [("role 4: image", "0x39")]


def test_several_that_have_moved_by_as_much() -> None:
    same = [(n, n) for n in range(0x10, 0x18)]
    moved = [(n, n + 0x1000) for n in range(0x2000, 0x6000, 0x1000)]
    assert found(*same, *moved) == []
    images = Images()
    for good, bad in (*same, *moved):
        images.note(good, bad, "color 0", Extent(0, 0, 0, 0))
    assert images.consistent == len(moved)


def test_what_is_nowhere_is_not_told() -> None:
    images = Images()
    images.note(None, 5, "color 0", Extent(0, 0, 0, 0))
    images.note(5, 0, "color 0", Extent(0, 0, 0, 0))
    assert list(images.differences()) == []


def test_an_image_is_bound_until_another_is() -> None:
    images = Images()
    at = [Extent(0, 0, number, number) for number in range(10)]
    images.bind("texture", (1, 9), at[0], -1)
    images.bind("target", (2, 2), at[0], -1)
    images.bind("texture", (1, 9), at[3], 2)
    images.bind("texture", (3, 3), at[5], 4)
    images.release(Extent(0, 0), 9)
    ((difference, extents),) = images.differences()
    assert (difference.name, difference.good, difference.bad) == ("texture: image", "0x1", "0x9")
    assert extents == [Extent(0, 0, 0, 4)]
