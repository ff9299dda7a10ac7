"""Runs a flow with crashes and failures at seeded moments, and compares what comes out.

A crash ends the driver between two steps: what was not durable is gone, and the next run goes on
from the store. A failure takes from some processors what they hold in memory, while all others go
on. The moments are logical ones, and runs are in lockstep, so that a seed does the same each time.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from falkirk.core.errors import ConfigurationError
from falkirk.core.machine.events import Event, RolledBack
from falkirk.dataflow.description import describe
from falkirk.dataflow.explanation import tainted
from falkirk.runtime.driver import Driver
from falkirk.runtime.options import Options
from falkirk.runtime.run import held, prepared
from falkirk.store import open_store
from falkirk.testing.comparing import difference, lack, unlike
from falkirk.testing.ends import Contradicted, fresh_outputs, require_known, with_ends
from falkirk.testing.heard import Heard, heard
from falkirk.testing.lockstep import in_lockstep
from falkirk.testing.making import Made, Making
from falkirk.testing.script import Remembered, Rows
from falkirk.testing.strikes import Aim, Strikes

Inputs = Mapping[str, Sequence[Rows]]
Result = Callable[[Remembered], Any]
"""What of an output must be the same, whatever fails."""

Shown = Mapping[str, Callable[[Path], Sequence[Any]]]
"""For outputs that are really written, by name: a function of the folder that reads their rows."""


class CrashError(Exception):
    """The process would be dead now."""


@dataclass
class Trial:
    """One way to the end, in several runs if there are crashes.

    ``outputs`` is what was remembered, ``shown`` what the outside shows of sinks that are real.
    ``heard`` is what the driver heard of, each once; ``happened`` says what struck it, and where.
    """

    seed: int | None
    outputs: dict[str, Remembered]
    shown: dict[str, list[Any]] = field(default_factory=dict)
    heard: dict[Heard, None] = field(default_factory=dict)
    happened: list[str] = field(default_factory=list)
    crashes: int = 0
    recoveries: list[RolledBack] = field(default_factory=list)

    def __str__(self) -> str:
        """What happened, a line for each."""
        title = "in peace" if self.seed is None else f"with seed {self.seed}"
        return "\n  ".join([f"{title}:", *(self.happened or ["nothing happened"])])


class CrashTest:
    """Runs one flow again and again; see ``falkirk.testing.plugin`` for the fixture."""

    def __init__(
        self,
        flow: Made,
        folder: Path,
        spark: Any,
        inputs: Inputs,
        options: Options,
        shown: Shown | None = None,
    ) -> None:
        """Each trial has a folder of its own in ``folder``, for the store and for what is outside.

        Outputs that ``shown`` knows how to read are written, others are remembered.
        """
        self.make, self.folder, self.spark = Making(flow), folder, spark
        self.inputs, self.options, self.shown = inputs, options, shown or {}
        if self.shown and not self.make.anew:
            raise ConfigurationError(
                "sinks can be real only where each trial has its own: give crash_test a function"
                " of a folder that makes the flow, with sinks that write into this folder"
            )
        self.blueprint = blueprint = self.make(self.outside(None))
        require_known(blueprint, "output", self.shown, blueprint.sinks)
        self.names = [p for p, node in blueprint.nodes.items() if node.processor is not None]
        self.written = [p for p in blueprint.sinks if p in self.shown]
        self.loose = tainted(blueprint)

    def calm(self) -> Trial:
        """The run in which nothing fails."""
        return self.run(self.trial(), Strikes(), ())

    def struck(self, trial: Trial, calm: Trial, crashes: int, failures: int) -> None:
        """Makes ``trial``, whose seed says what happens."""
        assert trial.seed is not None
        strikes = Strikes.seeded(trial.seed, self.names, crashes, failures, self.written)
        self.run(trial, strikes, list(calm.heard))

    def trial(self, seed: int | None = None) -> Trial:
        """A trial that has not begun."""
        return Trial(seed, fresh_outputs(self.blueprint, self.shown))

    def outside(self, seed: int | None) -> Path:
        """The folder of a trial that is the flow's own."""
        return self.folder / ("calm" if seed is None else f"seed-{seed}") / "outside"

    def run(self, trial: Trial, strikes: Strikes, calm: Sequence[Heard]) -> Trial:
        """Runs to the end, and begins again after each crash."""
        while not self.attempt(trial, strikes, calm):
            trial.crashes += 1
        outside = self.outside(trial.seed)
        trial.shown = {name: list(read(outside)) for name, read in self.shown.items()}
        return trial

    def attempt(self, trial: Trial, strikes: Strikes, calm: Sequence[Heard]) -> bool:
        """Goes on from the store; whether it came to the end."""
        outside, aim = self.outside(trial.seed), Aim(calm, strikes.of(trial.crashes))
        blueprint = with_ends(self.make(outside), self.inputs, trial.outputs)
        store = open_store(str(outside.with_name("store")))
        try:
            with held(store):
                store.adopt(describe(blueprint))
                driver = prepared(blueprint, store, self.spark, self.options)
                in_lockstep(driver, strikes.pace)
                strike(driver, trial, aim)
                try:
                    driver.run()
                except CrashError:
                    return False
                finally:
                    trial.recoveries += driver.report.recoveries
                    trial.happened += [each.missed for each in aim.waiting]
        finally:
            store.close()
        return True

    def difference(self, calm: Trial, trial: Trial, result: Result) -> str | None:
        """What a trial shows that the calm run does not, or the other way round."""
        for name, remembered in calm.outputs.items():
            if found := self.compared(name, remembered, trial.outputs[name], result):
                return found
        for name, rows in calm.shown.items():
            compare = lack if name in self.loose else unlike
            if found := compare(name, rows, trial.shown[name]):
                return found
        return None

    def compared(
        self, name: str, expected: Remembered, found: Remembered, result: Result
    ) -> str | None:
        """What is different in an output that was remembered."""
        if name in self.loose:
            return lack(name, expected.rows(), found.rows())
        if isinstance(found, Contradicted) and found.contradictions:
            time, first, then = found.contradictions[0]
            return f"{name!r} at {time}:\n  it had shown      {first}\n  and then came     {then}"
        return difference(name, result(expected), result(found))


def strike(driver: Driver, trial: Trial, aim: Aim) -> None:
    """Notes what a driver hears of, and has something happen at some of it."""
    step = driver.step

    def struck(event: Event) -> None:
        now = heard(driver.machine, event)
        trial.heard.update(dict.fromkeys(now))
        hit = aim.hit(now)
        trial.happened += [each.told(now[-1]) for each in hit]
        crash = next((each for each in hit if not each.lost), None)
        if crash is None or crash.after:
            step(event)
        if crash is not None:
            raise CrashError(crash.told(now[-1]))
        for each in hit:
            driver.tell(driver.failures.lost, each.lost, RuntimeError("lost on purpose"))

    driver.step = struck  # type: ignore[method-assign]
