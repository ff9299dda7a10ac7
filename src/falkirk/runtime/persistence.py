"""Carries out the effects on the store off the critical path: in order, many in one commit.

Files come first and the transaction that makes them visible after them. While one group is being
written the next one gathers, so a slow store makes groups larger and not the flow slower. What only
tidies up is put off for a moment, so that no checkpoint waits for it.
"""

import logging
import time
from collections import Counter
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import Empty
from threading import Lock, Thread
from typing import Any

from falkirk.core.errors import StoreError, StoreOutageError
from falkirk.core.machine.events import Collect, CollectLog, Persist, Retract
from falkirk.core.times import ProcessorId
from falkirk.runtime.blocks import is_loss
from falkirk.runtime.content import Content
from falkirk.runtime.line import Line
from falkirk.runtime.materialise import Materialiser
from falkirk.runtime.patience import STORE, Patience
from falkirk.runtime.sharing import files_to_write
from falkirk.runtime.tidying import PutOff
from falkirk.store import LeaseLostError
from falkirk.store.noting import Note

Write = Persist | Retract | Collect | CollectLog | Note
WRITERS = 4

log = logging.getLogger("falkirk.store")


class Persistence:
    """A thread that owns all writing to the store.

    ``durable(persists)`` is called when checkpoints are visible, ``lost(effect, error)`` when the
    content of a checkpoint is gone before it was written, ``broken(error)`` when the store cannot
    be written to for good. ``tidied(collections, seconds)`` tells that old times were
    collected. They are called on this thread.
    """

    def __init__(
        self,
        store: Any,
        materialiser: Materialiser,
        durable: Callable[[Sequence[Persist]], None],
        lost: Callable[[Persist | Collect, Exception], None],
        broken: Callable[[Exception], None],
        patience: Patience = STORE,
        tidied: Callable[[int, float], None] | None = None,
        urgent: frozenset[ProcessorId] = frozenset(),
        gather_seconds: float = 0.0,
    ) -> None:
        """Starts the thread. What ``urgent`` processors save goes before all else.

        Transactions that save something begin ``gather_seconds`` apart.
        """
        self.store, self.materialiser, self.patience = store, materialiser, patience
        self._durable, self._lost, self._broken = durable, lost, broken
        self._tidied = tidied
        self._later = PutOff()
        self._line = Line(self._later, urgent, gather_seconds)
        self._lock, self._waiting, self._unfinished = Lock(), 0, 0
        self._given_up = False
        self.commits = 0
        self.folds: Counter[ProcessorId] = Counter()
        self._writers = ThreadPoolExecutor(WRITERS, "falkirk-write")
        self._thread = Thread(target=self._run, name="falkirk-store", daemon=True)
        self._thread.start()

    @property
    def waiting(self) -> int:
        """How many effects are not durable yet and should be; what may be put off is none."""
        return self._waiting

    @property
    def unfinished(self) -> int:
        """How many effects are not durable yet."""
        return self._unfinished

    def submit(self, effect: Write, capture: Any = None) -> None:
        """Queues an effect; called by the driver."""
        if isinstance(effect, Collect):
            self.folds[effect.processor] += 1
        with self._lock:
            self._unfinished += 1
            self._waiting += not isinstance(effect, Collect | CollectLog)
        self._line.put((effect, capture))

    def ask(self, question: Callable[[], None]) -> None:
        """Has the thread call ``question`` when all that was queued before is durable."""
        self._line.put(question)

    def close(self) -> None:
        """Ends the thread once everything queued is done, or the store is given up."""
        self._line.put(None)
        self._thread.join()
        self._writers.shutdown(cancel_futures=True)

    def _run(self) -> None:
        while True:
            try:
                group = self._line.next(self._later.patience)
            except Empty:
                self._tidy(self._line.at_once)
                continue
            match group:
                case [None]:
                    self._tidy()
                    return
                case [(Retract(), _), *_]:
                    self._tidy()  # it belongs to the timeline that is left
                    self._write_group(group)
                case [question] if callable(question):
                    self._tidy()
                    self._attempt(question)
                case _:
                    self._write_group(group)
                    if self._later.due:
                        self._tidy(self._line.at_once)

    def _write_group(self, group: list[Any]) -> None:
        if group:
            self._attempt(self._write, group)
            with self._lock:
                self._waiting -= len(group)
                self._unfinished -= len(group)

    def _tidy(self, most: int | None = None) -> None:
        """Collects what was put off; of many, ``most`` at once."""
        if before := len(self._later):
            began = time.monotonic()
            self._attempt(self._write, [(effect, None) for effect in self._later.take(most)])
            count = before - len(self._later)
            if self._tidied is not None:
                self._tidied(count, time.monotonic() - began)
            with self._lock:
                self._unfinished -= count

    def _attempt(self, action: Callable[..., None], *args: Any) -> None:
        """Does it; after the first failure nothing is done any more, as after a kill."""
        if self._given_up:
            return
        try:
            action(*args)
        except Exception as error:
            self._given_up = True
            self._broken(error)

    def _write(self, group: list[tuple[Write, Any]]) -> None:
        gone = self._write_files([effect for effect, _ in group])
        kept = [(effect, capture) for effect, capture in group if id(effect) not in gone]
        captures = {
            effect.ticket: capture
            for effect, capture in kept
            if isinstance(effect, Persist) and effect.capture
        }
        self._patiently(lambda: self.store.transact([effect for effect, _ in kept], captures))
        self.commits += 1
        persists = [effect for effect, _ in kept if isinstance(effect, Persist)]
        if persists:
            self._durable(persists)

    def _write_files(self, effects: list[Write]) -> set[int]:
        """Makes every batch durable; returns the effects whose batches are gone, by identity."""
        gone: set[int] = set()
        pending = [
            (effect, self._writers.submit(self._persist, contents))
            for effect, contents in files_to_write(effects)
        ]
        for effect, written in pending:
            try:
                written.result()
            except (StoreError, OSError):
                raise
            except Exception as error:
                gone.add(id(effect))
                if isinstance(effect, Persist | Collect):
                    self._lost(effect, error)
        return gone

    def _persist(self, contents: list[Content]) -> None:
        for pause in self.patience.pauses():
            try:
                self._patiently(lambda: self._write_file(contents))
                return
            except Exception as error:
                # A job can meet a dying executor, and go well on those that are left.
                if not is_loss(error) or any(map(self.materialiser.find_lost, contents)):
                    raise
                time.sleep(pause)
        self._write_file(contents)

    def _write_file(self, contents: list[Content]) -> None:
        """Writes the rows of batches. Whatever goes wrong, but a loss of them, is the store's."""
        try:
            if len(contents) > 1:
                self.materialiser.persist_together(contents)
            else:
                self.materialiser.persist(contents[0])
        except (StoreError, OSError):
            raise
        except Exception as error:
            if is_loss(error):
                raise
            raise StoreOutageError(
                f"a batch of {contents[0].rows} rows could not be written: {error}; look at the"
                " place of the batches and at Spark's log, and run again on the same store"
            ) from error

    def _patiently(self, action: Callable[[], Any]) -> None:
        for pause in self.patience.pauses():
            try:
                action()
                return
            except LeaseLostError:
                raise  # somebody else writes now
            except (StoreError, OSError) as error:
                log.warning("the store could not be written to, trying again: %s", error)
                time.sleep(pause)
        action()
