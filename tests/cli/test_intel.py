# SPDX-License-Identifier: MIT
"""Commands on Intel captures: which of them take any, what they print, exit codes."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from struct import pack

import pytest

import cffpy
from tests.command_server import Run
from tests.intel import aub_files, frames
from tests.selection import first_always


@pytest.fixture(scope="module")
def frame(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("intel") / "frame.aub"
    path.write_bytes(frames.frame())
    return path


@pytest.mark.parametrize("command", first_always(["info", "draws", "passes"]))
def test_from_standard_input(command: str, frame: Path, run_cffpy: Run) -> None:
    by_name = run_cffpy(command, frame)
    piped = run_cffpy(command, "-", input=frame.read_bytes())
    assert (by_name.returncode, by_name.stderr) == (0, b"")
    assert piped.stdout.replace(b"standard input", str(frame).encode()) == by_name.stdout
    assert piped.returncode == 0


SCHEMAS = {
    "draws": ("cffpy.draws/1", ()),
    "passes": ("cffpy.passes/1", ()),
    "state": ("cffpy.state/1", ("--at", "p0:0")),
}


@pytest.mark.parametrize("command", SCHEMAS)
def test_documents(command: str, frame: Path, run_cffpy: Run) -> None:
    schema, options = SCHEMAS[command]
    document = json.loads(run_cffpy(command, "--json", *options, frame).stdout)
    assert document["schema"] == schema


def test_the_origin_of_generated_draws_in_the_documents(frame: Path, run_cffpy: Run) -> None:
    origin = {"item": 0, "ring_pass": 0, "is_predicted": False}
    draws = json.loads(run_cffpy("draws", "--json", frame).stdout)["draws"]
    assert draws[3]["generated"] == {"call": 0, **origin}
    actions = json.loads(run_cffpy("report", "--json", frame).stdout)["draws"]
    assert actions[5]["action"]["generated"] == {"call": 0, **origin}


def test_info_of_both_kinds(frame: Path, samples: Path, run_cffpy: Run) -> None:
    adreno = samples / "a630-triangle.rd"
    if not adreno.exists():
        adreno = next(samples.glob("a630-triangle.rd*"))
    done = run_cffpy("info", "--json", frame, adreno)
    intel, other = json.loads(done.stdout)["files"]
    assert (intel["kind"], intel["generation"], intel["pci_id"]) == ("AUB file", 90, "0x1912")
    assert intel["gpu"] == "Intel(R) HD Graphics 530 (SKL GT2)"
    (stream,) = intel["submits"][0]["streams"]
    assert (stream["engine"], stream["dwords"]) == ("render", 4)
    assert (other["kind"], other["pci_id"]) == (None, None)
    assert other["gpu"] == "FD630"
    assert run_cffpy("info", frame, adreno).returncode == 0


def test_csv(frame: Path, run_cffpy: Run) -> None:
    done = run_cffpy("draws", "--csv", "--pass", "0", frame).stdout.decode()
    rows = list(csv.DictReader(done.splitlines()))
    assert len(rows) == 8
    names = ("name", "dump_draw", "primitive", "vertices", "place_gpuaddr", "place_file_offset")
    place = f"{frames.BATCH + 0xFC:#x}"
    assert [rows[0][name] for name in names] == ["p0:0", "1", "TRILIST", "36", place, "0x1a8"]


def test_filters(frame: Path, run_cffpy: Run) -> None:
    """Those of the model's facts, and of fields of instructions."""
    options = ("--where", "draw.vertices > 8 and target.format == R8G8B8A8_UNORM", "--columns")
    done = run_cffpy("draws", *options, "draw.name,pass.kind,draw.programs.stage", frame)
    rows = [line.split() for line in done.stdout.decode().splitlines()[1:]]
    assert rows == [[name, name, "render", "VS", "PS"] for name in ("p0:0", "p0:2", "p0:7")]
    found = run_cffpy("find", "draw.vertices == 36", frame)
    assert found.stdout.decode() == f"{frame}: s0 p0:0 (#1): draw.vertices=36\n"
    wrong = run_cffpy("draws", "--where", "RB_DEPTH_CNTL == 1", frame)
    assert wrong.returncode == 1
    assert b"gen9 has no instruction or register RB_DEPTH_CNTL" in wrong.stderr
    typo = run_cffpy("draws", "--where", "draw.packet == 3DPRIMITVE", frame)
    assert typo.returncode == 1
    assert b"did you mean 3DPRIMITIVE" in typo.stderr


