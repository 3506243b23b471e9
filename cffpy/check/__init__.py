# SPDX-License-Identifier: MIT
"""Lints: rules that find errors, waste and suspicious state in a capture (``cffpy check``).

``model.py`` has what a lint is and reports; ``runner.py`` walks a capture once and runs the lints
over what was collected; ``registry.py`` has all lints, also those of other packages; ``facts/``
has what observers collect, ``lints/`` one file for each rule.
"""
