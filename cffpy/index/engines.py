# SPDX-License-Identifier: MIT
"""What runs the tasks of a build: worker processes of this machine, or Dask distributed."""

from __future__ import annotations

import logging
import random
from collections import deque
from itertools import islice
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from cffpy.errors import CaptureIndexError, CffpyError, MissingLibrary
from cffpy.index.model import Done, Lost, Task
from cffpy.index.partition import build_part
from cffpy.index.worker_process import WorkerDied, WorkerProcess, share_heap
from cffpy.tables.child_process import run_in_child

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    Outcome = Done | Lost

_Result = TypeVar("_Result")

#: Tasks for each worker of a cluster that run or wait for one.
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

    def call(self, work: Callable[[], _Result]) -> _Result:
        """Call a function, whose result can be pickled: in a process of its own, or here."""
        ...


def split(task: Task) -> list[Task]:
    """A task for each capture of a task."""
    return [
        task._replace(number=random.getrandbits(31), captures=(capture,))
        for capture in task.captures
    ]


class SerialEngine:
    """Runs tasks in this process."""

    workers = 1

    def run(self, tasks: Iterator[Task]) -> Iterator[Outcome]:
        """Run one task after the other, each when its outcome is asked for."""
        return map(build_part, tasks)

    def call(self, work: Callable[[], _Result]) -> _Result:
        """Call the function here: memory that it takes stays with this process."""
        return work()


class LocalEngine:
    """Runs tasks in worker processes of this machine."""

    def __init__(self, workers: int) -> None:
        self.workers = workers

    def run(self, tasks: Iterator[Task]) -> Iterator[Outcome]:
        """Run tasks in worker processes. Raises CaptureIndexError if no worker can start.

        A task whose worker dies is run again at the end, alone: memory may be enough for one.
        """
        workers = _Workers()
        suspects: deque[Task] = deque()
        try:
            yield from workers.run(tasks, self.workers, suspects)
            while suspects:
                yield from _run_alone(workers, suspects.popleft())
        finally:
            workers.end()

    def call(self, work: Callable[[], _Result]) -> _Result:
        """Call the function in a child process, which frees all of its memory."""
        return run_in_child(work)


def _run_alone(workers: _Workers, task: Task) -> Iterator[Outcome]:
    """Run a task; its captures one by one if the worker dies again."""
    is_single = len(task.captures) == 1
    died: deque[Task] = deque([task])
    for _ in range(_ATTEMPTS if is_single else 1):
        yield from workers.run(iter([died.popleft()]), 1, died)
        if not died:
            return
    if is_single:
        yield Lost(task, _DIED)
        return
    for part in split(task):
        yield from _run_alone(workers, part)


class _Workers:
    """The processes of a build. They start when there are tasks for them."""

    def __init__(self) -> None:
        self._idle: list[WorkerProcess] = []
        self._busy: dict[object, WorkerProcess] = {}  # by connection
        self._has_started = False

    def run(self, tasks: Iterator[Task], most: int, died: deque[Task]) -> Iterator[Done]:
        """Run tasks in at most ``most`` processes; tasks whose process died go to ``died``."""
        from multiprocessing.connection import wait

        while True:
            for task in islice(tasks, most - len(self._busy)):
                worker = self._idle.pop() if self._idle else self._start()
                self._busy[worker.connection] = worker
                worker.run(build_part, task)
            if not self._busy:
                return
            for ready in wait([worker.connection for worker in self._busy.values()]):
                worker = self._busy[ready]
                try:
                    done = worker.outcome()
                except WorkerDied:
                    died.append(worker.task)
                    del self._busy[ready]
                    worker.end()
                else:
                    if done is not None:
                        del self._busy[ready]
                        self._idle.append(worker)
                        yield done

    def _start(self) -> WorkerProcess:
        """Start a process; the first one has to take tasks before others start.

        Workers import the script that runs, so one that builds without a guard starts again there.
        """
        worker = WorkerProcess()
        if not self._has_started:
            try:
                worker.wait_until_started()
            except WorkerDied:
                worker.end()
                raise CaptureIndexError(_NOT_STARTED) from None
            self._has_started = True
        return worker

    def end(self) -> None:
        """End all processes."""
        for worker in (*self._idle, *self._busy.values()):
            worker.end()


class DaskEngine:
    """The workers of a Dask cluster."""

    def __init__(self, address: str, timeout: float = 10) -> None:
        """``address``: of the scheduler, such as tcp://host:8786. ``timeout``: in seconds.

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
            self._client: Any = Client(address, timeout=timeout, set_as_default=False)
        except (OSError, ValueError) as problem:
            raise CaptureIndexError(f"{address}: no Dask scheduler: {problem}") from None
        self._address, self._timeout = address, timeout
        threads: dict[str, int] = self._client.nthreads()
        self.workers = max(1, sum(threads.values()))

    def call(self, work: Callable[[], _Result]) -> _Result:
        """Call the function in this process, not on the cluster."""
        return work()

    def close(self) -> None:
        """Leave the cluster."""
        self._client.close(timeout=self._timeout)

    def run(self, tasks: Iterator[Task]) -> Iterator[Outcome]:
        """Run tasks on the cluster. Dask runs a task again on another worker where one dies.

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


def _drained(waiting: deque[Task]) -> Iterator[Task]:
    while waiting:
        yield waiting.popleft()
