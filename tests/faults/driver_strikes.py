"""Moments at which a driver dies: between a file and its row, between a sink and its receipt.

A strike names a moment and how often it must come. The code of the tests, the store and the sinks
tell when a moment has come; the process and all that it has started are gone right then.
"""

import json
import os
import signal
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from random import Random
from typing import Any

from falkirk.core.machine.events import Collect, CollectLog, Persist, Retract
from falkirk.store.noting import Note
from falkirk.store.reference import Piece, Reference
from falkirk.store.store import SqlStore

RECOVERING = ("acquired", "loaded", "goes back", "restoring", "retract", "retract inside")
"""Moments that come once or twice, and early, in a run that recovers."""

MOMENTS: Mapping[str, int] = {
    "file": 40,
    "file torn": 40,
    "file done": 40,
    "folder": 30,
    "folder written": 30,
    "folder done": 30,
    "transaction": 12,
    "transaction inside": 12,
    "transaction done": 12,
    "read": 8,
    "event": 16,
    "capturing": 4,
    "persist": 40,
    "persist inside": 40,
    "collect inside": 30,
    "sink": 20,
    "sink inside": 20,
    "sink done": 20,
    "acknowledged": 4,
    "acquired": 1,
    "loaded": 1,
    "goes back": 20,
    "restoring": 1,
    "retract": 1,
    "retract inside": 1,
}
"""Every moment, with the highest number that a seed chooses for it."""


LOSERS = (
    *("numbers", "slow", "passed", "keyed", "lazy", "eager", "history", "clocked", "joined"),
    *("tally", "eager-tally", "drawn", "drawn-totals", "newest", "rounds", "stepped", "seen"),
    *("left-out", "right-out", "pairs-out", "newest-out", "clocked-out", "looped-out"),
    *("in-sequence", "balance", "balance-of-balances", "windows", "windows-out"),
)
"""Processors that lose what they hold while the driver lives on."""


@dataclass(frozen=True, slots=True)
class Strike:
    """When a driver is killed, and what else it goes through.

    At the ``number``-th time that ``moment`` comes; or, for the moment ``clock``, from outside and
    ``milliseconds`` after the ``number``-th transaction. ``single`` makes every effect on the store
    a transaction of its own, so that there are more moments to choose from. ``cached`` keeps all
    batches on executors. ``losers`` lose what they hold after the transaction ``loss``.
    """

    moment: str
    number: int = 1
    milliseconds: int = 0
    single: bool = False
    cached: bool = False
    loss: int = 0
    losers: tuple[str, ...] = ()

    def __str__(self) -> str:
        """As it is written in a command."""
        return json.dumps(asdict(self))


NEVER = Strike("never")


def read_strike(text: str) -> Strike:
    """The strike that ``str`` wrote."""
    fields = json.loads(text)
    return Strike(**{**fields, "losers": tuple(fields["losers"])})


def seeded_strikes(seed: int, count: int) -> list[Strike]:
    """The strikes of a seed; the first one of them hits a run that does not recover."""
    random = Random(seed)
    return [seeded_strike(random, recovering=number > 0) for number in range(count)]


def seeded_strike(random: Random, recovering: bool) -> Strike:
    """A strike, a run's form and perhaps a loss."""
    single, cached = random.random() < 0.5, random.random() < 0.1
    lost = random.random() < 0.4
    losers = random.sample(LOSERS, random.choice((1, 1, 2, 4))) if lost else []
    loss = random.randint(2, 60 if single else 15) if lost else 0
    chosen = Strike("clock", 1, 0, single, cached, loss, tuple(losers))
    if random.random() < 0.25:
        number = random.randint(1, 100 if single else 25)
        return replace(chosen, number=number, milliseconds=random.randint(0, 1500))
    moments = [m for m in MOMENTS if recovering or m not in RECOVERING]
    moments = [m for m in moments if not m.startswith("file" if cached else "folder")]
    moment = random.choice(moments)
    single = single or moment.split(" ")[0] in ("persist", "retract", "collect")
    return replace(chosen, moment=moment, number=random.randint(1, MOMENTS[moment]), single=single)


