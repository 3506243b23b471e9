# SPDX-License-Identifier: MIT
"""State of another pass, of an earlier submit or of nobody: lints and ``state --stale`` agree."""

from __future__ import annotations

from pathlib import Path

import pytest

import cffpy
from tests.check.texts import sample

#: The kinds of findings that are about state of others.
LINTS = ("CFF003", "CFF004", "CFF051")

#: Captures with such state besides loads of the first tile of a5xx; what is stale there. Mesa's
#: fd4_emit_sysmem_prep describes no depth buffer.
KNOWN = {"a430-gl-scene60-sysmem.rd.gz": {"RB_DEPTH_INFO", "RB_DEPTH_PITCH", "RB_DEPTH_PITCH2"}}

#: Names of captures of other GPUs than a5xx.
OTHERS = ("a2*", "a3*", "a4*", "a6*", "a7*", "[!a]*")

#: What Mesa's a5xx driver writes after the loads of the first tile.
SAMPLES_OF_A_PASS = {
    f"{block}_{name}_MSAA_CNTL"
    for block in ("RB", "GRAS_SC", "TPL1_TP")
    for name in ("RAS", "DEST")
}


@pytest.mark.parametrize(
    ("name", "stale"),
    [
        ("CFF003-quiet", set()),
        ("CFF003-fires", {"GRAS_SC_SCREEN_SCISSOR[0].TL", "RB_MRT[0].BASE"}),
        ("CFF004-quiet", set()),
        ("CFF004-fires", {"GRAS_CL_VPORT[0].XSCALE"}),
        ("CFF051-quiet", set()),
        ("CFF051-fires", {"GRAS_SC_SCREEN_SCISSOR[0].TL", "RB_MRT[0].BASE"}),
    ],
)
def test_the_state_of_a_draw_has_what_the_lints_name(name: str, stale: set[str]) -> None:
    with cffpy.open(cffpy.compile(sample(name))) as capture:
        state = capture.draws[-1].state
        names = {value.name for value in state.stale}
        assert stale <= names if stale else not names
        assert names <= {value.name for value in state.reads}
        findings = capture.check(select=LINTS)
        assert bool(findings) is bool(stale)


@pytest.mark.parametrize(
    "pattern", ["a5*", *(pytest.param(name, marks=pytest.mark.slow) for name in OTHERS)]
)
def test_captures_of_drivers_have_no_stale_state_but_what_is_known(
    shared: Path, pattern: str
) -> None:
    paths = sorted((shared / "captures").glob(f"{pattern}.rd.gz"))
    assert paths
    for path in paths:
        with cffpy.open(path) as capture:
            findings = capture.check(select=LINTS)
            loading = {
                pass_.index
                for pass_ in capture.passes
                if pass_.tiles and any(one.kind == "load" for one in pass_.tiles[0].operations)
            }
            is_a5xx = capture.gpu is not None and capture.gpu.generation == 5
            of_loads = [one for one in findings if one.text.startswith("load in tile 0: ")]
            assert {one.pass_.index for one in of_loads if one.pass_} == (
                loading if is_a5xx else set()
            )
            for finding in of_loads:
                assert "RB_RAS_MSAA_CNTL" in finding.text
            if is_a5xx:
                for index in sorted(loading):
                    load = next(one for one in capture.passes[index].tiles[0].operations)
                    names = {value.name for value in load.action.state.stale}
                    assert names == SAMPLES_OF_A_PASS
            others = [one for one in findings if one not in of_loads]
            known = KNOWN.get(path.name, set())
            assert bool(others) is bool(known), [one.text for one in others]
            for finding in others:
                assert finding.draw is not None
                assert {value.name for value in finding.draw.state.stale} == known
