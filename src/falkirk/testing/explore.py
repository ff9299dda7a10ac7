"""Every run of a small flow: each interleaving of the moves, with faults at every point.

Depth first over the choices. States that are the same up to the names of things
(:mod:`~falkirk.testing.fingerprint`) are explored once, and runs are counted as if they were
explored every time.
"""

import pickle
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TypeVar

from falkirk.core.machine.rules import ALL_RULES, Rules
from falkirk.testing.decisions import Decision, Move, Scripted, write_script
from falkirk.testing.faults import Fault, Trouble
from falkirk.testing.fingerprint import fingerprint
from falkirk.testing.moves import make, possible
from falkirk.testing.simulator import Simulation
from falkirk.testing.striking import strike
from falkirk.testing.world import Scenario, Violation

Answer = TypeVar("Answer")
CRASH = Fault(Trouble.CRASH)
AT_ONCE = ("finish",)
"""The moves that do not wait in a coarse exploration."""


@dataclass
class Explored:
    """What an exploration went through; ``complete`` unless the bound on states was reached."""

    states: int = 0
    runs: int = 0
    complete: bool = True


class Found(Violation):
    """A run that fails, and the schedule that leads there."""

    def __init__(self, error: Exception, schedule: list[Decision], transcript: list[str]) -> None:
        """``schedule`` is for :class:`~falkirk.testing.decisions.Scripted`."""
        lines = "\n".join(f"  {line}" for line in transcript)
        super().__init__(f"{error}\n{lines}\nschedule: {write_script(schedule)}")
        self.error, self.schedule = error, schedule


class Explorer:
    """Explores one scenario, whose logic must be deterministic.

    ``faults`` may strike at every point, ``faults_max`` of them in one run. When ``coarse``, work
    ends as soon as it was begun; otherwise that is delayed, too.
    """

    def __init__(
        self,
        scenario: Scenario,
        faults: Sequence[Fault] = (CRASH,),
        faults_max: int = 1,
        states_max: int = 100_000,
        coarse: bool = True,
        rules: Rules = ALL_RULES,
    ) -> None:
        """Nothing is explored yet."""
        self.scenario, self.faults, self.coarse, self.rules = scenario, faults, coarse, rules
        self.faults_max, self.states_max = faults_max, states_max
        self.explored = Explored()
        self._runs_from: dict[tuple[int, int], int] = {}
        self._path: list[Decision] = []

    def explore(self) -> Explored:
        """Goes through all runs; raises :class:`Found` at the first that fails."""
        self.explored.runs = self._from(self._fresh([]), self.faults_max)
        return self.explored

    def _fresh(self, schedule: list[Decision]) -> Simulation:
        return Simulation(self.scenario, 0, rules=self.rules, decisions=Scripted(schedule))

    def _from(self, run: Simulation, faults_left: int) -> int:
        """How many runs lead on from a state; all of them are explored when this returns."""
        key = (fingerprint(run), faults_left)
        known = self._runs_from.get(key)
        if known is not None:
            return known
        if self.explored.states >= self.states_max:
            self.explored.complete = False
            return 0
        self.explored.states += 1
        run.entries.clear()
        moves = possible(run)
        options: list[Decision] = [*range(len(moves)), *(self.faults if faults_left else ())]
        snapshot = pickle.dumps(run, pickle.HIGHEST_PROTOCOL)
        found = 0 if moves else self._quiet(run, faults_left)
        for option in options:
            found += self._through(pickle.loads(snapshot), option, faults_left)
        self._runs_from[key] = found
        return found

    def _through(self, run: Simulation, option: Decision, faults_left: int) -> int:
        """How many runs begin with one decision."""
        length = len(self._path)
        if isinstance(option, Fault):
            faults_left -= 1
            run.flushed = False
            self._path.append(option)
            self._try(lambda: strike(run, option))
        else:
            self._make(run, possible(run)[option], option)
            while self.coarse:
                at_once = [(i, m) for i, m in enumerate(possible(run)) if m[0] in AT_ONCE]
                if not at_once:
                    break
                index, move = at_once[0]
                self._make(run, move, index)
        found = self._from(run, faults_left)
        del self._path[length:]
        return found

    def _quiet(self, run: Simulation, faults_left: int) -> int:
        """Nothing is left to do: the last checkpoints, or the end."""
        if self._try(run.flush):
            return self._from(run, faults_left)
        self._try(run.check)
        return 1

    def _make(self, run: Simulation, move: Move, index: int) -> None:
        self._path.append(index)
        self._try(lambda: make(run, move))

    def _try(self, action: Callable[[], Answer]) -> Answer:
        """Does something that may fail, and says how it came to that."""
        try:
            return action()
        except Exception as error:
            again = self._fresh(list(self._path))
            with suppress(Exception):
                again.run()
            raise Found(error, list(self._path), again.transcript()) from error
