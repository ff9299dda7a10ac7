"""A tiny runtime: drives the real machine through a flow whose frames are lists of rows."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from random import Random
from typing import Any

from tests.unit.dataflow.frames import FUNCTIONS, Frame, Row

from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import (
    Again,
    Close,
    Collect,
    CollectLog,
    Delivery,
    Effect,
    End,
    Fail,
    Finish,
    Flush,
    Ingest,
    Persist,
    Persisted,
    Release,
    Result,
    Retract,
    Rewind,
    Work,
)
from falkirk.core.machine.rules import ALL_RULES
from falkirk.dataflow import Blueprint
from falkirk.testing.store import SimulatedStore


class Batch:
    """A frame; ``materialised`` says whether it was ever asked for its rows."""

    size = None

    def __init__(self, frame: Frame, label: str = "") -> None:
        self.frame, self.label, self.materialised = frame, label, False

    def transform(self, function: Callable[[Frame], Frame]) -> "Batch":
        return Batch(function(self.frame))

    def materialise(self) -> "Batch":
        self.materialised = True
        return self

    @property
    def rows(self) -> int | None:
        return len(self.frame.rows) if self.materialised else None

    @property
    def small(self) -> bool:
        return False

    def arrow(self) -> list[Row]:
        return self.materialise().frame.rows

    def is_empty(self) -> bool:
        return not self.arrow()


class State:
    """The state view of one event."""

    def __init__(self, machine: Machine, work: Work) -> None:
        self.time, self.kept, self.changed = work.time, machine.own_state(work), False
        found = machine.earlier_state(work)
        self.earlier = [(time, batch) for time, batches in found for batch in batches]

    def put(self, batch: Batch, label: str = "", passing: bool = False) -> None:
        self.kept, self.changed = [*self.kept, Batch(batch.frame, label)], True

    def clear(self) -> None:
        self.kept, self.changed = [], True

    def own(self, label: str | None = None) -> list[Batch]:
        return [b for b in self.kept if label in (None, b.label)]

    def visible(self, label: str | None = None) -> list[Batch]:
        return [batch for _, batch in self.trace(label)]

    def trace(self, label: str | None = None) -> list[tuple[Any, Batch]]:
        entries = [*self.earlier, *((self.time, batch) for batch in self.kept)]
        return [(time, b) for time, b in entries if label in (None, b.label)]


class Context:
    """What a processor sees."""

    session = None

    def __init__(self, blueprint: Blueprint, machine: Machine, work: Work) -> None:
        self.blueprint, self.work, self.state = blueprint, work, State(machine, work)
        self.sends: list[tuple[Any, Any, Batch]] = []
        self.requests: list[Any] = []
        self.closes: list[tuple[Any, int]] = []
        self.windows = dict(machine.state.standing[work.processor].windows)

    def send(self, batch: Batch, time: Any = None, port: int | None = None) -> None:
        routes = self.blueprint.routes[self.work.processor]
        for edge in (e for n, r in enumerate(routes) if port in (None, n) for e in r):
            self.sends.append((edge, time or self.least(edge), batch))

    def least(self, edge: Any) -> Any:
        """The time at which a message goes out on ``edge`` if none is given."""
        if edge in self.windows:
            depth = self.blueprint.flow.graph.domains[self.target(edge)].depth  # type: ignore[attr-defined]
            return (self.windows[edge], *(0,) * (depth - 1))
        summary = self.blueprint.flow.edge_summaries.get(edge)
        return None if summary is None else summary.apply(self.work.time)

    def target(self, edge: Any) -> Any:
        return self.blueprint.flow.graph.edges[edge].target

    def close(self, epoch: int | None = None, port: int = 0) -> None:
        for edge in self.blueprint.routes[self.work.processor][port]:
            last = self.windows[edge] if epoch is None else epoch
            self.closes.append((edge, last))
            self.windows[edge] = last + 1

    def notify(self, time: Any = None) -> None:
        self.requests.append(time or self.work.time)

    def batch(self, data: Any, size: int | None = None) -> Batch:
        return Batch(data)

    def union(self, batches: Iterable[Batch]) -> Batch:
        frames = [batch.frame for batch in batches]
        return Batch(Frame(frames[0].columns, [row for frame in frames for row in frame.rows]))

    def group(self, batch: Batch, keys: Sequence[str], values: Sequence[str]) -> Batch:
        called = [re.fullmatch(r"(\w+)\((.+)\) AS `(.+)`", value) for value in values]
        found = [(call[1], call[2], call[3]) for call in called if call]

        def grouped(frame: Frame) -> Frame:
            arguments = [f"{argument} AS arg{i}" for i, (_, argument, _) in enumerate(found)]
            groups = frame.selectExpr(*keys, *arguments).groupBy(*frame.selectExpr(*keys).columns)
            made = groups.agg({f"arg{i}": function for i, (function, _, _) in enumerate(found)})
            named = [f"`{how}(arg{i})` AS `{name}`" for i, (how, _, name) in enumerate(found)]
            return made.selectExpr(*(f"`{key}`" for key in groups.keys), *named)

        return batch.transform(grouped)

    def join(self, left: Batch, right: Batch, on: Sequence[str], how: str = "inner") -> Batch:
        return Batch(left.frame.join(right.frame, on=on, how=how))

    def aggregate(
        self,
        batches: Iterable[Batch],
        keys: Sequence[str],
        merges: Sequence[tuple[str, str]],
        touched: Batch | None = None,
    ) -> Batch:
        groups: dict[tuple[Any, ...], list[Row]] = {}
        for row in self.union(batches).frame.rows:
            groups.setdefault(tuple(row[key] for key in keys), []).append(row)
        if touched is not None:
            asked = {tuple(row[key] for key in keys) for row in touched.frame.rows}
            groups = {group: rows for group, rows in groups.items() if group in asked}
        merged = [
            dict(zip(keys, group, strict=True))
            | {
                column: FUNCTIONS[how]([r[column] for r in rows if r[column] is not None])
                for column, how in merges
            }
            for group, rows in groups.items()
        ]
        return Batch(Frame([*keys, *(column for column, _ in merges)], merged))

    def result(self) -> Result:
        state = tuple(self.state.kept) if self.state.changed else None
        return Result(tuple(self.sends), tuple(self.requests), state, tuple(self.closes))


class Run:
    """One run of a flow over the given epochs, in an order that ``seed`` chooses.

    Up to ``failures`` times some processors fail, or all of them at once.
    """

    def __init__(
        self,
        blueprint: Blueprint,
        epochs: Mapping[str, Sequence[Frame | None]],
        seed: int = 0,
        failures: int = 0,
    ) -> None:
        """None stands for an epoch without any batch."""
        self.blueprint, self.random, self.failures = blueprint, Random(seed), failures
        self.flow, self.epochs = blueprint.flow, epochs
        self.machine = Machine(self.flow)
        self.store = SimulatedStore(self.flow, ALL_RULES)
        self.asked: list[Persist] = []
        self.offered: list[Release] = []
        self.position = dict.fromkeys(epochs, 0)
        self.shown: dict[str, dict[Any, list[Row]]] = {name: {} for name in blueprint.sinks}
        for _ in range(20_000):
            if not self.anything():
                self.carry_out(self.machine.step(Flush()))
                if not self.asked:
                    return
        raise AssertionError("it does not settle")

    def anything(self) -> bool:
        """Does one of the things that can be done; False if there is nothing left."""
        if self.failures and self.random.random() < 0.03:
            self.fail()
        waiting = [p for p in self.epochs if self.machine.state.standing[p].epoch is not None]
        items = self.machine.enabled()
        choices = [self.read] * bool(waiting) + [self.work] * (3 * bool(items))
        choices += [self.commit] * bool(self.asked) + [self.take] * bool(self.offered)
        if choices:
            self.random.choice(choices)()
        return bool(choices)

    def read(self) -> None:
        """An epoch comes in, or an input ends."""
        p = self.random.choice(
            [p for p in self.epochs if self.machine.state.standing[p].epoch is not None]
        )
        epoch = self.position[p]
        if epoch >= len(self.epochs[p]):  # the one that was open at the end may count as complete
            self.carry_out(self.machine.step(End(p)))
            return
        self.position[p] += 1
        given = self.epochs[p][epoch]
        if given is not None:
            self.carry_out(self.machine.step(Ingest(p, Batch(given))))
        self.carry_out(self.machine.step(Close(p)))

    def work(self) -> None:
        """Somebody processes an event."""
        work = self.machine.begin(self.random.choice(self.machine.enabled()))
        self.carry_out(self.machine.step(Finish(work, self.process(work))))

    def process(self, work: Work) -> Result:
        """Calls the processor."""
        processor = self.blueprint.nodes[work.processor].processor
        assert processor is not None
        context: Any = Context(self.blueprint, self.machine, work)
        if isinstance(work.item, Delivery):
            message = work.item.message
            batch: Any = message.batch
            if isinstance(batch, tuple):
                batch = context.union(batch)
            processor.on_message(context, self.blueprint.ports[message.edge], work.time, batch)
        elif isinstance(work.item, Again) and work.item.past.edge is not None:
            port = self.blueprint.ports[work.item.past.edge]
            processor.on_message(context, port, work.time, work.item.past.batch)
        else:
            processor.on_notify(context, work.time)
        return context.result()

    def commit(self) -> None:
        """The oldest write is done."""
        persist = self.asked.pop(0)
        self.store.commit(persist)
        self.carry_out(self.machine.step(Persisted(persist.ticket)))

    def take(self) -> None:
        """The outside takes an output; what it has seen before must be the same."""
        offer = self.offered.pop(0)
        rows = [row for batch in offer.batches for row in batch.frame.rows]
        rows = sorted(rows, key=repr)
        assert self.shown[offer.processor].setdefault(offer.time, rows) == rows, "contradicted"
        self.carry_out(self.machine.step(offer.taken))

    def fail(self) -> None:
        """Some processors fail, or the whole process is started again."""
        self.failures -= 1
        names = sorted(self.flow.processors)
        if self.random.random() < 0.3:
            self.asked, self.offered = [], []
            self.machine = Machine(self.flow, {p: self.store.read(p) for p in names})
            self.carry_out(self.machine.effects)
            return
        failed = self.random.sample(names, self.random.randint(1, 2))
        stored = {p: self.store.read(p) for p in failed}
        self.carry_out(self.machine.step(Fail(frozenset(failed), stored)))

    def carry_out(self, effects: list[Effect]) -> None:
        """Does what the machine asks for, or notes it for later."""
        for effect in effects:
            match effect:
                case Persist():
                    self.asked.append(effect)
                case Release():
                    self.offered.append(effect)
                case Retract():
                    self.store.retract(effect)
                case Collect() | CollectLog():
                    self.store.collect(effect)
                case Rewind() if effect.processor in self.position:
                    first = int(effect.frontier[0]) + 1 if effect.frontier else 0
                    self.position[effect.processor] = first
