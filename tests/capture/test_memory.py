# SPDX-License-Identifier: MIT
"""GPU memory: which buffer holds an address, what replaces and what drops, dwords and their hex."""

from __future__ import annotations

import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.capture.memory import MemoryImage, Words


def image_of(*buffers: tuple[int, bytes]) -> MemoryImage:
    image = MemoryImage()
    for address, content in buffers:
        image.add(address, len(content), memoryview(content))
    return image


def placed(image: MemoryImage, address: int) -> tuple[Words, int]:
    place = image.place(address)
    assert place is not None
    words, position = place
    return words, position


def dwords(*values: int) -> bytes:
    return struct.pack(f"<{len(values)}I", *values)


def test_an_address_inside_is_found_the_end_is_not() -> None:
    image = image_of((0x1000, bytes(16)), (0x2000, bytes(16)))
    for address in (0x1000, 0x1001, 0x100F):
        assert image.find(address) is image.buffers[0]
    for address in (0x0FFF, 0x1010, 0x1FFF, 0x2010, 0x1_0000_1000):
        assert image.find(address) is None
    assert image.find(0x2008) is image.buffers[1]


def test_a_buffer_at_the_same_address_replaces_also_with_another_length() -> None:
    image = image_of((0x1000, dwords(1, 2)))
    image.add(0x1000, 4, memoryview(dwords(9)))
    words, _ = placed(image, 0x1000)
    assert (words.get(0), words.count) == (9, 1)
    assert image.find(0x1004) is None
    assert len(image.buffers) == 1


def test_a_buffer_that_starts_inside_another_is_dropped() -> None:
    image = image_of((0x1000, dwords(1, 2, 3, 4)), (0x1004, dwords(8, 8, 8, 8)))
    words, position = placed(image, 0x1004)
    assert words.get(position) == 2
    assert image.find(0x1010) is None


def test_a_buffer_that_covers_an_older_one_is_kept() -> None:
    image = image_of((0x1010, dwords(1)), (0x1000, dwords(*range(10, 20))))
    inner, outer = image.find(0x1010), image.find(0x1000)
    assert inner is not None
    assert outer is not None
    assert (inner.gpuaddr, outer.gpuaddr) == (0x1010, 0x1000)


def test_empty_buffers_hold_nothing() -> None:
    image = image_of((0x1000, b""))
    assert image.find(0x1000) is None
    assert image.place(0x1000) is None
    image.add(0x1000, 4, memoryview(dwords(5)))
    assert image.find(0x1000) is None, "the reference's search ends at the empty one"


def test_replacing_by_nothing_empties() -> None:
    image = image_of((0x1000, dwords(1)))
    image.add(0x1000, 0, memoryview(b""))
    assert image.find(0x1000) is None


def test_address_0_is_in_no_buffer_but_its_neighbours_are() -> None:
    image = image_of((0, dwords(1, 2)))
    assert image.find(0) is None
    assert image.remaining(0) == 0
    words, position = placed(image, 4)
    assert words.get(position) == 2


def test_declared_size_counts_for_addresses_contents_for_reading() -> None:
    image = MemoryImage()
    image.add(0x1000, 64, memoryview(dwords(1, 2)))
    image.add(0x2000, 4, memoryview(dwords(3, 4)))
    assert image.remaining(0x1008) == 56
    words, position = placed(image, 0x1008)
    assert position == words.count == 2
    assert words.get(position) == 0
    assert image.find(0x2004) is None
    assert placed(image, 0x2000)[0].count == 1


def test_clear_drops_all_and_every_change_is_an_epoch() -> None:
    image = image_of((0x1000, bytes(4)))
    epochs = {image.epoch}
    image.add(0x1000, 4, memoryview(bytes(4)))
    epochs.add(image.epoch)
    image.clear()
    epochs.add(image.epoch)
    assert len(epochs) == 3
    assert image.find(0x1000) is None
    assert image.drops == 1
    assert image.buffers == ()


@pytest.mark.parametrize("phase", range(4))
def test_words_start_at_any_byte(phase: int) -> None:
    content = bytes(range(1, 12))
    words, position = placed(image_of((0x1000, content)), 0x1000 + phase)
    assert position == 0
    assert words.address == 0x1000 + phase
    assert words.count == (11 - phase) // 4
    assert words.get(0) == int.from_bytes(content[phase : phase + 4], "little")


def test_an_unaligned_address_further_on() -> None:
    content = bytes(range(64))
    words, position = placed(image_of((0x1000, content)), 0x1000 + 13)
    assert (words.address, position) == (0x1001, 3)
    assert words.get(position) == 0x100F0E0D


def test_nothing_is_read_outside() -> None:
    words = Words(0x1000, memoryview(dwords(1, 2)))
    assert [words.get(index) for index in (-1, 0, 1, 2, 1 << 40)] == [0, 1, 2, 0, 0]
    assert words.bytes(1, 100) == dwords(2)
    assert words.bytes(2, 100) == b""
    assert words.bytes(-3, 1) == dwords(1)


