# SPDX-License-Identifier: MIT
"""Commands of plugins: entry points of the group cffpy.commands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.command_server import Run

CHECKOUT = Path(__file__).resolve().parents[2]


def install(folder: Path, points: str, module: str = "") -> dict[str, str]:
    """The environment in which a package with entry points is installed."""
    info = folder / "small-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: small\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[cffpy.commands]\n{points}\n")
    (folder / "small.py").write_text(module)
    return {"PYTHONPATH": os.pathsep.join([str(folder), os.environ["PYTHONPATH"]])}


@pytest.mark.slow
def test_a_command_of_a_plugin(tmp_path: Path, run_cffpy: Run) -> None:
    points = "hello = small:hello\ninfo = small:hello\nbroken = small:no\nodd = small:number\n"
    module = "import click\nnumber = 3\n\n@click.command()\ndef hello():\n    click.echo('hello')\n"
    env = install(tmp_path, points, module)
    assert run_cffpy("hello", env=env).stdout == b"hello\n"
    shown = run_cffpy("--help", env=env).stdout.decode()
    assert "hello   from the package small" in shown
    assert b"FILE" in run_cffpy("info", env=env).stderr  # cffpy's own command
    for name, message in (("broken", b"AttributeError"), ("odd", b"is not a click command")):
        done = run_cffpy(name, env=env)
        assert done.returncode == 1
        assert message in done.stderr
        assert done.stderr.count(b"\n") == 1


@pytest.mark.slow
def test_the_example_is_installed(samples: Path, tmp_path: Path, run_cffpy: Run) -> None:
    arguments = ("install", "-q", "--no-build-isolation", "--no-deps", "--no-index", "--target")
    plugin = CHECKOUT / "examples/plugin"
    subprocess.run(
        [sys.executable, "-m", "pip", *arguments, tmp_path, plugin], check=True, timeout=300
    )
    env = {"PYTHONPATH": os.pathsep.join([str(tmp_path), os.environ["PYTHONPATH"]])}
    done = run_cffpy("vertices", samples / "a660-frame-gmem.rd", env=env)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"pass 0: 39\n", b"")
