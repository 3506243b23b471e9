# SPDX-License-Identifier: MIT
"""The tests themselves: each asserts something, and none compares times in the default run."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterator
from pathlib import Path

TESTS = Path(__file__).resolve().parent
FILES = sorted(TESTS.rglob("test_*.py"))

Function = ast.FunctionDef | ast.AsyncFunctionDef

#: Functions that assert for the tests that call them. So does one called ``check_...``.
HELPERS = {"both_ways", "check"}


def is_assertion(node: ast.AST) -> bool:
    """``assert``, or ``pytest.raises``, ``warns``, ``fail``."""
    return isinstance(node, ast.Assert) or (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == "pytest"
        and node.attr in ("raises", "warns", "fail")
    )


def is_helper(name: str) -> bool:
    return name in HELPERS or name.startswith("check_")


def asserts(function: ast.AST) -> bool:
    """Whether it asserts, itself or in a helper."""
    for node in ast.walk(function):
        if is_assertion(node):
            return True
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and is_helper(node.func.id)
        ):
            return True
    return False


def functions(tree: ast.AST) -> Iterator[Function]:
    return (node for node in ast.walk(tree) if isinstance(node, Function))


def without_assertion(text: str) -> list[str]:
    """Tests that assert nothing, and helpers that they rely on and that assert nothing."""
    found = list(functions(ast.parse(text)))
    return [
        one.name
        for one in found
        if (one.name.startswith("test") or is_helper(one.name)) and not asserts(one)
    ]


def in_all_files(find: Callable[[str], list[str]]) -> dict[str, list[str]]:
    """What a function finds in the text of each file of tests."""
    found = {path: find(path.read_text("utf-8")) for path in FILES}
    return {str(path.relative_to(TESTS)): names for path, names in found.items() if names}


def test_each_test_asserts_something() -> None:
    assert in_all_files(without_assertion) == {}


def test_a_test_that_asserts_nothing_is_found() -> None:
    text = """
def test_one(): run()
def test_two(): assert run()
def test_three():
    with pytest.raises(ValueError): run()
def test_four(): check_it(1)
def check_it(x): return x
def test_five(): both_ways(b"")
"""
    assert without_assertion(text) == ["test_one", "check_it"]


CLOCKS = {"process_time", "perf_counter", "thread_time", "process_time_ns", "perf_counter_ns"}


def clocks(tree: ast.AST) -> bool:
    """Whether it reads a clock."""
    for node in ast.walk(tree):
        name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")
        if name in CLOCKS:
            return True
    return False


def is_marked(function: Function, mark: str) -> bool:
    return any(f"mark.{mark}" in ast.unparse(decorator) for decorator in function.decorator_list)


def compared_times(text: str) -> list[str]:
    """Tests not marked ``perf`` that compare a measured time with something other than a constant.

    A constant is a limit that only a hang meets.
    """
    if "pytestmark = pytest.mark.perf" in text or not any(name in text for name in CLOCKS):
        return []
    top = [node for node in ast.parse(text).body if isinstance(node, Function)]
    tests = [one for one in top if one.name.startswith("test")]
    others = [one for one in top if not one.name.startswith("test")]
    timers = {one.name for one in others if clocks(one)}
    for _ in others:  # what calls a timer is one
        timers |= {one.name for one in others if uses(one, timers)}
    return [
        one.name
        for one in tests
        if not is_marked(one, "perf")
        and (uses(one, timers) or (clocks(one) and not only_limits(one)))
    ]


def uses(function: Function, names: set[str]) -> bool:
    return any(isinstance(node, ast.Name) and node.id in names for node in ast.walk(function))


def only_limits(function: Function) -> bool:
    """Whether each assertion that reads a clock compares it with a literal number."""
    nodes = [node for node in ast.walk(function) if node is not function]
    if any(isinstance(node, Function) for node in nodes):
        return False
    reading = [node.test for node in nodes if isinstance(node, ast.Assert) and clocks(node)]
    return all(
        isinstance(test, ast.Compare) and isinstance(test.comparators[-1], ast.Constant)
        for test in reading
    )


def test_times_are_compared_only_where_marked() -> None:
    assert in_all_files(compared_times) == {}


def test_a_comparison_of_times_is_found() -> None:
    text = """
def seconds(work): return time.process_time()
def best(work): return min(seconds(work) for _ in range(3))
def test_one(): assert best(a) < 2 * best(b)
@pytest.mark.perf
def test_two(): assert best(a) < 2 * best(b)
def test_three():
    start = time.process_time()
    assert time.process_time() - start < 10
def test_four():
    start = time.process_time()
    assert time.process_time() - start < 10 * base
"""
    assert compared_times(text) == ["test_one", "test_four"]
