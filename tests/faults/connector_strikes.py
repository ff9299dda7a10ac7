"""Connectors that tell when they are about to do something outside, so that one can die there."""

from collections.abc import Iterator
from random import Random
from typing import Any, ClassVar

from sqlalchemy import Engine, event
from tests.faults.driver_strikes import Strike, Striker

MOMENTS = {
    "latest": 4,
    "read": 4,
    "acknowledge": 2,
    "acknowledge done": 2,
    "sink": 12,
    "sink inside": 12,
    "outside commit": 14,
    "sink done": 12,
    "transaction done": 12,
}
"""Every moment, with the highest number that a seed chooses for it."""


def seeded(seed: int, count: int) -> list[Strike]:
    """The strikes of a seed."""
    random = Random(seed)
    found = []
    for _ in range(count):
        moment = random.choice(list(MOMENTS))
        found.append(Strike(moment, random.randint(1, MOMENTS[moment])))
    return found


class StruckSource:
    """A source that can be struck before and after all that changes something outside."""

    epochs_max: ClassVar[int | None] = None
    """How many epochs it gives, the others in a later life of the driver; None for all."""

    def __init__(self, source: Any, striker: Striker) -> None:
        """The same source, watched."""
        self.source, self.striker = source, striker
        self.epochs = 0

    @property
    def replayable(self) -> bool:
        """As the source is."""
        return bool(self.source.replayable)

    def initial(self) -> Any:
        """Before the first row."""
        return self.source.initial()

    def latest(self, start: Any, limit: Any) -> Any:
        """How far an epoch goes; a queue has leased it by then."""
        if self.epochs == self.epochs_max:
            return start
        end = self.source.latest(start, limit)
        if end != start:
            self.epochs += 1
            self.striker.at("latest")
        return end

    def read(self, session: Any, start: Any, end: Any) -> Any:
        """The rows."""
        data = self.source.read(session, start, end)
        self.striker.at("read")
        return data

    def finished(self, position: Any) -> bool:
        """Whether all was read."""
        return bool(self.source.finished(position))

    def commit(self, end: Any) -> None:
        """Takes the acknowledgement."""
        self.striker.at("acknowledge")
        self.source.commit(end)
        self.striker.at("acknowledge done")

    def __getattr__(self, name: str) -> Any:
        """What else a source may have."""
        return getattr(self.source, name)


class StruckSink:
    """A sink that can be struck before, in the middle of, and after a write."""

    def __init__(self, sink: Any, striker: Striker) -> None:
        """The same sink, watched."""
        self.sink, self.striker = sink, striker

    @property
    def exactly_once(self) -> bool:
        """As the sink is."""
        return bool(self.sink.exactly_once)

    def write(self, name: str, time: Any, batch: Any) -> None:
        """Writes ``time``."""
        self.striker.at("sink")
        self.sink.write(name, time, Interrupted(batch, self.striker))
        self.striker.at("sink done")

    def __getattr__(self, name: str) -> Any:
        """What else a sink may have."""
        return getattr(self.sink, name)


class StruckJointSink:
    """The same for a sink of several streams."""

    def __init__(self, sink: Any, striker: Striker) -> None:
        """The same sink, watched."""
        self.sink, self.striker = sink, striker
        self.exactly_once, self.parts = sink.exactly_once, sink.parts

    def write_together(self, name: str, time: Any, batches: Any) -> None:
        """Writes ``time``."""
        self.striker.at("sink")
        watched = {part: Interrupted(batch, self.striker) for part, batch in batches.items()}
        self.sink.write_together(name, time, watched)
        self.striker.at("sink done")

    def __getattr__(self, name: str) -> Any:
        """What else a sink may have."""
        return getattr(self.sink, name)


class Interrupted:
    """A batch whose rows are asked for in the middle of a write."""

    def __init__(self, batch: Any, striker: Striker) -> None:
        """A batch like ``batch``."""
        self.batch, self.striker = batch, striker

    def arrow_batches(self) -> Iterator[Any]:
        """The rows; the moment comes when some of them are written."""
        for piece in self.batch.arrow_batches():
            yield piece
            self.striker.at("sink inside")

    def __getattr__(self, name: str) -> Any:
        """The batch's own."""
        if name in ("arrow", "frame"):
            self.striker.at("sink inside")
        return getattr(self.batch, name)


def struck_by(striker: Striker) -> Any:
    """What puts a watch around a source or a sink."""

    def struck(connector: Any) -> Any:
        if hasattr(connector, "latest"):
            return StruckSource(connector, striker)
        if hasattr(connector, "write_together"):
            return StruckJointSink(connector, striker)
        return StruckSink(connector, striker)

    return struck


def watch_commits(striker: Striker) -> None:
    """Tells when a transaction is about to be committed outside, rows and mark and all."""

    @event.listens_for(Engine, "commit")
    def committing(connection: Any) -> None:
        writes = connection.get_execution_options().get("falkirk_writes")
        if writes and "metadata.sqlite" not in str(connection.engine.url.database):
            striker.at("outside commit")
