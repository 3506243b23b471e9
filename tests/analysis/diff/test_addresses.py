# SPDX-License-Identifier: MIT
"""Which image of one capture is which of the other."""

from __future__ import annotations

from cffpy.analysis.diff.addresses import Addresses
from cffpy.analysis.diff.model import Extent
from cffpy.analysis.diff.state import Buffers


def found(*pairs: tuple[int, int]) -> list[tuple[str, str]]:
    images = Addresses(Buffers([]), Buffers([]))
    for number, (good, bad) in enumerate(pairs):
        images.note(good, bad, ("texture", f"role {number}"), Extent(0, 0, number, number))
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
    images = Addresses(Buffers([]), Buffers([]))
    for good, bad in (*same, *moved):
        images.note(good, bad, ("target", "color 0"), Extent(0, 0, 0, 0))
    assert list(images.moved()) == [("addresses", "images at other addresses")] * len(moved)


def test_what_is_nowhere_is_not_told() -> None:
    images = Addresses(Buffers([]), Buffers([]))
    images.note(None, 5, ("target", "color 0"), Extent(0, 0, 0, 0))
    assert list(images.differences()) == []


def test_an_address_that_is_0_on_one_side_is_a_difference() -> None:
    images = Addresses(Buffers([]), Buffers([]))
    images.note(5, 0, ("address", "RB_BASE"), Extent(0, 0, 0, 0))
    ((difference, _),) = images.differences()
    assert (difference.name, difference.bad) == ("RB_BASE", "0x0")


def test_a_buffer_that_lies_elsewhere_has_moved_unless_both_captures_have_it() -> None:
    def differs(bad: list[tuple[int, int]]) -> bool:
        images = Addresses(Buffers([(0x1000, 64), (0x2000, 64)]), Buffers(bad))
        for good, other in ((0x2000, 0x2000), (0x2004, 0x2004), (0x1008, 0x5008)):
            images.note(good, other, ("address", f"{good}"), Extent(0, 0, 0, 0))
        return bool(list(images.differences()))

    assert not differs([(0x2000, 64), (0x5000, 64)])
    assert differs([(0x1000, 64), (0x2000, 64), (0x5000, 64)])
    assert differs([(0x2000, 64), (0x5000, 32)])


def test_an_image_is_bound_until_another_is() -> None:
    images = Addresses(Buffers([]), Buffers([]))
    at = [Extent(0, 0, number, number) for number in range(10)]
    images.bind(("texture", "texture"), (1, 9), at[0], -1)
    images.bind(("target", "target"), (2, 2), at[0], -1)
    images.bind(("texture", "texture"), (1, 9), at[3], 2)
    images.bind(("texture", "texture"), (3, 3), at[5], 4)
    images.release(Extent(0, 0), 9)
    ((difference, extents),) = images.differences()
    assert (difference.name, difference.good, difference.bad) == ("texture: image", "0x1", "0x9")
    assert extents == [Extent(0, 0, 0, 4)]


def uniforms(*pairs: tuple[int, int], others: int = 3) -> list[str]:
    addresses = Addresses(Buffers([]), Buffers([]))
    for number in range(others):
        addresses.note(number + 1, number + 1, ("texture", f"{number}"), Extent(0, 0, 0, 0))
    for number, (good, bad) in enumerate(pairs):
        extent = Extent(0, 0, number, number)
        addresses.note(good, bad, ("uniform", "uniform data set 7 slot 0"), extent)
    return [f"{one.good} {one.bad}" for one, _ in addresses.differences()]


def test_uniform_data_that_moves_with_its_descriptors_is_the_same() -> None:
    assert uniforms((0x1000, 0x1100)) == []
    assert uniforms((0x1000, 0x1100), (0x1000, 0x1100)) == []


def test_uniform_data_of_which_one_draw_uses_another_is_a_difference() -> None:
    assert uniforms((0x1000, 0x1000), (0x2000, 0x2100)) == ["0x2000 0x2100"]
    assert uniforms((0x1000, 0x1100), (0x2000, 0x2400)) == ["0x1000 0x1100", "0x2000 0x2400"]
