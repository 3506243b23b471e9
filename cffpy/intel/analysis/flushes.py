# SPDX-License-Identifier: MIT
"""PIPE_CONTROL as text: which caches are flushed or invalidated, what is waited for."""

from __future__ import annotations

from cffpy.intel.descriptions import rows

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.intel.decoder.groups import Command

FLUSHES = frozenset(("PIPE_CONTROL", "RESOURCE_BARRIER", "MI_FLUSH", "MI_FLUSH_DW"))
"""Instructions that flush, invalidate or wait."""

#: Field -> what it does.
_WORDS = {
    "Command Streamer Stall Enable": "stall the command streamer",
    "Stall At Pixel Scoreboard": "stall at the pixel scoreboard",
    "Depth Stall Enable": "stall for depth",
    "Pipe Control Flush Enable": "wait for earlier flushes",
    "Notify Enable": "interrupt the CPU",
    "Indirect State Pointers Disable": "disable indirect state pointers",
    "Generic Media State Clear": "clear media state",
    "TLB Invalidate": "invalidate the TLBs",
    "Instruction Cache Invalidate Enable": "invalidate the instruction cache",
    "PSS Stall Sync Enable": "wait for pixel shaders to be dispatched",
    "Depth Stall Sync Enable": "synchronise depth stalls",
    "DC Flush Enable": "flush the data cache",
    "HDC Pipeline Flush Enable": "flush the data port pipeline (HDC)",
    "Flush LLC": "flush the last level cache",
    "Global Snapshot Count Reset": "reset snapshot counters",
}
#: End of a field's name -> what is done to the cache that it begins with.
_ENDS = (
    (" Cache Flush Enable", "flush the {} cache"),
    (" Flush Enable", "flush {}"),
    (" Cache Invalidation Enable", "invalidate the {} cache"),
    (" Invalidation Enable", "invalidate {}"),
)
_CACHES = {
    "VF": "vertex fetch",
    "Render Target": "render target",
    "Depth": "depth",
    "Texture": "texture",
    "State": "state",
    "Constant": "constant",
    "Tile": "tile",
    "Untyped Data Port": "untyped data port",
    "L3 Read Only": "read-only L3",
}


def flush_words(command: Command) -> list[str]:
    """What a command that flushes does, as text; empty where it has no effect."""
    group = command.group
    if group.name != "PIPE_CONTROL":
        return [group.name.lower().replace("_", " ").removeprefix("mi ")]
    header = command.dword(0)
    found = []
    for field in group.fields(group.length_of(header), header):
        if field.kind == rows.BOOL and not field.is_opcode and field.value(command.words):
            found.append(_words(field.name))
    operation = command.text("Post Sync Operation")
    if command.number("Post Sync Operation"):
        text = operation.lower().replace("ps depth count", "PS depth count")
        found.append(f"{text} to {command.number('Address') & ((1 << 48) - 1):#x}")
    return found


def _words(name: str) -> str:
    known = _WORDS.get(name)
    if known is not None:
        return known
    for end, text in _ENDS:
        if name.endswith(end):
            cache = name.removesuffix(end)
            return text.format(_CACHES.get(cache, cache))
    return name[0].lower() + name[1:]
