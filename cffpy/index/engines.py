# SPDX-License-Identifier: MIT
"""What runs the tasks of a build: worker processes of this machine, or Dask distributed."""

from __future__ import annotations

import logging
import random
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol

from cffpy.errors import CaptureIndexError, CffpyError, MissingLibrary
from cffpy.index.model import Done, Lost, Task
from cffpy.index.partition import build_part
from cffpy.index.worker_memory import share_heap

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from concurrent.futures import ProcessPoolExecutor

    Outcome = Done | Lost

#: Tasks for each worker that run or wait for one.
_WAITING = 2
#: How often a capture is tried that ended its worker.
_ATTEMPTS = 2
_DIED = "the worker that decoded it was killed (out of memory?)"
_NOT_STARTED = (
    "worker processes cannot start: a script that builds an index with several jobs needs"
    ' `if __name__ == "__main__":` before the call'
)


class Engine(Protocol):
    """Runs tasks; outcomes have no fixed order."""

    workers: int

    def run(self, tasks: Iterator[Task]) -> Iterator[Outcome]:
        """Run all tasks; they are taken as workers become free.

        A task whose worker dies is run again, its captures one by one. Raises CffpyError where the
        index cannot be written.
        """
        ...


def split(task: Task) -> list[Task]:
    """A task for each capture of a task."""
    return [task._replace(number=random.getrandbits(31), captures=(one,)) for one in task.captures]


class SerialEngine:
    """Runs tasks in this process."""

    workers = 1

    def run(self, tasks: Iterator[Task]) -> Iterator[Outcome]:
        """As Engine has it."""
        return map(build_part, tasks)


class LocalEngine:
    """Worker processes."""

    def __init__(self, workers: int) -> None:
        self.workers = workers
        self._has_started = False

    def run(self, tasks: Iterator[Task]) -> Iterator[Outcome]:
        """As Engine has it. Raises CaptureIndexError if no worker can start."""
        suspects: deque[Task] = deque()
        while True:
            yield from self._run(tasks, suspects)
            if not suspects:
                return
            while suspects:
                yield from self._run_alone(suspects.popleft())

    def _run(self, tasks: Iterator[Task], suspects: deque[Task]) -> Iterator[Outcome]:
        """Run tasks until all are done, or until a worker dies: ``suspects`` were running then."""
        from concurrent.futures import FIRST_COMPLETED, Future, wait
        from concurrent.futures.process import BrokenProcessPool

        running: dict[Future[Done], Task] = {}
        pool = _pool(self.workers)
        try:
            self._start(pool)
            while True:
                for task in islice(tasks, self.workers * _WAITING - len(running)):
                    try:
                        running[pool.submit(build_part, task)] = task
                    except BrokenProcessPool:
                        suspects.append(task)
                        break
                if not running:
                    return
                for future in wait(running, return_when=FIRST_COMPLETED).done:
                    task = running.pop(future)
                    try:
                        yield future.result()
                    except BrokenProcessPool:
                        suspects.append(task)
                if suspects:
                    suspects.extend(running.values())
                    return
        finally:
            pool.shutdown(cancel_futures=True)

    def _start(self, pool: ProcessPoolExecutor) -> None:
        """Wait for the first worker: what ends it before its first task ends every worker.

        Workers import the script that runs, so one that builds without a guard starts again there.
        """
        from concurrent.futures.process import BrokenProcessPool

        if not self._has_started:
            try:
                pool.submit(_started).result()
            except BrokenProcessPool:
                raise CaptureIndexError(_NOT_STARTED) from None
            self._has_started = True

    def _run_alone(self, task: Task) -> Iterator[Outcome]:
        """Run a task in a pool of its own; its captures one by one if a worker dies again."""
        from concurrent.futures.process import BrokenProcessPool

        for _ in range(_ATTEMPTS if len(task.captures) == 1 else 1):
            pool = _pool(1)
            try:
                yield pool.submit(build_part, task).result()
                return
            except BrokenProcessPool:
                continue
            finally:
                pool.shutdown(cancel_futures=True)
        if len(task.captures) == 1:
            yield Lost(task, _DIED)
            return
        for one in split(task):
            yield from self._run_alone(one)