def test_text(frame: Path, run_cffpy: Run) -> None:
    lines = run_cffpy("passes", frame).stdout.decode().splitlines()
    assert lines[1] == "  pass 0: framebuffer 64x32, 8 draws"
    assert any("clear by 3DSTATE_WM_HZ_OP" in line for line in lines)
    assert any(line.endswith("+0x1a8") for line in lines)
    lines = run_cffpy("draws", "--all", frame).stdout.decode().splitlines()
    assert "file" in lines[0].split()
    assert [line.split()[0] for line in lines[1:]] == [f"#{number}" for number in range(11)]


def test_an_option_without_a_meaning_is_refused(frame: Path, run_cffpy: Run) -> None:
    for command, refused, *others in (
        ("draws", "--inherited"),
        ("draws", "--visible"),
        ("draws", "--stream-out"),
        ("passes", "--cost"),
        ("passes", "--queries"),
        ("passes", "--why"),
        ("passes", "--barriers"),
        ("passes", "--gpu", "630"),
    ):
        done = run_cffpy(command, refused, *others, frame)
        assert (done.returncode, done.stdout) == (2, b"")
        assert f"{refused} does not apply to Intel captures".encode() in done.stderr


def test_a_command_without_an_intel_form(frame: Path, run_cffpy: Run) -> None:
    done = run_cffpy("decompile", frame)
    line = f"{frame}: not a capture of an Adreno GPU, but an AUB file (see cffpy aubinator)"
    assert (done.returncode, done.stderr.decode()) == (1, f"cffpy: error: {line}\n")


def test_diff(frame: Path, tmp_path: Path, run_cffpy: Run) -> None:
    """One draw has other counts, and the target another format."""
    data = frames.frame()
    assert data.count(frames.draw(6, 2, indexed=True)) == 1
    data = data.replace(frames.draw(6, 2, indexed=True), frames.draw(6, 3, indexed=True))
    other = tmp_path / "other.aub"
    other.write_bytes(data)
    same = run_cffpy("diff", frame, frame)
    assert same.returncode == 0
    assert same.stdout.startswith(b"no difference: ")
    done = run_cffpy("diff", frame, other)
    assert (done.returncode, done.stderr) == (1, b"")
    assert done.stdout.decode().splitlines() == [
        f"1 difference: {frame} → {other}",
        "draw p0:1: draw instances: 2 → 3",
        "  draw instances: 2 → 3",
    ]
    document = json.loads(run_cffpy("diff", "--json", frame, other).stdout)
    assert document["schema"] == "cffpy.diff/1"
    assert (document["differs"], document["summary"]) == (True, "1 difference")
    (entry,) = document["entries"]
    (difference,) = entry["differences"]
    assert (difference["name"], difference["good"], difference["bad"], difference["category"]) == (
        "draw instances",
        "2",
        "3",
        "draw parameters",
    )
    (extent,) = entry["extents"]
    assert (extent["good_pass"], extent["first_draw"], extent["last_draw"]) == (0, 1, 1)
    assert len(document["passes"][0]["draws"]) == 8
    chosen = run_cffpy("diff", "--where", "draw.vertices > 8", frame, other)
    assert chosen.returncode == 0
    assert b"no difference in what was compared (1 passes, 3 draws)" in chosen.stdout
    nothing = run_cffpy("diff", "--where", "draw.vertices > 80", frame, other)
    assert (nothing.returncode, nothing.stderr.count(b"\n")) == (2, 1)
    assert run_cffpy("diff", "--brief", frame, other).stdout == b""


