# SPDX-License-Identifier: MIT
"""The command line as a whole: start-up, help, errors, exit codes, pipes and the pager."""

from __future__ import annotations

import os
import pty
import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import cffpy
from cffpy.cli import output
from cffpy.cli.main import COMMANDS
from cffpy.cli.pager import Pager
from tests.command_server import Run
from tests.interrupts import take_interrupts
from tests.selection import first_always

LAZY = {"rich", "construct", "lark", "numpy", "importlib.metadata", "hashlib", "subprocess"}


def modules_after(*arguments: str) -> set[str]:
    """What ``cffpy ARGUMENTS`` has imported when it ends."""
    script = (
        "import sys; from cffpy.__main__ import main; sys.argv[1:] = sys.argv[1:]\n"
        "try: main()\n"
        "except SystemExit as end: assert not end.code, end.code\n"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run(
        [sys.executable, "-c", script, *arguments], capture_output=True, check=True, text=True
    )
    return set(done.stderr.split())


def test_version_imports_nothing() -> None:
    loaded = modules_after("--version")
    assert not loaded & (LAZY | {"click", "enum", "re", "typing"})


@pytest.mark.parametrize("arguments", [["--help"], ["-h"]])
def test_help_imports_no_command(arguments: list[str]) -> None:
    loaded = modules_after(*arguments)
    assert "click" in loaded
    assert not loaded & (LAZY - {"importlib.metadata"})  # plugins are listed
    assert not loaded & {row.module for row in COMMANDS.values()}


def test_info_as_json_needs_no_rich(samples: Path) -> None:
    loaded = modules_after("info", "--json", str(samples / "a630-triangle.rd.gz"))
    assert not loaded & (LAZY - {"subprocess"})


def test_version(run_cffpy: Run) -> None:
    expected = f"cffpy {cffpy.__version__}\n".encode()
    assert run_cffpy("--version").stdout == expected
    assert run_cffpy("--debug", "--version").stdout == expected


def test_help(run_cffpy: Run) -> None:
    short, long = run_cffpy("-h"), run_cffpy("--help")
    assert short.returncode == long.returncode == 0
    assert short.stdout == long.stdout
    for name, row in COMMANDS.items():
        assert name.encode() in short.stdout
        assert row.help.encode() in short.stdout
    assert b"Usage: cffpy " in short.stdout
    assert b"Examples:" in short.stdout


def test_no_text_of_the_package_names_a_file_of_the_checkout() -> None:
    """Neither a message nor a docstring: users have no such files, but ``cffpy help``."""
    package = Path(cffpy.__file__).parent
    named = [
        f"{path.relative_to(package)}: {line.strip()}"
        for path in sorted(package.rglob("*.py"))
        for line in path.read_text("utf-8").splitlines()
        if re.search(r"\b(docs|samples|examples|tests|tools|benchmarks)/|\w\.md\b", line)
    ]
    assert named == []


@pytest.mark.parametrize("name", first_always(sorted(COMMANDS), 2))
def test_help_names_no_file_of_the_checkout(name: str, run_cffpy: Run) -> None:
    """The documents are not in the wheel."""
    text = run_cffpy(name, "--help").stdout.decode()
    assert text
    for command in (
        "build",
        "stats",
        "values",
        "shader",
        "sql",
        "compare",
        "show",
        "import",
        "image",
    ):
        if name in ("index", "db", "layout"):
            text += run_cffpy(name, command, "--help").stdout.decode()
    assert "docs/" not in text
    assert ".md" not in text


def test_no_arguments(run_cffpy: Run) -> None:
    done = run_cffpy()
    assert done.returncode == 2
    assert b"Many captures:" in done.stdout + done.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("inof", b"no such command 'inof'. Did you mean 'info'?"),
        ("dmup", b"Did you mean 'dump'?"),
        ("zzzz", b"no such command 'zzzz'.\n"),
    ],
)
def test_unknown_commands(run_cffpy: Run, name: str, message: bytes) -> None:
    done = run_cffpy(name)
    assert done.returncode == 2
    assert message in done.stderr


def test_a_file_instead_of_a_command(run_cffpy: Run, samples: Path) -> None:
    path = samples / "a220-triangle.rd"
    done = run_cffpy(path)
    assert done.returncode == 2
    assert f"cffpy dump {path}".encode() in done.stderr


def test_unknown_options(run_cffpy: Run) -> None:
    assert run_cffpy("--nope").returncode == 2
    assert run_cffpy("info", "--nope").returncode == 2


def test_completion(run_cffpy: Run) -> None:
    environment = {"_CFFPY_COMPLETE": "bash_complete", "COMP_WORDS": "cffpy i", "COMP_CWORD": "1"}
    assert b"info" in run_cffpy(env=environment).stdout


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(shell: str, run_cffpy: Run) -> None:
    done = run_cffpy("completion", shell)
    assert done.returncode == 0
    assert f"_CFFPY_COMPLETE={shell}_complete".encode() in done.stdout


