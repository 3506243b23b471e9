# SPDX-License-Identifier: MIT
"""``cffpy.find``: the draws of many captures for which a filter holds, in worker processes."""

from __future__ import annotations

import functools
import gc
import os
import sys
from collections import deque
from dataclasses import dataclass, field
from itertools import islice
from typing import TYPE_CHECKING, Annotated, NamedTuple, TypedDict

from cffpy.api.arguments import given_edition, given_gpu, given_limits, given_paths
from cffpy.api.intel_source import source_of
from cffpy.api.walking import uncollected
from cffpy.capture.gpu import Gpu
from cffpy.container.kinds import captures_in
from cffpy.container.open import open_capture
from cffpy.document_types import Values
from cffpy.errors import CaptureError, CffpyError
from cffpy.frame.objects import Named
from cffpy.limits import VARIABLES, Limits
from cffpy.query.filters import Filter
from cffpy.query.search import asked_draws, subjects

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from cffpy.analysis.passes.finder import PassFinder
    from cffpy.frame.action import Action
    from cffpy.query.filters import BoundFilter

#: Files for each worker that are worked on or whose results wait: results come in the order of
#: the files, and a slow one must not make those of all others wait in memory.
_WAITING = 4


_WithPass = TypedDict("_WithPass", {"pass": Annotated[int | None, "number of the pass"]})


class FoundDrawDocument(_WithPass):
    """A draw for which the filter holds."""

    submit: Annotated[int, "number of the submit"]
    draw: Annotated[str | None, "the draw by the name that commands take"]
    dump_draw: Annotated[int | None, "number in cffpy dump"]
    tile: Annotated[int | None, "tile that it is executed in"]
    values: Annotated[Values, "the values of the names in the filter and of --columns"]


class FoundDrawLine(FoundDrawDocument):
    """A draw for which a filter holds: cffpy find --jsonl."""

    file: Annotated[str, "the capture"]
    gpu: Annotated[str | None, "name of the GPU"]


class FoundFileDocument(TypedDict):
    """What was found in a capture."""

    file: Annotated[str, "the capture"]
    gpu: Annotated[str | None, "name of the GPU"]
    count: Annotated[int, "draws for which the filter holds"]
    unknown: Annotated[int, "draws of which only the GPU knows whether it holds"]
    draws: Annotated[list[FoundDrawDocument], "the draws"]
    absent: Annotated[list[str], "names that the GPU does not have, in words"]
    problems: Annotated[list[str], "damage, and what limits left out, in words"]
    error: Annotated[str | None, "why the file could not be read"]


class FindDocument(TypedDict):
    """Draws for which a filter holds: cffpy find --json."""

    where: Annotated[str, "the filter"]
    files: Annotated[list[FoundFileDocument], "an object for each file"]


class FoundDraw(NamedTuple):
    """A draw for which a filter holds. ``name`` is what commands take; None: it has none.

    ``values``: the names of the filter and the columns, with their values.
    """

    submit: int
    pass_index: int | None
    name: str | None
    dump_draw: int | None
    tile: int | None
    values: list[Named]

    def to_dict(self) -> FoundDrawDocument:
        """Its object in the document of ``cffpy find --json``."""
        return {
            "submit": self.submit,
            "pass": self.pass_index,
            "draw": self.name,
            "dump_draw": self.dump_draw,
            "tile": self.tile,
            "values": {value.name: value.value for value in self.values},
        }


@dataclass(slots=True)
class FoundFile:
    """What was found in a capture. ``error``: why it could not be read, in one line.

    ``count``: draws for which the filter holds, of which ``draws`` may be the first ones only.
    ``unknown``: draws of which only the GPU knows whether it holds. ``problems``: damage, and what
    limits left out, in words. ``absent``: names that the capture's GPU lacks, whose values are
    unknown, as in "a3xx has no RB_DEPTH_CNTL".
    """

    path: str
    gpu: str | None = None
    draws: list[FoundDraw] = field(default_factory=list)
    count: int = 0
    unknown: int = 0
    problems: list[str] = field(default_factory=list)
    absent: list[str] = field(default_factory=list)
    error: str | None = None

    def to_dict(self) -> FoundFileDocument:
        """Its object in the document of ``cffpy find --json``."""
        return {
            "file": self.path,
            "gpu": self.gpu,
            "count": self.count,
            "unknown": self.unknown,
            "draws": [draw.to_dict() for draw in self.draws],
            "absent": self.absent,
            "problems": self.problems,
            "error": self.error,
        }


class _Options(NamedTuple):
    """The settings for all files. ``most``: draws to return of a file; None: all."""

    where: str
    columns: str | None
    register_db: str | None
    gpu: Gpu | None
    #: Names and numbers of the limits that a user chose.
    limits: tuple[tuple[str, int], ...]
    all_actions: bool
    most: int | None


