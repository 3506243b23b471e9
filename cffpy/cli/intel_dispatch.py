# SPDX-License-Identifier: MIT
"""Commands that take Intel captures, too: THE place where a command turns to its Intel form.

A command opens its file as a capture of an Adreno GPU. What recognises files raises IntelFileError
for a file of Intel; then the function of the same name in intel_commands.py runs, with the file and
the command's options.
"""

from __future__ import annotations

from dataclasses import replace
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from cffpy.container.open import Content
from cffpy.editions.folders import AUTO
from cffpy.errors import IntelFileError

if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.api.capture import Capture
    from cffpy.cli.question import Question

    _Command = Callable[..., int]
    _Decorated = TypeVar("_Decorated", bound=_Command)

#: Options that every command takes for Intel captures.
_SHARED = ("register_db",)


def or_intel(*options: str) -> Callable[[_Decorated], _Decorated]:
    """The function that follows is for Adreno; for Intel that of its name in intel_commands.py.

    ``options``: parameters that mean something for Intel captures; others are refused. This
    decorator stands next to the function, below click's.
    """

    def decorate(function: _Decorated) -> _Decorated:
        @wraps(function)
        def run(question: Question, **given: Any) -> int:  # noqa: ANN401
            try:
                return function(question, **given)
            except IntelFileError as found:
                content = found.content
            assert isinstance(content, Content)
            _refuse_others(content, options)
            from cffpy.cli import intel_commands

            if question.register_db == AUTO:
                question = replace(question, register_db=None)  # one edition describes Intel GPUs
            action: _Command = getattr(intel_commands, function.__name__)
            return action(content, question, **given)

        return run  # type: ignore[return-value]

    return decorate


def refuse_for_intel(capture: Capture, *options: str) -> None:
    """Raise UsageError for an option that was given and means nothing for Intel captures."""
    if capture.intel is None:
        return
    from cffpy.cli.intel_commands import check_edition

    context = click.get_current_context()
    edition = context.params.get("register_db")
    check_edition(None if edition == AUTO else edition)
    for parameter in context.command.params:
        name = parameter.name or ""
        if name in options and context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            raise _refused(parameter, capture.name)


def _refused(parameter: click.Parameter, name: str) -> click.UsageError:
    option = max(parameter.opts, key=len)
    return click.UsageError(f"{option} does not apply to Intel captures ({name})")


def _refuse_others(content: Content, options: tuple[str, ...]) -> None:
    """Raise UsageError for an option that was given and means nothing for Intel captures."""
    context = click.get_current_context()
    for parameter in context.command.params:
        name = parameter.name or ""
        if not isinstance(parameter, click.Option) or not parameter.expose_value:
            continue
        if name in options or name in _SHARED:
            continue
        if context.get_parameter_source(name) == ParameterSource.COMMANDLINE:
            raise _refused(parameter, content.name)
