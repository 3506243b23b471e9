# SPDX-License-Identifier: MIT
"""A case: a mutant and a command line, both derived from one number."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import NamedTuple

from tests.fuzz import commands, dumps, inputs, intel, mutate
from tests.fuzz.captures import Library, file_bytes, piece
from tests.fuzz.child import Limits, Outcome, run
from tests.fuzz.commands import Files
from tests.fuzz.packets import made_up

Runner = Callable[[list[str], Limits], Outcome]


#: Bytes that a command may use for a crash dump, besides three times its size.
_MOST_MEMORY = 200 << 20


class Case(NamedTuple):
    """A run: the names by which it is counted, and everything needed to repeat it."""

    seed: int
    generation: int
    capture: str
    command: str
    arguments: list[str]
    mutant: bytes
    outcome: Outcome
    environment: dict[str, str]


@contextmanager
def _set(variables: dict[str, str]) -> Iterator[None]:
    """Set environment variables, none of which is set before."""
    os.environ.update(variables)
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]


class Bench:
    """Runs cases in a separate folder, with a separate cache of compiled descriptions.

    ``of_dumps``: the mutants are of crash dumps instead of captures.
    """

    def __init__(
        self, limits: Limits | None = None, folder: Path | None = None, of_dumps: bool = False
    ) -> None:
        self.library = Library()
        self.dumps = dumps.sources() if of_dumps else None
        self.limits = limits or Limits()
        self._folder = tempfile.TemporaryDirectory(prefix="cffpy-fuzz-", dir=folder)
        self.folder = Path(self._folder.name)
        self.environment = {"CFFPY_DEBUG": "", "CFFPY_CACHE": str(self.folder / "cache")}

    def close(self) -> None:
        self._folder.cleanup()

    def limits_of(self, command: str | None) -> Limits:
        """The limits of a process that runs this command. None: those of most commands."""
        reserved, _ = commands.RESERVED.get(command or "", (0, 0))
        return self.limits._replace(memory=max(self.limits.memory, reserved))

    def run(
        self,
        seed: int,
        only: str | None = None,
        generation: int | None = None,
        runner: Runner | None = None,
    ) -> Case:
        """The case of a number. ``runner``: how the command is run; by default in a child."""
        rng = Random(seed)
        is_dump = self.dumps is not None
        if only in commands.WITHOUT_CAPTURE and not is_dump:
            chosen, name, original, mutant = 0, "none", b"", b""
        else:
            chosen, name, original, mutant = self._files(rng, generation)
        command = commands.choose(rng, only, is_dump)
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            place = Path(folder)
            name_of_mutant = rng.choice(inputs.FILE_NAMES)
            files = Files(place / name_of_mutant, place / "original.rd", place, is_dump, {})
            files.mutant.write_bytes(mutant)
            files.original.write_bytes(original)
            arguments = commands.LINES[command][0](rng, files)
            most = commands.RESERVED.get(command, (0, 1 << 62))[1]
            limits = self.limits_of(command)
            if runner is not None:
                with _set(files.environment):
                    outcome = runner(arguments, limits)
            else:
                environment = {**self.environment, **files.environment}
                outcome = run(arguments, limits, environment)
            made = files.folder / intel.FILE_NAME
            if made.exists():
                mutant = made.read_bytes()
        if is_dump:
            most = min(most, 3 * len(mutant) + _MOST_MEMORY)
        if not outcome.problem and outcome.peak > most:
            outcome = outcome._replace(problem=f"uses {outcome.peak >> 20} MB")
        return Case(seed, chosen, name, command, arguments, mutant, outcome, files.environment)

    def _files(self, rng: Random, generation: int | None) -> tuple[int, str, bytes, bytes]:
        """Generation (0 for crash dumps), name of the source, original and mutant."""
        if self.dumps is not None:
            number = rng.randrange(len(self.dumps))
            source = self.dumps[number]
            return 0, f"crash dump {number}", source, dumps.mutant(rng, source)
        chosen, path = self.library.pick(rng, generation)
        parts = made_up(rng, chosen) if path is None else piece(rng, path)
        original = file_bytes(parts)
        return chosen, path.name if path else "made up", original, mutate.mutant(rng, parts)

    def again(self, case: Case, mutant: bytes, generation: int | None = None) -> Outcome:
        """The same command line with another mutant; its other files are made again."""
        original = self._files(Random(case.seed), generation)[2]
        with tempfile.TemporaryDirectory(dir=self.folder) as folder:
            old = next((Path(word).parent for word in case.arguments if self._is_ours(word)), None)
            place = Path(folder)
            for word in case.arguments:
                if self._is_ours(word) and Path(word).name in inputs.FILE_NAMES:
                    (place / Path(word).name).write_bytes(mutant)
            (place / "original.rd").write_bytes(original)
            arguments = [
                word if old is None else word.replace(str(old), folder) for word in case.arguments
            ]
            return run(arguments, self.limits, self.environment)

    def _is_ours(self, word: str) -> bool:
        return word.startswith(str(self.folder))
