# SPDX-License-Identifier: MIT
"""The documents are correct: commands, output, options, variables, files, version."""

from __future__ import annotations

import re
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

import cffpy
from cffpy.cli.help import topic_names
from cffpy.index.tables import CORPUS
from cffpy.tables.schema import TABLES
from tests.command_server import CommandServer
from tests.selection import first_always
from tools import docs, examples
from tools.command_help import CommandHelp, commands
from tools.command_pages import page_name
from tools.man_pages import man_pages, topic_title

CHECKOUT = Path(__file__).resolve().parent.parent
README = (CHECKOUT / "README.md").read_text("utf-8")
DOCUMENTS = [*examples.pages(), CHECKOUT / "CONTRIBUTING.md", CHECKOUT / "CHANGELOG.md"]
PAGES = [page for page in examples.pages() if "```console" in page.read_text("utf-8")]
#: Each of these pages builds an index, so all but the first are slow.
INDEXES = sorted((CHECKOUT / "docs/reference/commands").glob("index-*.md"))

Run = Callable[..., subprocess.CompletedProcess[bytes]]

ALL = list(commands())


def relative(path: Path) -> str:
    return str(path.relative_to(CHECKOUT))


@pytest.fixture(scope="module")
def runner(command_server: CommandServer | None) -> Iterator[examples.Runner]:
    """Runs what needs no shell by the command server, if there is one."""

    def run(
        arguments: list[str], environment: dict[str, str], folder: Path
    ) -> examples.Result | None:
        if command_server is None or not command_server.can_run(environment):
            return None
        done = command_server.run(arguments, environment, cwd=folder, merge=True, timeout=120)
        return examples.Result(done.stdout.decode(), done.returncode)

    with examples.runner(run) as found:
        yield found


@pytest.mark.parametrize(
    "page",
    [*(page for page in PAGES if page not in INDEXES), *first_always(INDEXES)],
    ids=relative,
)
def test_examples(page: Path, runner: examples.Runner) -> None:
    for example in examples.page_examples(page.read_text("utf-8")):
        report = examples.mismatch(example, runner.run(example))
        if report:
            pytest.fail(f"{report}\n(./dev docs updates examples without gaps)", pytrace=False)


@pytest.mark.parametrize(
    ("shown", "output", "fits"),
    [
        ("a\nb\n", "a\nb\n", True),
        ("a\n", "a\nb\n", False),
        ("b\n", "a\nb\n", False),
        ("a\n...\n", "a\nb\n", True),
        ("...\nb\n", "a\nb\n", True),
        ("...\nb\n", "ab\n", False),
        ("...\nb\n...\nd\n", "a\nb\nc\nd\n", True),
        ("...\nd\n...\nb\n", "a\nb\nc\nd\n", False),
        ("...\n", "", True),
    ],
)
def test_a_gap_is_any_number_of_lines(shown: str, output: str, fits: bool) -> None:
    report = examples.mismatch(examples.Example("x", shown), examples.Result(output, 0))
    assert (not report) == fits
    assert examples.mismatch(examples.Example("x", shown), examples.Result(output, 1))


def test_generated_parts_are_up_to_date() -> None:
    assert not list(map(relative, docs.outdated())), "run ./dev docs"
    names = {page_name(command) for command in ALL}
    assert {path.name for path in (CHECKOUT / "docs/reference/commands").glob("*.md")} == names


