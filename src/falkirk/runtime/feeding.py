"""Feeding a flow: polls its sources, ingests what came, acknowledges what is safe (§4.3)."""

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from threading import Event
from typing import TYPE_CHECKING, Any

from falkirk.core.machine.events import Acknowledge, Close, End, Flush, Ingest, Rewind
from falkirk.core.times import ProcessorId
from falkirk.runtime.admission import Admission
from falkirk.runtime.batch import Batch
from falkirk.runtime.content import Content
from falkirk.runtime.described import described
from falkirk.runtime.inputs import Arrival, Reader
from falkirk.runtime.insisting import Insisting
from falkirk.runtime.looking import Looking
from falkirk.runtime.one_task import ONE_TASK_BYTES_MAX
from falkirk.runtime.patience import OUTSIDE
from falkirk.runtime.pressure import Pressure
from falkirk.runtime.side_by_side import SideBySide, takes_all

if TYPE_CHECKING:
    from falkirk.runtime.driver import Driver

log = logging.getLogger("falkirk.source")


class Feeding:
    """The inputs of a flow. Sources are spoken to on threads of their own."""

    def __init__(self, driver: "Driver") -> None:
        """Every input stands where the machine says."""
        self.driver = driver
        sources = driver.blueprint.sources
        self.readers = {
            p: Reader(p, node.operator, Admission.of(node.limit)) for p, node in sources.items()
        }
        self.committing = 0
        self._stopped, self._closing = False, Event()
        self._insisting = Insisting(OUTSIDE, self._closing)
        self._looking = Looking(driver.options.poll_seconds, len(sources), self._closing)
        ahead = driver.options.epochs_ahead
        self.pressure = Pressure(
            driver.blueprint.flow,
            ahead,
            driver.blueprint.answering,
            {p for p, node in sources.items() if takes_all(node.operator, node.limit)},
            SideBySide(driver.materialiser.blocks.gateway, ahead),
        )
        self._threads = ThreadPoolExecutor(max(1, len(sources)), "falkirk-source")
        for p in sources:
            self._stand(p)

    @property
    def ended(self) -> bool:
        """Whether no input will bring anything more."""
        return all(reader.ended for reader in self.readers.values())

    @property
    def _idle(self) -> bool:
        """Whether nothing is under way."""
        driver = self.driver
        return not (driver.working.busy or driver.persistence.waiting or driver.outputs.waiting)

    def open(self) -> None:
        """The run begins: sources that call by themselves are told whom."""
        for reader in self.readers.values():
            if reader.hook("ephemeral"):
                self._pass_over(reader)
            if listen := reader.hook("listen"):
                reader.listening = True
                listen(partial(self.driver.tell, reader.awake))

    def look(self) -> None:
        """Polls every source that may be read now."""
        if self.driver.stopping and not self._stopped:
            self._stopped = True
            self._tell_all("stop")
        for reader in self.readers.values():
            self._follow(reader)
            if self._may_read(reader):
                reader.busy, reader.woken = True, False
                often = self._looking.often and self._idle
                self._threads.submit(self._poll, reader, reader.generation, often)
        self._hasten()

    def seconds_to_poll(self, most: float) -> float:
        """How long the driver may wait before a quiet source is to be asked again."""
        now = time.monotonic()
        waits = [reader.quiet_until - now for reader in self.readers.values()]
        return min([most, *(wait for wait in waits if wait > 0)])

    def close(self) -> None:
        """Ends the threads, and tells sources that the run has ended."""
        self._closing.set()
        self._threads.shutdown(cancel_futures=True)
        self._tell_all("close")

    # Effects.

    def rewind(self, effect: Rewind) -> None:
        """An input starts again after what it stands at."""
        if effect.processor in self.readers:
            self._stand(effect.processor)

    def acknowledge(self, effect: Acknowledge) -> None:
        """A source may forget what lies inside the input's low-watermark."""
        reader = self.readers.get(effect.processor)
        position = reader.acknowledged(int(effect.frontier[0])) if reader else None
        if reader is not None and position is not None:
            self.committing += 1
            self._threads.submit(self._commit, reader, position)

    # What sources may want to know.

    def _tell_all(self, what: str) -> None:
        """Calls a hook of every source that has it; one that fails does not keep the others."""
        for reader in self.readers.values():
            if hook := reader.hook(what):
                try:
                    hook()
                except Exception as error:
                    log.warning("%s could not %s: %s", reader.name, what, error)

    def _follow(self, reader: Reader) -> None:
        """Sees how far the epochs that were read have come."""
        machine, p = self.driver.machine, reader.name
        reader.admission.look(partial(self.pressure.completed, machine, p), time.monotonic())
        if reader.unsettled:
            position = reader.settled(self.pressure.settled(machine, p))
            if position is not None:
                reader.source.settled(position)

    def _hasten(self) -> None:
        """Takes the checkpoints that somebody waits for, when there is nothing else to do."""
        driver = self.driver
        if not self._idle:
            return
        for reader in self.readers.values():
            newest = max(reader.ends, default=-1)
            # After what was saved meanwhile more may be due, but not after nothing.
            now = (newest, driver.persistence.commits)
            if newest < 0 or now == reader.hastened or not reader.hook("awaited"):
                continue
            if newest <= self.pressure.completed(driver.machine, reader.name):
                reader.hastened = now
                driver.step(Flush())

    def _pass_over(self, reader: Reader) -> None:
        """Closes the epochs that an at-least-once processor has seen and the source has lost.

        No time has two contents: what comes now must not come at a time that somebody has finished.
        """
        machine, p = self.driver.machine, reader.name
        reached = self.pressure.reached(machine, p)
        while (epoch := machine.state.standing[p].epoch) is not None and epoch <= reached:
            self.driver.step(Close(p))

    # Reading.

    def _stand(self, p: ProcessorId) -> None:
        reader, machine = self.readers[p], self.driver.machine
        position, epoch = machine.position(p), machine.state.standing[p].epoch
        reader.rewind(reader.source.initial() if position is None else position, epoch)
        ledger = machine.state.ledgers[p]
        # What is folded was to be acknowledged; if the process died before, it still is.
        reader.ends = {t[0]: position for t, position in ledger.base.state}
        reader.ends |= {t[0]: r.state[-1] for t, r in ledger.records.items() if r.state}
        reader.ended = epoch is None

    def _may_read(self, reader: Reader) -> bool:
        driver = self.driver
        return (
            not (reader.busy or reader.ended or driver.stopping)
            and time.monotonic() >= reader.quiet_until
            and driver.persistence.waiting < driver.options.waiting_writes_max
            and driver.outputs.waiting < driver.options.waiting_writes_max
            and self.pressure.allows(driver.machine, reader.name)
        )

    def _poll(self, reader: Reader, generation: int, often: bool) -> None:
        try:
            arrival = reader.poll(self.driver.materialiser.session, self._looking, often)
            content = None if arrival.data is None else self._content(reader.name, arrival)
        except Exception as error:
            self.driver.tell(self._unreadable, reader, generation, error)
        else:
            self.driver.tell(self._arrived, reader, generation, arrival, content)

    def _content(self, p: ProcessorId, arrival: Arrival) -> Content:
        """The rows of an epoch; fixed at once where they go several ways or into a log."""
        content = self.driver.materialiser.content_of(arrival.data)
        if content.plan is not None:
            content.hint = arrival.size
            if arrival.size is not None and arrival.size <= ONE_TASK_BYTES_MAX:
                content.plan = content.plan.coalesce(1)
        flow = self.driver.blueprint.flow
        policy, edges = flow.processors[p].policy, flow.graph.outputs(p)
        if len(edges) > 1 or any(policy.logs(edge.name) for edge in edges):
            self.driver.materialiser.settle(content)
        return content

    def _arrived(
        self, reader: Reader, generation: int, arrival: Arrival, content: Content | None
    ) -> None:
        if generation != reader.generation:
            return
        reader.busy, reader.failures = False, 0
        p, driver = reader.name, self.driver
        reader.admission.polled(content is not None)
        if content is not None and content.lost:
            return  # it is read again
        if content is not None:
            epoch = driver.machine.state.standing[p].epoch
            assert epoch is not None, "an input that has ended is not read"
            reader.taken(epoch, arrival)
            driver.step(Ingest(p, Batch(content, driver.materialiser), arrival.end))
            driver.step(Close(p))
        if arrival.finished:
            reader.ended = True
            driver.step(End(p))
        elif content is None:
            reader.rest(arrival.at)

    def _unreadable(self, reader: Reader, generation: int, error: Exception) -> None:
        if generation != reader.generation:
            return
        reader.busy = False
        reader.failures += 1
        pause = self._insisting.pause(error, reader.failures)
        if pause is None:
            self.driver.break_off(self._described(reader, "read after", reader.position, error))
            return
        log.warning("%s could not be read: %s; again in %.1f s", reader.name, error, pause)
        reader.quiet_until = time.monotonic() + pause

    def _commit(self, reader: Reader, position: Any) -> None:
        """Tells a source what it may forget, until it listens."""
        try:
            self._insisting.on(
                lambda: reader.source.commit(position), f"acknowledgement to {reader.name}"
            )
        except Exception as error:
            broken = self._described(reader, "acknowledged up to", position, error)
            self.driver.tell(self.driver.break_off, broken)
        finally:
            self.driver.tell(self._committed)

    def _committed(self) -> None:
        self.committing -= 1

    def _described(self, reader: Reader, what: str, place: Any, error: Exception) -> Exception:
        location = self.driver.blueprint.nodes[reader.name].location
        what = f"{location}: the source {reader.name!r} could not be {what} {place!r}"
        return described(error, what, "Nothing is lost")
