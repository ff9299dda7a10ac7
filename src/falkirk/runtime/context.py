"""What a processor is given with an event, and what comes of it: the machine's ``Result``."""

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

from falkirk.core.domain import Structured
from falkirk.core.errors import DefinitionError
from falkirk.core.machine.events import Result, Work
from falkirk.core.machine.flow import Flow, Role
from falkirk.core.policy import Policy, Regime
from falkirk.core.times import EdgeId
from falkirk.dataflow.context import ASIDE, Context
from falkirk.runtime.aggregate import Merges, aggregate
from falkirk.runtime.batch import Batch
from falkirk.runtime.content import Content
from falkirk.runtime.joining import join
from falkirk.runtime.materialise import Materialiser


@dataclass(slots=True)
class StateView:
    """The state that an event may see, and its changes to the state of its own time.

    Of what is ``kept`` at that time this event has ``added`` some.
    """

    time: Any
    before: Sequence[tuple[Any, Sequence[Batch]]]
    kept: list[Batch]
    added: list[Batch] = field(default_factory=list)
    changed: bool = False

    def put(self, batch: Batch, label: str = "", passing: bool = False) -> None:
        """Adds a batch to the state of this time."""
        self.added.append(batch.labelled(label, passing))
        self.kept.append(self.added[-1])
        self.changed = True

    def clear(self) -> None:
        """Drops the state of this time."""
        self.kept, self.added = (
            [batch for batch in batches if batch.label == ASIDE]
            for batches in (self.kept, self.added)
        )
        self.changed = True

    def own(self, label: str | None = None) -> list[Batch]:
        """The state of this time."""
        return [batch.lend() for batch in self.kept if wanted(batch, label)]

    def visible(self, label: str | None = None) -> list[Batch]:
        """The state of all times up to this one."""
        return [batch for _, batch in self.trace(label)]

    def trace(self, label: str | None = None) -> list[tuple[Any, Batch]]:
        """The state of all times up to this one, with the times."""
        earlier = [
            (time, batch.lend())
            for time, batches in self.before
            for batch in batches
            if wanted(batch, label)
        ]
        return earlier + [(self.time, batch) for batch in self.own(label)]


def wanted(batch: Batch, label: str | None) -> bool:
    """Whether a processor that asks for ``label`` (None for any) gets a batch."""
    return batch.label != ASIDE if label is None else batch.label == label