def test_a_page_and_texts_of_a_comparison(frame: Path, tmp_path: Path, run_cffpy: Run) -> None:
    """As of all captures; the texts are those of state, a line for each field."""
    data = frames.frame().replace(frames.table(0x80), frames.table(0x100), 1)
    other = tmp_path / "other.aub"
    other.write_bytes(data)
    done = run_cffpy("diff", "--unified", frame, other)
    name = "3DSTATE_BINDING_TABLE_POINTERS_PS.Pointer to PS Binding Table"
    lines = done.stdout.decode().splitlines()
    assert lines[:2] == [f"--- {frame}", f"+++ {other}"]
    assert f"-{name} = 0x00000080" in lines
    assert f"+{name} = 0x00000100" in lines
    assert next(one for one in lines if one.startswith("@@")).endswith(" @@ draw p0:0")
    assert run_cffpy("diff", "--unified", frame, frame).stdout == b""
    page = tmp_path / "page.html"
    assert run_cffpy("diff", "--html", page, frame, other).returncode == 1
    text = page.read_text()
    assert 'id="pair-0"' in text
    assert "<td>R8G8B8A8_UNORM, ymajor</td>" in text, "the facts of passes"
    assert "None" not in text
    assert "render, 64x32, 8 draws" in text


def test_diff_of_a_missing_draw(frame: Path, tmp_path: Path, run_cffpy: Run) -> None:
    data = frames.frame().replace(frames.draw(24), bytes(len(frames.draw(24))))
    other = tmp_path / "other.aub"
    other.write_bytes(data)
    lines = run_cffpy("diff", frame, other).stdout.decode().splitlines()
    assert lines[1] == "draw p0:7 of good is missing in bad"
    text = run_cffpy("diff", frame, __file__)
    assert (text.returncode, text.stderr.count(b"\n")) == (2, 1)
    assert b"not a capture, but text" in text.stderr


@pytest.mark.parametrize("command", ["diff", "report"])
def test_captures_of_two_makers_are_not_compared(
    command: str, frame: Path, samples: Path, run_cffpy: Run
) -> None:
    adreno = next(samples.glob("a630-triangle.rd*"))
    option = ("-o", "-", "--compare") if command == "report" else ()
    for first, second in ((frame, adreno), (adreno, frame)):
        done = run_cffpy(command, *option, first, second)
        assert (done.returncode, done.stdout) == (2 if command == "diff" else 1, b"")
        line = f"{frame}, of an Intel GPU, cannot be compared with {adreno}, which is not"
        assert done.stderr.decode() == f"cffpy: error: {line}\n"


def test_diff_of_descriptor_sets(frame: Path, tmp_path: Path, run_cffpy: Run) -> None:
    """A buffer's range in the set; equal sets are no difference."""
    record = pack("<QII", frames.UNIFORMS, 0x100, 0)
    data = frames.frame()
    assert data.count(record) == 1
    other = tmp_path / "other.aub"
    other.write_bytes(data.replace(record, pack("<QII", frames.UNIFORMS, 0x80, 0)))
    lines = run_cffpy("diff", frame, other).stdout.decode().splitlines()
    what = "set of PS table entry 1 descriptor 0x0"
    assert lines[1] == f"draws p0:0-7: {what}: buffer, 256 bytes → buffer, 128 bytes"
    assert len(lines) == 3


