# SPDX-License-Identifier: MIT
"""Names of either edition, of registers, fields, values and packets, wherever a user writes one."""

from __future__ import annotations

from pathlib import Path

import pytest

import cffpy
from tests.builders import capture, type4, type7
from tests.command_server import Run
from tests.selection import first_always

EDITIONS = pytest.mark.parametrize("edition", ["mesa-25.0", "mesa-25.3"])

#: Register and field in 25.0 and in 25.3.
NAMES = (("SP_FS_CONFIG", "NIBO"), ("SP_PS_CONFIG", "NUAV"))
#: A value in both; its field has the same name in both.
VALUES = ("A6XX_EARLY_LRZ_LATE_Z", "A6XX_EARLY_Z_LATE_Z")
DEPTH_PLANE = "GRAS_SU_DEPTH_PLANE_CNTL"

SP_FS_CONFIG, GRAS_SU_DEPTH_PLANE_CNTL = 0xAB04, 0x8094


@pytest.fixture
def path(tmp_path: Path) -> Path:
    """A draw: three UAVs, and the value of VALUES."""
    commands = [
        *type7(0x65, 1),
        *type4(SP_FS_CONFIG, 0x100 | 3 << 22),
        *type4(GRAS_SU_DEPTH_PLANE_CNTL, 2),
        *type7(0x38, 4 | 2 << 6, 1, 3),
    ]
    made = tmp_path / "a.rd"
    made.write_bytes(capture(630, commands))
    return made


@EDITIONS
@pytest.mark.parametrize(("register", "field"), first_always(NAMES, names=2))
def test_edit(edition: str, register: str, field: str, path: Path, run_cffpy: Run) -> None:
    output = path.with_name("b.rd")
    edit = ("edit", "--edition", edition, path, "-o", output)
    done = run_cffpy(*edit, "--set", f"{register}.{field}=5")
    assert done.returncode == 0, done.stderr
    value = 0x100 | 5 << 22
    assert value.to_bytes(4, "little") in output.read_bytes()
    for name in VALUES:
        done = run_cffpy(*edit, "--set", f"{DEPTH_PLANE}.Z_MODE={name}")
        assert done.returncode == 0, done.stderr
        assert output.read_bytes() == path.read_bytes()


@EDITIONS
@pytest.mark.parametrize(("register", "field"), first_always(NAMES, names=2))
@pytest.mark.parametrize("value", first_always(VALUES))
def test_compile(
    edition: str, register: str, field: str, value: str, path: Path, run_cffpy: Run
) -> None:
    """The text of decompile, with the names of either edition, gives the same file."""
    text = run_cffpy("decompile", "--edition", edition, path).stdout.decode()
    (own_register, own_field) = NAMES[edition == "mesa-25.3"]
    assert f"{own_register} = {{ ENABLED, {own_field}=3 }}" in text
    text = text.replace(own_register, register).replace(own_field, field)
    text = text.replace(VALUES[edition == "mesa-25.3"], value)
    source, output = path.with_name("a.pm4"), path.with_name("b.rd")
    source.write_text(text)
    done = run_cffpy("compile", "--edition", edition, source, "-o", output)
    assert done.returncode == 0, done.stderr
    assert output.read_bytes() == path.read_bytes()


@EDITIONS
def test_compile_events_and_packets(edition: str, tmp_path: Path, run_cffpy: Run) -> None:
    made = []
    for event, packet in (
        ("UNK_2C", "CP_CONTEXT_REG_BUNCH2"),
        ("VSC_BINNING_START", "CP_NON_CONTEXT_REG_BUNCH"),
    ):
        source, output = tmp_path / "a.pm4", tmp_path / "a.rd"
        source.write_text(
            "pm4 1\ngpu a7xx\nchip_id 0x43050a01\nbuffer b 0x1000 size 64 {\n"
            "  commands c at 0x1000 {\n"
            f"    CP_EVENT_WRITE7 EVENT={event}\n    {packet}\n    + 00000000 00000000\n  }}\n}}\n"
            "stream c\n"
        )
        done = run_cffpy("compile", "--edition", edition, source, "-o", output)
        assert done.returncode == 0, done.stderr
        made.append(output.read_bytes())
    assert made[0] == made[1]