def test_bash_completes_options(run_cffpy: Run, tmp_path: Path) -> None:
    cffpy_program = tmp_path / "cffpy"
    cffpy_program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m cffpy "$@"\n')
    cffpy_program.chmod(0o755)
    script = run_cffpy("completion", "bash").stdout.decode()
    script += "COMP_WORDS=(cffpy dump --query-) COMP_CWORD=2\n"
    script += '_cffpy_completion cffpy\necho "${COMPREPLY[@]}"\n'
    done = subprocess.run(
        ["bash", "-c", script],
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        capture_output=True,
        text=True,
    )
    assert set(done.stdout.split()) >= {"--query-all", "--query-delta"}, done.stderr


def run_code(code: str, *arguments: str, **options: object) -> subprocess.CompletedProcess[bytes]:
    """Run the command line with a command ``test`` whose body is ``code``."""
    script = (
        "import sys, click, types\n"
        "from cffpy import errors\n"
        "from cffpy.cli import main, output\n"
        "@click.command()\n"
        "def test():\n"
        + "".join(f"    {line}\n" for line in code.splitlines())
        + "module = types.ModuleType('test_module')\n"
        "module.test = test\n"
        "sys.modules['test_module'] = module\n"
        "main.GROUPS['Look']['test'] = main._Row('test_module', 'test', 'help')\n"
        "from cffpy.__main__ import main as run\n"
        "run()\n"
    )
    return subprocess.run(
        [sys.executable, "-c", script, *arguments, "test"],
        stdout=options.pop("stdout", subprocess.PIPE),  # type: ignore[call-overload]
        stderr=subprocess.PIPE,
        timeout=60,
        **options,
    )


@pytest.mark.parametrize(
    ("code", "returncode", "stderr"),
    first_always(
        [
            ("raise errors.CffpyError('what is wrong')", 1, b"cffpy: error: what is wrong\n"),
            (
                "raise errors.ContainerError('bad', 16)",
                1,
                b"cffpy: error: bad (at file offset 0x10)\n",
            ),
            ("raise KeyboardInterrupt", 130, b""),
            ("raise BrokenPipeError", 0, b""),
            ("return 3", 3, b""),
            ("sys.exit(4)", 4, b""),
            ("click.get_current_context().exit(5)", 5, b""),
            ("pass", 0, b""),
            (
                "raise RuntimeError('odd')",
                1,
                b"cffpy: error: internal error: RuntimeError: odd"
                b" (CFFPY_DEBUG=1 shows a traceback)\n",
            ),
        ],
        3,
        names=3,
    ),
)
def test_how_commands_end(code: str, returncode: int, stderr: bytes) -> None:
    done = run_code(code)
    assert (done.returncode, done.stderr) == (returncode, stderr)


def test_output_before_an_error_is_kept() -> None:
    done = run_code("print('data')\nraise errors.CffpyError('what')")
    assert done.stdout == b"data\n"


def test_tracebacks_only_when_asked_for() -> None:
    code = "raise errors.CffpyError('what')"
    assert b"Traceback" not in run_code(code).stderr
    assert b"Traceback" in run_code(code, "--debug").stderr
    environment = {**os.environ, "CFFPY_DEBUG": "1"}
    assert b"Traceback" in run_code(code, env=environment).stderr


@pytest.mark.parametrize(
    "code",
    [
        "for _ in range(100000): print('line')",
        "print('one line, still in the buffer when the command ends')",
        "with output.PagedOutput() as raw:\n    while True: output.write_all(raw, b'x' * 65536)",
    ],
)
def test_a_closed_pipe_is_quiet(code: str) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = run_code(code, stdout=writing)
    os.close(writing)
    assert (done.returncode, done.stderr) == (0, b"")


def test_version_into_a_closed_pipe() -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-m", "cffpy", "--version"], stdout=writing, stderr=subprocess.PIPE
    )
    os.close(writing)
    assert done.stderr == b""


