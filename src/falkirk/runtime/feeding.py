"""Feeding a flow: polls its sources, ingests what came, acknowledges what is safe (§4.3)."""

import logging
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

from falkirk.core.errors import ConnectorError
from falkirk.core.machine.events import Acknowledge, Close, End, Ingest, Rewind
from falkirk.core.times import ProcessorId
from falkirk.runtime.batch import Batch
from falkirk.runtime.content import Content
from falkirk.runtime.inputs import Arrival, Reader
from falkirk.runtime.patience import OUTSIDE
from falkirk.runtime.pressure import Pressure

if TYPE_CHECKING:
    from falkirk.runtime.driver import Driver

ONE_TASK_BYTES_MAX = 12 * 1024 * 1024
"""What one task does sooner than several of them and a shuffle in between."""

log = logging.getLogger("falkirk.source")


class Feeding:
    """The inputs of a flow. Sources are spoken to on threads of their own."""

    def __init__(self, driver: "Driver") -> None:
        """Every input stands where the machine says."""
        self.driver = driver
        sources = driver.blueprint.sources
        self.readers = {p: Reader(p, node.operator, node.limit) for p, node in sources.items()}
        self.pressure = Pressure(driver.blueprint.flow, driver.options.epochs_ahead)
        self._threads = ThreadPoolExecutor(max(1, len(sources)), "falkirk-source")
        for p in sources:
            self._stand(p)

    @property
    def ended(self) -> bool:
        """Whether no input will bring anything more."""
        return all(reader.ended for reader in self.readers.values())

    def look(self) -> None:
        """Polls every source that may be read now."""
        for reader in self.readers.values():
            if self._may_read(reader):
                reader.busy = True
                self._threads.submit(self._poll, reader, reader.generation)

    def seconds_to_poll(self, most: float) -> float:
        """How long the driver may wait before a quiet source is to be asked again."""
        now = time.monotonic()
        waits = [reader.quiet_until - now for reader in self.readers.values()]
        return min([most, *(wait for wait in waits if wait > 0)])

    def close(self) -> None:
        """Ends the threads."""
        self._threads.shutdown(cancel_futures=True)

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
            self._threads.submit(self._commit, reader, position)

    # Reading.

    def _stand(self, p: ProcessorId) -> None:
        reader, machine = self.readers[p], self.driver.machine
        position = machine.position(p)
        reader.rewind(reader.source.initial() if position is None else position)
        records = machine.state.ledgers[p].records
        reader.ends = {t[0]: record.state[-1] for t, record in records.items() if record.state}
        reader.ended = machine.state.standing[p].epoch is None

    def _may_read(self, reader: Reader) -> bool:
        driver = self.driver
        return (
            not (reader.busy or reader.ended or driver.stopping)
            and time.monotonic() >= reader.quiet_until
            and driver.persistence.waiting < driver.options.waiting_writes_max
            and driver.outputs.waiting < driver.options.waiting_writes_max
            and self.pressure.allows(driver.machine, reader.name)
        )

    def _poll(self, reader: Reader, generation: int) -> None:
        try:
            arrival = reader.poll(self.driver.materialiser.session)
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
        if content is not None and content.lost:
            return  # it is read again
        if content is not None:
            epoch = driver.machine.state.standing[p].epoch
            assert epoch is not None, "an input that has ended is not read"
            reader.taken(epoch, arrival.end)
            driver.step(Ingest(p, Batch(content, driver.materialiser), arrival.end))
            driver.step(Close(p))
        if arrival.finished:
            reader.ended = True
            driver.step(End(p))
        elif content is None:
            reader.quiet_until = time.monotonic() + driver.options.poll_seconds

    def _unreadable(self, reader: Reader, generation: int, error: Exception) -> None:
        if generation != reader.generation:
            return
        reader.busy = False
        reader.failures += 1
        pause = OUTSIDE.pause_after(reader.failures)
        if pause is None:
            self.driver.break_off(self._described(reader, "read after", reader.position, error))
            return
        log.warning("%s could not be read: %s; again in %.1f s", reader.name, error, pause)
        reader.quiet_until = time.monotonic() + pause

    def _commit(self, reader: Reader, position: Any) -> None:
        """Tells a source what it may forget, until it listens."""
        for pause in OUTSIDE.pauses():
            try:
                reader.source.commit(position)
                return
            except Exception as error:
                log.warning("%s took no acknowledgement: %s; again", reader.name, error)
                failed = error
                time.sleep(pause)
        self.driver.tell(
            self.driver.break_off, self._described(reader, "acknowledged up to", position, failed)
        )

    def _described(self, reader: Reader, what: str, place: Any, error: Exception) -> Exception:
        location = self.driver.blueprint.nodes[reader.name].location
        return ConnectorError(
            f"{location}: the source {reader.name!r} could not be {what} {place!r}:"
            f" {type(error).__name__}: {error}. Mend it and run again on the same store"
        )
