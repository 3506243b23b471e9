# SPDX-License-Identifier: MIT
"""Instruction sets: bytes of a shader in, the reference's text out; and text back to bits.

No state of captures here. The descriptions lie in register_db/isa, their language in
grammars/isa.lark; register_db/isa/README.md explains it.
"""
