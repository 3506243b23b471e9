# SPDX-License-Identifier: MIT
"""CSV: each cell is shown as in all text, however many rows are written together."""

from __future__ import annotations

import csv
import io

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cffpy.cli import forms
from cffpy.views.plain_text import visible

CELLS = (
    st.none()
    | st.integers()
    | st.text(max_size=4)
    | st.sampled_from(["\n", "a\nb", "\x1b[m", "\ud800", ","])
)


def row_by_row(columns: list[str], rows: list[list[object]]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    for row in (columns, *rows):
        writer.writerow([visible(cell) if isinstance(cell, str) else cell for cell in row])
    return text.getvalue().encode("utf-8", "backslashreplace")


@settings(suppress_health_check=[])
@given(st.lists(st.lists(CELLS, min_size=2, max_size=2), max_size=5), st.integers(1, 3))
def test_csv(rows: list[list[object]], at_once: int) -> None:
    written: list[bytes] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(forms, "_ROWS_AT_ONCE", at_once)
        patch.setattr(forms, "write_all", lambda _stream, data: written.append(data))
        forms.write_csv(["name", "x\ty"], rows)
    assert b"".join(written) == row_by_row(["name", "x\ty"], rows)
