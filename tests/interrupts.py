# SPDX-License-Identifier: MIT
"""Commands that tests interrupt, wherever the tests run."""

from __future__ import annotations

import signal


def take_interrupts() -> None:
    """Called in a child before it starts its program (``preexec_fn``): SIGINT is not ignored.

    A shell without job control has what it starts in the background ignore SIGINT, and children
    inherit that.
    """
    signal.signal(signal.SIGINT, signal.SIG_DFL)
