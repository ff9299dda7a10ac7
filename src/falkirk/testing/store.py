"""A simulated store: durable ledgers with writes that take their time and can be lost half-way.

A write has two parts, the files and the metadata row that makes them visible; a crash between the
two leaves an orphan that nobody sees. Writes of an incarnation that was rolled back are refused.
"""

from dataclasses import dataclass, replace
from typing import Any

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.machine.events import Collect, CollectLog, Persist, Retract
from falkirk.core.machine.flow import Flow
from falkirk.core.machine.ledger import Ledger
from falkirk.core.machine.rules import Rules
from falkirk.core.machine.stored import Stored
from falkirk.core.times import ProcessorId
from falkirk.testing.logic import Items


@dataclass(frozen=True, slots=True)
class Row:
    """The metadata row of a checkpoint."""

    checkpoint: Checkpoint
    previous: Any

    @property
    def frontier(self) -> Any:
        """The checkpoint's frontier."""
        return self.checkpoint.frontier


class SimulatedStore:
    """What survives a crash."""

    def __init__(self, flow: Flow, rules: Rules) -> None:
        """An empty store."""
        self.flow, self.rules = flow, rules
        self.ledgers: dict[ProcessorId, Ledger] = {
            p: Ledger.of(flow.graph, p) for p in flow.processors
        }
        self.checkpoints: dict[ProcessorId, list[Row]] = {p: [] for p in flow.processors}
        self.incarnations: dict[ProcessorId, int] = dict.fromkeys(flow.processors, 0)
        self.captures: dict[ProcessorId, dict[Any, Any]] = {p: {} for p in flow.processors}
        self.orphans = 0

    def commit(self, persist: Persist, captured: Any = None) -> None:
        """Makes a write visible, unless its incarnation is over.

        ``captured`` is what the processor's own ``checkpoint`` gave.
        """
        p = persist.processor
        if persist.incarnation < self.incarnations[p] and self.rules.retract_before_more:
            self.orphans += 1
            return
        for record in persist.records:
            if not self.rules.one_content:
                record.sent = [replace(m, batch=evaluated_again(m.batch)) for m in record.sent]
            self.ledgers[p].records[record.time] = record
        if persist.capture:
            self.captures[p][persist.checkpoint.frontier] = captured
        self.add_row(p, Row(persist.checkpoint, persist.previous))

    def add_row(self, p: ProcessorId, row: Row) -> None:
        """Adds a row among those of ``p``, or in the place of one."""
        rows, frontier = self.checkpoints[p], row.frontier
        place = len(rows)
        while place and not rows[place - 1].frontier <= frontier:
            place -= 1
        if place and rows[place - 1].frontier == frontier:
            place -= 1
            del rows[place]
        rows.insert(place, row)

    def retract(self, effect: Retract) -> None:
        """Forgets a timeline, in one transaction."""
        if not self.rules.retract_before_more:
            return
        self.incarnations.update(effect.incarnations)
        for p, frontier in effect.frontiers.items():
            self.ledgers[p].rollback(frontier)
            self.checkpoints[p] = [c for c in self.checkpoints[p] if c.frontier <= frontier]
            self.keep_captures(p)

    def keep_captures(self, p: ProcessorId) -> None:
        """What was captured goes with its checkpoint."""
        if self.captures[p]:
            kept = {row.frontier for row in self.checkpoints[p]}
            self.captures[p] = {f: held for f, held in self.captures[p].items() if f in kept}

    def collect(self, effect: Collect | CollectLog) -> None:
        """Deletes what will never be asked for again."""
        if isinstance(effect, CollectLog):
            source = self.flow.graph.edges[effect.edge].source
            self.ledgers[source].forget_log(effect.edge, effect.reached)
            return
        p, watermark = effect.processor, effect.watermark
        self.ledgers[p].fold(watermark, effect.times)
        self.ledgers[p].base.state = list(effect.state)
        self.checkpoints[p] = [
            c for c in self.checkpoints[p] if watermark <= c.frontier or not c.frontier <= watermark
        ]
        self.keep_captures(p)

    def read(self, p: ProcessorId) -> Stored:
        """What is durable of ``p``."""
        ledger = self.ledgers[p].copy()
        ledger.base.state = [(time, read_again(batch)) for time, batch in ledger.base.state]
        return Stored(ledger, self.durable_prefix(p), self.incarnations[p])

    def durable_prefix(self, p: ProcessorId) -> tuple[Checkpoint, ...]:
        """The checkpoints of ``p`` up to which every earlier one is durable, too."""
        found: list[Checkpoint] = []
        reached = self.ledgers[p].base.frontier
        for row in self.checkpoints[p]:
            linked = row.previous <= reached or row.frontier <= reached
            if self.rules.announce_in_order and not linked:
                break
            found.append(row.checkpoint)
            reached = reached | row.frontier
        return tuple(found)

    def rows(self) -> int:
        """How many records, logged messages and checkpoints are stored."""
        return sum(
            len(ledger.records)
            + len(ledger.base.requests)
            + sum(len(record.sent) for record in ledger.records.values())
            + len(self.checkpoints[p])
            for p, ledger in self.ledgers.items()
        )


def read_again(batch: Any) -> Any:
    """An equal batch that is not the same object: what was in memory is gone."""
    return tuple(iter(batch)) if isinstance(batch, tuple) else batch


def evaluated_again(items: Items) -> Items:
    """What a lazily evaluated batch gives the second time: other random tags."""
    return tuple((label, value, tag and tag + 1) for label, value, tag in items)
