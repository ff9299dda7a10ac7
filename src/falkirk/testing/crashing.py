"""Runs a flow with crashes and failures at seeded moments, and compares what comes out.

A crash ends the driver between two steps: what was not durable is gone, and the next run goes on
from the store. A failure takes from some processors what they hold in memory, while all others go
on. Which steps are struck, and whom, follows from the seed and from how many steps a calm run had.
"""

import random
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from falkirk.core.machine.events import RolledBack, Tick
from falkirk.core.times import ProcessorId
from falkirk.dataflow.builder import Dataflow
from falkirk.dataflow.description import describe
from falkirk.dataflow.explanation import tainted
from falkirk.runtime.driver import Driver
from falkirk.runtime.options import Options
from falkirk.runtime.run import held, prepared
from falkirk.store import open_store
from falkirk.store.noticeboard import Noticeboard
from falkirk.store.protocol import StoreEffect
from falkirk.testing.ends import fresh_outputs, with_ends
from falkirk.testing.faulty import FaultyStore
from falkirk.testing.script import Remembered, Rows

Inputs = Mapping[str, Sequence[Rows]]
Result = Callable[[Remembered], Any]
"""What of an output must be the same, whatever fails."""


class CrashError(Exception):
    """The process would be dead now."""


class MortalStore(FaultyStore):
    """A store that takes nothing more from a driver that has crashed."""

    dead = False

    @property
    def noticeboard(self) -> Noticeboard:
        """What monitors read and write."""
        return self.store.noticeboard

    def transact(
        self, effects: Sequence[StoreEffect], captures: Mapping[int, Any] | None = None
    ) -> None:
        """Carries out all ``effects``, while the driver lives."""
        if self.dead:
            raise CrashError("the driver crashed before this was written")
        super().transact(effects, captures)


@dataclass
class Trial:
    """One way to the end, in several runs if there are crashes; ``steps`` are those of the last."""

    seed: int | None
    outputs: dict[str, Remembered]
    steps: int = 0
    crashes: int = 0
    recoveries: list[RolledBack] = field(default_factory=list)


Moment = tuple[int, int]
"""A run, counted from the start of the trial, and a step of it."""


@dataclass(frozen=True)
class Strikes:
    """When the driver crashes, and when processors fail."""

    crashes: frozenset[Moment] = frozenset()
    failures: Mapping[Moment, frozenset[ProcessorId]] = field(default_factory=dict)

    @classmethod
    def seeded(
        cls, seed: int, steps: int, names: Sequence[ProcessorId], crashes: int, failures: int
    ) -> "Strikes":
        """As many of each as are asked for, where a run in peace has so many ``steps``.

        Every run but the last crashes, unless it is at its end before.
        """
        rng = random.Random(seed)
        moments = range(2, max(steps, 3))
        dying = frozenset((run, rng.choice(moments)) for run in range(crashes))
        losing = {
            (rng.randint(0, crashes), rng.choice(moments)): frozenset(
                rng.sample(names, rng.randint(1, min(2, len(names))))
            )
            for _ in range(failures if names else 0)
        }
        return cls(dying, losing)


class CrashTest:
    """Runs one flow again and again; see ``falkirk.testing.plugin`` for the fixture."""

    def __init__(
        self, flow: Dataflow, folder: Path, spark: Any, inputs: Inputs, options: Options
    ) -> None:
        """Stores go into ``folder``, a new one for each trial."""
        self.blueprint, self.folder, self.spark = flow.build(), folder, spark
        self.inputs, self.options = inputs, options
        self.names = [p for p, node in self.blueprint.nodes.items() if node.processor is not None]
        self.loose = tainted(self.blueprint)

    def calm(self) -> Trial:
        """The run in which nothing fails."""
        return self.run(None, Strikes())

    def struck(self, seed: int, calm: Trial, crashes: int, failures: int) -> Trial:
        """The run of ``seed``."""
        return self.run(seed, Strikes.seeded(seed, calm.steps, self.names, crashes, failures))

    def run(self, seed: int | None, strikes: Strikes) -> Trial:
        """Runs to the end, and begins again after each crash."""
        trial = Trial(seed, fresh_outputs(self.blueprint))
        store = self.folder / ("calm" if seed is None else f"seed-{seed}")
        while not self.attempt(trial, store, strikes):
            trial.crashes += 1
        return trial

    def attempt(self, trial: Trial, folder: Path, strikes: Strikes) -> bool:
        """Goes on from the store; whether it came to the end."""
        trial.steps = 0
        blueprint = with_ends(self.blueprint, self.inputs, trial.outputs)
        store = MortalStore(open_store(str(folder)))
        try:
            with held(store):
                store.adopt(describe(blueprint))
                driver = prepared(blueprint, store, self.spark, self.options)
                strike(driver, store, trial, strikes)
                try:
                    driver.run()
                except CrashError:
                    return False
                finally:
                    trial.recoveries += driver.report.recoveries
        finally:
            store.close()
        return True

    def difference(self, calm: Trial, trial: Trial, result: Result) -> str | None:
        """What a trial shows that the calm run does not, or the other way round."""
        for name, expected in calm.outputs.items():
            found = trial.outputs[name]
            if ProcessorId(name) in self.loose:
                missing = [row for row in expected.rows() if row not in found.rows()]
                if missing:
                    return f"{name!r} promises at least once, but lacks {missing[:5]}"
            elif result(found) != result(expected):
                return told(name, result(expected), result(found))
        return None


def strike(driver: Driver, store: MortalStore, trial: Trial, strikes: Strikes) -> None:
    """Counts the driver's steps, and has something happen at some of them."""
    step = driver.step

    def counted(event: Any) -> None:
        if driver.broken is not None:
            return  # it is dead already
        if isinstance(event, Tick):  # the clock's ticks say nothing about how far a run is
            step(event)
            return
        trial.steps += 1
        moment = (trial.crashes, trial.steps)
        if moment in strikes.crashes:
            store.dead = True
            driver.break_off(CrashError(f"at step {trial.steps} of run {trial.crashes}"))
            return
        step(event)
        if lost := strikes.failures.get(moment):
            driver.tell(driver.failures.lost, lost, RuntimeError("lost on purpose"))

    driver.step = counted  # type: ignore[method-assign]


def told(name: str, expected: Any, found: Any) -> str:
    """Where two outputs differ, time by time if they are kept so."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for time in sorted({*expected, *found}):
            if expected.get(time) != found.get(time):
                return (
                    f"{name!r} at {time}:\n  without failures  {expected.get(time, 'nothing')}"
                    f"\n  with failures     {found.get(time, 'nothing')}"
                )
    return f"{name!r}:\n  without failures  {expected}\n  with failures     {found}"
