"""A table as a source: rows in the order of a key that only grows, a range of keys an epoch."""

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from falkirk.dataflow.connecting import Limit

if TYPE_CHECKING:
    from falkirk.connectors.sql.reading import TableReader


@dataclass(frozen=True, repr=False)
class TableSource:
    """The rows of ``table``, in the order of ``key``; ``columns`` are all, or those that are named.

    Rows may be added, with larger keys, and must stay as they are until they are acknowledged.
    Without ``watch`` the source ends after the rows that are there. No row is missed that is
    committed after one with a larger key: on PostgreSQL that is seen, elsewhere a key is read when
    it has been there for ``settle_seconds``.

    More than ``driver_rows_max`` rows are read by Spark's tasks, each a part of the range. They
    need the driver of the database, and this package, on the executors.
    """

    url: str
    table: str
    key: str = "id"
    columns: Sequence[str] = ()
    watch: bool = False
    settle_seconds: float | None = None
    driver_rows_max: int = 100_000
    _open: dict[str, Any] = field(default_factory=dict, init=False, compare=False)

    replayable = True
    counts = ("rows",)

    def initial(self) -> Any:
        """Before the first key."""
        return None

    def latest(self, start: Any, limit: Limit) -> Any:
        """The last key of the next epoch."""
        return self._reader.latest(start, limit.rows)

    def read(self, session: Any, start: Any, end: Any) -> Any:
        """The rows with keys after ``start`` up to ``end``."""
        return self._reader.read(session, start, end)

    def finished(self, position: Any) -> bool:
        """Whether all rows are read and no more are waited for."""
        return not self.watch and not self._reader.follows(position)

    def commit(self, end: Any) -> None:
        """Rows stay where they are."""

    def close(self) -> None:
        """Closes all connections."""
        if "reader" in self._open:
            self._open.pop("reader").close()

    @property
    def _reader(self) -> "TableReader":
        from falkirk.connectors.sql.reading import TableReader

        if "reader" not in self._open:
            self._open["reader"] = TableReader(self)
        found: TableReader = self._open["reader"]
        return found

    def __repr__(self) -> str:
        from falkirk.store.redaction import redacted

        return f"TableSource({redacted(self.url)!r}, {self.table!r}, key={self.key!r})"
