# SPDX-License-Identifier: MIT
"""Facts, the named values of the objects of a capture: how they are declared.

A fact is declared where it is computed, once::

    @model("tile")
    class Tile(ModelObject):
        number: int = stored("position in the order of execution")

        @fact(unit="pixels")
        def rectangle(self) -> Rectangle | None:
            '''The part of the framebuffer that it renders.'''

``stored`` is a slot that an analysis fills, ``fact`` a property that is computed. The annotation is
the fact's type, and decides how each face shows it (``cffpy.frame.faces``); the text is its
meaning. ``facts_of(Tile)`` has them in their order; JSON, schemas, tables, filters and the
reference are made of it and of nothing else.
"""

from __future__ import annotations

import dataclasses
import inspect
from operator import attrgetter
from reprlib import recursive_repr
from typing import (
    TYPE_CHECKING,
    Annotated,
    Any,
    Generic,
    Literal,
    TypeVar,
    dataclass_transform,
    overload,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

#: What a fact costs: "own": the object has it. "walk": asking may decode commands or streams again,
#: once for all objects. "large": it is shown only where it is asked for by name.
Cost = Literal["own", "walk", "large"]

#: The type of a GPU address, an offset in a file or in GMEM, or another number that is shown in
#: hexadecimal.
Address = int

#: The type of the bits of a register: a number of up to 64 bits without a sign.
Bits = int

_Owner = TypeVar("_Owner")
_Value = TypeVar("_Value")
_Class = TypeVar("_Class", bound=type)

#: The type of an object with a number that is shown as an object, not by its number.
Whole = Annotated[_Value, "whole"]


class Fact:
    """A declared fact of a model.

    ``attribute`` is its name in Python, ``name`` on all other faces: Python keeps ``pass`` for
    itself, so the attribute is ``pass_``. ``annotation``: the type as the source has it. ``unit``:
    "pixels", "bytes", "dwords" or "" where the type tells. ``meaning``: one or more sentences.
    ``is_key``: the number by which the object is known in its capture or pass. ``words``: all
    values of a text, where the annotation does not say them. ``enums``: the ends of the names of
    enums of the register database, whose values the text may be, too. ``is_sparse``: documents
    leave it out where it is None.
    """

    __slots__ = (
        "annotation",
        "attribute",
        "cost",
        "enums",
        "get",
        "is_key",
        "is_sparse",
        "meaning",
        "module",
        "name",
        "unit",
        "words",
    )

    def __init__(
        self,
        attribute: str,
        annotation: str,
        module: str,
        meaning: str,
        unit: str,
        cost: Cost,
        is_key: bool = False,
        name: str = "",
        words: tuple[str, ...] = (),
        enums: tuple[str, ...] = (),
        is_sparse: bool = False,
    ) -> None:
        self.attribute = attribute
        self.name = name or attribute.removesuffix("_")
        self.annotation = annotation
        #: Name of the module that the annotation is read in.
        self.module = module
        self.meaning = meaning
        self.unit = unit
        self.cost = cost
        self.is_key = is_key
        self.words, self.enums = words, enums
        self.is_sparse = is_sparse
        #: Reads it of an object.
        self.get: Callable[[Any], Any] = attrgetter(attribute)

    def __repr__(self) -> str:
        return f"<Fact {self.name}: {self.annotation}>"


class Model:
    """A class with facts. ``word``: what an object of it is called: "pass", "tile".

    ``is_value``: its objects are values, such as sizes and places; others are things of a capture.
    """

    __slots__ = ("facts", "is_value", "of", "word")

    def __init__(self, word: str, of: type, facts: tuple[Fact, ...], is_value: bool) -> None:
        self.word = word
        self.of = of
        self.facts = facts
        self.is_value = is_value

    @property
    def key(self) -> Fact | None:
        """The fact by which an object is known, if it has a number."""
        return next((declared for declared in self.facts if declared.is_key), None)


if TYPE_CHECKING:

    class FactProperty(Generic[_Owner, _Value]):
        """What ``fact`` makes of a method: a property."""

        @overload
        def __get__(self, owner: None, kind: type) -> FactProperty[_Owner, _Value]: ...
        @overload
        def __get__(self, owner: object, kind: type | None = None) -> _Value: ...
        def __get__(self, owner: object, kind: type | None = None) -> Any: ...

else:

    class FactProperty(property):
        """What ``fact`` makes of a method: a property."""

        unit = ""
        cost = "own"
        name = ""
        words = enums = ()


def fact(
    unit: str = "",
    cost: Cost = "own",
    name: str = "",
    words: tuple[str, ...] = (),
    enums: tuple[str, ...] = (),
) -> Callable[[Callable[[_Owner], _Value]], FactProperty[_Owner, _Value]]:
    """A method that computes a fact; its docstring is the meaning.

    ``name``: on the other faces, where Python calls it otherwise. ``words``, ``enums``: see
    ``Fact``.
    """

    def declare(read: Callable[[_Owner], _Value]) -> FactProperty[_Owner, _Value]:
        declared: Any = FactProperty(read)  # type: ignore[call-arg]
        declared.unit, declared.cost, declared.name = unit, cost, name
        declared.words, declared.enums = words, enums
        return declared  # type: ignore[no-any-return]

    return declare


_NO_DEFAULT: Any = object()
_NO_ENUMS: Mapping[str, tuple[str, ...]] = {}
_NO_NAMES: Mapping[str, str] = {}


def stored(
    meaning: str,
    unit: str = "",
    *,
    default: Any = _NO_DEFAULT,  # noqa: ANN401
    default_factory: Callable[[], Any] | None = None,
    is_key: bool = False,
    name: str = "",
    words: tuple[str, ...] = (),
    enums: tuple[str, ...] = (),
    is_sparse: bool = False,
    kw_only: bool = False,
    repr: bool = True,  # noqa: A002 - as dataclasses.field has it
    compare: bool = True,
) -> Any:  # noqa: ANN401
    """A slot that holds a fact. ``is_key``: it is the object's own number.

    ``name``, ``words``, ``enums``: as for ``fact``. ``is_sparse``: see ``Fact``. ``kw_only``,
    ``repr``, ``compare``: see ``dataclasses.field``.
    """
    told: dict[str, Any] = {
        "metadata": {"fact": (meaning, unit, is_key, name, words, enums, is_sparse)},
        "kw_only": kw_only,
        "repr": repr,
        "compare": compare,
    }
    if default_factory is not None:
        return dataclasses.field(default_factory=default_factory, **told)
    if default is not _NO_DEFAULT:
        return dataclasses.field(default=default, **told)
    return dataclasses.field(**told)


@dataclass_transform(field_specifiers=(stored, dataclasses.field))
def model(
    word: str, *, frozen: bool = False, eq: bool | None = None, is_value: bool | None = None
) -> Callable[[_Class], _Class]:
    """Make a class a dataclass with slots whose facts are known to ``facts_of``.

    Facts are in the order of their declarations, the key first, facts of base classes last.
    ``is_value``: see ``Model``; without it, what is frozen is a value. ``eq``: objects are compared
    by their fields, not by identity; without it, those that are ``frozen``, which costs 0.2 ms when
    the module is imported.
    """
    has_equality = frozen if eq is None else eq

    def declare(given: _Class) -> _Class:
        order = [*given.__dict__]  # where ``stored`` and ``fact`` stand; a dataclass forgets it
        made: Any = dataclasses.dataclass(slots=True, frozen=frozen, eq=False, repr=False)(given)
        if not any("__repr__" in vars(base) for base in given.__mro__[:-1]):
            made.__repr__ = _text
        if has_equality and "__eq__" not in given.__dict__:
            _compare_by_fields(made, frozen)
        fields = {field_.name: field_ for field_ in dataclasses.fields(made)}
        known: dict[str, Fact] = {}
        for name in order:
            field = fields.get(name)
            if field is not None and "fact" in field.metadata:
                meaning, unit, *others = field.metadata["fact"]
                kind = str(field.type)
                known[name] = Fact(name, kind, given.__module__, meaning, unit, "own", *others)
            elif isinstance(given.__dict__.get(name), FactProperty):
                known[name] = _computed(name, given)
        for base in given.__mro__[1:]:
            for inherited in _inherited(base):
                known.setdefault(inherited.attribute, inherited)
        facts = sorted(known.values(), key=lambda declared_fact: not declared_fact.is_key)
        is_one = frozen if is_value is None else is_value
        made.__model__ = Model(word, made, tuple(facts), is_one)
        return made  # type: ignore[no-any-return]

    return declare


# Methods that all models share: those that a dataclass has of its own are compiled when its module
# is imported, each in 0.1 ms.


def _compare_by_fields(made: Any, is_hashable: bool) -> None:  # noqa: ANN401
    names = [field.name for field in dataclasses.fields(made) if field.compare]
    values: Callable[[Any], Any] = attrgetter(*names)

    def is_equal(self: Any, other: Any) -> Any:  # noqa: ANN401
        if other.__class__ is not self.__class__:
            return NotImplemented
        return values(self) == values(other)

    made.__eq__ = is_equal
    made.__hash__ = (lambda self: hash(values(self))) if is_hashable else None


@recursive_repr()
def _text(self: Any) -> str:  # noqa: ANN401
    fields = [field.name for field in dataclasses.fields(self) if field.repr]
    shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in fields)
    return f"{self.__class__.__qualname__}({shown})"


