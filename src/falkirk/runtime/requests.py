"""What people ask of a run, found in its store and carried out between two events.

Pins and rollbacks change what the machine decides, so they go through the one thread that owns it.
The answer becomes durable in the transaction that makes the change durable, with an entry in the
audit.
"""

import logging
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import replace
from threading import Event as Flag
from threading import Thread
from typing import TYPE_CHECKING, Any

from falkirk.core.errors import ConfigurationError, FalkirkError
from falkirk.core.machine.events import Effect, GoBack, Pin, Retract
from falkirk.core.machine.repair import PromiseError
from falkirk.core.times import ProcessorId
from falkirk.core.words import until
from falkirk.runtime.details import entry, moved_by, read_frontiers, write_frontiers
from falkirk.runtime.listening import BY_HAND
from falkirk.runtime.undoing import to_undo, undo, undoing
from falkirk.store.noting import Note
from falkirk.store.pins import PIN, Pinned, held
from falkirk.store.requests import Request

if TYPE_CHECKING:
    from falkirk.dataflow.blueprint import Blueprint
    from falkirk.runtime.driver import Driver

POLL_SECONDS = 0.25
STALE = "stale"
"""The kind of refusal when a plan was made for what is no longer there."""

log = logging.getLogger("falkirk.requests")


@contextmanager
def answering(driver: "Driver") -> Iterator[None]:
    """Answers what people ask of the run of ``driver``."""
    requests = Requests(driver)
    requests.start()
    try:
        yield
    finally:
        requests.close()