@given(st.lists(st.integers(0, 0xFFFFFFFF), min_size=1, max_size=1200), st.data())
def test_hex_is_that_of_each_dword(values: list[int], data: st.DataObject) -> None:
    words = Words(0, memoryview(dwords(*values)))
    for _ in range(3):
        index = data.draw(st.integers(0, len(values) - 1))
        count = data.draw(st.integers(1, len(values) - index))
        expected = " ".join(f"{value:08x}" for value in values[index : index + count])
        assert words.hex(index, count) == expected


# --- the reference's tree of buffers, against which every look-up is held ------------------------


class Node:
    """A buffer in the reference's red-black tree, which has high addresses on the left."""

    def __init__(self, address: int, size: int, number: int) -> None:
        self.address, self.size, self.number = address, size, number
        self.left: Node | None = None
        self.right: Node | None = None
        self.parent: Node | None = None
        self.red = True


class ReferenceTree:
    """buffers.c and rb_tree.h of Mesa: a plain red-black tree, never rebalanced by removal."""

    def __init__(self) -> None:
        self.root: Node | None = None

    def add(self, address: int, size: int, number: int) -> None:
        inside = self.find(address)
        if inside is None:
            self._insert(Node(address, size, number))
        elif inside.address == address:
            inside.size, inside.number = size, number

    def find(self, address: int) -> Node | None:
        node = self.root if address else None
        while node is not None:
            side = self._side(node, address)
            if side == 0:
                before = self._previous(node)
                while before is not None and self._side(before, address) == 0:
                    node, before = before, self._previous(before)
                return node
            node = node.left if side < 0 else node.right
        return None

    @staticmethod
    def _side(node: Node, address: int) -> int:
        if node.address + node.size <= address:
            return -1
        return 1 if node.address > address else 0

    @staticmethod
    def _previous(node: Node) -> Node | None:
        if node.left is not None:
            node = node.left
            while node.right is not None:
                node = node.right
            return node
        while node.parent is not None and node is node.parent.left:
            node = node.parent
        return node.parent

    def _insert(self, node: Node) -> None:
        parent, place, left = None, self.root, False
        while place is not None:
            parent, left = place, place.address < node.address
            place = place.left if left else place.right
        node.parent = parent
        if parent is None:
            self.root = node
        elif left:
            parent.left = node
        else:
            parent.right = node
        self._balance(node)

    def _balance(self, node: Node) -> None:
        while node.parent is not None and node.parent.red:
            parent = node.parent
            top = parent.parent
            assert top is not None
            on_left = parent is top.left
            uncle = top.right if on_left else top.left
            if uncle is not None and uncle.red:
                parent.red = uncle.red = False
                top.red = True
                node = top
                continue
            if node is (parent.right if on_left else parent.left):
                self._rotate(parent, on_left)
                parent = node
            parent.red, top.red = False, True
            self._rotate(top, not on_left)
            break
        assert self.root is not None
        self.root.red = False

    def _rotate(self, node: Node, to_left: bool) -> None:
        child = node.right if to_left else node.left
        assert child is not None
        moved = child.left if to_left else child.right
        if to_left:
            node.right, child.left = moved, node
        else:
            node.left, child.right = moved, node
        if moved is not None:
            moved.parent = node
        child.parent = node.parent
        if node.parent is None:
            self.root = child
        elif node.parent.left is node:
            node.parent.left = child
        else:
            node.parent.right = child
        node.parent = child


def differing(buffers: list[tuple[int, int]]) -> list[int]:
    """Addresses at which the image and the reference's tree find other buffers."""
    image, tree = MemoryImage(), ReferenceTree()
    for number, (address, size) in enumerate(buffers):
        image.add(address, size, memoryview(bytes([number]) * size))
        tree.add(address, size, number)
    wrong = []
    for address in range(80):
        ours, theirs = image.find(address), tree.find(address)
        if (ours and bytes(ours.contents[:1])) != (theirs and bytes([theirs.number])):
            wrong.append(address)
    return wrong


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 6)), max_size=25))
def test_look_up_is_the_reference_s_for_buffers_apart(buffers: list[tuple[int, int]]) -> None:
    """Buffers in slots of their own, each maybe replaced; as all drivers' are."""
    assert not differing([(slot * 6 + 1, size) for slot, size in buffers])


@pytest.mark.parametrize(
    "buffers",
    [
        [(0x20, 4), (0x10, 0x20)],  # behind the covered buffer the covering one is not found
        [(0x20, 0), (0x10, 0x20)],  # nor behind an empty one
        [(0, 8), (0, 16)],  # address 0: the first one stays, it cannot be found to be replaced
    ],
)
def test_look_up_is_the_reference_s_where_buffers_overlap(buffers: list[tuple[int, int]]) -> None:
    assert not differing(buffers)


@given(st.lists(st.tuples(st.integers(0, 60), st.integers(0, 12)), max_size=12))
def test_look_up_is_the_reference_s_for_any_buffers(buffers: list[tuple[int, int]]) -> None:
    assert not differing(buffers)
