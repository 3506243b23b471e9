# SPDX-License-Identifier: MIT
"""``cffpy db``: looking names up; editions, which are checked, compared and imported."""

from __future__ import annotations

import functools
import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from cffpy.cli.db import db
from cffpy.cli.db_import import find_sources, import_edition
from cffpy.editions.folders import instruction_files
from cffpy.errors import CffpyError
from cffpy.regdb import import_xml
from cffpy.regdb.compile import read_directory
from cffpy.regdb.language import Description
from tests.command_server import Run
from tests.conftest import CHECKOUT
from tests.selection import first_always

REGISTERS = (
    '<!-- a notice --><database><enum name="chip"><value name="A6XX" value="6"/></enum>'
    '<domain name="A6XX" width="32"><reg32 name="NEW" offset="16"/></domain></database>'
)
INSTRUCTIONS = (
    '<?xml version="1.0"?>\n<isa><bitset name="#instruction" size="64"/>'
    '<bitset name="odd" extends="#instruction"><doc>prose</doc><display>{NAME} {SRC}</display>'
    '<field low="0" high="7" name="SRC" type="uint"/><encode type="x"/>'
    '<pattern low="8" high="63">' + 56 * "0" + "</pattern></bitset></isa>"
)


#: Other places of registers and instructions, and the folder that is named.
PLACES = [
    pytest.param(*place, marks=pytest.mark.slow)
    for place in (
        ("src/freedreno/registers/adreno", "src/freedreno/isa", "src/freedreno"),
        ("rnndb", "isaspec", "."),
        ("adreno", "isa", "."),
        (".", ".", "."),
    )
]


@pytest.fixture(autouse=True)
def _read_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each import looks at the bundled edition, which takes a second to read."""
    monkeypatch.setattr(import_xml, "read_directory", _read)


@functools.cache
def _read(directory: str) -> dict[str, Description]:
    return read_directory(directory)


def put(folder: Path, **files: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in files.items():
        (folder / f"{name}.xml").write_text(text)
    return folder


def written(output: Path) -> list[str]:
    return sorted(str(path.relative_to(output)) for path in output.rglob("*") if path.is_file())


@pytest.mark.slow
def test_shared_material_gives_the_bundled_edition(shared: Path, tmp_path: Path) -> None:
    done = import_edition(str(shared), str(tmp_path), "mesa 25.0.7")
    assert (len(done.registers), len(done.instructions)) == (11, 10)
    bundled = CHECKOUT / "register_db"
    expected = [path for path in written(bundled) if not path.endswith("README.md")]
    others = ("editions", "intel", "isa/afuc.isa", "adreno/reads", "devices.txt")  # not part of it
    assert written(tmp_path) == [path for path in expected if not path.startswith(others)]
    for path in written(tmp_path):
        assert (tmp_path / path).read_bytes() == (bundled / path).read_bytes(), path


@pytest.mark.slow
def test_newer_material_gives_the_newer_edition(shared: Path, tmp_path: Path) -> None:
    """No file of it, nor the table of aliases, is edited by hand; equal files are shared."""
    tree, output = tmp_path / "tree", tmp_path / "out"
    tree.mkdir()
    (tree / "rnndb").symlink_to(shared / "rnndb-newer")
    (tree / "isaspec").symlink_to(shared / "isaspec-newer")
    done = import_edition(str(tree), str(output), "mesa 25.3", "mesa-25.0")
    assert (len(done.registers), len(done.instructions), done.has_own_isa) == (12, 7, False)
    newer = CHECKOUT / "register_db" / "editions" / "mesa-25.3"
    described = [path for path in written(newer) if path != "devices.txt"]  # not part of it
    assert written(output) == described
    for path in described:
        assert (output / path).read_bytes() == (newer / path).read_bytes(), path


@pytest.mark.slow
@pytest.mark.parametrize(
    ("registers", "instructions", "start"),
    [
        ("src/freedreno/registers/adreno", "src/freedreno/isa", "."),
        *PLACES,
    ],
)
def test_where_the_xml_may_lie(
    registers: str, instructions: str, start: str, tmp_path: Path
) -> None:
    tree = tmp_path / "tree"
    put(tree / registers, a6xx=REGISTERS)
    put(tree / instructions, ir3=INSTRUCTIONS)
    (tree / "VERSION").write_text("26.1.0\n")
    output = tmp_path / "out"
    done = import_edition(str(tree / start), str(output))
    assert written(output) == [
        *(["EDITION"] if "src" in registers else []),
        "adreno/a6xx.regs",
        "isa/a2xx.isa",
        "isa/ir3.isa",
    ]
    assert done.edition == ("mesa 26.1.0" if "src" in registers else None)
    assert done.has_own_isa
    assert "odd" in (output / "isa" / "ir3.isa").read_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    "start", first_always(["src/freedreno/registers", "src/freedreno/registers/adreno"])
)
def test_registers_alone(start: str, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    put(tree / "src/freedreno/registers/adreno", a6xx=REGISTERS)
    put(tree / "src/freedreno/registers", other="<database><oops/></database>")
    put(tree / "src/freedreno/isa", ir3=INSTRUCTIONS)
    (tree / "VERSION").write_text("26.1.0\n")
    done = import_edition(str(tree / start), str(tmp_path / "out"))
    assert written(tmp_path / "out") == ["EDITION", "adreno/a6xx.regs"]
    assert (done.edition, done.instructions) == ("mesa 26.1.0", [])


def test_an_edition_shares_instruction_sets_that_are_equal_but_for_the_notice(
    tmp_path: Path,
) -> None:
    """Mesa's copies differ in the notice that they begin with."""
    first = INSTRUCTIONS.replace("<isa>", "<!-- Copyright 2020 -->\n<isa>")
    more = INSTRUCTIONS.replace("ir3", "other").replace("odd", "even")
    old = put(tmp_path / "old", ir3=first, a6xx=REGISTERS)
    put(tmp_path / "old", **{"ir3-cat1": more})
    base = tmp_path / "base"
    import_edition(str(old), str(base), "mesa 1.0")
    new = put(tmp_path / "new", ir3=INSTRUCTIONS, a6xx=REGISTERS.replace("NEW", "NEWER"))
    put(tmp_path / "new", **{"ir3-cat1": more.replace("{SRC}", "changed")})
    output = tmp_path / "out"
    done = import_edition(str(new), str(output), "mesa 2.0", str(base))
    assert [path for path in written(output) if "isa" in path] == ["isa/ir3-cat1.isa"]
    assert not done.has_own_isa
    assert instruction_files(str(output)) == [
        str(base / "isa" / "a2xx.isa"),
        str(output / "isa" / "ir3-cat1.isa"),
        str(base / "isa" / "ir3.isa"),
    ]


