"""What a flow asks of the systems around it: sources, sinks, and how much one epoch may read."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch


@dataclass(frozen=True, slots=True)
class Limit:
    """How much of a source one epoch may take; what the source cannot count is refused.

    A single file, or a single request, is never divided, so an epoch may have more than its limit
    in one piece. ``seconds`` holds for every source: an epoch is read at the earliest so long after
    the one before, and takes what has come meanwhile.

    >>> Limit(rows=1000, seconds=0.5)
    Limit(rows=1000, files=None, bytes=None, seconds=0.5)
    """

    rows: int | None = None
    files: int | None = None
    bytes: int | None = None
    seconds: float | None = None


UNLIMITED = Limit()
"""All that is there."""


@runtime_checkable
class Source(Protocol):
    """Where rows come from. A position is a JSON-able value that the source understands.

    A replayable source gives the same rows for the same two positions until ``commit`` has passed
    them. One that is not is read once, and what it gave is logged before it counts.

    A source may also have any of these, and is asked for no others:

    - ``counts``: which of ``"rows"``, ``"files"`` and ``"bytes"`` it can limit, if not all of them.
    - ``size(start, end)``: about how many bytes there are between two positions, or None: where
      that is little, the result is fetched by the job that computes it.
    - ``listen(wake)``: a run begins. It calls ``wake()``, from any thread, whenever there may be
      something new, and is not polled in between.
    - ``stop()``: the run reads no more, and finishes what it has read.
    - ``close()``: the run has ended. It may begin again with ``listen``.
    - ``settled(end)``: all that was made of the rows before ``end`` has been handed to the sinks.
      With ``answered_by(sink)`` it says which of them it cannot do without; of others, those of
      which nobody can tell are not waited for.
    - ``awaited``: whether somebody waits for ``commit``. Then checkpoints are not put off while the
      flow has nothing else to do.
    - ``ephemeral``: whether a new process has lost what the one before was given and had not
      acknowledged. It stands for no rows then, at the epochs that somebody has seen already.
    - ``arrange(stream)``: gives ``flow.read`` the stream to return for the one of all that is read.
    """

    @property
    def replayable(self) -> bool:
        """Whether it can be read again from a position that was not committed."""

    def initial(self) -> Any:
        """The position before the first row."""

    def latest(self, start: Any, limit: Limit) -> Any:
        """How far one epoch that begins at ``start`` may go; ``start`` if there is nothing yet."""

    def read(self, session: Any, start: Any, end: Any) -> Any:
        """The rows between two positions: a DataFrame or an Arrow table."""

    def finished(self, position: Any) -> bool:
        """Whether there will never be anything after ``position``."""

    def commit(self, end: Any) -> None:
        """Nothing before ``end`` will be asked for again (§4.3)."""


@runtime_checkable
class Sink(Protocol):
    """Where rows go: each time whole or not at all, and times in their order.

    After a failure times that were written may be offered again, from some earlier one on and in
    order too. A sink that raises is offered the time again, after a pause: a ``PermanentError``
    stops the flow at once, an ``OutageError`` is waited for longer than any other.

    A sink may also have ``attach(name, store)``, called before anything is written, and
    ``close()``, called when a run ends; it may be attached again after that. ``store`` is the
    identity of the store: the times of another store are other times, whatever their numbers. Its
    ``summary``, if it has one, is shown by ``flow.explain()``.

    Its ``places``, if it has them, are a tuple of what no other output of the flow may write to: a
    ``Path`` for a folder or a file, which must be absolute, or a text that names anything else and
    tells no secret. A flow is refused in which two outputs have one of them in common, or a folder
    inside another's. A sink whose outputs may share a place, because each is recognised by its
    name, leaves it out; or it has ``shares = True`` if only sinks of its own class may.
    """

    @property
    def exactly_once(self) -> bool:
        """Whether writing the same (name, time) again changes nothing."""

    def write(self, name: str, time: Time, batch: Batch) -> None:
        """Writes all rows of ``time``; they will never be contradicted."""


@runtime_checkable
class JointSink(Protocol):
    """Where several streams go at one common time: all of them show a time, or none does.

    It is treated as a :class:`Sink` is, and has ``attach``, ``close`` and ``places`` as one may.
    """

    @property
    def exactly_once(self) -> bool:
        """Whether writing the same (name, time) again changes nothing."""

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the streams that it takes."""

    def write_together(self, name: str, time: Time, batches: Mapping[str, Batch]) -> None:
        """Writes all rows of ``time``; a part that has none may be missing."""