def described(
    word: str,
    *,
    is_value: bool = True,
    enums: Mapping[str, tuple[str, ...]] = _NO_ENUMS,
    words: Mapping[str, tuple[str, ...]] = _NO_ENUMS,
    names: Mapping[str, str] = _NO_NAMES,
    key: str = "",
    like: tuple[type, ...] = (),
    order: tuple[str, ...] = (),
    **meanings: str,
) -> Callable[[_Class], _Class]:
    """Declare the facts of a class that is no dataclass.

    ``meanings``: of its attributes with an annotation, such as fields of a NamedTuple. Its facts
    are these, and what ``fact`` declares in it. ``is_value``: see ``Model``. ``enums``, ``words``,
    ``names``: of attributes by their names in Python, see ``Fact``. ``key``: the attribute that is
    the key. ``like``: models whose facts mean the same in this class; then all attributes are
    facts, in their order, and ``meanings`` are of those that are its own. ``order``: of
    the attributes, if it is not this.
    """

    def declare(given: _Class) -> _Class:
        annotations = inspect.get_annotations(given)
        told = _meanings_like(like, annotations, meanings) if like else meanings
        known = [
            Fact(
                name,
                _annotation(annotations[name]),
                given.__module__,
                meaning,
                "",
                "own",
                name == key,
                names.get(name, ""),
                words=words.get(name, ()),
                enums=enums.get(name, ()),
            )
            for name, meaning in told.items()
        ]
        declared = [
            name for name, value in given.__dict__.items() if isinstance(value, FactProperty)
        ]
        known += [_computed(name, given) for name in declared]
        if order:
            known.sort(key=lambda declared: order.index(declared.attribute))
        made: Any = given
        made.__model__ = Model(word, given, tuple(known), is_value)
        return given

    return declare