def test_instruction_sets_alone_leave_the_rest(tmp_path: Path) -> None:
    source = put(tmp_path / "isaspec", ir3=INSTRUCTIONS)
    output = tmp_path / "out"
    (output / "isa").mkdir(parents=True)
    (output / "isa" / "a2xx.isa").write_text("mine\n")
    (output / "EDITION").write_text("mine\n")
    done = import_edition(str(source), str(output))
    assert (done.edition, done.registers, done.has_own_isa) == ("mine", [], False)
    assert written(output) == ["EDITION", "isa/a2xx.isa", "isa/ir3.isa"]
    assert (output / "isa" / "a2xx.isa").read_text() == "mine\n"


@pytest.mark.slow
def test_names_of_editions(tmp_path: Path) -> None:
    source = put(tmp_path / "flat", a6xx=REGISTERS)
    output = tmp_path / "out"
    assert import_edition(str(source), str(output)).edition is None
    assert not (output / "EDITION").exists()
    import_edition(str(source), str(output), "mine")
    assert import_edition(str(source), str(output)).edition == "mine"


def test_other_xml_is_passed_over(tmp_path: Path) -> None:
    odd = "<!DOCTYPE x [<!ENTITY a 'b'>]>\n<other/>"
    source = put(tmp_path, a6xx=REGISTERS, copyright=odd, broken="no XML")
    sources = find_sources(str(source))
    assert [os.path.basename(path) for path in sources.registers] == ["a6xx.xml"]
    assert sources.instructions == ()
    found = [os.path.basename(path) for path in sources.passed_over]
    assert found == ["broken.xml", "copyright.xml"]


@pytest.mark.parametrize(
    ("files", "message"),
    [
        ({}, "no rules-ng or isaspec XML (*.xml) found"),
        ({"x": "<other/>"}, "no rules-ng or isaspec XML (*.xml) found"),
        ({"ir3-cat2": INSTRUCTIONS}, "instruction sets without ir3.xml"),
        ({"ir3": '<isa><import file="ir3-cat9.xml"/></isa>'}, "imports ir3-cat9.xml, which is not"),
        ({"ir3": '<isa><bitset size="8"/></isa>', "a6xx": REGISTERS}, "needs the attribute 'name'"),
        ({"ir3": INSTRUCTIONS, "a6xx": "<database><oops/></database>"}, "unknown element"),
    ],
)
def test_what_is_wrong_is_said_and_nothing_written(
    files: dict[str, str], message: str, tmp_path: Path
) -> None:
    source = put(tmp_path / "in", **files)
    with pytest.raises(CffpyError) as caught:
        import_edition(str(source), str(tmp_path / "out"))
    assert message in str(caught.value)
    assert not (tmp_path / "out").exists()


