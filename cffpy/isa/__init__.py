# SPDX-License-Identifier: MIT
"""Instruction sets: disassembles shader binaries as cffdump does, and assembles ir3 text.

This package does not depend on captures. The descriptions are in register_db/isa, the grammar of
their language in grammars/isa.lark; ``cffpy help descriptions`` documents it.
"""
