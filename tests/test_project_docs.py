# SPDX-License-Identifier: MIT
"""What the documents say is so: commands, output, options, variables, files, version."""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest

import cffpy
from cffpy.cli.main import COMMANDS, cli

CHECKOUT = Path(__file__).resolve().parent.parent
README = (CHECKOUT / "README.md").read_text("utf-8")

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def blocks(language: str, text: str = README) -> list[str]:
    """The contents of the fenced blocks in this language."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.MULTILINE | re.DOTALL)


def commands() -> Iterator[tuple[str, click.Command, str]]:
    """Path, command and help of every command that does something itself."""
    context = click.Context(cli)
    for name in COMMANDS:
        command = cli.get_command(context, name)
        assert command is not None
        if isinstance(command, click.Group):
            inner = click.Context(command)
            for member in command.list_commands(inner):
                found = command.get_command(inner, member)
                assert found is not None
                yield f"{name} {member}", found, found.get_help(click.Context(found, inner))
        else:
            yield name, command, command.get_help(click.Context(command, context))


ALL = list(commands())


@pytest.fixture(scope="module")
def triangle(run_cffpy: Run, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder in which the readme's first command was run: triangle.rd is there."""
    folder = tmp_path_factory.mktemp("readme")
    (folder / "samples").symlink_to(CHECKOUT / "samples")
    arguments = shlex.split(blocks("sh")[0].splitlines()[0])[2:]
    done = run_cffpy(*arguments, cwd=folder)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    return folder


@pytest.mark.parametrize("block", blocks("console"))
def test_excerpts(block: str, run_cffpy: Run, triangle: Path) -> None:
    first, _, excerpt = block.partition("\n")
    assert first.startswith("$ ./dev run ")
    done = run_cffpy(*shlex.split(first)[3:], cwd=triangle)
    assert done.returncode == 0
    rest = done.stdout.decode()
    pieces = [piece for piece in re.split(r"^\.\.\.\n", excerpt, flags=re.MULTILINE) if piece]
    if not excerpt.startswith("..."):
        assert rest.startswith(pieces[0])
    for piece in pieces:
        before, found, rest = rest.partition(piece)
        assert found, f"not in the output, or not there: {piece}"
        assert not before or before.endswith("\n")
    assert excerpt.endswith("...\n") or not rest


def test_the_first_commands(run_cffpy: Run, triangle: Path) -> None:
    shown = [line for block in blocks("sh") for line in block.splitlines()]
    assert shown == [
        "./dev run compile samples/a630-triangle.pm4 -o triangle.rd",
        "./dev run dump triangle.rd",
        "./dev test",
    ]
    done = run_cffpy(*shlex.split(shown[1])[2:], cwd=triangle)
    expected = (CHECKOUT / "samples/expected/a630-triangle.txt").read_bytes()
    assert done.stdout == expected.replace(b"samples/a630-triangle.rd.gz", b"triangle.rd")
    checks = (CHECKOUT / ".ci" / "run").read_text("utf-8").splitlines()
    assert f"{shown[2]} --all" in checks


@pytest.mark.parametrize(("name", "command", "shown"), ALL, ids=[row[0] for row in ALL])
def test_commands(name: str, command: click.Command, shown: str) -> None:
    assert command.help
    _, heading, examples = shown.partition("Examples:\n")
    assert heading
    assert re.search(rf"\bcffpy {name}\b", examples), "no example"
    assert re.search(rf"^\| `cffpy {name}\b", README, re.MULTILINE), "not in README's table"


def test_no_line_of_a_table_of_commands_is_cut(run_cffpy: Run) -> None:
    for arguments in ((), ("db",)):
        shown = run_cffpy(*arguments, "--help").stdout.decode()
        assert "..." not in shown.partition("\nCommands:\n")[2].partition("Examples:")[0], shown


def test_table_of_commands_is_whole() -> None:
    rows = re.findall(r"^\| `cffpy ([a-z ]*[a-z])", README, re.MULTILINE)
    assert sorted(rows) == sorted(name for name, _, _ in ALL)


def test_options_of_dump() -> None:
    section = README.partition("### Options of dump")[2].partition("\n### ")[0]
    written = set(re.findall(r"`(-[-a-zA-Z]+)", section))
    dump = next(command for name, command, _ in ALL if name == "dump")
    for option in dump.params:
        if not isinstance(option, click.Option):
            continue
        names = {*option.opts, *option.secondary_opts}
        assert names & written, f"{names} in no row of README"
        written -= names
    assert not written


def test_environment_variables() -> None:
    named = set(re.findall(r"`([A-Z]+(?:_[A-Z]+)*)`", README.partition("### Environment")[2]))
    used: set[str] = set()
    for path in (CHECKOUT / "cffpy").rglob("*.py"):
        text = path.read_text("utf-8")
        used.update(re.findall(r"\bCFFPY_[A-Z_]+\b", text))
        used.update(re.findall(r"environ(?:\.get\(|\[)\"([A-Z_]+)\"", text))
    hidden = {"XDG_CACHE_HOME", "TERM"}  # named elsewhere in the text, or the terminal's own
    assert used - hidden <= named
    assert {name for name in named if name.startswith("CFFPY_")} <= used


def test_changelog_has_this_version() -> None:
    changelog = (CHECKOUT / "CHANGELOG.md").read_text("utf-8")
    assert re.findall(r"^## (\S+)$", changelog, re.MULTILINE)[0] == cffpy.__version__


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "docs/architecture.md"])
def test_named_files_are_there(name: str) -> None:
    path = CHECKOUT / name
    text = path.read_text("utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (path.parent / target).exists(), target
    package = CHECKOUT / "cffpy"
    folders = ("views/cffdump", "analysis", "analysis/diff", "analysis/passes", "regdb", "isa")
    roots = (CHECKOUT, package, *(package / folder for folder in folders))
    for word in set(re.findall(r"[\w/.*-]*[\w*]\.(?:py|lark|toml|regs|isa)\b", text)):
        assert any(next(root.glob(word), None) for root in roots), word