class Striker:
    """Counts the moments of one process, and ends it at the one that was chosen."""

    def __init__(self, strike: Strike = NEVER) -> None:
        """A process that will be struck."""
        self.strike = strike
        self._counts: Counter[str] = Counter()
        self._lock = threading.Lock()

    def comes(self, moment: str) -> bool:
        """Counts ``moment``; whether it is the one that was chosen."""
        with self._lock:
            self._counts[moment] += 1
            return self.strike.moment == moment and self._counts[moment] == self.strike.number

    def at(self, moment: str) -> None:
        """Ends the process if its moment has come."""
        if self.comes(moment):
            self.kill()

    def kill(self) -> None:
        """Ends this process and all that it has started, Java too, without any farewell."""
        os.write(2, f"STRUCK at {self.strike}\n".encode())
        os.killpg(0, signal.SIGKILL)


class StruckStore:
    """A store around ``store`` that tells a striker how far it has come.

    ``dropping`` are kinds of effects that it forgets to carry out, to see whether anyone notices.
    """

    def __init__(
        self,
        store: SqlStore,
        striker: Striker,
        tell: Callable[[int, str], None],
        dropping: Iterable[type] = (),
    ) -> None:
        """A store that is about to be struck."""
        self.store, self.striker, self.tell = store, striker, tell
        self.dropping = tuple(dropping)
        self.transactions = 0
        self._inside: list[str] = []
        store.files.fill = self._fill
        self._reserve, self._seal = store.files.reserve, store.files.seal
        store.files.reserve = self.reserve  # type: ignore[method-assign]
        store.files.seal = self.seal  # type: ignore[method-assign]
        store.database.before_commit = self._before_commit

    def _fill(self, name: str, content: Any) -> None:
        self.striker.at("file")
        if self.striker.comes("file torn"):
            self.store.files.place.fill(name, bytes(content)[: len(content) // 2])
            self.striker.kill()
        self.store.files.place.fill(name, content)
        self.striker.at("file done")

    def reserve(self, piece: Piece | None = None) -> tuple[str, str]:
        """Spark is about to write a folder."""
        self.striker.at("folder")
        return self._reserve(piece)

    def seal(self, name: str) -> Reference:
        """Spark has written a folder."""
        self.striker.at("folder written")
        reference = self._seal(name)
        self.striker.at("folder done")
        return reference

    def _before_commit(self) -> None:
        for moment in self._inside:
            self.striker.at(moment)

    def transact(self, effects: Sequence[Any], captures: Mapping[int, Any] | None = None) -> None:
        """Carries out all ``effects``, unless the process dies."""
        kept = [effect for effect in effects if not isinstance(effect, self.dropping)]
        groups = [[effect] for effect in kept] if self.striker.strike.single else [kept]
        for group in groups:
            names = [kind(effect) for effect in group] if self.striker.strike.single else []
            for name in names:
                self.striker.at(name)
            self.striker.at("transaction")
            self._inside = ["transaction inside", *(f"{name} inside" for name in names)]
            try:
                self.store.transact(group, captures)
            finally:
                self._inside = []
            self.transactions += 1
            self.tell(self.transactions, listed(group))
            self.striker.at("transaction done")
            for effect in group if self.striker.strike.single else []:
                if isinstance(effect, Persist):
                    self.striker.at(f"persisted {effect.processor}")

    def acquire(self) -> Any:
        """Becomes the one process that writes."""
        lease = self.store.acquire()
        self.striker.at("acquired")
        return lease

    def load(self, *args: Any, **options: Any) -> Any:
        """What is durable of the processors."""
        found = self.store.load(*args, **options)
        self.striker.at("loaded")
        return found

    def __getattr__(self, name: str) -> Any:
        """Everything else is the store's own."""
        return getattr(self.store, name)


def kind(effect: Any) -> str:
    """An effect's kind, as a moment."""
    names = {
        Persist: "persist",
        Retract: "retract",
        Collect: "collect",
        CollectLog: "collect",
        Note: "note",
    }
    return names[type(effect)]


def listed(group: Sequence[Any]) -> str:
    """The effects of a transaction, in short."""
    found = Counter(
        f"persist {effect.processor}" if isinstance(effect, Persist) else kind(effect)
        for effect in group
    )
    return ", ".join(f"{name} x{n}" if n > 1 else name for name, n in sorted(found.items()))