@dataclass(slots=True)
class EventContext:
    """The context of one event. Collects what the processor does; nothing happens before its end.

    ``routes`` has for each output port the edges that lead from there, ``windows`` the open epoch
    of each edge from sequence numbers to epochs.
    """

    flow: Flow
    work: Work
    materialiser: Materialiser
    state: StateView
    routes: Sequence[Sequence[EdgeId]]
    sends: list[tuple[EdgeId, Any, Batch]] = field(default_factory=list)
    requests: list[Any] = field(default_factory=list)
    closes: list[tuple[EdgeId, int]] = field(default_factory=list)
    windows: dict[EdgeId, int] = field(default_factory=dict)

    @property
    def session(self) -> Any:
        """The Spark session."""
        return self.materialiser.session

    @property
    def offered(self) -> Context:
        """This context as processors know it; they hand back batches that they got from it."""
        return cast(Context, self)

    @property
    def policy(self) -> Policy:
        """The policy of the processor."""
        return self.flow.processors[self.work.processor].policy

    @property
    def time(self) -> Any:
        """The time of the event."""
        return self.work.time

    def send(self, batch: Batch, time: Any = None, port: int | None = None) -> None:
        """Sends on one output port, or on all; at this time, or later."""
        if port is not None and not 0 <= port < len(self.routes):
            raise DefinitionError(
                f"{self.work.processor!r} sent on output port {port}, but has {len(self.routes)}"
            )
        for route in self.routes if port is None else [self.routes[port]]:
            for edge in route:
                self.sends.append((edge, self.time_on(edge, time), batch))

    def time_on(self, edge: EdgeId, time: Any) -> Any:
        """The time of a message on ``edge``; None towards sequence numbers."""
        if time is None and edge in self.windows:
            domain = self.flow.graph.domains[self.flow.graph.edges[edge].target]
            return (self.windows[edge], *(0,) * (cast(Structured, domain).depth - 1))
        summary = self.flow.edge_summaries.get(edge)
        if summary is None:
            return time
        return summary.apply(self.time) if time is None else time

    def notify(self, time: Any = None) -> None:
        """Asks to be notified when ``time`` is complete; this one if it is left out."""
        self.requests.append(self.time if time is None else time)

    def close(self, epoch: int | None = None, port: int = 0) -> None:
        """From sequence numbers to epochs: nothing more will be sent at ``epoch`` or before.

        Without ``epoch`` it is the open one; what is sent afterwards goes into the next.
        """
        p = self.work.processor
        if not 0 <= port < len(self.routes):
            raise DefinitionError(
                f"{p!r} closed a window of output port {port}, but has {len(self.routes)}"
            )
        for edge in self.routes[port]:
            if edge not in self.windows:
                raise DefinitionError(
                    f"{p!r} closed a window of {edge!r}, which has none: windows are made by"
                    " stream.windows(processor), not by process"
                )
            last = self.windows[edge] if epoch is None else epoch
            self.closes.append((edge, last))
            self.windows[edge] = max(last + 1, self.windows[edge])

    def batch(self, data: Any, size: int | None = None) -> Batch:
        """A batch of a DataFrame, an Arrow table or a list of rows."""
        if isinstance(data, Batch):
            return data
        content = self.materialiser.content_of(data)
        content.hint = size
        return Batch(content, self.materialiser, user=self.work.processor)

    def union(self, batches: Iterable[Batch]) -> Batch:
        """All rows of several batches."""
        contents, p = [batch.content for batch in batches], self.work.processor
        united = contents[0] if len(contents) == 1 else self.materialiser.union(contents, p)
        return Batch(united, self.materialiser, user=p)

    def group(self, batch: Batch, keys: Sequence[str], values: Sequence[str]) -> Batch:
        """Groups a batch; a plan."""
        column = self.materialiser.column

        def grouped(frame: Any) -> Any:
            return frame.groupBy(*map(column, keys)).agg(*map(column, values))

        return batch.transform(grouped)

    def join(self, left: Batch, right: Batch, on: Sequence[str], how: str = "inner") -> Batch:
        """Joins two batches; a plan."""
        p = self.work.processor
        found = join(left.taken(), right.taken(), on, how, p)
        return Batch(found, self.materialiser, user=p)

    def aggregate(
        self,
        batches: Iterable[Batch],
        keys: Sequence[str],
        merges: Merges,
        touched: Batch | None = None,
    ) -> Batch:
        """Merges partial aggregates, of all groups or of the ``touched`` ones."""
        parts = [batch.content for batch in batches]
        only: Content | None = touched.content if touched is not None else None
        return Batch(aggregate(self.materialiser, parts, keys, merges, only), self.materialiser)

    def result(self) -> Result:
        """What the event did. What goes several ways, into a log or into state is fixed first."""
        ways = Counter(id(batch.content) for _, _, batch in self.sends)
        for edge, _, batch in self.sends:
            if ways[id(batch.content)] > 1 or fixes(self.policy, edge):
                batch.materialise()
        if not self.policy.stateless:
            for batch in self.state.added:
                if not batch.content.settled and not self.passes(batch):
                    batch.materialise()
        state = tuple(self.state.kept) if self.state.changed else None
        sends = tuple((edge, time, batch.lend()) for edge, time, batch in self.sends)
        return Result(sends, tuple(self.requests), state, tuple(self.closes))

    def made(self) -> Iterator[Batch]:
        """The batches that the event sent or kept."""
        yield from (batch for _, _, batch in self.sends)
        yield from self.state.added

    def passes(self, batch: Batch) -> bool:
        """Whether rows need not rest here: they are dropped before they could be saved.

        Or they go to the outside, where they are used once, by a sink that promises nothing. A
        small batch is fetched anyway.
        """
        if batch.passing:
            return True
        output = self.flow.processors[self.work.processor].role is Role.OUTPUT
        size = batch.content.size
        small = size is not None and size <= self.materialiser.small_bytes_max
        return output and self.policy.tainted and not small


def fixes(policy: Policy, edge: EdgeId) -> bool:
    """Whether what is sent on ``edge`` is kept beside: in a log, or in a snapshot while queued."""
    return policy.logs(edge) or policy.regime is Regime.SNAPSHOT
