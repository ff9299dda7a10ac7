"""Lost executors: whom they concern, and what is really gone (§4.4).

When an executor goes, whoever has rows on executors is suspected: what goes there or comes from
there is held. Then all cached blocks are looked at. Rows that are durable are read back and cost
nobody anything; the owners of rows that are gone for good fail and everybody else is trusted again.
"""

import logging
from collections.abc import Callable
from functools import partial
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING, Any

from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import Suspect, Trust
from falkirk.core.times import ProcessorId
from falkirk.runtime.batch import Batch
from falkirk.runtime.blocks import Blocks, LostBlocksError
from falkirk.runtime.content import Content
from falkirk.runtime.turns import awaited
from falkirk.runtime.warming import warm_beside

if TYPE_CHECKING:
    from falkirk.runtime.driver import Driver

POLL_SECONDS = 0.2

log = logging.getLogger("falkirk.losses")


class Losses:
    """Finds out for the driver who has lost what."""

    def __init__(self, driver: "Driver") -> None:
        """Nothing is lost."""
        self.driver = driver
        warm = partial(warm_beside, driver.materialiser.session)
        self.suspects: frozenset[ProcessorId] = frozenset()
        self._looking = self._again = False
        self._watch = Watch(
            driver.materialiser.blocks,
            gone=lambda: driver.tell(self.look),
            looked=lambda error: driver.tell(self._looked, error),
            came=warm if awaited(driver.blueprint) else None,
        )

    @property
    def pending(self) -> bool:
        """Whether it is not known yet who has lost what."""
        return self._looking

    def look(self) -> None:
        """An executor is gone or a job has missed blocks: suspects, and has a look taken."""
        if self._looking:
            self._again = True
            return
        self._looking = True
        self.suspects = owners(self.driver.machine, lambda content: content.exposed)
        self.driver.step(Suspect(self.suspects))
        self._watch.look()

    def _looked(self, error: Exception | None) -> None:
        if error is not None:
            self.driver.break_off(error)
            return
        gone = owners(self.driver.machine, lambda content: content.lost)
        if gone:
            self.driver.failures.lost(gone, LostBlocksError("an executor that held it is gone"))
        self.driver.step(Trust(self.suspects - self.driver.failures.recovering))
        self.suspects, self._looking = frozenset(), False
        if self._again:
            self._again = False
            self.look()

    def close(self) -> None:
        """Stops watching."""
        self._watch.close()


class Watch(Thread):
    """Watches executors, looks at blocks when it is told to, and lets unused ones go.

    ``gone`` is called when an executor is no longer there, ``looked`` after all blocks were looked
    at, ``came`` with how many executors there are when some of them are new; on this thread.
    """

    def __init__(
        self,
        blocks: Blocks,
        gone: Callable[[], None],
        looked: Callable[[Exception | None], None],
        came: Callable[[int], None] | None = None,
    ) -> None:
        """Starts to watch."""
        super().__init__(name="falkirk-watch", daemon=True)
        self._blocks, self._gone, self._looked, self._came = blocks, gone, looked, came
        self._wanted, self._closed = Flag(), Flag()
        self._executors = blocks.executors()
        self.start()

    def look(self) -> None:
        """Has all blocks looked at, soon."""
        self._wanted.set()

    def close(self) -> None:
        """Ends the thread."""
        self._closed.set()
        self._wanted.set()
        self.join()

    def run(self) -> None:
        """Watches until it is closed."""
        while not self._closed.is_set():
            if self._wanted.wait(POLL_SECONDS):
                self._wanted.clear()
                self._look()
            self._poll()

    def _look(self) -> None:
        try:
            found = self._blocks.probe()
        except Exception as error:
            self._looked(error)
        else:
            if found:
                log.warning("%d cached batches have lost blocks", len(found))
            self._looked(None)

    def _poll(self) -> None:
        if self._closed.is_set():
            return
        try:
            self._blocks.sweep()
            executors = self._blocks.executors()
        except Exception as error:  # if Spark is gone, its jobs fail and say so
            log.debug("executors could not be watched: %s", error)
            return
        missing, new = self._executors - executors, executors - self._executors
        self._executors = executors
        if new and self._came is not None:
            self._came(len(executors) - 1)  # one is the driver
        if missing:
            log.warning("lost executors: %s", ", ".join(sorted(missing)))
            self._gone()


def owners(machine: Machine, concerned: Callable[[Content], bool]) -> frozenset[ProcessorId]:
    """The processors that own contents of a kind.

    State, logs and histories belong to their processor, a queue to the receiver of its edge (trap
    2), and what waits to be released to its sender.
    """
    state = machine.state
    held: list[tuple[ProcessorId, Any]] = []
    for p, ledger in state.ledgers.items():
        held += [(p, batch) for _, batch in ledger.base.state]
        for record in ledger.records.values():
            held += [(p, batch) for batch in record.state]
            held += [(p, message.batch) for message in record.sent]
            held += [(p, past.batch) for past in record.delivered]
        held += [(p, message.batch) for message in state.standing[p].held]
    for edge, queue in state.channels.queues.items():
        target = state.flow.graph.edges[edge].target
        held += [(target, message.batch) for message in queue]
    return frozenset(
        p for p, batch in held if isinstance(batch, Batch) and concerned(batch.content)
    )
