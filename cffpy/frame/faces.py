# SPDX-License-Identifier: MIT
"""The faces of facts: documents, schemas, columns and rows, names in filters.

Each is a walk over the declarations of a model (``cffpy.frame.facts``) by the rules of
``cffpy.frame.forms``. What is made of a model once is kept with it.
"""

from __future__ import annotations

from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

from cffpy.frame.facts import Fact, Model, model_of
from cffpy.frame.forms import Form, form_of
from cffpy.frame.shared_documents import KnownParts

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    _Object = TypeVar("_Object")
    Read = Callable[[Any], Any]
    _MakeDocument = Callable[[object, KnownParts | None], dict[str, Any]]
    _Convert = Callable[[Any, KnownParts | None], Any]

# -- documents ------------------------------------------------------------------------------------


def facts_document(one: object, large: tuple[str, ...] = ()) -> dict[str, Any]:
    """An object as JSON shows it: each of its facts; of ``large`` ones those that are named."""
    return _document_of(model_of(type(one)), large)(one, None)


def facts_documents(
    objects: Iterable[_Object], large: Callable[[_Object], tuple[str, ...]] | None = None
) -> Iterator[dict[str, Any]]:
    """The documents of many objects. They share parts, which must not be changed.

    ``large``: names of the large facts that an object is shown with.
    """
    known = KnownParts()
    for one in objects:
        shown = () if large is None else large(one)
        yield _document_of(model_of(type(one)), shown)(one, known)


@cache
def _document_of(model: Model, large: tuple[str, ...] = ()) -> _MakeDocument:
    """What makes the documents of a model: all facts are read at once, then some are converted."""
    facts = [one for one in model.facts if one.cost != "large" or one.name in large]
    titles = [shown_name(model, one) for one in facts]
    read = _reader_of_all(facts)
    converted = [
        (title, convert)
        for title, convert in zip(titles, map(_converter, facts), strict=True)
        if convert is not None
    ]

    def make(one: object, known: KnownParts | None) -> dict[str, Any]:
        found = dict(zip(titles, read(one), strict=True))
        for title, convert in converted:
            value = found[title]
            if value is not None:
                found[title] = convert(value, known)
        return found

    return make


def _reader_of_all(facts: list[Fact]) -> Callable[[Any], tuple[Any, ...]]:
    """What reads the values of all these facts of an object."""
    if len(facts) == 1:
        get = facts[0].get
        return lambda one: (get(one),)
    return attrgetter(*[one.attribute for one in facts])


def shown_name(model: Model, one: Fact) -> str:
    """The key goes by the model's word, as where other objects refer to it."""
    return model.word if one.is_key else one.name


def _converter(one: Fact) -> _Convert | None:
    """What makes the JSON value of a fact's value that is not None; None: it is that value."""
    form = form_of(one)
    if form.is_mapping:
        return _documents_by_key
    if form.kind == "object":
        return _documents if form.is_list else _document
    convert = hex if form.kind == "address" else form.key if form.kind == "reference" else None
    if form.is_list:
        return _list_converter(convert)
    return None if convert is None else _alone(convert)


def _alone(convert: Read) -> _Convert:
    return lambda value, known: convert(value)


def _list_converter(convert: Read | None) -> _Convert:
    if convert is None:
        return lambda values, known: list(values)
    make = convert
    return lambda values, known: [None if value is None else make(value) for value in values]


def _document(value: object, known: KnownParts | None) -> Any:  # noqa: ANN401
    """The document of an object within another one."""
    if known is None:
        return _document_of(model_of(type(value)))(value, None)
    part = known.get(value)
    return (
        known.add(value, _document_of(model_of(type(value)))(value, known))
        if part is None
        else part
    )


def _documents(values: Any, known: KnownParts | None) -> Any:  # noqa: ANN401
    """The documents of several objects. A tuple, which nobody changes, is one part."""
    if known is None or type(values) is not tuple:
        return [None if value is None else _document(value, known) for value in values]
    part = known.get(values)
    if part is None:
        made = [_document_of(model_of(type(value)))(value, known) for value in values]
        part = known.add(values, made)
    return part


def _documents_by_key(values: Mapping[str, object], known: KnownParts | None) -> Any:  # noqa: ANN401
    """The documents of a mapping of objects."""
    return {name: _document(value, known) for name, value in values.items()}


# -- schemas --------------------------------------------------------------------------------------

_JSON_TYPES: dict[str, str | list[str]] = {
    "integer": "integer",
    "number": "number",
    "flag": "boolean",
    "text": "string",
    "scalar": ["integer", "string"],
    "word": "string",
    "address": "string",
    "bits": "integer",
    "reference": "integer",
}