def _meanings_like(
    like: tuple[type, ...], attributes: Iterable[str], own: Mapping[str, str]
) -> dict[str, str]:
    """The meaning of each attribute: its own, or as the first model has it that has the fact."""
    facts = [one for kind in reversed(like) for one in model_of(kind).facts]
    known = {name: one.meaning for one in facts for name in (one.attribute, one.name)}
    return {name: own.get(name) or known[name] for name in attributes}


def _annotation(given: Any) -> str:  # noqa: ANN401
    """The text of an annotation; a NamedTuple has made references of its texts."""
    return str(getattr(given, "__forward_arg__", given))


def _computed(name: str, owner: type) -> Fact:
    computed: Any = owner.__dict__[name]
    read = computed.fget
    kind, meaning = _annotation(read.__annotations__["return"]), " ".join(read.__doc__.split())
    how = computed.unit, computed.cost, False, computed.name, computed.words, computed.enums
    return Fact(name, kind, owner.__module__, meaning, *how)


def _inherited(base: type) -> tuple[Fact, ...]:
    inherited = base.__dict__.get("__model__")
    return inherited.facts if isinstance(inherited, Model) else ()


def model_of(kind: type) -> Model:
    """The declarations of a class. Raises TypeError for a class without facts."""
    declared = getattr(kind, "__model__", None)
    if not isinstance(declared, Model):
        raise TypeError(f"{kind.__name__} declares no facts")
    return declared


def facts_of(kind: type) -> tuple[Fact, ...]:
    """The facts of a class in their order, facts of its bases last."""
    return model_of(kind).facts
