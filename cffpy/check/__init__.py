# SPDX-License-Identifier: MIT
"""Lints: rules that find errors, waste and suspicious state in a capture (``cffpy check``).

``model.py`` has what a lint is and reports; ``runner.py`` walks a capture once and runs the lints
over what was collected; ``registry.py`` has all lints, also lints of other packages; ``lints/`` has
a file for each topic, with the facts that only its lints read. ``draw_states.py`` has the facts
that lints of several topics read.
"""
