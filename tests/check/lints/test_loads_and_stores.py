# SPDX-License-Identifier: MIT
"""Loads, clears, stores and resolves."""

from __future__ import annotations

import pytest

from tests.check.texts import checked_text, sample


@pytest.mark.parametrize("block", ["second", "stores"])
def test_samples_that_are_not_stored_or_not_loaded(block: str) -> None:
    """turnip has the commands of both modes in one IB, of which one is executed."""
    head, begins, rest = sample("CFF041-fires").partition(f"commands {block} ")
    event = "CP_EVENT_WRITE EVENT=BLIT"
    for mode, count in (("GMEM", 1), ("SYSMEM", 0)):
        condition = f"CP_COND_REG_EXEC {mode} MODE=RENDER_MODE DWORDS=2\n{event}"
        text = head + begins + rest.replace(event, condition, 1)
        assert len(checked_text(text, "CFF041").findings) == count


def test_samples_that_are_replaced_before_they_are_loaded() -> None:
    """The pass between clears and stores the same image: its store is loaded, not the first."""
    text = sample("CFF041-fires")
    load = "TYPE=BLIT_EVENT_LOAD"
    assert text.count(load) == 1
    mark = "    CP_EVENT_WRITE EVENT=LRZ_FLUSH\n"
    first, second = text.split(mark)
    second, blocks = second.split("  }\n", 1)
    between = second.replace("IB_BASE=second IB_SIZE=sizeof(second)", "IB_BASE=cleared IB_SIZE=12")
    commands, load_block = blocks.split("  commands second ", 1)
    body = load_block.partition("{\n")[2].partition("  }\n")[0]
    cleared = f"  commands cleared {{\n{body.replace(load, 'TYPE=BLIT_EVENT_CLEAR')}  }}\n"
    cleared = cleared.replace("IB_SIZE=12", "IB_SIZE=sizeof(cleared)")
    between = between.replace("IB_SIZE=12", "IB_SIZE=sizeof(cleared)")
    text = f"{first}{mark}{between}{mark}{second}  }}\n{commands}  commands second {load_block}"
    end = text.rindex("}\n\nstream main")
    (found,) = checked_text(f"{text[:end]}{cleared}{text[end:]}", "CFF041").findings
    assert found._first.pass_ is not None
    assert found._first.pass_.index == 1
    assert found._first.text == "color 0 is stored with 4 samples, and loaded by pass 2"