#: Packets in the names of 25.0 and of 25.3; addresses as one number and as halves. "label" is the
#: address of the commands, 0x1000.
PACKETS = (
    ("CP_MEM_WRITE ADDR_LO=0x20 ADDR_HI=0x1 [2]=0x7", "CP_MEM_WRITE ADDR=0x100000020 [2]=0x7"),
    ("CP_MEM_WRITE ADDR_LO=lo(c) ADDR_HI=hi(c) [2]=0x7", "CP_MEM_WRITE ADDR=c [2]=0x7"),
    ("CP_MEM_WRITE ADDR_LO=0x20", "CP_MEM_WRITE [0]=0x20"),
    ("CP_MEM_WRITE ADDR_HI=0x1", "CP_MEM_WRITE ADDR=0x100000000"),
    (
        "CP_REG_TO_MEM REG=0x100 64B DEST=0x20 DEST_HI=0x1",
        "CP_REG_TO_MEM REG=0x100 64B DEST=0x100000020",
    ),
    (
        "CP_EVENT_WRITE EVENT=RB_DONE_TS ADDR_0_LO=0x20 ADDR_0_HI=0x1",
        "CP_EVENT_WRITE EVENT=RB_DONE_TS ADDR=0x100000020",
    ),
    (
        "CP_SET_BIN_DATA5 VSC_SIZE=2 BIN_DATA_ADDR=0x10 BIN_SIZE_ADDRESS=0x20 BIN_PRIM_STRM_LO=0x3",
        "CP_SET_BIN_DATA5 VSC_SIZE=2 BIN_DATA_ADDR=0x10 BIN_SIZE_ADDR=0x20 BIN_PRIM_STRM_LO=0x3",
    ),
    (
        "CP_RESET_CONTEXT_STATE CLEAR_GLOBAL_LOCAL_TS RESET_CONTEXT_STATE",
        "CP_RESET_CONTEXT_STATE CLEAR_BV_BR_COUNTER RESET_GLOBAL_LOCAL_TS",
    ),
)


@EDITIONS
@pytest.mark.parametrize("forms", first_always(PACKETS), ids=lambda forms: forms[0].split()[0])
def test_compile_fields_of_packets(
    edition: str, forms: tuple[str, str], tmp_path: Path, run_cffpy: Run
) -> None:
    made = []
    for form in forms:
        source, output = tmp_path / "a.pm4", tmp_path / "a.rd"
        source.write_text(
            "pm4 1\ngpu a7xx\nchip_id 0x43050a01\nbuffer b 0x1000 size 64 {\n"
            f"  commands c at 0x1000 {{\n    {form}\n  }}\n}}\nstream c\n"
        )
        done = run_cffpy("compile", "--edition", edition, source, "-o", output)
        assert done.returncode == 0, done.stderr
        made.append(output.read_bytes())
    assert made[0] == made[1]


@EDITIONS
def test_halves_that_contradict_the_whole(edition: str, tmp_path: Path, run_cffpy: Run) -> None:
    source = tmp_path / "a.pm4"
    source.write_text(
        "pm4 1\ngpu a7xx\nchip_id 0x43050a01\nbuffer b 0x1000 size 64 {\n"
        "  commands c at 0x1000 {\n    CP_MEM_WRITE ADDR=0x20 ADDR_LO=0x30\n  }\n}\nstream c\n"
    )
    done = run_cffpy("compile", "--edition", edition, source, "-o", tmp_path / "a.rd")
    assert done.returncode == 1
    assert done.stderr.count(b"\n") == 3  # the message, the line, the mark


@EDITIONS
def test_fields_of_packets_in_python(edition: str, tmp_path: Path) -> None:
    made = tmp_path / "a.rd"
    set_bins = type7(0x2F, 0, 0, 0, 0x20, 1)
    made.write_bytes(capture(730, [*set_bins, *type7(0x1F, 0xC), *type7(0x10, 0)]))
    with cffpy.open(made, register_db=edition) as opened:
        bins, reset, nop = opened.packets()
        for address in ("BIN_SIZE_ADDR", "BIN_SIZE_ADDRESS"):
            assert bins.field(address).value == 0x100000020
            assert bins.field(f"{address}_LO").value == 0x20
            assert bins.field(f"{address}_HI")[1:] == (128, 159, "0x1", 1, 1)
        for name in ("CLEAR_GLOBAL_LOCAL_TS", "CLEAR_BV_BR_COUNTER"):
            assert reset.field(name).value is True
            assert reset.field(name).name in reset.fields
        with pytest.raises(cffpy.UnknownName, match="CP_RESET_CONTEXT_STATE has no field X; it"):
            reset.field("X")
        with pytest.raises(cffpy.UnknownName, match=r"CP_NOP has no field X$"):
            nop.field("X")