def schema(model: Model, definitions: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of a model's documents; models that it names go to ``definitions``.

    ``large`` facts may be absent.
    """
    properties = {shown_name(model, one): _property(one, definitions) for one in model.facts}
    large = {shown_name(model, one) for one in model.facts if one.cost == "large"}
    return {
        "type": "object",
        "description": sentence((model.of.__doc__ or "").partition("\n\n")[0]),
        "properties": properties,
        "required": [name for name in properties if name not in large],
        "additionalProperties": False,
    }


def _property(one: Fact, definitions: dict[str, Any]) -> dict[str, Any]:
    form = form_of(one)
    shown = _value_schema(form, definitions, is_open=bool(one.enums))
    if form.is_list:
        shown = {"type": "array", "items": shown}
    if form.is_mapping:
        shown = {"type": "object", "additionalProperties": shown}
    if form.is_optional:
        shown = _or_null(shown)
    return {"description": told(one), **shown}


def told(one: Fact) -> str:
    """The meaning of a fact with its unit, as a sentence."""
    meaning = sentence(one.meaning)
    return f"{meaning} In {one.unit}." if one.unit else meaning


def sentence(text: str) -> str:
    """A text that begins with a capital letter and ends with a full stop."""
    text = " ".join(text.replace("``", "").split())
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?")) else f"{text}."


def _value_schema(form: Form, definitions: dict[str, Any], is_open: bool) -> dict[str, Any]:
    """``is_open``: a text may have other values than the words of its form."""
    if form.kind == "object":
        name = form.parts.of.__name__
        if name not in definitions:
            definitions[name] = {}  # it may refer to itself
            definitions[name] = schema(form.parts, definitions)
        shown: dict[str, Any] = {"$ref": f"#/$defs/{name}"}
    elif form.kind == "address":
        shown = {"type": "string", "pattern": "^0x[0-9a-f]+$"}
    elif form.kind == "word" or (form.words and not is_open):
        shown = {"enum": list(form.words)}
    else:
        shown = {"type": _JSON_TYPES[form.kind]}
        if form.kind == "reference":
            shown["minimum"] = 0
    return _or_null(shown) if form.has_gaps else shown


def _or_null(shown: dict[str, Any]) -> dict[str, Any]:
    if "type" in shown and "pattern" not in shown and "minimum" not in shown:
        types = shown["type"] if isinstance(shown["type"], list) else [shown["type"]]
        return {**shown, "type": [*types, "null"]}
    if "enum" in shown:
        return {"enum": [*shown["enum"], None]}
    return {"anyOf": [shown, {"type": "null"}]}


# -- tables ---------------------------------------------------------------------------------------


class Column(NamedTuple):
    """A column of a table. ``type``: "text", "integer", "address", "real" or "flag"."""

    name: str
    type: str
    meaning: str
    read: Read


_COLUMN_TYPES = {
    "integer": "integer",
    "number": "real",
    "flag": "flag",
    "text": "text",
    "scalar": "text",
    "word": "text",
    "address": "address",
    "bits": "address",
    "reference": "integer",
}


@cache
def columns(model: Model) -> tuple[Column, ...]:
    """The columns of a model's table: its facts, and the parts of these with both names.

    What has a table of its own has no column; ``large`` facts neither.
    """
    return tuple(_columns(model, "", "", lambda one: one))


def _columns(model: Model, prefix: str, before: str, owner: Read) -> Iterator[Column]:
    for one in model.facts:
        form = form_of(one)
        name = f"{prefix}{shown_name(model, one)}"
        meaning = f"{before}{one.meaning.rstrip('.')}{f', in {one.unit}' if one.unit else ''}"
        if one.cost == "large" or _has_table(form):
            continue
        read = _chained(owner, one.get)
        if form.is_list:
            joined = _JOINED.get(form.kind, _joined)
            yield Column(name, "text", meaning, _chained(read, joined))
        elif form.kind == "object":
            yield from _columns(form.parts, f"{name}_", f"{meaning}: ", read)
        elif form.kind in _CELLS:
            yield Column(name, _COLUMN_TYPES[form.kind], meaning, _chained(read, _CELLS[form.kind]))
        elif form.kind == "reference":
            yield Column(name, "integer", meaning, _chained(read, form.key))
        else:
            yield Column(name, _COLUMN_TYPES[form.kind], meaning, read)


def _has_table(form: Form) -> bool:
    """Whether values are things, which have a table of their own."""
    return form.is_mapping or (form.is_list and form.model is not None and not form.model.is_value)


def _chained(first: Read, then: Read) -> Read:
    def read(one: object) -> Any:  # noqa: ANN401
        value = first(one)
        return None if value is None else then(value)

    return read


def _joined(values: Any) -> str | None:  # noqa: ANN401
    if None in values:
        values = ["?" if value is None else value for value in values]
    return " ".join(map(str, values)) or None


def _sentences(values: Any) -> str | None:  # noqa: ANN401
    return "; ".join(values) or None


def _hexadecimals(values: Any) -> str | None:  # noqa: ANN401
    return " ".join("?" if value is None else hex(value) for value in values) or None


#: What makes the cell of one value.
_CELLS: Mapping[str, Read] = {"number": float, "scalar": str}

#: What makes one text of a list.
_JOINED: Mapping[str, Read] = {"text": _sentences, "address": _hexadecimals}


def row(one: object) -> tuple[object, ...]:
    """The values of ``columns`` of an object."""
    return tuple(_cells_of(model_of(type(one)))(one))


@cache
def _cells_of(model: Model) -> Callable[[Any], list[Any]]:
    """What makes the row of an object: all facts are read at once, then some are converted."""
    facts = [one for one in model.facts if one.cost != "large" and not _has_table(form_of(one))]
    read = _reader_of_all(facts)
    makers = [(number, *_cell_maker(one)) for number, one in enumerate(facts)]
    # from the last one on: several cells of a fact move those behind it
    converted = [one for one in reversed(makers) if one[1] is not None]

    def make(one: object) -> list[Any]:
        cells = list(read(one))
        for number, convert, nothing in converted:
            value = cells[number]
            if nothing is not None:
                cells[number : number + 1] = nothing if value is None else convert(value)
            elif value is not None:
                cells[number] = convert(value)
        return cells

    return make


def _cell_maker(one: Fact) -> tuple[Any, list[None] | None]:
    """What makes the cell of a value, if it is another one; or its cells, and those of None."""
    form = form_of(one)
    if form.is_list:
        return _JOINED.get(form.kind, _joined), None
    if form.kind == "object":
        return _cells_of(form.parts), [None] * len(columns(form.parts))
    return (form.key if form.kind == "reference" else _CELLS.get(form.kind)), None


# -- filters --------------------------------------------------------------------------------------


class Named(NamedTuple):
    """A name in filters, ``tile.rectangle.left``, and how an object's value is read.

    ``kind``: "number", "text" or "bool". ``words``: all values that a text may have, () for any;
    ``enums``: see ``Fact``. ``is_many``: ``read`` returns a list.
    """

    name: str
    kind: str
    meaning: str
    read: Read
    words: tuple[str, ...] = ()
    is_many: bool = False
    is_hexadecimal: bool = False
    enums: tuple[str, ...] = ()


_FILTER_KINDS = {
    "integer": "number",
    "number": "number",
    "flag": "bool",
    "text": "text",
    "scalar": "text",
    "word": "text",
    "address": "number",
    "bits": "number",
    "reference": "number",
}


@cache
def names(model: Model, prefix: str = "") -> tuple[Named, ...]:
    """The names of a model's facts in filters, and of the parts of these.

    ``prefix``: the first word of each, by default the model's. A fact of this name is the object's
    own number: it goes by its name in Python, as in ``draw.number``.
    """
    return tuple(_names(model, prefix or model.word, None, is_many=False))


def _names(model: Model, prefix: str, owner: Read | None, is_many: bool) -> Iterator[Named]:
    for one in model.facts:
        form = form_of(one)
        if form.is_mapping:
            continue  # its objects go by names of their own
        shown = one.attribute if one.name == prefix else one.name
        name, several = f"{prefix}.{shown}", is_many or form.is_list
        read = one.get if owner is None else _chained(owner, one.get)
        if is_many and owner is not None:
            read = _of_each(owner, one.get, form.is_list)
        elif form.is_list:
            read = _all(read)
        if form.kind == "object":
            yield from _names(form.parts, name, read, several)
            continue
        if form.kind in ("reference", "scalar"):
            key = form.key if form.kind == "reference" else str
            read = _of_each(read, key, False) if several else _chained(read, key)
        kind, is_hexadecimal = _FILTER_KINDS[form.kind], form.kind in ("address", "bits")
        yield Named(name, kind, one.meaning, read, form.words, several, is_hexadecimal, one.enums)


def _all(get: Read) -> Read:
    """A list, empty instead of None."""

    def read(one: object) -> list[Any]:
        return list(get(one) or ())

    return read


def _of_each(owners: Read, get: Read, is_list: bool) -> Read:
    """Of each owner its value, or the values of its list."""

    def read(one: object) -> list[Any]:
        found: list[Any] = []
        for owner in owners(one) or ():
            value = None if owner is None else get(owner)
            if is_list:
                found.extend(value or ())
            else:
                found.append(value)
        return found

    return read
