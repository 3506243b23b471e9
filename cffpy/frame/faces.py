# SPDX-License-Identifier: MIT
"""The faces of facts: documents, schemas, columns and rows, names in filters, tables in notebooks.

Each face is a walk over the declarations of a model (``cffpy.frame.facts``). What is made of a
model once is kept with it. The form of a fact on each face follows from its type. There is no other
rule:

| type | JSON | tables, CSV | filters |
| --- | --- | --- | --- |
| int, float, bool, str | the value | the value | the value |
| Address | text in hexadecimal | unsigned 64 bits; CSV in hexadecimal | a number |
| Bits | the value | unsigned 64 bits; CSV in hexadecimal | a number |
| int or str | the value | text | text |
| Literal | the word | the word | a word; others are errors |
| a model without a key, such as Size | an object | a column for each part | ``owner.fact.part`` |
| a model with a key, such as Tile | its number | its number | its number |
| Whole of a model with a key | an object | a column for each part | ``owner.fact.part`` |
| a list of values | a list | text, separated by spaces, texts by `; ` | any of them |
| a list of models | a list of objects | a table of their own | any of them |
| a list of one of several models | a list of objects | a table of their own | |
| a mapping | an object by the keys | of models a table of their own | |

None is null, NULL, an empty cell, and unknown in a filter; a document leaves a sparse fact out.

Parts that several documents have in common (``SharedList``, ``SharedObject``) are made once and
must not be changed: what writes them keeps their text with them, by the indentation.
"""

from __future__ import annotations

import re
import sys
from functools import cache
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal, NamedTuple, TypeVar, get_args

from cffpy.frame.facts import Fact, Model, model_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

#: "scalar": a number or a text. "object": a model that is shown as a whole; "reference": a model
#: that is shown by its number.
Kind = Literal[
    "integer",
    "number",
    "flag",
    "text",
    "scalar",
    "word",
    "address",
    "bits",
    "object",
    "reference",
]

_PLAIN: dict[str, Kind] = {
    "int": "integer",
    "float": "number",
    "bool": "flag",
    "str": "text",
    "int | str": "scalar",
    "Address": "address",
    "Bits": "bits",
}

_LIST = re.compile(r"(?:list|Sequence|tuple)\[(.+?)(?:, \.\.\.)?\]")
_MAPPING = re.compile(r"(?:dict|Mapping)\[str, (.+?)\]")
_WHOLE = re.compile(r"Whole\[(.+)\]")


class Form(NamedTuple):
    """How values of a fact are shown.

    ``is_optional``: None is one of them. ``is_list``: there are several; ``has_gaps``: None is one
    of these. ``is_mapping``: there are several, by their keys. ``words``: all values of a word, or
    those that a text is known to have. ``model``: of an object or a reference. ``models``: of a
    list of objects of several models.
    """

    kind: Kind
    is_optional: bool = False
    is_list: bool = False
    has_gaps: bool = False
    words: tuple[str, ...] = ()
    model: Model | None = None
    is_mapping: bool = False
    models: tuple[Model, ...] = ()

    @property
    def parts(self) -> Model:
        """The model of an object or a reference."""
        assert self.model is not None
        return self.model

    @property
    def key(self) -> Callable[[Any], Any]:
        """Reads the number by which a reference is shown."""
        key = self.parts.key
        assert key is not None
        return key.get


def form_of(fact: Fact) -> Form:
    """The form of a fact. Raises TypeError for a type that no face can show."""
    form = _form(fact.annotation, fact.module)
    return form._replace(words=fact.words) if fact.words else form


@cache
def _form(annotation: str, module: str) -> Form:
    text = annotation.removesuffix(" | None")
    by_key = _MAPPING.fullmatch(text)
    inner = text if by_key is None else by_key[1]
    several = _LIST.fullmatch(inner)
    item = inner if several is None else several[1].removesuffix(" | None")
    has_gaps = several is not None and several[1] != item
    form = Form("integer", text != annotation, several is not None, has_gaps)
    shown = _form_of_item(item, form._replace(is_mapping=by_key is not None), module)
    if shown is None:
        raise TypeError(f"{annotation} of {module} is no type of a fact")
    return shown


