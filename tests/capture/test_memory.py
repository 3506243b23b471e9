# SPDX-License-Identifier: MIT
"""GPU memory: which buffer holds an address, what replaces and what drops, dwords and their hex."""

from __future__ import annotations

import struct
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.capture.memory import Buffer, BufferTree, MemoryImage, Words


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


# --- buffers that overlap: what is found depends on the shape of the reference's tree -------------

LAST_ADDRESSES = (1 << 64) - 16

# (address, size) of each buffer as it is added; then {address: address of the buffer found there}.
Found = dict[int, int | None]


def check_look_ups(image: MemoryImage, expected: Found) -> None:
    found = {address: image.find(address) for address in expected}
    assert {at: buffer and buffer.gpuaddr for at, buffer in found.items()} == expected


@pytest.mark.parametrize(
    ("buffers", "expected"),
    [
        (  # after the covered buffer, which is the root, the covering one is not found
            [(0x20, 4), (0x10, 0x20)],
            {0x0F: None, 0x10: 0x10, 0x1F: 0x10, 0x20: 0x20, 0x23: 0x20, 0x24: None, 0x2F: None},
        ),
        (  # nor after an empty one
            [(0x20, 0), (0x10, 0x20)],
            {0x10: 0x10, 0x1F: 0x10, 0x20: None, 0x2F: None},
        ),
        (  # the covering one between two covered ones; all three in a row become a balanced tree
            [(0x30, 4), (0x20, 4), (0x10, 0x30)],
            {0x10: 0x10, 0x20: 0x20, 0x24: None, 0x30: 0x30, 0x34: None},
        ),
        (  # buffer_search_cmp: an end that wraps around lies before everything
            [(0x1000, 16), (LAST_ADDRESSES, 0x20)],
            {0x8: None, 0x1008: 0x1000, LAST_ADDRESSES: None, LAST_ADDRESSES + 15: None},
        ),
        (  # and from such a root the search continues at higher addresses
            [(LAST_ADDRESSES, 0x20), (0x1000, 16)],
            {0x8: None, 0x1008: None, LAST_ADDRESSES: None},
        ),
        ([(LAST_ADDRESSES, 15)], {LAST_ADDRESSES: LAST_ADDRESSES}),
    ],
)
def test_overlaps(buffers: list[tuple[int, int]], expected: Found) -> None:
    check_look_ups(image_of(*((address, bytes(size)) for address, size in buffers)), expected)


def test_two_buffers_at_address_0() -> None:
    """The first one cannot be found at its start, so the second does not replace it."""
    image = image_of((0, dwords(1, 1)), (0, dwords(2, 2, 2, 2)))
    words, position = placed(image, 4)
    assert words.get(position) == 1
    assert image.find(0) is None
    assert image.find(8) is None
    assert len(image.buffers) == 2


def test_a_longer_sequence_with_rotations() -> None:
    """Derived by hand. Notation of trees: node(left, right), with high addresses on the left."""
    image = image_of((0x50, bytes(0x10)), (0x40, bytes(0x30)), (0x30, bytes(8)))
    # 50(-, 40(-, 30)) was rotated to 40(50, 30)
    check_look_ups(
        image,
        {
            0x32: 0x30,
            0x38: None,
            0x45: 0x40,
            0x55: 0x50,  # the root holds it, and so does the node before the root
            0x65: 0x40,
            0x70: None,
        },
    )
    image.add(0x20, 0x60, memoryview(bytes(0x60)))
    image.add(0x90, 0x10, memoryview(bytes(0x10)))
    image.add(0x78, 0x28, memoryview(bytes(0x28)))
    # 50(90(-, 78), -) was rotated twice: 40(78(90, 50), 30(-, 20))
    check_look_ups(
        image,
        {
            0x25: 0x20,
            0x32: 0x30,
            0x3A: None,  # in 20, but the search ends after 30
            0x76: None,  # in 20, but the search ends after 50
            0x7A: 0x78,
            0x80: 0x78,
            0x95: 0x90,
            0xA0: None,
        },
    )
    image.add(0x76, 0x12, memoryview(bytes(0x12)))  # 40(78(90, 50(76, -)), 30(-, 20))
    check_look_ups(image, {0x76: 0x76, 0x77: 0x76, 0x79: 0x78, 0x87: 0x78})
    image.add(0x60, 0x30, memoryview(bytes(0x30)))  # dropped: it starts inside 40
    image.add(0x70, 0x20, memoryview(bytes(0x20)))
    # 50(76(-, 70), -) was rotated twice: 40(78(90, 70(76, 50)), 30(-, 20))
    check_look_ups(
        image,
        {
            0x55: 0x50,
            0x60: 0x40,
            0x72: 0x70,
            0x77: 0x76,  # 70 holds it, and so does 76 before it
            0x79: 0x78,
            0x8C: 0x78,
            0x95: 0x90,
        },
    )
    image.add(0x10, 0x90, memoryview(bytes(0x90)))
    # 30(-, 20(-, 10)) was rotated: 40(78(90, 70(76, 50)), 20(30, 10))
    check_look_ups(
        image,
        {
            0x0F: None,
            0x15: 0x10,
            0x25: 0x20,
            0x32: 0x30,
            0x3A: 0x20,  # found now: 20 is above 30
            0x75: 0x70,
            0x9F: 0x90,
            0xA0: None,
        },
    )
    starts = [buffer.gpuaddr for buffer in image.buffers]
    assert starts == [0x10, 0x20, 0x30, 0x40, 0x50, 0x70, 0x76, 0x78, 0x90]