class Requests(Thread):
    """Looks for requests on a thread of its own; the driver carries them out on its own."""

    def __init__(self, driver: "Driver") -> None:
        """Knows the pins, which nobody else changes while this run has the store."""
        super().__init__(name="falkirk-requests", daemon=True)
        self.driver, self.board = driver, driver.store.noticeboard
        self.pins = {pin.name: pin for pin in self.board.pins()}
        self.undoing = undoing(driver.blueprint)
        self._taken: set[str] = set()
        self._quiet: dict[ProcessorId, Any] = {}
        self._leaving = False
        self._closed = Flag()

    def run(self) -> None:
        """Looks until it is closed."""
        while not self._closed.wait(POLL_SECONDS):
            try:
                found = self.board.requests()
            except FalkirkError as error:
                log.debug("requests cannot be read: %s", error)  # who writes meets it, too
                continue
            for request in found:
                self.driver.tell(self.handle, request)
            if self._quiet and not any(request.what == "rollback" for request in found):
                self.driver.tell(self._given_up)

    def close(self) -> None:
        """Ends the thread; what was not answered is asked again, or given up by who asked."""
        self._closed.set()
        self.join()

    def handle(self, request: Request) -> None:
        """Carries a request out or refuses it; while a recovery is under way it waits."""
        if request.number in self._taken or self._recovering or self._leaving:
            return
        if request.what == "rollback" and not self._hushed():
            return
        self._taken.add(request.number)
        known = {"pin": self.pin, "unpin": self.unpin, "rollback": self.roll_back}
        try:
            if request.what not in known:
                raise ConfigurationError(f"this run cannot {request.what}: it is an older falkirk")
            known[request.what](request, request.details)
        except FalkirkError as error:
            kind = STALE if isinstance(error, PromiseError) else error.code
            self._given_up()
            refused = {"done": False, "why": error.args[0], "kind": kind}
            self.driver.persistence.submit(Note(request.answered(refused)))

    @property
    def _recovering(self) -> bool:
        driver, state = self.driver, self.driver.machine.state
        return bool(
            driver.failures.recovering
            or driver.losses.pending
            or state.suspected
            or any(standing.replaying for standing in state.standing.values())
        )

    # What can be asked for.

    def pin(self, request: Request, details: Mapping[str, Any]) -> None:
        """Keeps the low-watermarks of now, or less where that is asked for."""
        name, monitor = details["name"], self.driver.machine.state.monitor
        if name in self.pins:
            raise ConfigurationError(f"there is a pin {name!r} already: choose another name")
        everyone = self.driver.blueprint.flow.processors
        frontiers = {p: monitor.watermark(p) for p in everyone}
        if bounds := read_frontiers(details["bounds"]):
            frontiers = dict(monitor.rollback_plan(everyone, {}, bounds).frontiers)
        pinned = Pinned(
            name, frontiers, details["outputs"], time.time(), details["who"], details["why"]
        )
        self.pins[name] = pinned
        self.driver.step(self._held())
        words = {p: until(f) for p, f in frontiers.items()}
        answer = {"done": True, "frontiers": write_frontiers(frontiers)}
        self._note(request, answer, entry(details, f"pin {name}", words), pinned.fact)

    def unpin(self, request: Request, details: Mapping[str, Any]) -> None:
        """Lets a pin go, and then what it held back."""
        name = details["name"]
        if name not in self.pins:
            raise ConfigurationError(f"there is no pin {name!r}: see `falkirk pins`")
        del self.pins[name]
        # The pin is durably gone before anything is that it held back.
        answer = {"done": True}
        self._note(request, answer, entry(details, f"unpin {name}", {}), {PIN + name: None})
        self.driver.step(self._held())

    def roll_back(self, request: Request, details: Mapping[str, Any]) -> None:
        """Goes back, if nobody has gone back since the plan and nobody goes below it."""
        driver, standing = self.driver, self.driver.machine.state.standing
        for p, incarnation in details["incarnations"].items():
            if standing[ProcessorId(p)].incarnation != incarnation:
                raise PromiseError(
                    f"{p!r} has gone back since the plan was made, so nothing was done: make a new"
                    " plan"
                )
        bounds, promised = (read_frontiers(details[name]) for name in ("bounds", "promised"))
        event = GoBack(bounds, promised, self.undoing)
        driver.telling.before(f"{BY_HAND}, {details['who']}: {details['why']}")
        try:
            effects = driver.machine.step(event)
        except FalkirkError:
            driver.telling.before()  # it was nothing
            raise
        driver.telling.heard(event, effects)
        moved = moved_by(effects)
        self._quiet = {p: f for p, f in moved.items() if p in self.undoing}
        driver.carry_out(self._noted(request, details, effects, moved))
        driver.step(self._held())
        if outputs := dict(self._quiet):
            self._leaving = True
            driver.persistence.ask(lambda: self._undo(outputs))

    # Outputs that take something back show nothing meanwhile.

    def _hushed(self) -> bool:
        """Whether all that was released was taken; until then nothing more is."""
        if not self.undoing:
            return True
        if not self._quiet:
            state = self.driver.machine.state
            self._quiet = {p: state.showable(p) for p in self.undoing}
            self.driver.step(self._held())
        return not self.driver.outputs.unsettled(self.undoing)

    def _undo(self, outputs: Mapping[ProcessorId, Any]) -> None:
        """Their timeline is durably gone: has them take it back; called on the store's thread."""
        done = undo(self.driver.blueprint, outputs)
        self.driver.tell(self._undone, done)

    def _undone(self, done: Note) -> None:
        self.driver.persistence.submit(done)
        self._leaving = False
        self._speak()

    def _given_up(self) -> None:
        """Nobody asks any more."""
        if not self._leaving:
            self._speak()

    def _speak(self) -> None:
        if self._quiet:
            self._quiet = {}
            self.driver.step(self._held())

    def _noted(
        self,
        request: Request,
        details: Mapping[str, Any],
        effects: list[Effect],
        moved: Mapping[ProcessorId, Any],
    ) -> list[Effect]:
        """The same effects; what there is to note goes with the retraction."""
        undone = [name for name, pin in self.pins.items() if pin.outside(moved)]
        for name in undone:
            del self.pins[name]
        answer = {"done": True, "frontiers": write_frontiers(moved), "pins": undone}
        words = {p: until(f) for p, f in moved.items()}
        note = Note(
            {
                **dict.fromkeys(PIN + name for name in undone),
                **to_undo(self._quiet),
                **request.answered(answer),
            },
            entry(details, "rollback", words) | {"to": details["to"]},
        )
        return [replace(e, note=note) if isinstance(e, Retract) else e for e in effects]

    def _held(self) -> Pin:
        pinned = held(self.pins.values(), forgetful(self.driver.blueprint))
        shown = dict(pinned.shown)
        for p, frontier in self._quiet.items():
            shown[p] = shown[p] & frontier if p in shown else frontier
        return Pin(pinned.kept, shown)

    def _note(
        self,
        request: Request,
        answer: Mapping[str, Any],
        noted: Mapping[str, Any],
        facts: Mapping[str, Any],
    ) -> None:
        self.driver.persistence.submit(Note({**facts, **request.answered(answer)}, noted))


def forgetful(blueprint: "Blueprint") -> frozenset[str]:
    """The inputs whose sources cannot give anything twice: no pin can make them."""
    sources = blueprint.sources.items()
    return frozenset(p for p, node in sources if getattr(node.operator, "ephemeral", None))
