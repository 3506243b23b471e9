# SPDX-License-Identifier: MIT
"""cffpy help: pages of the guide and of the reference, facts, the help of commands."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

import pytest

from cffpy.cli.help import PAGES, command_pages, page_path, page_text, title, topic_names
from cffpy.frame.faces import shown_name
from cffpy.views import facts
from tests.command_server import Run

CHECKOUT = Path(__file__).resolve().parents[2]


def text_of(done: subprocess.CompletedProcess[bytes]) -> str:
    return " ".join(done.stdout.decode().split())


def test_every_fact_of_every_object_is_explained(run_cffpy: Run) -> None:
    listed = run_cffpy("help", "facts").stdout.decode().splitlines()
    words = [line.split()[0] for line in listed[1:]]
    assert words == [model.word for model in facts.models()]
    assert len(words) == len(set(words))
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
    failed = run_cffpy("help", "bananas", check=False)
    assert (failed.returncode, b"there is no topic bananas" in failed.stderr) == (2, True)
    assert b"there are: explain" in run_cffpy("help", "explian", check=False).stderr
    assert b"no command db shwo" in run_cffpy("help", "db", "shwo", check=False).stderr
    failed = run_cffpy("help", "facts", "tiel", check=False)
    assert (failed.returncode, b"there are: tile" in failed.stderr) == (2, True)


def test_the_list_of_topics(run_cffpy: Run) -> None:
    shown = run_cffpy("help").stdout.decode()
    for name in topic_names():
        assert re.search(rf"^  {name} +{re.escape(title(name))}$", shown, re.MULTILINE)
    assert re.search(r"^  facts +Facts: ", shown, re.MULTILINE)


@pytest.mark.parametrize("folder", PAGES)
def test_every_page_is_a_topic(folder: str) -> None:
    pages = {path.stem for path in (CHECKOUT / "docs" / folder).glob("*.md")}
    # facts is a topic of its own; the others are what pydoc and cffpy schema show
    assert pages - {"facts", "api", "structures", "schemas"} == set(PAGES[folder])


@pytest.mark.parametrize(
    "path", [*map(page_path, topic_names()), *command_pages()], ids=lambda path: path.stem
)
def test_a_page_names_no_file_of_the_checkout(path: Path) -> None:
    text = re.sub(r"```.*?```", "", page_text(path), flags=re.DOTALL)
    assert "](" not in text
    assert not re.search(r"\bdocs/|\w\.md\b|<!--", text)


def test_a_page_is_its_markdown_where_there_is_no_terminal(run_cffpy: Run) -> None:
    look = page_text(page_path("look"))
    assert run_cffpy("help", "look").stdout.decode() == look
    assert look.startswith("# Look: what is in a frame\n")
    assert "filters (`cffpy help filter`)" in page_text(page_path("start"))
    assert "the reference of `image` (`cffpy help image`)" in look
    assert "fact of the draw (`cffpy help facts action`)" in page_text(page_path("filter"))


def test_a_page_on_a_terminal(run_cffpy: Run) -> None:
    """As rich lays it out: headings without marks, tables without bars."""
    shown = run_cffpy("help", "start", "--color", env={"COLUMNS": "90"}).stdout.decode()
    plain = re.sub(r"\x1b\[[0-9;]*m", "", shown)
    assert "\x1b[" in shown
    assert "| --- |" not in plain
    assert "```" not in plain
    assert max(map(len, plain.splitlines())) <= 90


def test_the_page_of_a_command(run_cffpy: Run) -> None:
    """Its options, and what its help has no room for. A topic of the same name comes first."""
    text = run_cffpy("help", "diff").stdout.decode()
    assert text.startswith("# cffpy diff\n")
    assert "| `--unified` |" in text
    assert "## What is compared" in text
    assert run_cffpy("help", "db", "show").stdout.startswith(b"# cffpy db show\n")
    assert run_cffpy("help", "layout").stdout.startswith(b"# Layout: ")
    assert run_cffpy("help", "layout", "image").stdout.startswith(b"# cffpy layout image\n")
    assert run_cffpy("help", "db").stdout == run_cffpy("db", "--help").stdout