def test_a_longer_replacement_overlaps_the_next_buffer() -> None:
    image = image_of((0x10, bytes(4)), (0x20, bytes(4)), (0x10, bytes(0x20)))
    check_look_ups(image, {0x10: 0x10, 0x20: 0x20, 0x23: 0x20, 0x24: 0x10, 0x2F: 0x10})


def black_height(node: Any) -> int:
    """The black height of this node; checks the rules of a red-black tree."""
    if node is None:
        return 0
    for child in (node.left, node.right):
        if child is not None:
            assert child.parent is node
            assert not (node.red and child.red)
    heights = {black_height(node.left), black_height(node.right)}
    assert len(heights) == 1
    return heights.pop() + (not node.red)


def in_order(node: Any) -> list[Buffer]:
    return [*in_order(node.left), node.buffer, *in_order(node.right)] if node is not None else []


@given(st.lists(st.integers(0, 40), max_size=60))
def test_the_tree_is_red_black_and_in_order(addresses: list[int]) -> None:
    tree = BufferTree()
    buffers = [Buffer(address, 1, memoryview(b"")) for address in addresses]
    for number, buffer in enumerate(buffers, 1):
        tree.insert(buffer)
        root = tree._root
        assert root is not None
        assert not root.red
        assert root.parent is None
        black_height(root)
        # high addresses first; of equal ones, the one that was there first
        expected = sorted(buffers[:number], key=lambda each: -each.gpuaddr)
        assert [id(each) for each in in_order(root)] == [id(each) for each in expected]


@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 6)), max_size=25), st.booleans())
def test_buffers_apart_are_found_by_any_search(slots: list[tuple[int, int]], tree: bool) -> None:
    """Buffers in separate slots, some replaced, as drivers allocate them."""
    image, sizes = MemoryImage(), {}
    for slot, size in slots:
        sizes[slot * 6 + 1] = size
        image.add(slot * 6 + 1, size, memoryview(bytes(size)))
    if tree:
        image._search_tree()
    scanned: Found = {
        at: next((start for start, size in sizes.items() if start <= at < start + size), None)
        for at in range(70)
    }
    check_look_ups(image, scanned)


def test_writing_changes_a_copy() -> None:
    original = bytearray(range(16))
    image = MemoryImage()
    image.add(0x1000, 16, memoryview(original), 0x80)
    words, _ = image.place(0x1000) or pytest.fail("not found")
    shifted, _ = image.place(0x1001) or pytest.fail("not found")
    assert words.hex(1, 1) == "07060504"
    epoch = image.epoch
    assert image.write(0x1004, b"\xaa\xbb\xcc\xdd") == bytes([4, 5, 6, 7])
    assert image.epoch > epoch
    assert words.get(1) == 0xDDCCBBAA
    assert words.hex(1, 1) == "ddccbbaa"
    assert words.bytes(1, 1) == b"\xaa\xbb\xcc\xdd"
    assert shifted.get(0) == 0xAA030201
    assert words.file_offset == 0x80
    assert original == bytes(range(16))
    image.add(0x1000, 16, memoryview(original))
    assert (image.place(0x1004) or pytest.fail("not found"))[0].get(1) == 0x07060504


def test_writing_ends_with_the_buffer() -> None:
    image = MemoryImage()
    image.add(0x1000, 8, memoryview(bytes(8)))
    assert image.write(0x1006, b"abcd") == b"\0\0"
    assert image.write(0x1008, b"a") == b""
    assert image.write(0x2000, b"a") == b""
    words, _ = image.place(0x1000) or pytest.fail("not found")
    assert words.bytes(0, 9) == b"\0\0\0\0\0\0ab"


def test_large_buffers_are_not_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("cffpy.capture.memory.MAX_WRITABLE", 4)
    image = MemoryImage()
    image.add(0x1000, 8, memoryview(bytes(8)))
    assert image.write(0x1000, b"a") is None


def test_file_offsets_of_words() -> None:
    image = MemoryImage()
    image.add(0x1000, 16, memoryview(bytes(16)), 0x500)
    for address in (0x1000, 0x1004, 0x1007):
        place = image.place(address)
        assert place is not None
        words, index = place
        assert words.file_offset + 4 * index == 0x500 + address - 0x1000
        assert words.address + 4 * index == address
    image.add(0x1000, 8, memoryview(bytes(8)), 0x900)
    place = image.place(0x1004)
    assert place is not None
    assert (place[0].file_offset, place[1]) == (0x900, 1)