def test_diff_of_push_constants(shared: Path, run_cffpy: Run) -> None:
    """Two frames of one capture: the angle, and the dynamic offset of the uniform buffer."""
    capture = f"{shared / 'intel' / 'captures' / 'dg2-vk-cube.aub.gz'}"
    done = run_cffpy("diff", f"{capture}@p0", f"{capture}@p1")
    lines = done.stdout.decode().splitlines()
    assert lines[1].startswith("draw p0:0 (pass 1 of bad): dynamic offset 0: none → 0x100")
    assert lines[3] == "  push constant 0x0: 0x3f60a940 → 0x3f325b5f"
    assert (len(lines), done.returncode) == (7, 1)


def test_diff_of_parts(frame: Path, run_cffpy: Run) -> None:
    done = run_cffpy("diff", f"{frame}@p0:0", f"{frame}@p0:7")
    assert "  draw vertices: 36 → 24" in done.stdout.decode().splitlines()
    same = run_cffpy("diff", f"{frame}@s0", frame)
    assert same.returncode == 0
    assert same.stdout.startswith(b"no difference: ")
    for part, message in (
        ("p1", b"no pass p1: the capture has 1 pass, p0"),
        ("p0:8", b"no draw p0:8: pass 0 has 8 draws, p0:0 to p0:7"),
        ("s1", b"no submit s1: the capture has 1 submit, s0"),
    ):
        missing = run_cffpy("diff", f"{frame}@{part}", frame)
        assert (missing.returncode, missing.stderr.count(b"\n")) == (2, 1)
        assert message in missing.stderr


def test_an_edition_without_intel(frame: Path, run_cffpy: Run) -> None:
    plain = run_cffpy("lines", frame)
    for command in ("lines", "draws", "passes"):
        done = run_cffpy(command, "--edition", "mesa-25.3", frame)
        assert done.returncode == 0
        assert done.stderr == (
            b"cffpy: warning: edition mesa-25.3 has none of Intel GPUs:"
            b" the bundled descriptions are used\n"
        )
    assert run_cffpy("lines", "--edition", "mesa-25.3", frame).stdout == plain.stdout


def test_predicates_are_shown(tmp_path: Path, run_cffpy: Run) -> None:
    predicate = frames.words(0x060000C0)  # load the inverse of true
    batch = frames.bases() + predicate + frames.words(0x7B000105, 0, 3, 0, 1, 0, 0)
    path = tmp_path / "predicate.aub"
    path.write_bytes(aub_files.file({frames.BATCH: batch + aub_files.END}, frames.BATCH))
    assert b"not executed (predicate)" in run_cffpy("draws", path).stdout
    (draw,) = json.loads(run_cffpy("draws", "--json", path).stdout)["draws"]
    assert (draw["condition"], draw["executed"]) == ("predicate", False)
    shown = run_cffpy("state", "--at", "#0", path).stdout
    assert b"predicate false: it is not executed" in shown
    assert b"00000000  0x2418: 0x00000000\n" in shown


def test_lines(frame: Path, run_cffpy: Run) -> None:
    done = run_cffpy("lines", frame)
    rows = [line.split("\t") for line in done.stdout.decode().splitlines()]
    assert {len(row) for row in rows} == {11}
    address = f"{frames.BATCH + 0xF4:#x}"
    name = "Primitive Topology Type"
    head = [str(frame), "0", "0", address, "", "0", "1", "3DSTATE_VF_TOPOLOGY"]
    assert [*head, name, "00000004", "4 (TRILIST)"] in rows
    only = run_cffpy("lines", "--only", "draws", frame).stdout.decode().splitlines()
    assert len(only) == 11
    of_one = run_cffpy("lines", "--at", "p0:1", frame).stdout
    assert {line.split(b"\t")[6] for line in of_one.splitlines()} == {b"2"}
    options = ("--only", "draws", "--where", "draw.vertices == 36")
    assert len(run_cffpy("lines", *options, frame).stdout.splitlines()) == 1
    for option in (("--changed",), ("--gpu", "630")):
        refused = run_cffpy("lines", *option, frame)
        assert refused.returncode == 2
        assert f"{option[0]} does not apply to Intel captures".encode() in refused.stderr


