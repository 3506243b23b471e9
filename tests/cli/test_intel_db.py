# SPDX-License-Identifier: MIT
"""``cffpy db show`` and ``db search`` of Intel's descriptions."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable

Run = Callable[..., subprocess.CompletedProcess[bytes]]


def test_an_instruction(run_cffpy: Run) -> None:
    done = run_cffpy("db", "show", "3dstate_vf_topology", "--gpu", "skl")
    lines = done.stdout.decode().splitlines()
    head = "3DSTATE_VF_TOPOLOGY  instruction  2 dwords  opcode 0x784b0000  render  in gfx9"
    assert lines[0] == head
    assert "  32..37  Primitive Topology Type  enum" in lines
    assert "      0xf RECTLIST" in lines


def test_equal_definitions_are_one(run_cffpy: Run) -> None:
    """Without a GPU a name that only Intel has is looked up in all generations of Intel."""
    done = run_cffpy("db", "show", "3DSTATE_WM_HZ_OP", "--json")
    found = json.loads(done.stdout)["found"]
    generations = [name for document in found for name in document["generations"]]
    assert generations == ["gfx8", "gfx9", "gfx11", "gfx12", "gfx12.5", "gfx20", "gfx30"]
    assert len(found) < len(generations)


def test_a_register_by_its_offset(run_cffpy: Run) -> None:
    shown = run_cffpy("db", "show", "0x2580", "--gpu", "gfx9").stdout.decode()
    assert shown.startswith("CS_CHICKEN1  register")


def test_search(run_cffpy: Run) -> None:
    done = run_cffpy("db", "search", "topology", "--gpu", "gfx125", "--json")
    found = [(hit["kind"], hit["name"]) for hit in json.loads(done.stdout)["found"]]
    assert ("instruction", "3DSTATE_VF_TOPOLOGY") in found
    assert ("field", "Primitive Topology Type") in found


def test_what_is_not_there(run_cffpy: Run) -> None:
    for arguments in (("show", "RB_MRT"), ("search", "gras_cntl")):
        done = run_cffpy("db", *arguments, "--gpu", "tgl")
        assert done.returncode == 1
        assert b"not found in the descriptions of Intel GPUs" in done.stderr
    done = run_cffpy("db", "show", "CS_CHICKEN1", "--gpu", "xyz")
    assert (done.returncode, b"Intel: skl" in done.stderr) == (2, True)
