# SPDX-License-Identifier: MIT
"""schemas/: valid, what commands write agrees with them, none changes without a new version."""

from __future__ import annotations

import hashlib
import json
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

jsonschema = pytest.importorskip("jsonschema")

Run = Callable[..., subprocess.CompletedProcess[bytes]]

FOLDER = Path(__file__).resolve().parent.parent / "schemas"
SCHEMAS = {path.stem: json.loads(path.read_bytes()) for path in sorted(FOLDER.glob("*.json"))}

#: Name of the schema -> the command that writes the document.
COMMANDS = {
    "diff": ("diff", "--json", "--show", "all"),
    "disasm-all": ("disasm", "--all", "--json"),
    "draws": ("draws", "--all", "--json"),
    "image": ("image", "--draw", "p0:0", "--json"),
    "info": ("info", "--json", "--buffers"),
    "inherited": ("draws", "--inherited", "--json"),
    "layout-check": ("layout", "check", "--json"),
    "lrz": ("lrz", "--json"),
    "passes": ("passes", "--json"),
    "report": ("report", "--json"),
    "state": ("state", "--draw", "p0:0", "--json"),
    "tiles": ("tiles", "--pass", "0", "--json"),
    "vsc": ("vsc", "--pass", "0", "--json"),
}

CAPTURES = (
    "a220-gl-passes",
    "a330-gl-inst-mrt",
    "a430-gl-passes-restore",
    "a540-gl-indirect",
    "a660-vk-passes-gmem",
    "a740-vk-fdm",
    "edge-missing-ib-bo",
    "edge-two-processes-concat",
)


def check_document(name: str, text: bytes) -> None:
    document = json.loads(text)
    assert document["schema"] == SCHEMAS[name]["$id"]
    validator = jsonschema.Draft202012Validator(SCHEMAS[name])
    wrong = [
        f"{list(error.absolute_path)[:8]}: {error.message[:200]}"
        for error in validator.iter_errors(document)
    ]
    assert not wrong


def test_each_schema_has_a_command() -> None:
    assert set(COMMANDS) == set(SCHEMAS)


@pytest.mark.parametrize("name", COMMANDS)
def test_documents_of_samples(name: str, samples: Path, run_cffpy: Run) -> None:
    sample = str(samples / "a660-frame-binning.rd")
    files = [sample, str(samples / "a660-frame-gmem.rd")] if name == "diff" else [sample]
    check_document(name, run_cffpy(*COMMANDS[name], *files, check=False).stdout)


@pytest.mark.slow
@pytest.mark.parametrize("capture", CAPTURES)
def test_documents_of_shared_captures(capture: str, shared: Path, run_cffpy: Run) -> None:
    path = str(shared / f"captures/{capture}.rd.gz")
    checked = 0
    for name, command in COMMANDS.items():
        files = [path, str(shared / "captures/a660-vk-xfer.rd.gz")] if name == "diff" else [path]
        text = run_cffpy(*command, *files, check=False).stdout
        if text:  # none for a capture without such a draw or without tiles
            check_document(name, text)
            checked += 1
    assert checked >= 6


def test_a_changed_schema_has_a_new_version() -> None:
    """A version, once committed, has one form: change the number, and add a row to DIGESTS."""
    rows = [line.split() for line in (FOLDER / "DIGESTS").read_text().splitlines()]
    known = dict(rows)
    assert len(known) == len(rows)
    for name, schema in SCHEMAS.items():
        digest = hashlib.sha256((FOLDER / f"{name}.json").read_bytes()).hexdigest()
        assert known[schema["$id"]] == digest
        jsonschema.Draft202012Validator.check_schema(schema)


def test_the_command(run_cffpy: Run) -> None:
    assert run_cffpy("schema").stdout.decode().split() == sorted(SCHEMAS)
    assert run_cffpy("schema", "cffpy.passes/1").stdout == (FOLDER / "passes.json").read_bytes()
    failed = run_cffpy("schema", "nothing", check=False)
    assert failed.returncode == 2
    assert b"there is no schema nothing" in failed.stderr