def _started() -> None:
    """Do nothing, in a worker."""


def _pool(workers: int) -> ProcessPoolExecutor:
    import sys
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    # libraries of the builder have threads, so it is not forked
    context = get_context("forkserver" if sys.platform == "linux" else "spawn")
    return ProcessPoolExecutor(workers, context, initializer=_begin_worker)


def _begin_worker() -> None:
    """Prepare a worker; it ends when the builder ends for any reason."""
    import os
    from multiprocessing import parent_process
    from threading import Thread

    builder = parent_process()

    def wait() -> None:
        if builder is not None:
            builder.join()
            os._exit(1)

    Thread(target=wait, daemon=True).start()
    share_heap()


class DaskEngine:
    """The workers of a Dask cluster."""

    def __init__(self, address: str) -> None:
        """``address``: of the scheduler, such as tcp://host:8786.

        Raises MissingLibrary without the extra ``cluster``, CaptureIndexError where no scheduler
        answers.
        """
        try:
            from distributed import Client
        except ImportError:
            raise MissingLibrary.of("--scheduler needs", "Dask", "cluster") from None
        # the error about a lost scheduler is enough
        logging.getLogger("distributed.client").setLevel(logging.CRITICAL)
        try:
            self._client: Any = Client(address, timeout=_TIMEOUT, set_as_default=False)
        except (OSError, ValueError) as problem:
            raise CaptureIndexError(f"{address}: no Dask scheduler: {problem}") from None
        self._address = address
        threads: dict[str, int] = self._client.nthreads()
        self.workers = max(1, sum(threads.values()))

    def close(self) -> None:
        """Leave the cluster."""
        self._client.close(timeout=_TIMEOUT)

    def run(self, tasks: Iterator[Task]) -> Iterator[Outcome]:
        """As Engine has it. Dask runs a task again on another worker where one dies.

        It counts the death of a worker against all of its tasks. So a capture that seems to kill
        workers is tried again at the end, alone.
        """
        from distributed import as_completed

        completed: Any = as_completed(loop=self._client.loop)
        waiting: deque[Task] = deque()
        suspects: deque[Task] = deque()
        running = 0

        def add(count: int, more: Iterator[Task], suffix: str = "") -> int:
            added = 0
            for task in islice(more, count):
                key = f"cffpy-index-{task.number:08x}{suffix}"
                future = self._client.submit(_on_cluster, build_part, task, key=key, pure=False)
                future.task, future.is_alone = task, bool(suffix)
                completed.add(future)
                added += 1
            return added

        try:
            running += add(self.workers * _WAITING, tasks)
            while running or suspects:
                if not running:
                    running += add(1, _drained(suspects), "-alone")
                future = next(completed)
                running -= 1
                outcome = self._outcome(future, future.task)
                if isinstance(outcome, list):
                    waiting.extend(outcome)
                elif isinstance(outcome, Lost) and not future.is_alone:
                    suspects.append(future.task)
                else:
                    yield outcome
                if not future.is_alone:
                    free = self.workers * _WAITING - running
                    running += add(free, _drained(waiting))
                    running += add(self.workers * _WAITING - running, tasks)
        except (OSError, TimeoutError) as problem:
            raise CaptureIndexError(f"{self._address}: the scheduler is gone: {problem}") from None
        finally:
            self.close()

    def _outcome(self, future: Any, task: Task) -> Outcome | list[Task]:  # noqa: ANN401
        """The outcome of a task; or the tasks into which it is split, for its workers died."""
        from concurrent.futures import CancelledError

        from distributed import KilledWorker

        try:
            done: Done = future.result()
        except KilledWorker:
            return Lost(task, _DIED) if len(task.captures) == 1 else split(task)
        except CffpyError:
            raise
        except CancelledError:
            raise CaptureIndexError(f"{self._address}: the scheduler is gone") from None
        return done


def _on_cluster(build: Callable[[Task], Done], task: Task) -> Done:
    """Run a task in a worker of Dask."""
    share_heap()
    return build(task)


#: Seconds in which a scheduler has to answer.
_TIMEOUT = 10


def _drained(waiting: deque[Task]) -> Iterator[Task]:
    while waiting:
        yield waiting.popleft()