def test_the_first_commands(runner: examples.Runner) -> None:
    shown = re.findall(r"^```sh\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    compiles, dumps = shown[0].splitlines()
    assert not runner.run(examples.Example(compiles, "")).output
    expected = (CHECKOUT / "samples/expected/a630-triangle.txt").read_text("utf-8")
    expected = expected.replace("samples/a630-triangle.rd.gz", "triangle.rd")
    assert runner.run(examples.Example(dumps, "")).output == expected
    checks = (CHECKOUT / ".ci" / "run").read_text("utf-8").splitlines()
    assert shown[-1].strip() in [line.strip() for line in checks]


def test_the_readme_is_short() -> None:
    assert len(README.splitlines()) <= 150


@pytest.mark.parametrize("command", ALL, ids=lambda command: command.name)
def test_commands(command: CommandHelp) -> None:
    assert command.description
    assert any(f"cffpy {command.name}" in example for example in command.examples), "no example"
    page = CHECKOUT / "docs" / "reference" / "commands" / page_name(command)
    shown = [example.command for example in examples.page_examples(page.read_text("utf-8"))]
    assert command.name in UNTRIED or any(f"cffpy {command.name} " in line for line in shown)


#: Commands whose pages have no example that is run: they need files that are not here,
#: or a terminal.
UNTRIED = ("db import", "completion", "crashdec", "tui")


def test_no_line_of_a_table_of_commands_is_cut(run_cffpy: Run) -> None:
    for arguments in ((), ("db",)):
        shown = run_cffpy(*arguments, "--help").stdout.decode()
        assert "..." not in shown.partition("\nCommands:\n")[2].partition("Examples:")[0], shown


def test_manual_pages() -> None:
    made = man_pages()
    assert {name for name in made if name.endswith(".1")} == {
        "cffpy.1",
        *(f"cffpy-{one.name.replace(' ', '-')}.1" for one in ALL),
    }
    assert {name for name in made if name.endswith(".7")} == {
        f"{topic_title(name)}.7" for name in topic_names()
    }
    for name, text in made.items():
        title, section = name.rsplit(".", 1)
        head = f'.TH "{title.upper()}" "{section}" "" "cffpy {cffpy.__version__}"'
        assert text.startswith(head)
        requests = re.findall(r"^[.'](\S*)", text, re.MULTILINE)
        assert set(requests) <= {"TH", "SH", "SS", "PP", "TP", "IP", "B", "BR", "nf", "fi"}
    assert "\\-\\-truncate\\-after\\-draw PLACE" in made["cffpy-edit.1"]
    assert "\\fBcffpy help filter\\fR" in made["cffpy-guide-look.7"]
    assert ".SH What is compared" in made["cffpy-diff.1"]


def test_the_index_of_documents_is_complete() -> None:
    folder = CHECKOUT / "docs"
    listed = re.findall(r"^\| \[.+?\]\((.+?)\)", (folder / "README.md").read_text("utf-8"), re.M)
    documents = {str(path.relative_to(folder)) for path in folder.rglob("*.md")}
    assert documents - set(listed) == {"README.md"}


@pytest.mark.slow
def test_the_site(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    """It has all pages; a link to nowhere, and a page that is not in the navigation, are errors."""
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    site = tmp_path / "site"
    assert docs.build_site(site) == 0, capfd.readouterr().err
    for page in (CHECKOUT / "docs").rglob("*.md"):
        name = page.relative_to(CHECKOUT / "docs").with_suffix("")
        assert (site / (name.parent if name.stem == "README" else name) / "index.html").exists()
    start = (site / "guide/start/index.html").read_text("utf-8")
    for target in ("../../reference/commands/db-show/", "../../reference/filter/", "../look/"):
        assert f'href="{target}"' in start, "the navigation, and links"

    root = tmp_path / "checkout"
    for folder in ("docs", "tools"):
        shutil.copytree(CHECKOUT / folder, root / folder)
    shutil.copy(CHECKOUT / "mkdocs.yml", root)
    (root / "docs/guide/new.md").write_text("# New\n\n[to nowhere](nowhere.md)\n")
    assert docs.build_site(site, root) != 0
    errors = capfd.readouterr().err
    assert "guide/new.md" in errors.partition('not included in the "nav"')[2]
    assert "contains a link 'nowhere.md'" in errors


def test_environment_variables() -> None:
    reference = (CHECKOUT / "docs/reference/conventions.md").read_text("utf-8")
    named = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)*)`", reference.partition("## Environment")[2]))
    used: set[str] = set()
    for path in (CHECKOUT / "cffpy").rglob("*.py"):
        text = path.read_text("utf-8")
        used.update(re.findall(r"\bCFFPY_[A-Z_]+\b", text))
        used.update(re.findall(r"environ(?:\.get\(|\[)\"([A-Z_]+)\"", text))
    # part of a description, the terminal's own, or click's
    hidden = {"XDG_CACHE_HOME", "TERM", "CFFPY_COMPLETE"}
    assert used - hidden <= named
    assert {name for name in named if name.startswith("CFFPY_")} <= used


def test_changelog_has_this_version() -> None:
    changelog = (CHECKOUT / "CHANGELOG.md").read_text("utf-8")
    versions = re.findall(r"^## (\S+)$", changelog, re.MULTILINE)
    assert next(name for name in versions if name != "Unreleased") == cffpy.__version__


def test_changelog_says_nothing_twice() -> None:
    """Neither whole entries nor parts that a merge has left."""
    lines = (CHECKOUT / "CHANGELOG.md").read_text("utf-8").splitlines()
    beginnings = Counter(line[:40] for line in lines if len(line) > 40)
    assert [text for text, count in beginnings.items() if count > 1] == []


@pytest.mark.parametrize("path", DOCUMENTS, ids=relative)
def test_links(path: Path) -> None:
    text = path.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#:]+)(?:#[\w-]*)?\)", text):
        assert (path.parent / target).exists(), target


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/internals/architecture.md"])
def test_named_files_are_there(name: str) -> None:
    text = (CHECKOUT / name).read_text("utf-8").partition("## The second plan")[0]
    package = CHECKOUT / "cffpy"
    folders = (
        "views/cffdump",
        "views/crashdec",
        "tui",
        "analysis",
        "analysis/diff",
        "analysis/driver",
        "analysis/layout_check",
        "analysis/passes",
        "regdb",
        "isa",
        "pm4asm",
        "descriptions",
        "index",
        "reports",
        "views/report_html",
        "intel",
        "intel/descriptions",
        "intel/container",
        "intel/decoder",
        "intel/analysis",
        "intel/views/aubinator",
    )
    roots = (CHECKOUT, package, *(package / folder for folder in folders))
    for word in set(re.findall(r"[\w/.*-]*[\w*]\.(?:py|lark|toml|regs|isa)\b", text)):
        assert any(next(root.glob(word), None) for root in roots), word


def test_meanings_of_columns_begin_with_a_noun() -> None:
    """Pages begin them with a capital letter, which a value, such as turnip, has not."""
    value = re.compile(r"[a-z]+(: |, [a-z]+ or | or )")
    tables = (*TABLES.values(), *CORPUS.values())
    meanings = [column.meaning for table in tables for column in table.columns]
    assert [text for text in meanings if value.match(text)] == []
