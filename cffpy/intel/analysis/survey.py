# SPDX-License-Identifier: MIT
"""All actions and passes of a capture, and the state at one action."""

from __future__ import annotations

from cffpy.intel.analysis.capture import run_capture
from cffpy.intel.analysis.flushes import flush_words
from cffpy.intel.analysis.passes import PassFinder
from cffpy.intel.analysis.walk import Walk

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable

    from cffpy.container.open import Content
    from cffpy.frame.action import Action
    from cffpy.frame.passes import Pass
    from cffpy.intel.analysis.actions import Uses
    from cffpy.intel.analysis.capture import IntelRun
    from cffpy.intel.analysis.generated import Generation
    from cffpy.intel.analysis.passes import Flush
    from cffpy.intel.analysis.place import Submission
    from cffpy.intel.analysis.state import Instruction
    from cffpy.intel.container.memory import AddressSpace
    from cffpy.intel.decoder.database import Database

    #: Called at an action while its memory is available.
    AtAction = Callable[["SurveyWalk", Action, Instruction], bool]

#: Actions that are listed.
_MAX_ACTIONS = 1 << 20


class SurveyWalk(Walk):
    """Collects actions and passes. ``at_action`` may stop the walk by returning True."""

    def __init__(
        self,
        database: Database,
        memory: AddressSpace,
        budget: int,
        at_action: AtAction | None = None,
    ) -> None:
        super().__init__(database, memory, budget)
        self.actions: list[Action] = []
        #: What each action uses, by its ``order``.
        self.uses: list[Uses] = []
        self.finder = PassFinder()
        self._at_action = at_action

    def begin_submission(self, submission: Submission) -> None:
        """Passes end with their submission."""
        super().begin_submission(submission)
        self.finder.begin_submission()

    def acted(self, action: Action, uses: Uses, command: Instruction) -> None:
        """Keep the action, and put it into a pass."""
        if len(self.actions) >= _MAX_ACTIONS:
            self.is_exhausted = True
            return
        self.actions.append(action)
        self.uses.append(uses)
        self.finder.take(action, uses)
        if self._at_action is not None and self._at_action(self, action, command):
            self.stop()

    def flushed(self, command: Instruction) -> None:
        """Keep what a flush does for the next pass."""
        words = flush_words(command)
        if words:
            self.finder.flush(command.address, words)


class Survey:
    """What a capture does. ``run`` has the file's kind, device, submissions and damage.

    ``uses``: what each action uses, by its ``order``. ``flushes``: before each pass, by its index.
    """

    def __init__(self, run: IntelRun) -> None:
        self.run = run
        walk = run.walk
        self.actions: list[Action] = []
        self.uses: list[Uses] = []
        self.passes: list[Pass] = []
        self.flushes: list[list[Flush]] = []
        self.generations: list[Generation] = []
        if isinstance(walk, SurveyWalk):
            walk.finder.finish()
            self.actions, self.uses = walk.actions, walk.uses
            self.passes, self.flushes = walk.finder.passes, walk.finder.flushes
            self.generations = walk.generations


def survey(
    content: Content, directory: str | None = None, at_action: AtAction | None = None
) -> Survey:
    """Run a capture and collect its actions and passes; ``at_action`` sees each while it runs.

    Raises UnsupportedGpu for an unknown device.
    """
    return Survey(
        run_capture(
            content,
            lambda database, memory, budget: SurveyWalk(database, memory, budget, at_action),
            directory,
        )
    )