def test_interrupt_is_quiet(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    process = subprocess.Popen(
        [sys.executable, "-m", "cffpy", "info", "-"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        preexec_fn=take_interrupts,
    )
    assert process.stdin is not None
    process.stdin.write(bytes(1 << 20))  # more than the pipe holds: the command has begun to read
    process.send_signal(signal.SIGINT)
    _, errors = process.communicate(timeout=120)
    assert (process.returncode, errors) == (130, b"")


def on_a_terminal(code: str, **environment: str) -> bytes:
    """What a command ``test`` writes to a terminal."""
    primary, secondary = pty.openpty()
    names = ("NO_COLOR", "FORCE_COLOR", "CLICOLOR_FORCE", "PAGER", "CFFPY_PAGER")
    clean = {name: value for name, value in os.environ.items() if name not in names}
    done = run_code(code, stdout=secondary, env={**clean, "TERM": "xterm", **environment})
    os.close(secondary)
    assert done.stderr == b""
    assert done.returncode == 0
    collected = b""
    while True:
        try:
            piece = os.read(primary, 65536)
        except OSError:
            break
        if not piece:
            break
        collected += piece
    os.close(primary)
    return collected


PAGED = "with output.PagedOutput({}) as raw: raw.write(b'data\\n')"


@pytest.mark.slow
def test_pager() -> None:
    paged = PAGED.format("True")
    assert on_a_terminal(paged, PAGER="sed s/data/paged/") == b"paged\r\n"
    assert on_a_terminal(paged, PAGER="false", CFFPY_PAGER="sed s/data/ours/") == b"ours\r\n"
    assert on_a_terminal(paged, PAGER="cat") == b"data\r\n"
    assert on_a_terminal(paged, PAGER="", CFFPY_PAGER="") == b"data\r\n"
    assert on_a_terminal(PAGED.format("False"), PAGER="sed s/data/paged/") == b"data\r\n"
    assert on_a_terminal(paged, PAGER="echo $LESS; cat") == b"FRSMKX\r\ndata\r\n"
    assert on_a_terminal(paged, PAGER="echo $LESS; cat", LESS="R") == b"R\r\ndata\r\n"


NO_PAGERS = ["no-such-pager", "./no/such/pager -x", "PLAIN"]


@pytest.mark.parametrize("pager", NO_PAGERS)
def test_without_a_pager_output_goes_to_the_terminal(tmp_path: Path, pager: str) -> None:
    """A pager that is missing or cannot be executed; the shell reports it."""
    plain = tmp_path / "plain"
    plain.write_text("no program")
    silent = "import os; os.dup2(os.open(os.devnull, os.O_WRONLY), 2)\n"
    shown = on_a_terminal(silent + PAGED.format("True"), PAGER=pager.replace("PLAIN", str(plain)))
    assert shown == b"data\r\n"


@pytest.mark.parametrize("piece", [10, 100_000])
def test_all_output_goes_to_the_terminal_without_a_pager(piece: int) -> None:
    """More than a pipe holds, in small or large pieces."""
    shown = bytearray()
    pager = Pager("no-such-pager 2>&-", shown.extend, lambda: None)
    for _ in range(1_000_000 // piece):
        pager.write(b"x" * piece)
    pager.write(b"end")
    pager.close()
    assert bytes(shown) == b"x" * 1_000_000 + b"end"


def test_quitting_the_pager_is_no_error() -> None:
    endless = "with output.PagedOutput() as raw:\n    while True: raw.write(b'x' * 65536)"
    assert on_a_terminal(endless, PAGER="head -c 3") == b"xxx"


def test_output_that_is_no_terminal_has_no_pager() -> None:
    done = run_code(PAGED.format("True"), env={**os.environ, "PAGER": "sed s/data/paged/"})
    assert done.stdout == b"data\n"


@pytest.mark.parametrize(
    ("environment", "piped", "terminal"),
    first_always(
        [
            ({}, "False", "True"),
            ({"TERM": "dumb"}, "False", "False"),
            ({"NO_COLOR": "1"}, "False", "False"),
            ({"NO_COLOR": ""}, "False", "True"),
            ({"FORCE_COLOR": "1"}, "True", "True"),
            ({"FORCE_COLOR": "0"}, "False", "True"),
            ({"CLICOLOR_FORCE": "1", "TERM": "dumb"}, "True", "True"),
            ({"FORCE_COLOR": "1", "NO_COLOR": "1"}, "False", "False"),
        ],
        names=3,
    ),
)
def test_colour(environment: dict[str, str], piped: str, terminal: str) -> None:
    code = "print(output.use_colour())"
    clean = {name: value for name, value in os.environ.items() if "COLOR" not in name}
    assert run_code(code, env={**clean, **environment}).stdout.decode().strip() == piped
    assert on_a_terminal(code, **environment).decode().strip() == terminal


def test_colour_flag_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    assert output.use_colour(True)
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert not output.use_colour(False)


def test_write_all_of_a_short_writer() -> None:
    written = bytearray()

    class Short:
        def write(self, data: bytes) -> int:
            written.extend(bytes(data[:3]))
            return min(3, len(data))

    output.write_all(Short(), b"0123456789")  # type: ignore[arg-type]
    assert written == b"0123456789"


@pytest.mark.parametrize("command", ["dump", "passes", "repair", "edit"])
def test_a_line_break_in_the_name_of_a_file_is_escaped(
    tmp_path: Path, run_cffpy: Run, command: str
) -> None:
    """Each message is one line, so a name cannot make another one."""
    path = tmp_path / "one\ncffpy: error: other"
    path.write_bytes(b"x")
    more = {"repair": ["-o", "out.rd"], "edit": ["--drop-group", "3", "-o", "out.rd"]}
    result = run_cffpy(command, path, *more.get(command, []))
    message = result.stderr.decode()
    assert "one\\x0acffpy: error: other" in message
    assert message.count("\n") == 1
