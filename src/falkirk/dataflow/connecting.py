"""What a flow asks of the systems around it: sources, sinks, and how much one epoch may read."""

from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch


@dataclass(frozen=True, slots=True)
class Limit:
    """How much of a source one epoch may take; a source heeds what it can count.

    >>> Limit(rows=1000)
    Limit(rows=1000, files=None)
    """

    rows: int | None = None
    files: int | None = None


UNLIMITED = Limit()
"""All that is there."""


@runtime_checkable
class Source(Protocol):
    """Where rows come from. A position is a JSON-able value that the source understands.

    A replayable source gives the same rows for the same two positions until ``commit`` has passed
    them. One that is not is read once, and what it gave is logged before it counts.

    A source may also have ``size(start, end)``, about how many bytes there are between two
    positions, or None: where that is little, the result is fetched by the job that computes it.
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
    """Where rows go. Times are written in no particular order, each of them whole."""

    @property
    def exactly_once(self) -> bool:
        """Whether writing the same (name, time) again changes nothing."""

    def write(self, name: str, time: Time, batch: Batch) -> None:
        """Writes all rows of ``time``; they will never be contradicted."""
