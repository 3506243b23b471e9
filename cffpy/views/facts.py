# SPDX-License-Identifier: MIT
"""All facts of all objects of a capture, for people: ``cffpy help facts``, the reference."""

from __future__ import annotations

from textwrap import fill
from typing import TYPE_CHECKING

from cffpy.frame.documents import class_at
from cffpy.frame.faces import form_of, sentence, shown_name, told
from cffpy.frame.facts import model_of
from cffpy.views.plain_text import Styled, headed_columns

if TYPE_CHECKING:
    from collections.abc import Iterator

    from cffpy.frame.faces import Form
    from cffpy.frame.facts import Fact, Model

#: Objects that users ask for; others are parts of these.
_OBJECTS = (
    "cffpy.analysis.summary:CaptureSummary",
    "cffpy.frame.submit:Submit",
    "cffpy.frame.submit:Stream",
    "cffpy.frame.submit:Buffer",
    "cffpy.frame.passes:Pass",
    "cffpy.frame.passes:Tile",
    "cffpy.frame.action:Action",
    "cffpy.frame.attachment:Attachment",
    "cffpy.frame.binding:Binding",
    "cffpy.frame.register_state:RegisterState",
    "cffpy.frame.shader:CapturedShader",
    "cffpy.frame.passes:Operation",
    "cffpy.frame.visibility:PassVisibility",
    "cffpy.analysis.lrz:PassLrz",
    "cffpy.analysis.pass_cost:PassCost",
    "cffpy.frame.render_mode:ModeChoice",
    "cffpy.frame.barrier:Barrier",
    "cffpy.check.model:Finding",
    "cffpy.analysis.layout_check.checks:LayoutCheck",
    "cffpy.views.image:ShownImage",
    "cffpy.views.image:WrittenPicture",
    "cffpy.image.layout:ImageRequest",
    "cffpy.image.layout:ImageLayout",
    "cffpy.image.layout:LrzLayout",
    "cffpy.image.gmem:Tiling",
    "cffpy.views.layout:DriverLayout",
    "cffpy.analysis.crash.model:CrashReport",
    "cffpy.analysis.diff.model:Entry",
    "cffpy.frame.submit:Problem",
)

_WIDTH = 96


def models() -> list[Model]:
    """The models of all objects, each followed by the models of its parts that are new."""
    known: dict[str, Model] = {}
    for path in _OBJECTS:
        _collect(model_of(class_at(path)), known)
    return list(known.values())


def _collect(model: Model, known: dict[str, Model]) -> None:
    name = model.of.__name__
    if name in known:
        return
    known[name] = model
    for fact in model.facts:
        form = form_of(fact)
        if form.kind == "object":
            _collect(form.parts, known)


def named(word: str) -> list[Model]:
    """The models of a name: "tile" or "Tile", "pass.bin_size", or the name of a fact."""
    wanted = word.lower()
    known = models()
    exact = [model for model in known if wanted in (model.word, model.of.__name__.lower())]
    if exact:
        return exact
    owner, _, fact = wanted.rpartition(".")
    return [
        model
        for model in known
        if owner in ("", model.word) and fact in {shown_name(model, each) for each in model.facts}
    ]


def table() -> list[str]:
    """A line for each object."""
    rows = [
        (model.word, model.of.__name__, str(len(model.facts)), _about(model)) for model in models()
    ]
    return headed_columns([("object", "class", "facts", "is"), *rows], (2,))


def lines(model: Model, only: str = "") -> Iterator[str]:
    """An object, and each fact of it with type, unit and meaning. ``only``: this fact."""
    yield Styled(f"{model.word}: {_about(model)}")
    for fact in model.facts:
        if only in ("", shown_name(model, fact)):
            head = f"  {shown_name(model, fact)} ({type_text(fact)}): {told(fact)}"
            yield from fill(head, _WIDTH, subsequent_indent="      ").splitlines()


def page() -> Iterator[str]:
    """The page of the reference, as Markdown."""
    for model in models():
        yield f"### {model.word}\n"
        yield f"{_about(model)}\n"
        yield "| fact | type | |\n| --- | --- | --- |"
        for fact in model.facts:
            yield f"| `{shown_name(model, fact)}` | {type_text(fact)} | {told(fact)} |"
        yield ""


def _about(model: Model) -> str:
    return sentence((model.of.__doc__ or "").partition("\n\n")[0])


def type_text(fact: Fact) -> str:
    """The type of a fact in words: "number of a pass", "one of: sysmem, gmem"."""
    form = form_of(fact)
    text = _kind_text(form)
    if form.is_mapping:
        return f"{text} by its name"
    return f"list of {text}" if form.is_list else text


def _kind_text(form: Form) -> str:
    if form.kind == "word":
        return f"one of: {', '.join(word or 'empty' for word in form.words)}"
    if form.kind == "reference":
        return f"number of a {form.parts.word}"
    if form.kind == "object":
        return form.parts.word
    return {"flag": "yes or no", "number": "real"}.get(form.kind, form.kind)
