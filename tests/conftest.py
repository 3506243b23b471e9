# SPDX-License-Identifier: MIT
"""Shared by all tests: folders of test material, and running the command line."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings

CHECKOUT = Path(__file__).resolve().parent.parent

try:
    import cffpy
except ImportError:  # not installed: test the checkout
    sys.path.insert(0, str(CHECKOUT))
    import cffpy

from tests.command_server import IS_POSSIBLE, CommandServer  # noqa: E402 - needs the path

PACKAGE_FOLDER = str(Path(cffpy.__file__).resolve().parent.parent)


# Examples are the same each time, so a failure is due to the change, not to chance. Only
# ``./dev test --all`` draws others, by a seed that it prints. No deadline: another process may have
# the processor.
settings.register_profile("quick", deadline=None, max_examples=25, derandomize=True)
settings.register_profile("random", deadline=None, max_examples=200, print_blob=True)
settings.load_profile("quick")


def pytest_collection_finish() -> None:
    """The collected tests exist until the end, so the garbage collector can skip them."""
    gc.collect()
    gc.freeze()


def pytest_runtest_teardown() -> None:
    """Commands disable the garbage collector, since the process ends with them."""
    gc.enable()


# For subprocesses of the tests.
os.environ["PYTHONPATH"] = PACKAGE_FOLDER


@pytest.fixture(scope="session")
def shared() -> Path:
    """The folder of reference material, which is not part of the project."""
    folder = Path(os.environ.get("CFFPY_SHARED") or CHECKOUT.parent / "shared")
    if not (folder / "captures").is_dir():
        pytest.skip(f"no reference material at {folder} (CFFPY_SHARED names its folder)")
    return folder


@pytest.fixture(scope="session")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with the sample captures of the project, built from their texts."""
    from tests.golden.runner import build_samples

    folder = tmp_path_factory.mktemp("built")
    build_samples(folder)
    return folder / "samples"


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--new-processes``: see tests/test_new_processes.py."""
    parser.addoption(
        "--new-processes", action="store_true", help="all cases that start a new process"
    )


@pytest.fixture(scope="session")
def command_server() -> Iterator[CommandServer | None]:
    """Runs commands without starting Python for each; None where there is no fork."""
    if not IS_POSSIBLE:
        yield None
        return
    server = CommandServer()
    yield server
    server.close()


@pytest.fixture(scope="session")
def run_cffpy(
    command_server: CommandServer | None,
) -> Callable[..., subprocess.CompletedProcess[bytes]]:
    """``run_cffpy("info", path, input=b"", env={...})``: the real command in a process."""

    def run(
        *arguments: object, env: dict[str, str] | None = None, **options: object
    ) -> subprocess.CompletedProcess[bytes]:
        environment = {
            name: value
            for name, value in os.environ.items()
            if name not in ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "CFFPY_DEBUG", "PAGER")
        }
        environment.update({"PYTHONPATH": PACKAGE_FOLDER, **(env or {})})
        options.setdefault("timeout", 120)
        words = [str(argument) for argument in arguments]
        if command_server is not None and command_server.can_run(environment):
            return command_server.run(words, environment, **options)  # type: ignore[arg-type]
        return subprocess.run(
            [sys.executable, "-m", "cffpy", *words],
            capture_output=True,
            env=environment,
            **options,  # type: ignore[call-overload]
        )

    return run
