# SPDX-License-Identifier: MIT
"""cffpy help: the facts of all objects."""

from __future__ import annotations

import subprocess
from collections.abc import Callable

from cffpy.frame.faces import shown_name
from cffpy.views import facts

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def text_of(done: subprocess.CompletedProcess[bytes]) -> str:
    return " ".join(done.stdout.decode().split())


def test_every_fact_of_every_object_is_explained(run_cffpy: Run) -> None:
    listed = run_cffpy("help", "facts").stdout.decode().splitlines()
    assert [line.split()[0] for line in listed[1:]] == [one.word for one in facts.models()]
    for model in facts.models():
        text = text_of(run_cffpy("help", "facts", model.of.__name__))
        for one in model.facts:
            assert f"{shown_name(model, one)} ({facts.type_text(one)}): " in text


def test_a_fact_by_its_name(run_cffpy: Run) -> None:
    assert "bin_size (size): Size of a bin. In pixels." in text_of(
        run_cffpy("help", "facts", "pass.bin_size")
    )
    text = text_of(run_cffpy("help", "facts", "mode"))
    assert "mode (one of: sysmem, gmem): " in text
    assert "pass_cost: " in text
    assert "pass_cost: " not in text_of(run_cffpy("help", "facts", "pass.mode"))


def test_what_there_is_no_help_for(run_cffpy: Run) -> None:
    assert b"topics: facts" in run_cffpy("help").stdout
    failed = run_cffpy("help", "bananas", check=False)
    assert (failed.returncode, b"there is no topic bananas" in failed.stderr) == (2, True)
    failed = run_cffpy("help", "facts", "tiel", check=False)
    assert (failed.returncode, b"there are: tile" in failed.stderr) == (2, True)