def test_what_is_not_there(frame: Path, run_cffpy: Run) -> None:
    for arguments, message in (
        (("passes", "--pass", "3"), b"no pass p3: the capture has 1 pass, p0"),
        (("state", "--at", "#99"), b"no draw #99: the dump has 11 draws, #0 to #10"),
        (("draws", "--pass", "0", "--tile", "0"), b"no tile p0:t0: pass 0 has no tiles"),
        (("state", "--at", "p0:9"), b"no draw p0:9: pass 0 has 8 draws, p0:0 to p0:7"),
    ):
        done = run_cffpy(*arguments, frame)
        assert done.returncode == 1
        assert message in done.stderr
        assert done.stderr.startswith(f"cffpy: error: {frame}: ".encode())


def test_a_cut_file_shows_what_is_there(frame: Path, tmp_path: Path, run_cffpy: Run) -> None:
    cut = tmp_path / "cut.aub"
    cut.write_bytes(frame.read_bytes()[:-10])
    done = run_cffpy("draws", cut)
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 1
    unknown = tmp_path / "unknown.aub"
    unknown.write_bytes(aub_files.header(0x1))
    for command in ("draws", "info"):
        done = run_cffpy(command, unknown)
        assert done.returncode == 1
        assert b"unknown device: PCI id 0x1" in done.stderr


def rows_of(frame: Path, query: str, run_cffpy: Run) -> list[list[object]]:
    done = run_cffpy("sql", frame, query, "--json")
    assert (done.returncode, done.stderr) == (0, b"")
    rows: list[list[object]] = json.loads(done.stdout)["rows"]
    return rows


def test_tables_of_the_file(frame: Path, run_cffpy: Run) -> None:
    pytest.importorskip("duckdb")
    query = "SELECT kind, generation, pci_id FROM captures"
    assert rows_of(frame, query, run_cffpy) == [["AUB file", 90, 0x1912]]
    query = "SELECT submit, engine, dwords, file_offset FROM streams"
    assert rows_of(frame, query, run_cffpy) == [[0, "render", 4, len(frame.read_bytes()) - 24]]
    assert rows_of(frame, "SELECT * FROM buffers", run_cffpy) == []


def test_tables_of_state(frame: Path, run_cffpy: Run) -> None:
    """Instructions that set state stand where other GPUs have registers."""
    pytest.importorskip("duckdb")
    query = (
        "SELECT first_draw, last_draw, value, written_by_place_gpuaddr, written_by_submit,"
        " written_by_pass FROM registers WHERE register = '3DSTATE_VF_TOPOLOGY'"
    )
    place = frames.BATCH + 0xF4
    assert rows_of(frame, query, run_cffpy) == [[0, 7, None, place, 0, None]]
    query = (
        "SELECT decoded, number, raw FROM fields WHERE register = '3DSTATE_VF_TOPOLOGY' AND"
        " field = 'Primitive Topology Type'"
    )
    assert rows_of(frame, query, run_cffpy) == [["4 (TRILIST)", 4.0, 4]]
    query = (
        "SELECT decoded, number, raw FROM fields WHERE register = '3DSTATE_PS' AND"
        " field = 'Kernel Start Pointer 0'"
    )
    assert rows_of(frame, query, run_cffpy) == [["0x00000400", 0x400, 0x400 >> 6]]
    query = (
        "SELECT first_draw, last_draw, written_by_pass FROM registers WHERE register ="
        " '3DSTATE_CONSTANT_PS' ORDER BY 1"
    )
    spans = rows_of(frame, query, run_cffpy)
    assert [one[:2] for one in spans] == [[3, 4], [5, 7]]
    assert [one[2] for one in spans] == [0, 0], "both are set between draws of pass 0"