@pytest.mark.slow
def test_command(shared: Path, tmp_path: Path, run_cffpy) -> None:
    output = tmp_path / "out"
    done = run_cffpy("db", "import", shared / "isaspec", "-o", output)
    assert done.returncode == 0
    assert done.stdout == b""
    assert done.stderr.decode() == (
        f"cffpy: warning: {shared / 'isaspec'}: no registers found\n"
        f"cffpy: 0 files of registers, 10 of instructions and a2xx.isa in {output},"
        " edition without a name (--name)\n"
    )
    checked = run_cffpy("db", "check", output, "--errors-only")
    assert checked.stdout.decode().splitlines() == [
        "registers: none found (adreno/*.regs); an edition needs them",
        "instruction sets: 0 errors, 4 notices (4 overlap)",
    ]
    missing = run_cffpy("db", "import", tmp_path / "nowhere", "-o", output)
    assert (missing.returncode, missing.stdout) == (1, b"")
    assert b"no such directory" in missing.stderr


@pytest.fixture
def copied(tmp_path: Path) -> Path:
    """A copy of the bundled edition."""
    for part in ("adreno", "isa"):
        shutil.copytree(CHECKOUT / "register_db" / part, tmp_path / part)
    return tmp_path


@pytest.mark.slow
def test_an_unexplained_bit_of_an_instruction_is_an_error(copied: Path, run_cffpy) -> None:
    path = copied / "isa" / "ir3-cat0.isa"
    text = path.read_text()
    lines = text.splitlines(keepends=True)
    number = next(place for place, line in enumerate(lines) if line.strip().startswith("pattern"))
    del lines[number]
    path.write_text("".join(lines))
    done = run_cffpy("db", "check", copied, "--errors-only")
    assert done.returncode == 1
    assert b"bits without meaning" in done.stdout
    shown = done.stdout.decode().splitlines()
    assert shown[-2].startswith("registers: 0 errors")
    assert "bit-missing" in shown[-1]


@pytest.mark.slow
def test_wrong_syntax_of_an_instruction_set(copied: Path, run_cffpy) -> None:
    (copied / "isa" / "ir3.isa").write_text("bitset ???\n")
    done = run_cffpy("db", "check", copied, "--errors-only")
    assert done.returncode == 1
    assert done.stdout.startswith(b"ir3.isa:1: error: ")


def test_no_edition_at_all(tmp_path: Path, run_cffpy) -> None:
    done = run_cffpy("db", "check", tmp_path)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"no edition of the register database" in done.stderr


@pytest.fixture
def run() -> Callable[..., Result]:
    return lambda *arguments: CliRunner().invoke(db, arguments)


@pytest.fixture
def edition(tmp_path: Path) -> Callable[[str], str]:
    """Write an edition of a6xx.regs; its directory."""

    def write(text: str) -> str:
        folder = tmp_path / "edition" / "adreno"
        folder.mkdir(parents=True)
        (folder / "adreno_common.regs").write_text("enum chip { A6XX = 6 A7XX = 7 }")
        (folder / "a6xx.regs").write_text(f'import "adreno_common" {text}')
        return str(folder.parent)

    return write


def test_show_register(run):
    result = run("show", "RB_MRT[2].CONTROL", "--gpu", "630")
    assert result.exit_code == 0
    lines = result.output.splitlines()
    assert lines[:3] == [
        "RB_MRT[2].CONTROL  0x8830  32 bits  domain A6XX  in A6XX",
        "  array RB_MRT[8] at 0x8820, stride 8",
        "  0      BLEND             boolean",
    ]
    assert "  3..6   ROP_CODE          a3xx_rop_code (enum)" in lines
    assert "        0xf  ROP_SET" in lines


def test_show_offset_is_the_register(run):
    by_name = run("show", "RB_MRT[2].CONTROL", "--gpu", "a6xx")
    assert run("show", "0x8830", "--gpu", "A6XX").output == by_name.output


def test_show_all_generations(run):
    heads = [
        line for line in run("show", "RB_MRT[0].CONTROL").output.splitlines() if " in A" in line
    ]
    assert [head.rpartition("  in ")[2] for head in heads] == ["A3XX", "A4XX", "A5XX", "A6XX A7XX"]


