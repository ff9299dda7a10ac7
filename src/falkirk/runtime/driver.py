"""The driver: one thread that owns the machine, and carries out on Spark what it asks for.

Everything else happens on other threads, which only tell the driver what came of it: functions in
its inbox, called one after the other. So the machine needs no locks and a run is a sequence of
steps, as in the simulator.
"""

import time
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, SimpleQueue
from typing import Any

from falkirk.core.errors import EngineError
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import (
    Acknowledge,
    Collect,
    CollectLog,
    Effect,
    Event,
    Fail,
    Flush,
    Persist,
    Persisted,
    Release,
    Restore,
    Retract,
    Rewind,
    RolledBack,
    Tick,
)
from falkirk.dataflow.blueprint import Blueprint
from falkirk.runtime.batch import Batch
from falkirk.runtime.blocks import is_loss
from falkirk.runtime.compacting import Compactor
from falkirk.runtime.failures import Failures
from falkirk.runtime.feeding import Feeding
from falkirk.runtime.gate import Gate
from falkirk.runtime.gone import gone
from falkirk.runtime.line import GATHER_SECONDS, waited_for
from falkirk.runtime.listening import Listener
from falkirk.runtime.losses import Losses
from falkirk.runtime.materialise import Materialiser
from falkirk.runtime.options import Options
from falkirk.runtime.outputs import Outputs
from falkirk.runtime.persistence import Persistence
from falkirk.runtime.report import Report
from falkirk.runtime.tasks import Tasks
from falkirk.runtime.telling import Telling
from falkirk.runtime.turns import Turns, awaited
from falkirk.runtime.working import Working
from falkirk.store import Reference