@EDITIONS
@pytest.mark.parametrize(("register", "field"), first_always(NAMES, names=2))
@pytest.mark.parametrize("value", first_always(VALUES))
def test_filters(
    edition: str, register: str, field: str, value: str, path: Path, run_cffpy: Run
) -> None:
    query = f"{register}.{field} == 3 and {DEPTH_PLANE}.Z_MODE == {value}"
    done = run_cffpy("find", "--edition", edition, query, path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout


@EDITIONS
@pytest.mark.parametrize("register", [register for register, _ in NAMES])
def test_query(edition: str, register: str, path: Path, run_cffpy: Run) -> None:
    done = run_cffpy("dump", "--edition", edition, "-q", register, path)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"querystr: %s -> 0xab04\n" % register.encode() in done.stdout
    own = NAMES[edition == "mesa-25.3"][0].encode()
    assert any(own in line and b"00c00100" in line for line in done.stdout.splitlines())


def test_a_query_without_an_edition_is_the_references(path: Path, run_cffpy: Run) -> None:
    """cffdump prints 0 for the newer name; the warning tells the other."""
    done = run_cffpy("dump", "-q", NAMES[1][0], path)
    assert b"querystr: SP_PS_CONFIG -> 0x0\n" in done.stdout
    assert b"this edition calls it SP_FS_CONFIG" in done.stderr


@EDITIONS
@pytest.mark.parametrize("register", [register for register, _ in NAMES])
@pytest.mark.parametrize("end", ["", "*"])
def test_state(edition: str, register: str, end: str, path: Path, run_cffpy: Run) -> None:
    done = run_cffpy("state", "--edition", edition, "--at", "#0", path, f"{register}{end}")
    assert (done.returncode, done.stderr) == (0, b"")
    assert NAMES[edition == "mesa-25.3"][0].encode() in done.stdout
    unwritten = "SP_PS_BARYCENTRIC*" if end else "SP_HS_CONFIG"
    done = run_cffpy("state", "--at", "#0", path, unwritten)
    assert b"was written before this draw" in done.stderr or done.returncode == 2


@EDITIONS
def test_db_show(edition: str, run_cffpy: Run) -> None:
    """The same is shown for both names, of a register, an array, a field, a value."""
    for old, new in (
        (NAMES[0][0], NAMES[1][0]),
        (".".join(NAMES[0]), ".".join(NAMES[1])),
        VALUES,
        ("GRAS_CL_VPORT", "GRAS_CL_VIEWPORT"),
        ("GRAS_CL_VPORT[1].XSCALE", "GRAS_CL_VIEWPORT[1].XSCALE"),
        (
            "CP_RESET_CONTEXT_STATE.RESET_CONTEXT_STATE",
            "CP_RESET_CONTEXT_STATE.RESET_GLOBAL_LOCAL_TS",
        ),
        ("CP_SET_BIN_DATA5.BIN_SIZE_ADDRESS_HI", "CP_SET_BIN_DATA5.BIN_SIZE_ADDR"),
    ):
        shown = [
            run_cffpy("db", "show", "--gpu", "a6xx", "--edition", edition, name)
            for name in (old, new)
        ]
        assert shown[0].stdout == shown[1].stdout != b"", (old, new)
        assert b"in this edition" in shown[0].stderr + shown[1].stderr


@EDITIONS
@pytest.mark.parametrize(("register", "field"), NAMES)
def test_python(edition: str, register: str, field: str, path: Path) -> None:
    with cffpy.open(path, register_db=edition) as opened:
        state = opened.draws[0].state
        assert getattr(state[register], field) == 3
        assert [value.value for value in state.matching(f"{register}*")] == [0xC00100]
