# SPDX-License-Identifier: MIT
"""Instruction sets: shader binaries to the reference's text, and text to binaries.

No state of captures here. The descriptions lie in register_db/isa, their language in
grammars/isa.lark; register_db/isa/README.md explains it.
"""
