# SPDX-License-Identifier: MIT
"""Opens captures and crash dumps; the content tells the format."""

from __future__ import annotations

from cffpy.container import kinds

TYPE_CHECKING = False
if TYPE_CHECKING:
    from cffpy.container.open import Content


def check_capture(content: Content) -> Content:
    """The content of a capture; of a crash dump, of the capture that it holds.

    Raises ContainerError for other files. Damaged and empty captures pass: they are reported by the
    commands.
    """
    capture = as_capture(content)
    return kinds.check_capture(content) if capture is content else capture


def as_capture(content: Content) -> Content:
    """A crash dump as the capture that it holds; any other content as it is."""
    if not content.may_be_crash_dump:
        return content
    if not kinds.is_crash_dump(content.data):
        return content
    from cffpy.analysis.crash.position import opened

    return opened(content)
