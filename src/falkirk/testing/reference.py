"""A flow run without falkirk: first in, first out, notifications when all is quiet. No failures.

It shares with the machine only the logic of the processors, and says what the outside should see.
"""

from random import Random
from typing import Any

from falkirk.core.machine.events import Result
from falkirk.core.machine.flow import Flow, Role
from falkirk.core.order import product_leq
from falkirk.core.times import EdgeId, ProcessorId, SequenceNumber
from falkirk.testing.logic import Context, Items, Logic

Outputs = dict[ProcessorId, dict[Any, Items]]


class Reference:
    """One failure-free run."""

    def __init__(self, flow: Flow, logics: dict[ProcessorId, Logic]) -> None:
        """Nothing has happened."""
        self.flow, self.logics = flow, logics
        self.state: dict[ProcessorId, dict[Any, Items]] = {p: {} for p in flow.processors}
        self.queue: list[tuple[EdgeId, Any, Items]] = []
        self.requests: set[tuple[Any, int, ProcessorId]] = set()
        self.notified: dict[ProcessorId, set[Any]] = {p: set() for p in flow.processors}
        self.met: dict[ProcessorId, set[Any]] = {p: set() for p in flow.processors}
        self.random = Random(0)
        self.beyond = {p: reached_by_recorded(flow, p) for p in flow.processors}
        self.sent: dict[EdgeId, int] = {}
        self.rank = {p: i for i, p in enumerate(flow.processors)}

    def run(self, inputs: dict[ProcessorId, list[list[Items]]]) -> Outputs:
        """What every output shows, by time, after all ``inputs``: batches of each epoch."""
        for p, epochs in inputs.items():
            for epoch, batches in enumerate(epochs):
                for batch in batches:
                    context = self.context(p, (epoch,))
                    self.apply(p, (epoch,), Result(context.to_all(batch)))
        while self.queue or self.requests:
            self.run_messages()
            self.notify_first()
        for p, processor in self.flow.processors.items():
            if processor.lattice:
                assert self.notified[p] == self.meetings(p), f"{p} is notified at joins only"
        return {
            p: {time: items for time, items in sorted(self.state[p].items()) if items}
            for p, processor in self.flow.processors.items()
            if processor.role is Role.OUTPUT
        }

    def meetings(self, p: ProcessorId) -> set[Any]:
        """All joins of times at which ``p`` keeps state: joined until there are no more."""
        found = {time for time, items in self.state[p].items() if items}
        while True:
            more = {tuple(map(max, a, b)) for a in found for b in found}
            if more == found:
                return found
            found = more

    def run_messages(self) -> None:
        """Delivers until the queue is empty."""
        while self.queue:
            edge, time, items = self.queue.pop(0)
            p = self.flow.graph.edges[edge].target
            if items:
                self.apply(p, time, self.logics[p].on_message(self.context(p, time), edge, items))

    def notify_first(self) -> None:
        """Delivers the notification that nothing else precedes."""
        for request in sorted(self.requests):
            time, _, p = request
            if not any(self.precedes(other, request) for other in self.requests - {request}):
                self.requests.remove(request)
                self.notified[p].add(time)
                self.apply(p, time, self.logics[p].on_notify(self.context(p, time)))
                return

    def precedes(self, first: Any, second: Any) -> bool:
        """Whether a notification could still cause something at or before another."""
        (time, _, p), (other, _, q) = first, second
        if q in self.beyond[p]:
            return True
        paths = self.flow.summaries.get((p, q), ())
        return any(product_leq(path.apply(time), other) for path in paths)

    def context(self, p: ProcessorId, time: Any) -> Context:
        """What an event at ``time`` sees."""
        state = self.state[p]
        if self.flow.numbered(p):
            everything = tuple(item for items in state.values() for item in items)
            return Context(self.flow, p, time, (), everything, self.random)
        visible = tuple(i for t, items in state.items() if product_leq(t, time) for i in items)
        return Context(self.flow, p, time, state.get(time, ()), visible, self.random)

    def apply(self, p: ProcessorId, time: Any, result: Result) -> None:
        """Takes over what an event did."""
        if result.state is not None:
            self.state[p][time] = tuple(result.state)
        self.requests |= {(t, self.rank[p], p) for t in result.requests}
        if result.state and self.flow.processors[p].lattice:
            before = self.met[p]
            fresh = {time, *(tuple(map(max, time, other)) for other in before)} - before
            self.met[p] = before | fresh
            self.requests |= {(t, self.rank[p], p) for t in fresh}
        for edge, at, items in result.sends:
            if at is None:
                self.sent[edge] = self.sent.get(edge, 0) + 1
                at = SequenceNumber(edge, self.sent[edge])
            self.queue.append((edge, at, items))


def reached_by_recorded(flow: Flow, p: ProcessorId) -> set[ProcessorId]:
    """The processors behind a recorded edge downstream of ``p``, whose times are others."""
    found: set[ProcessorId] = set()
    seen: set[tuple[ProcessorId, bool]] = set()
    pending = [(p, False)]
    while pending:
        name, recorded = pending.pop()
        if (name, recorded) in seen:
            continue
        seen.add((name, recorded))
        if recorded:
            found.add(name)
        pending += [
            (edge.target, recorded or edge.projection.recorded) for edge in flow.graph.outputs(name)
        ]
    return found