def _form_of_item(text: str, form: Form, module: str) -> Form | None:
    """``form`` with what its values, or the items of these, are; None for what is no fact."""
    whole = _WHOLE.fullmatch(text)
    text = text if whole is None else whole[1]
    if text in _PLAIN:
        return form._replace(kind=_PLAIN[text])
    words = get_args(_named(text, module))
    if words and not form.is_mapping and all(isinstance(word, str) for word in words):
        return form._replace(kind="word", words=words)
    models = _models(text, module)
    if len(models) > 1 and form.is_list:
        return form._replace(kind="object", models=models)
    if len(models) != 1:
        return None
    is_whole = form.is_list or form.is_mapping or whole is not None or models[0].key is None
    return form._replace(kind="object" if is_whole else "reference", model=models[0])


def _models(text: str, module: str) -> tuple[Model, ...]:
    """The models that a type names, with ``|`` between several; none where it names others."""
    declared = [getattr(_named(name, module), "__model__", None) for name in text.split(" | ")]
    models = tuple(model for model in declared if isinstance(model, Model))
    return models if len(models) == len(declared) else ()


def _named(name: str, module: str) -> Any:  # noqa: ANN401
    """What a name stands for in a module, which imports what its annotations name."""
    return getattr(sys.modules[module], name, None)


#: Values whose parts are kept.
_MOST_PARTS = 4096


class SharedList(list[Any]):
    """A list of several documents."""

    __slots__ = ("texts",)

    def __init__(self, items: list[Any]) -> None:
        super().__init__(items)
        self.texts: dict[str, str] = {}


class SharedObject(dict[str, Any]):
    """An object of several documents."""

    __slots__ = ("texts",)

    def __init__(self, members: dict[str, Any]) -> None:
        super().__init__(members)
        self.texts: dict[str, str] = {}


class KnownParts:
    """The parts of values, as long as the same values come again."""

    def __init__(self) -> None:
        #: Identity of a value -> the value, which keeps the identity, and its part.
        self._known: dict[int, tuple[object, Any]] = {}

    def get(self, value: object) -> Any:  # noqa: ANN401
        """The part of a value; None where it is not known."""
        known = self._known.get(id(value))
        return None if known is None else known[1]

    def add(self, value: object, part: Any) -> Any:  # noqa: ANN401
        """Keep the part of a value; the shared form of it."""
        if len(self._known) >= _MOST_PARTS:
            self._known.clear()
        shared = SharedList(part) if isinstance(part, list) else SharedObject(part)
        self._known[id(value)] = value, shared
        return shared


if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping

    _Object = TypeVar("_Object")
    Read = Callable[[Any], Any]
    _MakeDocument = Callable[[object, KnownParts | None], dict[str, Any]]
    _Convert = Callable[[Any, KnownParts | None], Any]

# -- documents ------------------------------------------------------------------------------------


def facts_document(
    owner: object, large: tuple[str, ...] = (), without: tuple[str, ...] = ()
) -> dict[str, Any]:
    """An object as JSON shows it: each of its facts; of ``large`` facts the named ones.

    ``without``: names of facts that are left out.
    """
    return _document_of(model_of(type(owner)), large, without)(owner, None)


def facts_documents(
    objects: Iterable[_Object], large: Callable[[_Object], tuple[str, ...]] | None = None
) -> Iterator[dict[str, Any]]:
    """The documents of many objects. They share parts, which must not be changed.

    ``large``: names of the large facts that an object is shown with.
    """
    known = KnownParts()
    for owner in objects:
        shown = () if large is None else large(owner)
        yield _document_of(model_of(type(owner)), shown)(owner, known)


def chosen_facts(
    model: Model, large: tuple[str, ...] = (), without: tuple[str, ...] = ()
) -> list[Fact]:
    """The facts of a model; of ``large`` facts the named ones; none of ``without``."""
    facts = (fact for fact in model.facts if fact.cost != "large" or fact.name in large)
    return [fact for fact in facts if fact.name not in without]


@cache
def _document_of(
    model: Model, large: tuple[str, ...] = (), without: tuple[str, ...] = ()
) -> _MakeDocument:
    """What makes the documents of a model: all facts are read at once, then some are converted."""
    facts = chosen_facts(model, large, without)
    titles = [shown_name(model, fact) for fact in facts]
    read = reader_of_all(facts)
    converted = [
        (title, convert)
        for title, convert in zip(titles, map(converter, facts), strict=True)
        if convert is not None
    ]
    sparse = [title for title, fact in zip(titles, facts, strict=True) if fact.is_sparse]

    def make(owner: object, known: KnownParts | None) -> dict[str, Any]:
        document = dict(zip(titles, read(owner), strict=True))
        for title, convert in converted:
            value = document[title]
            if value is not None:
                document[title] = convert(value, known)
        for title in sparse:
            if document[title] is None:
                del document[title]
        return document

    return make


