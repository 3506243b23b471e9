# SPDX-License-Identifier: MIT
"""The shaders of a capture as a JSON document."""

from __future__ import annotations

from typing import Annotated, TypedDict

from cffpy.document_types import Facts, Of

SCHEMA = "cffpy.disasm-all/1"


class ShadersDocument(TypedDict):
    """Shaders of a capture: cffpy disasm --all --json."""

    file: Annotated[str, "the capture"]
    shaders: Annotated[
        list[Facts], "the distinct programs by first use", Of("cffpy.frame.shader:CapturedShader")
    ]
    left_out: Annotated[int, "programs that are not listed, because there were too many"]
