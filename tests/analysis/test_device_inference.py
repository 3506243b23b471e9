# SPDX-License-Identifier: MIT
"""What commands tell of a GPU: with its id, without it, and of one that no table has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest

import cffpy
from cffpy.analysis import device_inference
from cffpy.errors import CffpyError
from cffpy.frame.device import DeviceReport
from cffpy.image.devices import devices
from tests.selection import first_always

#: The share of all fields (GMEM, CCUs, tile alignment, VSC pipes, magic registers) of all shared
#: captures that are right: without the ids, and without the entry in the tables, too.
RIGHT_WITHOUT_ID = 0.99
RIGHT_WITHOUT_ENTRY = 0.96
#: Wrong ones, of magic registers and tiles of drivers before the tables.
WRONG = 0.005

#: Captures of drivers that are much older than the tables.
OLDER = (
    "dEQP-VK.draw.indirect_draw.indexed.indirect_draw_count.triangle_list",
    "es2gears-a320",
    "fd-clouds",
    "glxgears-a420",
    "shadow",
)
FEW = (
    "a330-gl-scene60-nobin",
    "a540-gl-scene150-720p",
    "a610-vk-frame-720p",
    "a635-vk-cube-gmem-full",
    "a660-gl-cube-gmem",
    "a690-vk-frame-720p",
    "a740-gl-var-stomp",
    "m26-a730-vk-subpass-gmem",
    "m26-a750-vk-frame-auto",
)


def captures(shared: Path) -> Iterator[Path]:
    """All shared captures of one GPU, but for those of a hundred frames."""
    for folder in ("captures", "m26/captures"):
        for path in sorted((shared / folder).glob("*.rd.gz")):
            if not path.name.startswith(("BIG", "edge")):
                yield path


def chosen(shared: Path, names: Iterable[str]) -> list[Path]:
    by_name = {path.name.removesuffix(".rd.gz"): path for path in captures(shared)}
    return [by_name[name] for name in names]


def report(path: Path | str, gpu: str | None = None) -> DeviceReport:
    with cffpy.open(path, gpu=gpu) as capture:
        return capture.device


def hidden(path: Path) -> DeviceReport:
    """The report of a capture whose ids are hidden: only the generation is known."""
    with cffpy.open(path) as capture:
        assert capture.gpu is not None
        generation = capture.gpu.generation
    return report(path, f"a{generation}xx")


def shares(reports: Iterable[tuple[DeviceReport, DeviceReport]]) -> tuple[float, float]:
    """Shares of fields that are right and wrong, by the table of the real part."""
    total = right = wrong = 0
    for known, inferred in reports:
        assert known.device is not None
        assert inferred.device is None
        values = {each.name: each.value for each in inferred.facts}
        for each in known.facts:
            if each.expected is not None:
                value = values.get(each.name)
                total += 1
                right += value == each.expected
                wrong += value not in (None, each.expected)
    return right / total, wrong / total


def without(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    """No table has this part."""
    monkeypatch.setattr(
        device_inference,
        "devices",
        lambda folder: {key: part for key, part in devices(folder).items() if key != name},
    )


@pytest.mark.parametrize("which", first_always(["few", "all"]))
def test_fields_without_ids(shared: Path, which: str) -> None:
    paths = chosen(shared, FEW) if which == "few" else captures(shared)
    right, wrong = shares((report(path), hidden(path)) for path in paths)
    assert right >= RIGHT_WITHOUT_ID
    assert wrong <= WRONG


@pytest.mark.parametrize("which", first_always(["few", "all"]))
def test_fields_of_a_part_that_no_table_has(
    shared: Path, monkeypatch: pytest.MonkeyPatch, which: str
) -> None:
    def pairs() -> Iterator[tuple[DeviceReport, DeviceReport]]:
        for path in chosen(shared, FEW) if which == "few" else captures(shared):
            known = report(path)
            with monkeypatch.context() as patch:
                without(patch, known.device or "")
                yield known, hidden(path)

    right, wrong = shares(pairs())
    assert right >= RIGHT_WITHOUT_ENTRY - (0.03 if which == "few" else 0)
    assert wrong <= WRONG


@pytest.mark.parametrize("which", first_always(["few", "all"]))
def test_nothing_contradicts_the_part_of_a_driver_of_the_tables(shared: Path, which: str) -> None:
    for path in chosen(shared, FEW) if which == "few" else captures(shared):
        if path.name.removesuffix(".rd.gz") not in OLDER:
            found = report(path)
            assert found.misfits == [], path.name
            assert found.device in found.fitting, path.name


def test_an_older_driver_has_other_magic_registers(shared: Path) -> None:
    (path,) = chosen(shared, ["fd-clouds"])
    found = report(path)
    assert found.device == "630"
    assert found.fitting == []
    assert found.misfits == ["TPL1_DBG_ECO_CNTL", "RB_DBG_ECO_CNTL", "UCHE_UNKNOWN_0E12"]
    facts = {each.name: each for each in found.facts}
    wrong = facts["TPL1_DBG_ECO_CNTL"]
    assert (wrong.value, wrong.expected, wrong.kind) == ("0x100000", "0x108000", "magic")
    assert [place.gpuaddr for place in wrong.packets] == [0x1D9103C]
    assert facts["num_ccu"].fits is None


def test_an_unknown_part_is_described_by_its_registers_and_tiles(samples: Path) -> None:
    found = report(samples / "a6xx-unknown-device.rd")
    assert (found.device, found.edition, found.fitting) == (None, None, [])
    values = {each.name: (each.value, each.rule, each.certainty) for each in found.facts}
    assert values["gmem_size"] == (768 * 1024, "formula", "likely")
    assert values["num_ccu"] == (2, "formula", "likely")
    assert values["gmem_ccu_offset"] == (0xB8000, "register", "certain")
    assert values["tile_align_w"] == (96, "trial", "likely")
    assert values["tile_align_h"] == (16, "trial", "likely")
    assert values["num_vsc_pipes"] == (32, "register", "certain")
    assert values["SP_DBG_ECO_CNTL"] == ("0x2000000", "register", "certain")
    assert all(each.packets for each in found.facts)
    assert all((each.expected, each.fits) == (None, None) for each in found.facts)


def test_magic_registers_of_another_part_do_not_fit(samples: Path) -> None:
    found = report(samples / "a6xx-unknown-device.rd", "660")
    assert found.device == "660"
    assert set(found.misfits) == {
        "gmem_size",
        "num_ccu",
        "gmem_ccu_offset",
        "PC_POWER_CNTL",
        "TPL1_DBG_ECO_CNTL",
        "SP_DBG_ECO_CNTL",
    }


@pytest.mark.parametrize("name", ["a6xx-unknown-device", "a830-frame-gmem", "a430-depth-good"])
def test_damaged_captures_have_a_report(samples: Path, tmp_path: Path, name: str) -> None:
    data = (samples / f"{name}.rd").read_bytes()
    changed = tmp_path / "changed.rd"
    for number in range(24):
        at = len(data) * (number + 1) // 25
        mutant = bytearray(data[:at] if number % 2 else data)
        mutant[at // 2] ^= 0xFF
        changed.write_bytes(mutant)
        with suppress(CffpyError):
            assert all(each.value is None or each.rule for each in report(changed).facts)


def test_a_file_without_commands_has_no_values(shared: Path) -> None:
    found = report(shared / "captures" / "edge-empty.rd.gz")
    assert [each.value for each in found.facts] == [None] * len(found.facts)
    found = report(shared / "captures" / "edge-truncated-mid-section.rd.gz")
    assert found.device == "660"