def reader_of_all(facts: list[Fact]) -> Callable[[Any], tuple[Any, ...]]:
    """What reads the values of all these facts of an object."""
    if len(facts) < 2:  # attrgetter makes no tuple of these
        reads = [fact.get for fact in facts]
        return lambda one: tuple([read(one) for read in reads])
    return attrgetter(*[fact.attribute for fact in facts])


def shown_name(model: Model, fact: Fact) -> str:
    """The key goes by the model's word, as where other objects refer to it."""
    return model.word if fact.is_key else fact.name


def converter(fact: Fact) -> _Convert | None:
    """What makes the JSON value of a fact's value that is not None; None: it is that value."""
    form = form_of(fact)
    if form.is_mapping:
        made = _lists_by_key if form.is_list else _documents_by_key
        return None if form.model is None else made
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


def _lists_by_key(values: Mapping[str, Iterable[object]], known: KnownParts | None) -> Any:  # noqa: ANN401
    """The documents of a mapping of lists of objects."""
    return {name: _documents(value, known) for name, value in values.items()}


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


def schema(
    model: Model, definitions: dict[str, Any], without: tuple[str, ...] = ()
) -> dict[str, Any]:
    """The JSON Schema of a model's documents; models that it names go to ``definitions``.

    ``large`` and sparse facts may be absent; facts ``without`` have no place in it.
    """
    properties = {
        shown_name(model, fact): property_schema(fact, definitions)
        for fact in model.facts
        if fact.name not in without
    }
    absent = {
        shown_name(model, fact) for fact in model.facts if fact.is_sparse or fact.cost == "large"
    }
    return {
        "type": "object",
        "description": sentence((model.of.__doc__ or "").partition("\n\n")[0]),
        "properties": properties,
        "required": [name for name in properties if name not in absent],
        "additionalProperties": False,
    }


def property_schema(fact: Fact, definitions: dict[str, Any]) -> dict[str, Any]:
    """The JSON Schema of the values of a fact, with its meaning."""
    form = form_of(fact)
    shown = _value_schema(form, definitions, is_open=bool(fact.enums))
    if form.is_list:
        shown = {"type": "array", "items": shown}
    if form.is_mapping:
        shown = {"type": "object", "additionalProperties": shown}
    if form.is_optional and not fact.is_sparse:
        shown = _or_null(shown)
    return {"description": told(fact), **shown}


def told(fact: Fact) -> str:
    """The meaning of a fact with its unit, as a sentence."""
    meaning = sentence(fact.meaning)
    return f"{meaning} In {fact.unit}." if fact.unit else meaning


def sentence(text: str) -> str:
    """A text that begins with a capital letter and ends with a full stop."""
    text = " ".join(text.replace("``", "").split())
    text = text[:1].upper() + text[1:]
    return text if text.endswith((".", "?")) else f"{text}."


def _value_schema(form: Form, definitions: dict[str, Any], is_open: bool) -> dict[str, Any]:
    """``is_open``: a text may have other values than the words of its form."""
    shown: dict[str, Any]
    if form.models:
        shown = {"anyOf": [_reference(each, definitions) for each in form.models]}
    elif form.kind == "object":
        shown = _reference(form.parts, definitions)
    elif form.kind == "address":
        shown = {"type": "string", "pattern": "^0x[0-9a-f]+$"}
    elif form.kind == "word" or (form.words and not is_open):
        shown = {"enum": list(form.words)}
    else:
        shown = {"type": _JSON_TYPES[form.kind]}
        if form.kind == "reference":
            shown["minimum"] = 0
    return _or_null(shown) if form.has_gaps else shown


def _reference(model: Model, definitions: dict[str, Any]) -> dict[str, Any]:
    """A reference to the definition of a model."""
    name = model.of.__name__
    if name not in definitions:
        definitions[name] = {}  # it may refer to itself
        definitions[name] = schema(model, definitions)
    return {"$ref": f"#/$defs/{name}"}


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
    for fact in model.facts:
        form = form_of(fact)
        name = f"{prefix}{shown_name(model, fact)}"
        meaning = f"{before}{fact.meaning.rstrip('.')}{f', in {fact.unit}' if fact.unit else ''}"
        if fact.cost == "large" or _has_table(form):
            continue
        read = _chained(owner, fact.get)
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
    return (
        form.is_mapping
        or bool(form.models)
        or (form.is_list and form.model is not None and not form.model.is_value)
    )


