# SPDX-License-Identifier: MIT
"""Limits: accepted values, defaults for a capture, separate limits for each capture."""

from __future__ import annotations

import re

import pytest

from cffpy.analysis.queries import find_passes
from cffpy.container.open import open_bytes
from cffpy.limits import VARIABLES, Limits, Truncation, chosen_limits, parse_options
from tests.analysis.passes.streams import Streams


def test_options_come_before_variables() -> None:
    options = parse_options(["draws=0x10", "depth=3", "draws=20"])
    environment = {"CFFPY_MAX_DRAWS": "7", "CFFPY_MAX_BYTES": "0x1000", "CFFPY_MAX_DEPTH": ""}
    assert chosen_limits(options, environment) == Limits(draws=20, depth=3, bytes=4096)
    assert chosen_limits({}, {}) == Limits()


@pytest.mark.parametrize("name", VARIABLES)
@pytest.mark.parametrize("wrong", ["0", "-1", "much", "1.5"])
def test_wrong_numbers(name: str, wrong: str) -> None:
    with pytest.raises(ValueError, match=name):
        parse_options([f"{name}={wrong}"])
    with pytest.raises(ValueError, match=f"{VARIABLES[name]} is not a number"):
        chosen_limits({}, {VARIABLES[name]: wrong})


def test_no_other_limits() -> None:
    for wrong in ("", "depth", "depth=", "other=3"):
        with pytest.raises(ValueError, match=re.escape(repr(wrong))):
            parse_options([wrong])
    for chosen in ({"other": 3}, {"depth": 16}, {"draws": 0}):
        with pytest.raises(ValueError, match=next(iter(chosen))):
            Limits(**chosen)


def test_a_limit_is_a_number() -> None:
    with pytest.raises(ValueError, match="draws is a number of at least 1, not 10k"):
        Limits(draws="10k")  # type: ignore[arg-type]


def test_limits_cannot_be_changed() -> None:
    limits = Limits(depth=3)
    with pytest.raises(AttributeError):
        limits.depth = 4
    assert limits.depth == 3


def test_defaults_grow_with_the_capture() -> None:
    small, large = Limits().of_capture(4), Limits().of_capture(1 << 30)
    assert large.kept >= 1 << 30  # 4 for each byte at least
    for name in ("kept", "compared", "analysed_dwords"):
        assert getattr(small, name) < getattr(large, name)
    chosen = Limits(draws=5, commands=6)
    assert chosen.of_capture(4) == chosen.of_capture(1 << 30)


def test_two_captures_of_one_process_have_different_limits() -> None:
    a6xx = Streams(630)
    data = a6xx.capture([[a6xx.draw() * 30]])
    few, _ = find_passes(open_bytes(data, limits=Limits(draws=10)), pytest.fail)
    all_of_them, _ = find_passes(open_bytes(data), pytest.fail)
    assert (len(few.actions), len(all_of_them.actions)) == (10, 30)
    assert [cut.limit for cut in few.found.truncated] == ["draws"]
    assert all_of_them.found.truncated == []


def test_a_truncation_says_how_to_set_its_limit() -> None:
    cut = Truncation("depth", "too deep")
    assert cut.document() == {"limit": "depth", "where": "too deep"}
    assert str(cut) == "too deep (--limit depth=N or CFFPY_MAX_DEPTH sets the limit)"
    assert str(Truncation("", "too deep")) == "too deep"
    assert Truncation("", "too deep").document()["limit"] is None
