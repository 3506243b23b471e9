# SPDX-License-Identifier: MIT
"""Concurrency: whether the pipe BV of a7xx bins a pass while BR renders the one before.

Facts: turnip of October 2025. CP_THREAD_CONTROL says which pipe executes what follows; with
CONCURRENT_BIN_DISABLE, BR executes all. A pass that may bin concurrently begins with
CP_MODIFY_TIMESTAMP. A predicate then says whether it does: CP_REG_TEST sets it, and sets it again
under a comparison of time stamps where only the GPU knows whether BV is ahead.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from cffpy.pm4.fields import Fields

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from cffpy.analysis.walk import Walk
    from cffpy.cp.sink import Payload
    from cffpy.frame.passes import Concurrent

_THREAD_CONTROL = Fields("CP_THREAD_CONTROL", "CONCURRENT_BIN_DISABLE")


class Concurrency:
    """Follows the packets that say which pipe executes what follows."""

    def __init__(self, walk: Walk) -> None:
        self._walk = walk
        #: Whether BV executes anything; None: no CP_THREAD_CONTROL has come.
        self._is_concurrent: bool | None = None
        #: Since the last pass began, a test or a change of pipes stood under an unknown condition.
        self._is_open = False

    def packet_handlers(self) -> Mapping[str, Callable[[Payload], None]]:
        """Handlers of these packets."""
        return {
            "CP_THREAD_CONTROL": self._thread_control,
            "CP_MODIFY_TIMESTAMP": self._modify_timestamp,
            "CP_REG_TEST": self._test,
        }

    def at_binning(self) -> Concurrent | None:
        """What holds for the binning run that begins; None where the stream names no pipes."""
        if self._is_concurrent is None:
            return None
        if not self._is_concurrent:
            return "no"
        return "decided by the GPU" if self._is_open else "yes"

    def _thread_control(self, payload: Payload) -> None:
        (is_disabled,) = payload.read(self._walk.machine.packets[_THREAD_CONTROL])
        if self._walk.condition is None:
            self._is_concurrent = not is_disabled
            self._is_open &= not is_disabled
        elif is_disabled:
            self._is_open = True

    def _modify_timestamp(self, payload: Payload) -> None:
        self._is_open = False

    def _test(self, payload: Payload) -> None:
        self._is_open |= self._walk.condition is not None