@pytest.mark.parametrize(
    ("asked", "first"),
    [
        ("a6xx_tile_mode", "a6xx_tile_mode  enum  in A6XX A7XX"),
        ("CP_EXEC_CS", "CP_EXEC_CS  domain  in A2XX A3XX A4XX A5XX A6XX A7XX"),
        ("a6xx_2d_blit_cntl", "a6xx_2d_blit_cntl  bitset  in A6XX"),
        ("RB_MRT", "RB_MRT[]  0x20c4  array  domain A3XX  in A3XX"),
    ],
)
def test_show_other_things(run, asked, first):
    result = run("show", asked)
    assert result.exit_code == 0
    assert result.output.splitlines()[0] == first


def test_show_nothing_names_similar(run):
    result = run("show", "RB_MTR")
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "'RB_MTR' not found in A2XX," in result.stderr
    assert "similar: RB_MRT[]" in result.stderr


@pytest.mark.parametrize("asked", ["0x{}", "RB_MRT[{}]"])
def test_numbers_of_many_digits_are_not_found(run, asked):
    result = run("show", "--gpu", "a630", asked.format("9" * 5000))
    assert result.exit_code == 1
    assert "not found in A6XX" in result.stderr


def test_search(run):
    result = run("search", "tile6_linear")
    assert result.output == "value  TILE6_LINEAR  0x0  a6xx_tile_mode  A6XX A7XX\n"
    document = json.loads(run("search", "tile6_linear", "--json", "--gpu", "630").output)
    assert document == {
        "schema": "cffpy.db-search/1",
        "asked": "tile6_linear",
        "found": [
            {
                "kind": "value",
                "name": "TILE6_LINEAR",
                "where": "a6xx_tile_mode",
                "number": 0,
                "generations": ["A6XX"],
            }
        ],
    }
    assert run("search", "no such thing").exit_code == 1


@pytest.mark.parametrize("gpu", ["6300", ""])
def test_gpu_that_is_none(run, gpu):
    result = run("search", "x", "--gpu", gpu)
    assert result.exit_code == 2
    assert "neither a GPU (630)" in result.stderr


def test_other_edition(run, edition):
    directory = edition("domain A6XX { reg32 0x10 MINE }")
    result = run("show", "MINE", "--edition", directory)
    assert result.output == (
        "MINE  0x0010  32 bits  domain A6XX  in A6XX A7XX\n  type hex, bits 0..31\n"
    )


@pytest.mark.slow
def test_check(run, edition):
    result = run("check", "--errors-only")
    assert result.exit_code == 0
    summaries = result.output.splitlines()
    assert summaries[0].startswith("registers: 0 errors, 51 notices (")
    assert summaries[1:] == ["instruction sets: 0 errors, 4 notices (4 overlap)"]
    directory = edition("\ndomain D { reg32 0 A : oops }")
    result = run("check", directory)
    assert result.exit_code == 1
    assert result.output.splitlines() == [
        "a6xx.regs:2: error: D.A: unknown type 'oops'",
        "registers: 1 errors, 0 notices (1 unknown type)",
        "instruction sets: none found (isa/*.isa); the bundled ones are used",
    ]
    document = json.loads(run("check", directory, "--json").output)
    assert (document["errors"], document["findings"][0]["line"]) == (1, 2)
    assert document["parts"] == ["registers"]
    assert json.loads(run("check", "--json").output)["parts"] == ["registers", "instruction sets"]


@pytest.mark.slow
def test_import(run, tmp_path):
    (tmp_path / "a6xx.xml").write_text(
        '<database><enum name="chip"><value name="A6XX" value="6"/></enum>'
        '<domain name="A6XX" width="32"><reg32 name="NEW" offset="16"/></domain></database>'
    )
    output = str(tmp_path / "out")
    result = run("import", str(tmp_path), "-o", output, "--name", "mesa 99")
    written = f"1 files of registers, 0 of instructions in {output}, edition 'mesa 99'\n"
    assert (result.stdout, result.stderr.endswith(f"cffpy: {written}")) == ("", True)
    assert run("show", "NEW", "--edition", output).exit_code == 0


@pytest.mark.slow
def test_import_that_cannot_be_written(run, tmp_path):
    (tmp_path / "a6xx.xml").write_text('<database><enum name="e"/></database>')
    (tmp_path / "out").write_text("")
    result = run("import", str(tmp_path), "-o", str(tmp_path / "out"))
    assert result.exit_code == 1
    assert "out" in result.stderr