def find(
    where: str,
    paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]],
    *,
    columns: str | None = None,
    all_actions: bool = False,
    most: int | None = None,
    jobs: int | None = None,
    gpu: str | int | Gpu | None = None,
    register_db: str | None = None,
    limits: Limits | Mapping[str, int] | None = None,
) -> Iterator[FoundFile]:
    """What a filter finds in captures, file by file, in the order of ``paths``.

    A folder stands for the captures in it and below, by name. ``columns``: names whose values are
    wanted besides those in the filter, as in "pass.mode,RB_DEPTH_CNTL.ZFUNC". ``all_actions``:
    every execution of every draw, and blits. ``most``: draws to return of each file. ``jobs``:
    worker processes; None: one for each processor.

    Raises FilterError for a filter that is wrong for every generation, before any file is read. A
    file that cannot be read raises nothing: see ``FoundFile.error``.
    """
    directory, given = given_edition(register_db, knows_auto=True), given_gpu(gpu)
    files = captures_in(given_paths("paths", paths))
    Filter(where, columns).check(directory)
    chosen = given_limits(limits)
    numbers = ((name, getattr(chosen, name)) for name in VARIABLES)
    kept = tuple((name, number) for name, number in numbers if number is not None)
    options = _Options(where, columns, directory, given, kept, all_actions, most)
    jobs = min(jobs or processors(), len(files))
    return _in_turn(files, options) if jobs <= 1 else _in_workers(files, options, jobs)


def processors() -> int:
    """Processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _in_turn(files: list[str], options: _Options) -> Iterator[FoundFile]:
    worker = _Worker(options)
    return map(worker.find, files)


def _in_workers(files: list[str], options: _Options, jobs: int) -> Iterator[FoundFile]:
    from concurrent.futures import Future, ProcessPoolExecutor
    from concurrent.futures.process import BrokenProcessPool
    from multiprocessing import get_context

    # a forked worker has all modules; elsewhere forking is not safe, or not there
    context = get_context("fork" if sys.platform == "linux" else "spawn")
    pool = ProcessPoolExecutor(jobs, context)
    waiting: deque[Future[FoundFile]] = deque()
    try:
        rest = iter(files)
        for path in islice(rest, jobs * _WAITING):
            waiting.append(pool.submit(_find_in_worker, options, path))
        while waiting:
            result = waiting.popleft().result()
            for path in islice(rest, 1):
                waiting.append(pool.submit(_find_in_worker, options, path))
            yield result
    except BrokenProcessPool:
        raise CaptureError("a worker process was killed; is there enough memory?") from None
    finally:
        pool.shutdown(cancel_futures=True)


@functools.lru_cache(maxsize=1)
def _worker(options: _Options) -> _Worker:
    return _Worker(options)


def _find_in_worker(options: _Options, path: str) -> FoundFile:
    return _worker(options).find(path)


class _Worker:
    """Searches one file after another."""

    def __init__(self, options: _Options) -> None:
        self._options = options
        self._limits = Limits(**dict(options.limits))
        self._filter = Filter(options.where, options.columns)

    def find(self, path: str) -> FoundFile:
        """What the filter finds in a file."""
        found = FoundFile(path)
        try:
            with uncollected():
                self._find(found)
        except CffpyError as problem:
            found.error = str(problem)
        except (OSError, MemoryError) as problem:
            found.error = str(problem) or "out of memory"
        except Exception as problem:  # the other files are still wanted
            found.error = f"internal error: {type(problem).__name__}: {problem}"
        finally:
            gc.collect()
        return found

    def _find(self, file: FoundFile) -> None:
        options = self._options
        content = open_capture(file.path, self._limits)
        source = source_of(content, options.gpu, options.register_db, None)
        at_draws = not options.all_actions and not self._filter.is_of_executions
        try:
            bound = source.ask(self._filter, at_draws, is_lenient=True)
            if bound is not None:
                file.absent = bound.absent
                self._ask(file, source.walked.finder, bound)
                bound.use(None)
            file.gpu = source.walked.finder.found.gpu
            file.problems = [problem.line for problem in source.problems]
        finally:
            source.close()

    def _ask(self, file: FoundFile, finder: PassFinder, bound: BoundFilter) -> None:
        """Ask the filter about each draw."""
        options, passes = self._options, finder.found.passes
        actions: Iterable[Action] = finder.actions
        if not options.all_actions:
            actions = asked_draws(self._filter, passes)
        for subject in subjects(actions, passes):
            holds = bound.matches(subject)
            if holds is None:
                file.unknown += 1
            if not holds:
                continue
            file.count += 1
            if options.most is None or len(file.draws) < options.most:
                assert subject.action is not None
                file.draws.append(_draw(subject.action, bound.values(subject)))


def _draw(action: Action, values: list[Named]) -> FoundDraw:
    from cffpy.frame.places import name_of

    name = name_of(action)
    return FoundDraw(
        action.place.submit,
        action.pass_index,
        None if name is None else str(name),
        action.dump_draw,
        action.tile_number,
        values,
    )
