"""Stores with a past: the real machine runs a flow over numbered epochs into a real store."""

from collections.abc import Callable, Collection
from pathlib import Path
from typing import Any

import pyarrow as pa
from click.testing import CliRunner, Result
from tests.contracts.store.places import Durable
from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.cli.main import cli
from falkirk.core.errors import FalkirkError
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import (
    Acknowledge,
    Close,
    Collect,
    CollectLog,
    Effect,
    Finish,
    Flush,
    Ingest,
    Persist,
    Persisted,
    Release,
    Retract,
    Work,
)
from falkirk.core.machine.events import Result as Outcome
from falkirk.core.policy import Policy
from falkirk.core.times import ProcessorId
from falkirk.dataflow import Dataflow, describe
from falkirk.dataflow.description import about
from falkirk.store import open_store
from falkirk.store.pins import held

FINAL = (Collect, CollectLog, Acknowledge, Release)


def shop(totals: Policy | None = None, orders: Policy | None = None) -> Dataflow:
    """orders → sold → totals → written."""
    flow = fk.Dataflow("shop")
    read = flow.read(Source(), name="orders", policy=orders or fk.lazy())
    sold = read.where("amount > 0", name="sold")
    kept = sold.group_by("item").count(name="totals", policy=totals or fk.lazy(every=5))
    kept.write(Sink(), name="written")
    return flow


class Story:
    """A flow over a store; nothing final happens unless the flow releases by itself.

    What ``stuck`` processors ask of the store is never written.
    """

    def __init__(
        self,
        flow: Dataflow,
        place: Path | str,
        embedded: bool = True,
        stuck: Collection[str] = (),
    ) -> None:
        self.blueprint, self.embedded, self.stuck = flow.build(), embedded, stuck
        self.store = open_store(str(place))
        self.store.acquire()
        description = {**describe(self.blueprint), "about": about(self.blueprint, embedded)}
        self.store.adopt(description)
        self.flow = self.blueprint.flow
        stored = self.store.load(self.flow, Durable)
        begun = any(each.checkpoints or each.incarnation for each in stored.values())
        pinned = held(self.store.noticeboard.pins())
        self.machine = Machine(self.flow, stored if begun else None, pinned=pinned)
        self.released: list[tuple[str, Any]] = []
        self.held: list[Effect] = []
        if begun:
            self.carry_out(self.machine.effects)

    def epochs(self, count: int) -> "Story":
        """So many epochs come in, and are worked on until nothing is left to do."""
        for _ in range(count):
            for p in self.blueprint.sources:
                epoch = self.machine.state.standing[p].epoch
                assert epoch is not None
                self.step(Ingest(p, self.batch(epoch), epoch + 1))
                self.step(Close(p))
            while items := self.machine.enabled():
                work = self.machine.begin(items[0])
                self.step(Finish(work, self.worked(work)))
        return self

    def worked(self, work: Work) -> Outcome:
        """Passes something on, and keeps something where the policy saves state."""
        processor = self.flow.processors[work.processor]
        sends = tuple(
            (edge.name, self.flow.edge_summaries[edge.name].apply(work.time), self.batch(1))
            for edge in self.flow.graph.outputs(work.processor)
        )
        return Outcome(sends, state=None if processor.policy.stateless else (self.batch(2),))

    def batch(self, number: int) -> Durable:
        """A durable batch that shares its file with another one."""
        both = self.store.files.write_together([pa.table({"number": [n]}) for n in (-1, number)])
        return Durable(both[1])

    def step(self, event: Any) -> None:
        self.carry_out(self.machine.step(event))

    def carry_out(self, effects: list[Effect]) -> None:
        """Does what the machine asks for."""
        for effect in effects:
            if isinstance(effect, FINAL) and not self.embedded:
                self.held.append(effect)
            elif isinstance(effect, Persist):
                if effect.processor not in self.stuck:
                    self.store.transact([effect])
                    self.step(Persisted(effect.ticket))
            elif isinstance(effect, Retract | Collect | CollectLog):
                self.store.transact([effect])
            elif isinstance(effect, Release):
                self.released.append((effect.processor, effect.time))
                self.step(effect.taken)

    def flush(self) -> "Story":
        """Takes the checkpoints that are due, whatever the intervals say."""
        self.step(Flush())
        return self

    def stop(self) -> None:
        """Lets the store go, as if the process had been killed."""
        self.store.close()


def position(story: Story, name: str) -> Any:
    """Where an input stands."""
    return story.machine.position(ProcessorId(name))


def falkirk(*arguments: str, **environment: str) -> Result:
    """What a command prints; a mistake is told as ``main`` tells it."""
    result = CliRunner().invoke(cli, arguments, env={"COLUMNS": "100", **environment})
    if isinstance(result.exception, FalkirkError):
        return result
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    return result


Make = Callable[..., Story]