def test_editions(run):
    lines = run("editions").output.splitlines()
    assert lines == [
        "mesa-25.0  mesa 25.0.7  A2XX A3XX A4XX A5XX A6XX A7XX",
        "mesa-25.3  mesa 25.3    A2XX A3XX A4XX A5XX A6XX A7XX A8XX",
    ]
    document = json.loads(run("editions", "--json").output)
    assert document["schema"] == "cffpy.db-editions/1"
    assert [one["name"] for one in document["editions"]] == ["mesa-25.0", "mesa-25.3"]


@pytest.mark.slow
def test_diff_of_editions(run):
    result = run("diff", "mesa-25.0", "mesa-25.3", "--gpu", "a6xx", "--only", "renamed")
    assert result.exit_code == 1
    words = [line.split() for line in result.output.splitlines()]
    assert ["renamed", "register", "0x8800", "A6XX", "RB_BIN_CONTROL", "RB_CNTL"] in words
    assert {line[0] for line in words[1:]} == {"renamed"}
    same = run("diff", "mesa-25.0", "mesa-25.0")
    assert (same.exit_code, same.output) == (0, "")


def test_show_in_another_edition(run):
    assert run("show", "RB_CNTL", "--gpu", "660", "--edition", "mesa-25.3").exit_code == 0
    other = run("show", "RB_CNTL", "--gpu", "660")
    assert other.exit_code == 0
    assert "'RB_CNTL' is called RB_BIN_CONTROL in this edition" in other.output
    assert "RB_BIN_CONTROL  0x8800" in other.output


def test_a_generation_of_another_edition_is_looked_up_there(run_cffpy):
    shown = run_cffpy("db", "show", "--gpu", "a830", "RB_CNTL")
    assert shown.returncode == 0
    assert b"in A8XX" in shown.stdout
    assert run_cffpy("db", "search", "--gpu", "a8xx", "RB_CNTL").returncode == 0


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
    documents = json.loads(done.stdout)["found"]
    generations = [name for document in documents for name in document["generations"]]
    assert generations == ["gfx8", "gfx9", "gfx11", "gfx12", "gfx12.5", "gfx20", "gfx30"]
    assert len(documents) < len(generations)


def test_the_document_is_that_of_adreno(run_cffpy: Run) -> None:
    document = json.loads(
        run_cffpy("db", "show", "3DSTATE_VF_TOPOLOGY", "--gpu", "skl", "--json").stdout
    )
    assert (document["schema"], document["asked"]) == ("cffpy.db-show/1", "3DSTATE_VF_TOPOLOGY")
    (instruction,) = document["found"]
    assert (instruction["opcode"], instruction["engines"]) == ("0x784b0000", ["render"])
    topology = next(
        field["type"]
        for field in instruction["fields"]
        if field["name"] == "Primitive Topology Type"
    )
    assert (topology["form"], topology["low"], topology["high"]) == ("enum", 32, 37)
    assert {"name": "RECTLIST", "number": 15} in topology["values"]


def test_a_register_by_its_offset(run_cffpy: Run) -> None:
    shown = run_cffpy("db", "show", "0x2580", "--gpu", "gfx9").stdout.decode()
    assert shown.startswith("CS_CHICKEN1  register")


def test_search_of_intel(run_cffpy: Run) -> None:
    done = run_cffpy("db", "search", "topology", "--gpu", "gfx125", "--json")
    names = [tuple(known.values()) for known in json.loads(done.stdout)["found"]]
    assert ("instruction", "3DSTATE_VF_TOPOLOGY", "", 0x784B0000, ["gfx12.5"]) in names
    field = "field", "Primitive Topology Type", "3DSTATE_VF_TOPOLOGY", 32, ["gfx12.5"]
    assert field in names
    text = run_cffpy("db", "search", "topology type", "--gpu", "gfx125").stdout.decode()
    assert "field  Primitive Topology Type  bit 32  3DSTATE_VF_TOPOLOGY" in text


def test_what_is_not_there(run_cffpy: Run) -> None:
    for arguments in (("show", "RB_MRT"), ("search", "gras_cntl")):
        done = run_cffpy("db", *arguments, "--gpu", "tgl")
        assert done.returncode == 1
        assert b"not found in the descriptions of Intel GPUs" in done.stderr
    done = run_cffpy("db", "show", "CS_CHICKEN1", "--gpu", "xyz")
    assert (done.returncode, b"Intel: skl" in done.stderr) == (2, True)
