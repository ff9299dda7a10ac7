"""Processing one event: the processor's code is called, and its doings become a ``Result``."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from threading import Lock

from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import Again, Delivery, Item, Result, Work
from falkirk.core.machine.flow import Flow, Role
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.processor import Processor
from falkirk.runtime.batch import Batch
from falkirk.runtime.context import EventContext, StateView, fixes
from falkirk.runtime.materialise import Materialiser
from falkirk.runtime.turns import awaited

AWAITED = "falkirk-awaited"
"""The pool of those for whom someone waits: their jobs share no queue with others."""


@dataclass(frozen=True, slots=True)
class Task:
    """An event with everything that processing it needs; made by the driver, run on any thread.

    ``inline`` says that the driver may run it itself: it only extends a plan, no job is run. Jobs
    go into ``pool``, a scheduling pool of Spark's.
    """

    work: Work
    processor: Processor
    context: EventContext
    port: int | None
    batch: Batch | None
    inline: bool
    alone: AbstractContextManager[object]
    pool: str | None = None

    def perform(self) -> Result:
        """Calls the processor's code."""
        with self.alone, self.context.materialiser.event(self.pool):
            if self.port is None or self.batch is None:
                self.processor.on_notify(self.context.offered, self.work.time)
            else:
                if self.context.policy.replays:
                    self.batch.materialise()  # the history keeps it
                self.processor.on_message(
                    self.context.offered, self.port, self.work.time, self.batch
                )
            return self.context.result()


class Tasks:
    """Makes tasks of the machine's work."""

    def __init__(self, blueprint: Blueprint, machine: Machine, materialiser: Materialiser) -> None:
        """For the processors of ``blueprint``."""
        self.blueprint, self.machine, self.materialiser = blueprint, machine, materialiser
        self.flow = blueprint.flow
        self.processors: dict[ProcessorId, Processor] = {
            p: node.processor for p, node in blueprint.nodes.items() if node.processor is not None
        }
        self._inline = {
            p
            for p, processor in self.processors.items()
            if processor.inline and extends_only(self.flow, p)
        }
        self._outputs = {p for p, each in self.flow.processors.items() if each.role is Role.OUTPUT}
        self._awaited = awaited(blueprint)
        self._alone = {p: Lock() for p, each in self.flow.processors.items() if each.opaque}

    def inline(self, item: Item) -> bool:
        """Whether the driver may process an event itself.

        It only extends a plan; or an output gets what is on the driver already, and keeps it.
        """
        p = item.processor
        if p in self._inline:
            return True
        if p not in self._outputs:
            return False
        _, batch = arrived(item)
        return batch is not None and batch.content.table is not None

    def task(self, work: Work) -> Task:
        """The task of a piece of work; called by the driver, for the machine is asked for state."""
        p = work.processor
        edge, batch = arrived(work.item)
        inline = self.inline(work.item)
        earlier = [] if p in self._inline else self.machine.earlier_state(work)
        state = StateView(work.time, earlier, self.machine.own_state(work))
        return Task(
            work,
            self.processors[p],
            EventContext(
                self.flow,
                work,
                self.materialiser,
                state,
                self.blueprint.routes[p],
                windows=dict(self.machine.state.standing[p].windows),
            ),
            None if edge is None else self.blueprint.ports[edge],
            None if batch is None else batch.lend(p),
            inline,
            self.alone(p),
            AWAITED if p in self._awaited and not inline else None,
        )

    def alone(self, p: ProcessorId) -> AbstractContextManager[object]:
        """A lock that keeps the events and the checkpoints of an opaque processor apart."""
        return self._alone.get(p) or nullcontext()


def extends_only(flow: Flow, p: ProcessorId) -> bool:
    """Whether what ``p`` keeps and sends may stay a plan: it is used once, and nobody saves it."""
    policy, outputs = flow.processors[p].policy, flow.graph.outputs(p)
    return (
        policy.stateless and len(outputs) <= 1 and not any(fixes(policy, e.name) for e in outputs)
    )


def arrived(item: Item) -> tuple[EdgeId | None, Batch | None]:
    """The edge and the batch of an event, None for a notification."""
    if isinstance(item, Delivery):
        return item.message.edge, item.message.batch
    if isinstance(item, Again):
        return item.past.edge, item.past.batch
    return None, None
