# SPDX-License-Identifier: MIT
"""The table of parts (``devices.txt``) out of Mesa's freedreno_devices.py, which is not executed.

Of the Python file only calls, names and arithmetic are read: the sets of properties that parts
share, and each ``add_gpus`` with its ids, properties and magic registers.
"""

from __future__ import annotations

import ast
import os
from typing import TYPE_CHECKING, Any

from cffpy.errors import RegisterDbError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

#: Where the file is below a Mesa tree, or below its src/freedreno.
_PLACES = ("src/freedreno/common", "common", ".")
_FILE = "freedreno_devices.py"

_NOTICE = """\
# SPDX-License-Identifier: MIT
# Facts from Mesa's freedreno_devices.py (MIT), by `cffpy db import`.
"""

_FRACTIONS = {
    "FULL": "1/1",
    "THREE_QUARTER": "3/4",
    "HALF": "1/2",
    "QUARTER": "1/4",
    "EIGHTH": "1/8",
}
#: What the constructors add, where neither the call nor their signature in the file says it.
_DEFAULTS = {
    "GPUInfo": {"highest_bank_bit": 0, "ubwc_swizzle": 7, "macrotile_mode": 0},
    "A6xxGPUInfo": {
        "gmem_align_w": 16,
        "gmem_align_h": 4,
        "highest_bank_bit": 15,
        "ubwc_swizzle": 6,
        "macrotile_mode": 1,
    },
}
_ALL_DEFAULTS = {"threadsize_base": 64, "max_waves": 16}
#: The largest tile where the call does not say it, by whether the part is of a6xx.
_TILE_MAX = {
    True: {"tile_max_w": 1024, "tile_max_h": 1008},
    False: {"tile_max_w": 1728, "tile_max_h": 1728},
}
#: Arguments of the constructors that are no properties of a part.
_OTHER_ARGUMENTS = ("chip", "template", "magic_regs", "raw_magic_regs", "compute_lb_size")

_INDENT = "    "


class _Register(str):
    """The name of a register."""

    __slots__ = ()


class _PropertySet(dict[str, object]):
    """Properties that parts share; ``name`` is empty for a set of one part."""

    name = ""


class _Id(str):
    """A line of an id and its name."""

    __slots__ = ()


def find_device_source(directory: str) -> str | None:
    """The path of freedreno_devices.py in a Mesa tree or its src/freedreno, if it is there."""
    for place in _PLACES:
        path = os.path.normpath(os.path.join(directory, place, _FILE))
        if os.path.isfile(path):
            return path
    return None


def device_table_text(path: str) -> str:
    """The text of ``devices.txt`` out of Mesa's file. Raises RegisterDbError."""
    try:
        with open(path, encoding="utf-8") as file:
            tree = ast.parse(file.read(), path)
    except (OSError, SyntaxError, ValueError, RecursionError, MemoryError) as problem:
        raise RegisterDbError(f"cannot be read: {problem}", path) from None
    source = _Source(path)
    blocks: list[str] = []
    for statement in tree.body:
        try:
            blocks += source.blocks(statement)
        except (ValueError, TypeError, LookupError, AttributeError, RecursionError) as problem:
            raise RegisterDbError(
                f"line {statement.lineno}: not understood: {problem}", path
            ) from None
    if not blocks:
        raise RegisterDbError("has no devices", path)
    return "\n".join([_NOTICE, *blocks])