def test_registers_of_the_streamer(tmp_path: Path, run_cffpy: Run) -> None:
    """Their offsets are in dwords, as everywhere in the tables."""
    pytest.importorskip("duckdb")
    load = frames.words(0x11000001, 0x2358, 0x12345678)
    batch = frames.bases() + load + frames.draw(3)
    path = tmp_path / "load.aub"
    path.write_bytes(aub_files.file({frames.BATCH: batch + aub_files.END}, frames.BATCH))
    query = "SELECT register_offset, value, first_draw FROM registers WHERE value IS NOT NULL"
    assert rows_of(path, query, run_cffpy) == [[0x2358 // 4, 0x12345678, 0]]


def test_kernels_are_shaders(frame: Path, run_cffpy: Run) -> None:
    done = run_cffpy("shaders", frame)
    assert (done.returncode, done.stderr) == (0, b"")
    heading = b"sh1: PS, gfx9, at 0x300000400, 1 instruction, 16 bytes, used by 10 draws"
    assert heading in done.stdout
    document = json.loads(run_cffpy("shaders", "--json", frame).stdout)
    naming = {"name": "3DSTATE_PS", "packet": f"{frames.BATCH + 0xA8:#x}"}
    assert document["shaders"][1]["named_by"] == naming
    (where,) = document["shaders"][1]["where"]
    assert where == {"submit": 0, "dump_draws": [{"first": 1, "last": 10}]}


@pytest.mark.parametrize(
    ("command", "code", "text"),
    [
        (("check",), 0, b"no lint is about Intel GPUs: nothing is checked"),
        (("lrz",), 0, b"no render pass of a GPU with LRZ"),
        (("vsc",), 0, b"no pass with hardware binning"),
        (("tiles",), 1, b"no pass of this capture is rendered in tiles"),
        (("layout", "check"), 1, b"layout checks: not available for captures of Intel GPUs"),
        (("image", "--target", "0", "--at", "p0:0", "-o", "-"), 1, b"images: not available"),
        (("repair", "-o", "out.rd"), 1, b"not a capture of an Adreno GPU"),
        (("bisect",), 1, b"not a capture of an Adreno GPU"),
    ],
    ids=lambda one: one[0] if isinstance(one, tuple) else "",
)
def test_what_intel_gpus_do_not_have(
    command: tuple[str, ...], code: int, text: bytes, frame: Path, tmp_path: Path, run_cffpy: Run
) -> None:
    done = run_cffpy(*command, frame, cwd=tmp_path)
    assert done.returncode == code
    assert text in done.stdout + done.stderr
    assert (done.stderr + done.stdout).count(b"\n") <= 2


#: Filters that read what instructions, structures in memory and registers hold.
STATE_FILTERS = (
    "3DSTATE_PS.Binding_Table_Entry_Count == 4",
    "3DSTATE_PS.Binding_Table_Entry_Count == 3",
    "not 3DSTATE_PS.Binding_Table_Entry_Count == 4",
    "changed(3DSTATE_CONSTANT_PS.Constant_Body_Buffer_3)",
    "changed(3DSTATE_PS.Binding_Table_Entry_Count)",
    "unknown(3DSTATE_SBE.Force_Vertex_URB_Entry_Read_Offset)",
    "3DSTATE_SO_BUFFER[*].Surface_Size > 0",
    "3DSTATE_VF_INSTANCING[*].Instancing_Enable == true",
    "3DSTATE_VF_INSTANCING[1].Instancing_Enable == false",
    "CC_VIEWPORT[0].Maximum_Depth == 1",
    "SCISSOR_RECT[*].Scissor_Rectangle_X_Max > 200",
    "BLEND_STATE_ENTRY[0].Color_Buffer_Blend_Enable == true",
    "FF_MODE2.TDS_Timer_Value > 1",
    "texture.Surface_Type == SURFTYPE_2D",
    "sampler.Min_Mode_Filter == LINEAR",
)


@pytest.mark.slow
def test_an_index_answers_as_find_does(shared: Path, tmp_path: Path) -> None:
    """Fields of instructions, structures, registers and descriptors, of gen7 to gen12."""
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    names = (
        "skl-vk-tri.aub.gz",
        "tgl-vk-dyn.aub.gz",
        "hsw-vk-dyn.aub.gz",
        "skl-vk-tri-error.i915.gz",
    )
    paths = [str(shared / "intel" / "captures" / name) for name in names]
    index = tmp_path / "intel.index"
    cffpy.build_index(paths, index, jobs=0)
    some = 0
    opened = cffpy.open_index(index)
    for where in STATE_FILTERS:
        of_index = sorted(opened.find(where), key=lambda one: one.path)
        of_files = sorted(cffpy.find(where, paths), key=lambda one: one.path)
        assert of_index == of_files, where
        some += any(one.draws for one in of_files)
    assert some > len(STATE_FILTERS) // 2


def test_an_index_of_both_kinds(frame: Path, samples: Path, tmp_path: Path, run_cffpy: Run) -> None:
    pytest.importorskip("duckdb")
    pytest.importorskip("pyarrow")
    index, adreno = tmp_path / "both.index", samples / "a660-frame-gmem.rd"
    assert cffpy.build_index([frame, adreno], index, jobs=0).failures == []
    for where in ("draw.vertices == 36", "target.format == R8G8B8A8_UNORM"):
        asked = ("find", "--json", "--where", where)
        of_index, of_files = (
            {
                Path(one["file"]).name: one["draws"]
                for one in json.loads(run_cffpy(*asked, *paths).stdout)["files"]
            }
            for paths in ((index,), (frame, adreno))
        )
        assert of_index == of_files
        assert of_index[frame.name]
    opened = cffpy.open_index(index)
    for where in STATE_FILTERS:
        (expected,) = cffpy.find(where, [str(frame)])
        (found,) = (one for one in opened.find(where) if one.path == str(frame))
        assert found == expected, where
    done = run_cffpy("find", "--where", "RB_DEPTH_CNTL.Z_TEST_ENABLE == 1", index)
    assert (done.returncode, frame.name.encode() in done.stdout) == (0, False)
    query = "SELECT DISTINCT register FROM registers WHERE capture LIKE '%.aub' ORDER BY 1 LIMIT 1"
    rows = json.loads(run_cffpy("index", "sql", index, query, "--json").stdout)["rows"]
    assert rows == [["3DSTATE_BINDING_TABLE_POINTERS_PS"]]
    values = run_cffpy("index", "values", index, "3DSTATE_PS")
    text = b"cffpy: error: no draw of the index has a register 3DSTATE_PS\n"
    assert (values.returncode, values.stderr) == (1, text), "instructions have no number as value"


def test_state_of_places(frame: Path, tmp_path: Path, run_cffpy: Run) -> None:
    """Several actions are one run; several files are shown in turn."""
    several = json.loads(run_cffpy("state", "--at", "p0:1-2", "--json", frame).stdout)
    assert several["schema"] == "cffpy.states/1"
    assert [one["draw"]["name"] for one in several["states"]] == ["p0:1", "p0:2"]
    alone = json.loads(run_cffpy("state", "--at", "p0:2", "--json", frame).stdout)
    assert several["states"][1] == {name: alone[name] for name in alone if name != "schema"}
    options = ("--where", "draw.vertices == 36", "--json")
    (only,) = json.loads(run_cffpy("state", *options, frame).stdout)["states"]
    (listed,) = json.loads(run_cffpy("draws", *options, frame).stdout)["draws"]
    assert only["draw"] == listed, "an action has one form"
    other = tmp_path / "other.aub"
    other.write_bytes(frame.read_bytes())
    both = run_cffpy("state", "--at", "p0:0", frame, other)
    assert (both.returncode, both.stderr) == (0, b"")
    assert both.stdout.count(b"draw p0:0 (#1), TRILIST") == 2
