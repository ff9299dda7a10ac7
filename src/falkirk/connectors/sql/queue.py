"""A queue in a table as a source: rows are leased, read as often as it takes, and then deleted."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from falkirk.core.errors import ConfigurationError
from falkirk.dataflow.connecting import Limit

if TYPE_CHECKING:
    from falkirk.connectors.sql.leasing import Leasing


@dataclass(frozen=True, repr=False)
class QueueSource:
    """The rows of the queue ``table``, shared with other consumers: each row goes to one of them.

    The table needs three columns of falkirk's, and the message that misses them says how to add
    them: ``falkirk_consumer`` (text), ``falkirk_lease`` (bigint) and ``falkirk_until`` (double
    precision). An epoch leases up to ``rows_per_lease`` rows that nobody has, in the order of
    ``key``. They can be read again until they are acknowledged; then they are deleted, or kept and
    never given out again with ``keep``.

    A ``consumer`` is one flow on one store: give each its own name. A lease that was not renewed
    for ``lease_seconds`` may be taken by another consumer. A flow renews its leases while it
    runs, so choose more than the longest time that it may be down; if it comes back later, and its
    rows were taken, it stops and says so. Without ``watch`` the source ends when no row is free.
    """

    url: str
    table: str
    key: str = "id"
    columns: Sequence[str] = ()
    consumer: str = "falkirk"
    lease_seconds: float = 3600.0
    rows_per_lease: int = 10_000
    keep: bool = False
    watch: bool = False
    _open: dict[str, Any] = field(default_factory=dict, init=False, compare=False)

    replayable = True
    counts = ("rows",)

    def __post_init__(self) -> None:
        """Refuses what would never give anything."""
        if self.rows_per_lease < 1 or self.lease_seconds <= 0 or not self.consumer:
            raise ConfigurationError(
                "a queue is read by a consumer with a name, at least one row at a time, and a"
                " lease lasts"
            )

    def initial(self) -> Any:
        """Before the first lease: its number, and how many rows were leased so far."""
        return [0, 0]

    def latest(self, start: Any, limit: Limit) -> Any:
        """The next lease: one that was read before and not acknowledged, or a new one."""
        rows = self.rows_per_lease if limit.rows is None else limit.rows
        return self._leasing.latest(start, min(rows, self.rows_per_lease))

    def read(self, session: Any, start: Any, end: Any) -> Any:
        """The rows of the leases after ``start`` up to ``end``."""
        return self._leasing.read(start, end)

    def finished(self, position: Any) -> bool:
        """Whether nothing is leased after ``position``, nothing is free, and nothing awaited."""
        return not self.watch and not self._leasing.follows(position)

    def commit(self, end: Any) -> None:
        """Takes the rows of all leases up to ``end`` off the queue (§4.3)."""
        self._leasing.acknowledge(end)

    def close(self) -> None:
        """Closes all connections; leases stay."""
        if "leasing" in self._open:
            self._open.pop("leasing").close()

    @property
    def _leasing(self) -> "Leasing":
        from falkirk.connectors.sql.leasing import Leasing

        if "leasing" not in self._open:
            self._open["leasing"] = Leasing(self)
        found: Leasing = self._open["leasing"]
        return found

    def __repr__(self) -> str:
        from falkirk.store.redaction import redacted

        return f"QueueSource({redacted(self.url)!r}, {self.table!r}, consumer={self.consumer!r})"
