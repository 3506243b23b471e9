# SPDX-License-Identifier: MIT
"""ValueObject: base of the small value classes that are needed at start-up.

``typing.NamedTuple`` and ``dataclass`` would work, but importing them takes several times as long
as decoding a small capture. A subclass lists its fields in ``__slots__`` and sets them in its
constructor; two values are equal when they are of one class and their fields are equal.
"""

from __future__ import annotations


class ValueObject:
    """Named fields with equality, hash and repr by value. Instances must not be changed."""

    __slots__: tuple[str, ...] = ()

    def _values(self) -> tuple[object, ...]:
        return tuple([getattr(self, name) for name in self.__slots__])

    def __eq__(self, other: object) -> bool:
        if type(self) is not type(other):
            return NotImplemented
        assert isinstance(other, ValueObject)
        return self._values() == other._values()

    def __hash__(self) -> int:
        return hash(self._values())

    def __repr__(self) -> str:
        fields = ", ".join([f"{name}={getattr(self, name)!r}" for name in self.__slots__])
        return f"{type(self).__name__}({fields})"