def _chained(first: Read, then: Read) -> Read:
    def read(owner: object) -> Any:  # noqa: ANN401
        value = first(owner)
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


def row(owner: object, wanted: frozenset[str] | None = None) -> tuple[object, ...]:
    """The values of ``columns`` of an object. ``wanted``: only of the columns of these names."""
    return tuple(_cells_of(model_of(type(owner)), wanted)(owner))


@cache
def _cells_of(
    model: Model, wanted: frozenset[str] | None, prefix: str = ""
) -> Callable[[Any], list[Any]]:
    """What makes the row of an object: all facts are read at once, then some are converted.

    ``prefix``: what the names of its columns begin with.
    """
    facts: list[Fact] = []
    makers: list[tuple[int, Any, list[None] | None]] = []
    for fact in model.facts:
        if fact.cost == "large" or _has_table(form_of(fact)):
            continue
        name = f"{prefix}{shown_name(model, fact)}"
        if wanted is None or _is_wanted(fact, name, wanted):
            makers.append((len(facts), *_cell_maker(fact, name, wanted)))
            facts.append(fact)
    read = reader_of_all(facts)
    # from the last one on: several cells of a fact move the cells behind it
    converted = [maker for maker in reversed(makers) if maker[1] is not None]

    def make(owner: object) -> list[Any]:
        cells = list(read(owner))
        for number, convert, nothing in converted:
            value = cells[number]
            if nothing is not None:
                cells[number : number + 1] = nothing if value is None else convert(value)
            elif value is not None:
                cells[number] = convert(value)
        return cells

    return make


def _is_wanted(fact: Fact, name: str, wanted: frozenset[str]) -> bool:
    """Whether one of the columns of a fact is wanted."""
    form = form_of(fact)
    if form.is_list or form.kind != "object":
        return name in wanted
    return any(f"{name}_{column.name}" in wanted for column in columns(form.parts))


def _cell_maker(
    fact: Fact, name: str, wanted: frozenset[str] | None
) -> tuple[Any, list[None] | None]:
    """What makes the cell of a value, if it is another one; or its cells, and the cells of None."""
    form = form_of(fact)
    if form.is_list:
        return _JOINED.get(form.kind, _joined), None
    if form.kind == "object":
        names = [f"{name}_{column.name}" for column in columns(form.parts)]
        made = [one for one in names if wanted is None or one in wanted]
        return _cells_of(form.parts, wanted, f"{name}_"), [None] * len(made)
    return (form.key if form.kind == "reference" else _CELLS.get(form.kind)), None


# -- filters --------------------------------------------------------------------------------------


class Named(NamedTuple):
    """A name in filters, ``tile.rectangle.left``, and how an object's value is read.

    ``kind``: "number", "text" or "bool". ``words``: all values that a text may have, () for any;
    ``enums``: see ``Fact``. ``is_many``: ``read`` returns a list. ``path``: the members of the
    object's document that lead to the value, as jq has them: ``targets[].address``. ``is_large``:
    of a fact that is ``large``.
    """

    name: str
    kind: str
    meaning: str
    read: Read
    words: tuple[str, ...] = ()
    is_many: bool = False
    is_hexadecimal: bool = False
    enums: tuple[str, ...] = ()
    path: str = ""
    is_large: bool = False


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
    return tuple(_names(model, prefix or model.word, _Within()))


class _Within(NamedTuple):
    """The object within another one that names are of.

    ``path``: as of ``Named``, up to it. ``read``: reads it, or several if ``is_many``.
    """

    path: str = ""
    read: Read | None = None
    is_many: bool = False
    is_large: bool = False

    def part(self, model: Model, fact: Fact, form: Form) -> _Within:
        """What the value of a fact of it is within the other one."""
        read = fact.get if self.read is None else _chained(self.read, fact.get)
        if self.is_many and self.read is not None:
            read = _of_each(self.read, fact.get, form.is_list)
        elif form.is_list:
            read = _all(read)
        path = f"{self.path}{shown_name(model, fact)}{'[]' if form.is_list else ''}"
        is_large = self.is_large or fact.cost == "large"
        return _Within(path, read, self.is_many or form.is_list, is_large)