class _Source:
    """The statements of a file, read one by one."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._names: dict[str, Any] = {}
        self._defaults = {name: dict(values) for name, values in _DEFAULTS.items()}
        #: The classes of shared properties: those whose base is a dict.
        self._set_classes: set[str] = {"A6XXProps", "A7XXProps", "GPUProps"}

    def blocks(self, statement: ast.stmt) -> Iterator[str]:
        """What a statement adds to the table."""
        match statement:
            case ast.ClassDef(name=name, body=body) if name in _DEFAULTS:
                self._read_signature(name, body)
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call() | ast.List() as value):
                yield from self._assigned(name, value)
            case ast.Expr(value=ast.Call(func=ast.Name(id="add_gpus"), args=[ids, info])):
                yield self._part(ids, info)
            case _:
                pass

    def _assigned(self, name: str, value: ast.Call | ast.List) -> Iterator[str]:
        if isinstance(value, ast.Call) and not (
            isinstance(value.func, ast.Name) and value.func.id in {"dict", *self._set_classes}
        ):
            return
        self._names[name] = shared = self._value(value)
        if isinstance(shared, _PropertySet):
            shared.name = name
            yield "\n".join([f"set {name}", *_property_lines(shared), ""])

    def _read_signature(self, name: str, body: list[ast.stmt]) -> None:
        for statement in body:
            if isinstance(statement, ast.FunctionDef) and statement.name == "__init__":
                arguments = statement.args
                for argument, default in zip(
                    reversed(arguments.args), reversed(arguments.defaults), strict=False
                ):
                    if isinstance(default, ast.Constant) and default.value is not None:
                        self._defaults[name][argument.arg] = self._value(default)

    def _part(self, ids: ast.expr, info: ast.expr) -> str:
        if (
            not isinstance(info, ast.Call)
            or not isinstance(info.func, ast.Name)
            or info.func.id not in self._defaults
        ):
            raise self._refusal(info)
        chip, *positional = [self._value(argument) for argument in info.args]
        sets: list[_PropertySet] = positional[0] if positional else []
        if isinstance(sets, _PropertySet):
            sets = [sets]
        given = {str(each.arg): self._value(each.value) for each in info.keywords}
        named = " ".join(shared.name for shared in sets if shared.name)
        own = self._own_properties(info.func.id, chip, given)
        for shared in sets:
            if not shared.name:
                own |= shared
        magic: dict[str, object] = {**given.get("magic_regs", {})}
        magic |= {_register_name(name): value for name, value in given.get("raw_magic_regs", [])}
        return "\n".join(
            [
                f"part {chip} {named}".rstrip(),
                *(f"{_INDENT}id {each}" for each in self._value(ids)),
                *_property_lines(own),
                *(f"{_INDENT}magic {name} {_text(value, True)}" for name, value in magic.items()),
                "",
            ]
        )

    def _own_properties(self, kind: str, chip: str, given: dict[str, Any]) -> dict[str, object]:
        """What a constructor makes of its arguments."""
        own: dict[str, object] = {**_ALL_DEFAULTS, **self._defaults[kind]}
        if kind != "GPUInfo":
            own |= _TILE_MAX[chip == "A6XX"]
            own["num_sp_cores"] = given.get("num_ccu")
        own |= given
        return {name: value for name, value in own.items() if name not in _OTHER_ARGUMENTS}

    def _value(self, node: ast.expr) -> Any:  # noqa: ANN401
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name) if name in self._names:
                return self._names[name]
            case ast.List(elts=elements):
                return [self._value(element) for element in elements]
            case ast.UnaryOp(op=ast.Invert(), operand=operand):
                return ~self._value(operand)
            case ast.BinOp(left=left, op=operation, right=right):
                return self._calculated(node, self._value(left), operation, self._value(right))
            case ast.Attribute():
                return self._attribute(node)
            case ast.Call(func=ast.Name(id=name)):
                return self._called(node, name)
            case _:
                raise self._refusal(node)

    def _calculated(
        self,
        node: ast.expr,
        left: Any,  # noqa: ANN401
        operation: ast.operator,
        right: Any,  # noqa: ANN401
    ) -> object:
        if isinstance(left, _Register) and isinstance(operation, ast.Add):
            return _Register(f"{left}+{right}" if right else left)
        if isinstance(left, int) and isinstance(right, int):
            if isinstance(operation, ast.Mult):
                return left * right
            if isinstance(operation, ast.Add):
                return left + right
        raise self._refusal(node)

    def _attribute(self, node: ast.Attribute) -> str:
        match node:
            case ast.Attribute(value=ast.Name(id="CHIP"), attr=chip):
                return chip
            case ast.Attribute(value=ast.Name(), attr=name) if name.startswith("REG_"):
                return _Register(name.removeprefix("REG_").partition("_")[2])
            case ast.Attribute(value=ast.Attribute(attr=name), attr="value") if name in _FRACTIONS:
                return _FRACTIONS[name]
            case _:
                raise self._refusal(node)

    def _called(self, node: ast.Call, name: str) -> object:
        named = {str(each.arg): self._value(each.value) for each in node.keywords}
        if name == "dict":
            return named
        if name in self._set_classes:
            return _PropertySet(named)
        if name == "max_bitfield_val":
            high, low, shift = (self._value(argument) for argument in node.args)
            return ((1 << (high - low)) - 1) << shift if 0 <= high - low < 32 > shift else 0
        if name == "GPUId":
            gpu_id = self._value(node.args[0]) if node.args else named.get("gpu_id")
            chip_id = named.get("chip_id")
            number = gpu_id if chip_id is None else f"{chip_id:#x}"
            return _Id(f"{number} {named.get('name', f'FD{gpu_id}')}")
        raise self._refusal(node)

    def _refusal(self, node: ast.expr) -> RegisterDbError:
        return RegisterDbError(
            f"line {node.lineno}: not understood: {ast.unparse(node)[:60]}", self._path
        )


def _register_name(register: str | int) -> str:
    return register if isinstance(register, str) else f"{register:#06x}"


def _property_lines(properties: Mapping[str, object]) -> list[str]:
    return [f"{_INDENT}{name} {_text(value, False)}" for name, value in properties.items()]


def _text(value: object, is_hex: bool) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, int):
        if value < 0:
            return "none"
        return f"{value:#x}" if is_hex else str(value)
    return str(value)