class Driver:
    """Runs one flow until its inputs have ended, or until it is told to stop."""

    def __init__(
        self,
        blueprint: Blueprint,
        machine: Machine,
        store: Any,
        materialiser: Materialiser,
        options: Options,
        revive: Callable[[Reference, str], Batch],
        listeners: Iterable[Listener] = (),
    ) -> None:
        """A driver that is about to start; ``machine`` is fresh or restarted from the store.

        ``revive`` makes a batch of what the store holds; ``listeners`` are told how it goes.
        """
        self.blueprint, self.machine, self.store = blueprint, machine, store
        self.materialiser, self.options, self.revive = materialiser, options, revive
        self.inbox: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self.report = Report()
        self.stopping = self.flushed = self.hurrying = False
        self.broken: Exception | None = None
        self.started = self.ticked = time.monotonic()
        self.tasks = Tasks(blueprint, machine, materialiser)
        turns = Turns(blueprint, self.tasks.inline)
        self.working = Working(self, self.tasks, turns, options.concurrent_jobs)
        urgent = awaited(blueprint)
        self.persistence = Persistence(
            store,
            materialiser,
            self._on_durable,
            self._on_lost,
            self._on_broken,
            tidied=self._on_tidied,
            urgent=urgent,
            gather_seconds=0.0 if urgent or waited_for(blueprint.flow) else GATHER_SECONDS,
        )
        sinks = {p: node.operator for p, node in blueprint.sinks.items()}
        self.outputs = Outputs(
            sinks,
            materialiser,
            self._on_taken,
            self._on_broken,
            self._on_missed,
            store=store.identity,
        )
        self.compactor = Compactor(self)
        self.failures = Failures(self)
        self.feeding = Feeding(self)
        self.losses = Losses(self)
        self.telling = Telling(self, listeners)
        self.gate = Gate(self, store.noticeboard) if options.monitor == "external" else None

    # The loop.

    def run(self) -> Report:
        """Runs the flow to its end; raises what stopped it before."""
        self.telling.start()
        try:
            self.carry_out(self.machine.effects)
            self.feeding.open()
            while self.broken is None:
                self.working.begin_all()
                self.feeding.look()
                if self._done():
                    break
                self._receive()
        except Exception as error:
            self.break_off(error)
        finally:
            self.telling.end(self.broken)
            self._close()
        if self.broken is not None:
            raise self.broken
        return self.report

    def stop(self) -> None:
        """Reads no more input; what was read is finished. Safe to call from a signal handler."""
        self.inbox.put(self._stop)

    def tell(self, function: Callable[..., None], *args: Any) -> None:
        """Has the driver call ``function``, from any thread."""
        self.inbox.put(lambda: function(*args))

    def break_off(self, error: Exception) -> None:
        """Stops the flow: what is durable stays, and the next run goes on from there."""
        self.broken = self.broken or self.gone(error) or error

    def gone(self, error: Exception) -> EngineError | None:
        """What to say of an error that came of this: Spark itself is gone."""
        return gone(self.materialiser.blocks.gateway, error)

    def _stop(self) -> None:
        self.stopping = True

    def _receive(self) -> None:
        """Waits for something to happen, for a short while."""
        try:
            self.inbox.get(timeout=self.feeding.seconds_to_poll(self.options.tick_seconds))()
            while not self.inbox.empty():
                self.inbox.get()()
        except Empty:
            pass
        now = time.monotonic()
        if now - self.ticked >= self.options.tick_seconds:
            self.ticked = now
            self.step(Tick(now - self.started))
            self.compactor.tick()
        self.telling.look()

    def _done(self) -> bool:
        """Whether all is quiet; then asks for the last checkpoints, until that changes nothing."""
        if self._unquiet():
            self.flushed = False
            self._hurry()
            return False
        if self.flushed:
            return True
        self.flushed = True
        self.step(Flush())
        return not self._unquiet()

    def _hurry(self) -> None:
        """Has the store gather no longer: at the end the run itself waits for it."""
        ending = (self.stopping or self.feeding.ended) and not self.working.busy
        if ending and self.persistence.unfinished and not self.hurrying:
            self.hurrying = True
            self.persistence.ask(lambda: self.tell(self._hurried))

    def _hurried(self) -> None:
        self.hurrying = False

    def _unquiet(self) -> bool:
        return bool(
            self.working.busy
            or self.persistence.unfinished
            or self.outputs.waiting
            or self.feeding.committing
            or not self.inbox.empty()
            or self.failures.pending
            or self.losses.pending
            or (self.gate is not None and self.gate.waiting and not self.stopping)
            or not (self.stopping or self.feeding.ended)
        )

    def _close(self) -> None:
        if self.gate is not None:
            self.gate.close()
        self.losses.close()
        self.feeding.close()
        self.working.close()
        self.outputs.close()
        self.persistence.close()
        self.materialiser.blocks.close()

    # Effects.

    def step(self, event: Event) -> None:
        """Tells the machine, and does what it asks for."""
        if isinstance(event, Fail):
            self.telling.before()
        effects = self.machine.step(event)
        self.telling.heard(event, effects)
        self.carry_out(effects)

    def carry_out(self, effects: list[Effect]) -> None:
        """Does what the machine asks for, or hands it to whom it concerns."""
        for effect in effects if self.gate is None else self.gate.passed(effects):
            match effect:
                case Persist():
                    self.persistence.submit(effect, self._captured(effect))
                case Retract() | CollectLog():
                    self.persistence.submit(effect)
                case Collect():
                    self.persistence.submit(effect)
                    self.compactor.look(effect.processor)
                case Release():
                    self.outputs.release(effect)
                case Acknowledge():
                    self.feeding.acknowledge(effect)
                case Rewind():
                    self.feeding.rewind(effect)
                case Restore():
                    self._restore(effect)
                case RolledBack():
                    self.report.rolled_back(effect)

    def _captured(self, effect: Persist) -> Any:
        """What an opaque processor saves; it is asked at once, before it goes on."""
        if not effect.capture:
            return None
        with self.tasks.alone(effect.processor):
            return self.tasks.processors[effect.processor].checkpoint(effect.checkpoint.frontier)

    def _restore(self, effect: Restore) -> None:
        saved = self.store.captured(effect.processor, effect.frontier)
        with self.tasks.alone(effect.processor):
            self.tasks.processors[effect.processor].restore(effect.frontier, saved)

    # What other threads tell.

    def _on_durable(self, persists: Sequence[Persist]) -> None:
        self.tell(self.step, Persisted(*(persist.ticket for persist in persists)))

    def _on_taken(self, release: Release) -> None:
        self.tell(self._delivered, release)

    def _delivered(self, release: Release) -> None:
        self.outputs.settled(release)
        self.step(release.taken)

    def _on_lost(self, effect: Persist | Collect, error: Exception) -> None:
        self.tell(self._unwritten, effect, error)

    def _unwritten(self, effect: Persist | Collect, error: Exception) -> None:
        if is_loss(error):
            self.losses.look()
        if isinstance(effect, Collect) and is_loss(error):
            return  # its processor may have failed and come back since: the look will tell
        if isinstance(effect, Collect) or self._is_current(effect):
            self.failures.lost(frozenset([effect.processor]), error)

    def _is_current(self, effect: Persist) -> bool:
        return effect.incarnation == self.machine.state.standing[effect.processor].incarnation

    def _on_missed(self, release: Release) -> None:
        self.tell(self._missed, release)

    def _missed(self, release: Release) -> None:
        self.outputs.failed(release)
        self.losses.look()

    def _on_tidied(self, collections: int, seconds: float) -> None:
        self.telling.tidied(collections, seconds)

    def _on_broken(self, error: Exception) -> None:
        self.tell(self.break_off, error)