def _names(model: Model, prefix: str, owner: _Within) -> Iterator[Named]:
    for fact in model.facts:
        form = form_of(fact)
        if form.is_mapping or form.models or (form.kind == "object" and form.parts is model):
            continue  # its objects go by names of their own
        shown = fact.attribute if fact.name == prefix else fact.name
        name, part = f"{prefix}.{shown}", owner.part(model, fact, form)
        if form.kind == "object":
            yield from _names(form.parts, name, part._replace(path=f"{part.path}."))
            continue
        read, is_many = part.read, part.is_many
        assert read is not None
        if form.kind in ("reference", "scalar"):
            key = form.key if form.kind == "reference" else str
            read = _of_each(read, key, False) if is_many else _chained(read, key)
        kind, is_hexadecimal = _FILTER_KINDS[form.kind], form.kind in ("address", "bits")
        words = form.words, is_many, is_hexadecimal, fact.enums
        yield Named(name, kind, fact.meaning, read, *words, part.path, part.is_large)


def _all(get: Read) -> Read:
    """A list, empty instead of None."""

    def read(owner: object) -> list[Any]:
        return list(get(owner) or ())

    return read


def _of_each(owners: Read, get: Read, is_list: bool) -> Read:
    """Of each owner its value, or the values of its list."""

    def read(one: object) -> list[Any]:
        values: list[Any] = []
        for owner in owners(one) or ():
            value = None if owner is None else get(owner)
            if is_list:
                values.extend(value or ())
            else:
                values.append(value)
        return values

    return read


#: Characters of a value that are shown.
_MOST_CHARACTERS = 500

#: Rows that a table shows; a page with more is slow.
MAX_ROWS = 500


def _escaped(value: object) -> str:
    from html import escape  # lazily: only notebooks ask, and it takes a millisecond

    return escape(str(value))


def html_table(names: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """A table of escaped text; a last row says how many rows are not shown."""
    head = "".join(f"<th>{_escaped(name)}</th>" for name in names)
    shown: list[str] = []
    left_out = 0
    for row in rows:
        if len(shown) < MAX_ROWS:
            cells = ("" if cell is None else _escaped(cell) for cell in row)
            shown.append("<tr>" + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>")
        else:
            left_out += 1
    if left_out:
        shown.append(f'<tr><td colspan="{len(names)}">{left_out} more</td></tr>')
    return f"<table><thead><tr>{head}</tr></thead><tbody>{''.join(shown)}</tbody></table>"


def facts_table(owner: object) -> str:
    """An object: a row for each fact that it has, with its name and its value."""
    document = facts_document(owner)
    rows = ((name, _shown(value)) for name, value in document.items() if value not in (None, []))
    return f"<b>{_escaped(type(owner).__name__)}</b>{html_table(('fact', 'value'), rows)}"


def objects_table(objects: Sequence[object]) -> str | None:
    """Objects of one model: a row for each, a column for each fact that one of them has.

    None for objects without facts.
    """
    declared = getattr(type(objects[0]), "__model__", None) if objects else None
    if not isinstance(declared, Model):
        return None
    shown = [owner for owner in objects[:MAX_ROWS] if model_of(type(owner)) is declared]
    if len(shown) < len(objects[:MAX_ROWS]):
        return None
    known = columns(declared)
    rows = [[_cell(column.type, column.read(owner)) for column in known] for owner in shown]
    used = [place for place, _ in enumerate(known) if any(row[place] is not None for row in rows)]
    left_out = [[f"{len(objects) - MAX_ROWS} more"]] if len(objects) > MAX_ROWS else []
    cells = [[row[place] for place in used] for row in rows]
    return html_table([known[place].name for place in used], [*cells, *left_out])


def _cell(kind: str, value: object) -> object:
    return hex(value) if kind == "address" and isinstance(value, int) else _shown(value)


def _shown(value: object) -> str | None:
    if value is None:
        return None
    if isinstance(value, dict):
        text = ", ".join(
            f"{name} {_shown(part)}" for name, part in value.items() if part is not None
        )
    elif isinstance(value, list):
        text = "; ".join(str(_shown(part)) for part in value)
    else:
        text = str(value)
    return text if len(text) <= _MOST_CHARACTERS else f"{text[:_MOST_CHARACTERS]}..."
