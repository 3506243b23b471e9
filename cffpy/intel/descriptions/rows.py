# SPDX-License-Identifier: MIT
"""The compiled form of Intel's descriptions: plain tuples, read through marshal.

Parts: ``overview`` (generation names and their parts), ``devices`` (PCI id -> name, verx10),
``formats`` (number -> name of a surface format) and one part for each generation, named by its
verx10: a dict of ``name``, ``verx10``, ``instructions`` (group rows in the order of look-up),
``structs`` and ``registers`` (name -> group row) and ``by_offset`` (register offset -> name).

A **group row** is ``(name, length, bias, engines, length bits, mask, opcode, offset, members)``:
``length`` in dwords or None; ``engines`` a mask of ENGINE_BITS; ``length bits`` the lowest and the
highest bit of the field "DWord Length", or None; ``offset`` a register's. ``members`` is marshal
separate data, read when the group is first used: a tuple, in the order of printing, of

- fields ``(name, low, high, kind, argument, values, is_opcode)``: ``argument`` is the number of
  integer and fraction bits of a fixed-point number, or the name of a struct; ``values`` are pairs
  of number and name; ``is_opcode`` is true where the bits overlap the opcode's mask,
- repeats ``(None, start, count, size, members)``.
"""

from __future__ import annotations

SCHEMA = 2

OVERVIEW = "overview"
DEVICES = "devices"
FORMATS = "formats"

ENGINE_BITS = {"render": 1, "compute": 2, "video": 4, "blitter": 8}
ALL_ENGINES = 15

INT = 0
UINT = 1
BOOL = 2
FLOAT = 3
ADDRESS = 4
OFFSET = 5
UFIXED = 6
SFIXED = 7
STRUCT = 8
ENUM = 9
MBO = 10
MBZ = 11

BUILTIN = {
    "int": INT,
    "uint": UINT,
    "bool": BOOL,
    "float": FLOAT,
    "address": ADDRESS,
    "offset": OFFSET,
    "mbo": MBO,
    "mbz": MBZ,
}
