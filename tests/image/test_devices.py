# SPDX-License-Identifier: MIT
"""The table of parts, and the import of Mesa's: synthetic source in the shape of its file."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cffpy.capture.gpu import lookup_chip_id
from cffpy.errors import RegisterDbError
from cffpy.image.device_import import device_table_text, find_device_source
from cffpy.image.devices import (
    DEVICE_TABLE,
    device_of_chip_id,
    device_properties,
    devices,
    find_device,
    part_name,
)
from tests.conftest import CHECKOUT

NEWER = str(CHECKOUT / "register_db" / "editions" / "mesa-25.3")

SOURCE = '''\
from mako.template import Template
import argparse

def max_bitfield_val(high, low, shift):
    return ((1 << (high - low)) - 1) << shift

parser = argparse.ArgumentParser()
args = parser.parse_args()

class CHIP(Enum):
    A6XX = 6

class State(object):
    pass

s = State()

class GPUInfo(Struct):
    def __init__(self, chip, tile_align_w, highest_bank_bit = 0, max_waves = 16):
        self.chip = chip.value

class A6xxGPUInfo(GPUInfo):
    def __init__(self, chip, template, num_ccu, raw_magic_regs = None, highest_bank_bit = 11):
        pass

class A6XXProps(dict):
    unique_props = dict()

add_gpus([
        GPUId(330),
        GPUId(chip_id=0x03000512, name="FD305B"),
    ], GPUInfo(
        CHIP.A3XX,
        tile_align_w = 32, tile_align_h = 32,
        tile_max_w   = 992, # a comment
        tile_max_h   = max_bitfield_val(9, 5, 5),
        num_vsc_pipes = 8,
        cs_shared_mem_size = 32 * 1024,
    ))

base = A6XXProps(has_a = True, some_quirk = False, size = 64 * 1024, width = 127.5,
                 gmem_ccu_color_cache_fraction = CCUColorCacheFraction.QUARTER.value)

raw = [[A6XXRegs.REG_A7XX_SP_UNKNOWN_0CE2+1, 0x10], [0x930a, 1]]

add_gpus([
        GPUId(chip_id=0xffff06020100, name="FD621"),
    ], A6xxGPUInfo(
        CHIP.A6XX,
        [base, A6XXProps(has_b = True)],
        num_ccu = 2,
        tile_align_w = 96,
        tile_align_h = 16,
        tile_max_h = ~0,
        num_vsc_pipes = 32,
        magic_regs = dict(PC_POWER_CNTL = 2),
        raw_magic_regs = raw,
    ))

template = """nothing"""
print(Template(template).render(s=s))
'''


def import_text(folder: Path, source: str) -> str:
    path = folder / "freedreno_devices.py"
    path.write_text(source)
    return device_table_text(str(path))


def test_an_import_reads_sets_ids_properties_and_magic_registers(tmp_path):
    (tmp_path / DEVICE_TABLE).write_text(import_text(tmp_path, SOURCE))
    known = devices(str(tmp_path))
    assert list(known) == ["330", "305", "621"]
    assert known["330"].tile_max == (992, 480)
    assert known["330"].properties["cs_shared_mem_size"] == 32768
    part = known["621"]
    assert part.tile_max == (1024, None)
    assert part.magic == {"PC_POWER_CNTL": 2, "SP_UNKNOWN_0CE2+1": 16, "0x930a": 1}
    assert part.properties["highest_bank_bit"] == 11
    assert part.properties["gmem_ccu_color_cache_fraction"] == "1/4"
    assert part.properties["num_sp_cores"] == 2
    flags = [part.properties[name] for name in ("has_a", "has_b", "some_quirk", "width")]
    assert flags == [True, True, False, 127.5]


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("x = (", "cannot be read"),
        ("x = 1", "has no devices"),
        ("add_gpus([GPUId(1)], Other(CHIP.A6XX))", "line 1: not understood: Other"),
        ("\na = dict(b = open('x'))", "line 2: not understood: open"),
        ("add_gpus([GPUId(1)], GPUInfo())", "line 1"),
        ("add_gpus([GPUId(1)], GPUInfo(CHIP.A6XX, a = 1 << 99999999))", "line 1"),
        ("a = dict(b = max_bitfield_val(1))", "line 1"),
        (f"a = dict(b = {'-' * 90000}1)", "cannot be read|line 1"),
    ],
)
def test_a_source_that_is_not_understood_is_an_error_with_its_line(tmp_path, source, message):
    with pytest.raises(RegisterDbError, match=message):
        import_text(tmp_path, source)


def test_the_source_is_found_below_a_tree(tmp_path):
    assert find_device_source(str(tmp_path)) is None
    folder = tmp_path / "src" / "freedreno" / "common"
    folder.mkdir(parents=True)
    (folder / "freedreno_devices.py").write_text(SOURCE)
    assert find_device_source(str(tmp_path)) == str(folder / "freedreno_devices.py")
    assert find_device_source(str(tmp_path / "src" / "freedreno")) is not None


@given(st.text(alphabet="setpartidmagic A6XX_01x\n ", max_size=60))
def test_a_damaged_table_is_an_error_or_a_table(tmp_path_factory, text):
    folder = tmp_path_factory.mktemp("edition")
    (folder / DEVICE_TABLE).write_text(f"part A6XX\n{text}")
    with suppress(RegisterDbError):
        assert all(part.name for part in devices(str(folder)).values())


def test_an_edition_without_a_table_has_no_parts(tmp_path):
    assert devices(str(tmp_path)) == {}


def test_a_part_is_known_by_all_its_names():
    assert {part_name(name) for name in ("FD650", "650", "Adreno (TM) 650", "Adreno650")} == {"650"}
    assert part_name("Adreno 7c+ Gen 3 Lite") == "635"
    part = find_device("a650")
    assert part is not None
    assert part.name == "650"


@pytest.mark.parametrize(
    ("chip_id", "name"),
    [
        (0x06030500, "635"),
        (0xAC06030500, "643"),
        (0xBE06030500, "635"),
        (0x43050A01, "740"),
        (0x0143050C01, "x1-85"),
        (0x060108FF, "618"),
        (0x03000512, "305"),
        (0x06FF0000, None),
    ],
)
def test_a_chip_id_names_a_part(chip_id, name):
    part = device_of_chip_id(chip_id)
    assert (part and part.name) == name


@pytest.mark.parametrize("edition", [None, NEWER], ids=["bundled", "newer"])
def test_each_id_of_the_table_is_of_a_gpu_of_this_generation(edition):
    for part in devices(edition).values():
        for identity in part.ids:
            if identity.chip_id is not None:
                gpu = lookup_chip_id(identity.chip_id)
                if gpu is not None:
                    assert gpu.generation == part.generation
        assert part.tile_align[0] > 0
        assert part.vsc_pipes in (8, 16, 32)


def test_properties_of_two_parts_side_by_side():
    parts = [devices()["635"], devices()["618"]]
    rows = {row.name: row for row in device_properties(parts)}
    assert rows["num_ccu"].values == [2, 1]
    assert rows["gmem_ccu_offset"].values == [0x78000, 0x7C000]
    assert rows["SP_DBG_ECO_CNTL"].values == ["0x6", "0x0"]
    assert rows["has_lpac"].values == ["yes", "no"]
    assert rows["num_vsc_pipes"].is_same
    assert not rows["num_ccu"].is_same
    assert rows["has_lpac"].kind == "feature"
    assert rows["indirect_draw_wfm_quirk"].kind == "quirk"
    assert rows["SP_DBG_ECO_CNTL"].kind == "magic"
    assert rows["tile_align_w"].kind == "tiling"
