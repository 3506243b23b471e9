# SPDX-License-Identifier: MIT
"""The text of crash dumps: recognised, read line by line, data decoded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.container.devcoredump import (
    Block,
    DeferredContents,
    decode_ascii85,
    is_devcoredump,
    iter_items,
)
from tests.crash_dumps import ascii85, hang, little_endian


@given(st.lists(st.integers(0, 0xFFFFFFFF) | st.just(0), max_size=40))
def test_ascii85(dwords: list[int]) -> None:
    text = ascii85(dwords).encode()
    decoded = decode_ascii85(text, len(dwords))
    assert decoded.ljust(4 * len(dwords), b"\0") == little_endian(dwords)


@pytest.mark.parametrize(
    ("text", "dwords", "expected"),
    [
        (b'zz!!!!"', 9, [0, 0, 1]),
        (b'!!!!"!!!!#', 1, [1]),
        (b"uuuuu", 1, [85**5 - 1 & 0xFFFFFFFF]),
        (b"!!#", 1, [2]),
        (b"!!z!!", 2, [(ord("z") - 33) * 85 * 85]),
        (b"z!z!!!z", 3, [0, (ord("z") - 33) * 85**3, 0]),
        (b"z" * 10, 3, [0, 0, 0]),
        (b"", 4, []),
    ],
    ids=["zeros", "more than declared", "wraps", "short group", "z in a group", "both", "", "none"],
)
def test_odd_ascii85(text: bytes, dwords: int, expected: list[int]) -> None:
    assert decode_ascii85(text, dwords) == little_endian(expected)


@given(st.binary(max_size=60), st.integers(0, 20))
def test_any_text_is_decoded_within_the_size(text: bytes, dwords: int) -> None:
    assert len(decode_ascii85(text, dwords)) <= 4 * dwords


def test_a_dump_is_recognised() -> None:
    dump = hang([0x70100000], 1)
    assert is_devcoredump(dump)
    assert is_devcoredump(dump[4:])
    assert is_devcoredump(dump.replace(b"module: msm\n", b""))
    assert not is_devcoredump(b"---\nname: other YAML\n")
    assert not is_devcoredump(b"")
    assert not is_devcoredump(bytes(4096))


def items(text: str) -> list[tuple[str, str, tuple[object, ...]]]:
    return [(item.section, item.key, item.values) for item in iter_items(text.encode())]


def test_sections_and_values() -> None:
    text = (
        "kernel: 6\nrevision: 0 (67.5.10.1)\nbos:\n  - iova: 0xff\n    name: x\n    size: 8\n"
        '    data: !!ascii85 |\n     !!!!"\nvm-log:\n  - OP: 1\n'
    )
    assert items(text) == [
        ("", "", ()),
        ("", "revision", (0, 67, 5, 10, 1)),
        ("bos", "begin", ()),
        ("bos", "iova", (0xFF,)),
        ("bos", "", ()),
        ("bos", "size", (8,)),
        ("bos", "data", ()),
        ("bos", "end", ()),
        ("", "", ()),
        ("", "", ()),
    ]
    block = next(item.block for item in iter_items(text.encode()) if item.block)
    assert (block.declared, block.contents()) == (8, little_endian([1]))


#: A section with foreign lines, and before the next one.
INTERRUPTED = (
    "bos:\n[ 12.3] msm: a log\n\n  - iova: 0xff\n    size: 8\n    data: !!ascii85 |\n[ 12.4] more\n"
    '     !!!!"\n\n[ 12.5] not within it\nregisters:\n'
)


def test_foreign_lines_within_a_section() -> None:
    found = list(iter_items(INTERRUPTED.encode(), goes_on=True))
    assert [(item.section, item.key) for item in found] == [
        ("bos", "begin"),
        ("bos", "foreign"),
        ("bos", "foreign"),
        ("bos", "iova"),
        ("bos", "size"),
        ("bos", "data"),
        ("bos", "foreign"),
        ("bos", "end"),
        ("", ""),
        ("", ""),
        ("registers", "begin"),
    ]
    (block,) = [item.block for item in found if item.block]
    assert block.contents() == little_endian([1])


def test_foreign_lines_end_a_section_of_crashdec() -> None:
    found = [(item.section, item.key) for item in iter_items(INTERRUPTED.encode())]
    assert found[1:4] == [("bos", "end"), ("", ""), ("", "")]
    assert ("bos", "iova") not in found


@pytest.mark.parametrize("line", ["vm-log:", "comm: x", "revision: 630 (6.3.0.2)"])
def test_what_is_no_foreign_line(line: str) -> None:
    text = f"bos:\n  - iova: 0x1\n{line}\n  - iova: 0x2\n"
    keys = [item.key for item in iter_items(text.encode(), goes_on=True)]
    assert keys.count("iova") == 1
    many = "bos:\n" + 1000 * "\n" + "  - iova: 0x1\n"
    assert "iova" not in [item.key for item in iter_items(many.encode(), goes_on=True)]


@pytest.mark.parametrize(
    ("line", "values"),
    [
        ("  - { offset: 0x840, value: 0x12345678 }", (0x840, 0x12345678)),
        ("  - { offset: 840, value: 0x1", (0x840, 1)),
        ("   -{offset:0x8,value:9", (8, 9)),
        ("  - { offset: 0x8, value: 0x112345678 }", (8, 0x12345678)),
        ("  - { offset: 0x8, value: -1 }", (8, 0xFFFFFFFF)),
        ("  - { offset: 0x8, value: 0x", None),
        ("  - { offset: 0x8 , value: 1", None),
        ("  - { offset: 0x8, val", None),
    ],
)
def test_register_lines_are_read_as_scanf_does(line: str, values: tuple[int, ...] | None) -> None:
    _, item = iter_items(f"registers:\n{line}".encode())
    assert item.key == "register"
    assert (item.values, bool(item.pattern)) == ((values, False) if values else ((), True))


def test_numbers_of_any_length() -> None:
    text = f"ringbuffer:\n    iova: 0x{'f' * 40}\n    size: {'9' * 5000}\n  - id: -{'1' * 30}\n"
    assert [values for _, key, values in items(text) if key in ("iova", "size")] == [
        ((1 << 64) - 1,),
        (0xFFFFFFFF,),
    ]


def test_misspelt_names_and_nul() -> None:
    text = b"indexed-registers:\n  - regs-name: CP_MEMPOOOL\n  - regs-name: CP_SEQ_STAT\n"
    names = [item.name for item in iter_items(text) if item.key == "name"]
    assert names == ["CP_MEMPOOL", "CP_SQE_STAT"]
    assert [item.line for item in iter_items(b"comm: a\0b\nx\n")] == [b"comm: a", b"x\n"]


@given(st.binary(max_size=200))
def test_any_bytes_are_lines(data: bytes) -> None:
    if b"\0" not in data:
        shown = b"".join(item.line for item in iter_items(data))
        assert shown == data or any(
            word in data for word in (b"ascii85", b"CP_MEMPOOOL", b"CP_SEQ_STAT")
        )


@given(st.lists(st.sampled_from([0, 0, 0, 1, 0xFFFFFFFF]), max_size=80), st.integers(0, 40))
def test_runs_of_zeros_are_decoded_alike(values: list[int], zeros: int) -> None:
    """Text with few and with long runs of ``z`` is decoded by different code."""
    values = [*values, *[0] * zeros, 7]
    expected = little_endian(values)
    assert decode_ascii85(ascii85(values).encode(), len(values)) == expected
    assert decode_ascii85(ascii85(values).encode(), len(values) // 2) == (
        little_endian(values[: len(values) // 2])
    )


def test_deferred_contents_are_decoded_when_a_part_is_read() -> None:
    block = Block(ascii85([0, 5, 6]).encode(), 20)
    assert block.size == 12
    contents = DeferredContents(block, 20)
    whole = contents[:20]
    assert whole is contents
    assert len(contents) == 20
    assert bytes(contents[4:]) == little_endian([5, 6, 0, 0])
    assert bytes(contents[:8]) == little_endian([0, 5])
