"""Several tables of one database that always show the same time: one transaction for all."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from falkirk.connectors.sql.sink import TableSink
from falkirk.core.errors import ConfigurationError
from falkirk.core.times import Time


@dataclass(frozen=True)
class TableSinks:
    """The tables that ``flow.write_together`` writes, by the names of its streams.

    All of them are in one database, and each may have a mode of its own.
    """

    tables: Mapping[str, TableSink]

    exactly_once = True

    def __post_init__(self) -> None:
        """Refuses what one transaction cannot do."""
        if len({sink.url for sink in self.tables.values()}) != 1:
            raise ConfigurationError(
                "tables that are written together are in one database: give all of them the same"
                " url"
            )
        if any(sink.at_least_once for sink in self.tables.values()):
            raise ConfigurationError(
                "tables that are written together are exactly once: leave out at_least_once"
            )
        if len({sink.table for sink in self.tables.values()}) < len(self.tables):
            raise ConfigurationError(
                "two streams would be written to one table: unite them first, or give each its own"
            )

    @property
    def parts(self) -> tuple[str, ...]:
        """The names of the streams."""
        return tuple(self.tables)

    @property
    def places(self) -> tuple[str, ...]:
        """Those of all tables."""
        return tuple(place for sink in self.tables.values() for place in sink.places)

    def attach(self, name: str, store: str) -> None:
        """Takes all tables for an output of a store, or refuses."""
        with self._database.writing("prepared") as connection:
            for sink in self.tables.values():
                sink.attach_within(connection, name, store)

    def write_together(self, name: str, time: Time, batches: Mapping[str, Any]) -> None:
        """Writes all rows of ``time`` to all tables, unless they are there."""
        written = {}
        with self._database.writing() as connection:
            for part, sink in self.tables.items():
                if part in batches:
                    written[part] = sink.write_within(connection, name, time, batches[part])
        for part, columns in written.items():
            self.tables[part].remember(columns)

    @property
    def undo(self) -> Callable[[str, Any], None] | None:
        """Takes back what a frontier does not have, if all tables can."""
        return self._undo if all(sink.epoch for sink in self.tables.values()) else None

    def _undo(self, name: str, kept: Any) -> None:
        with self._database.writing() as connection:
            for sink in self.tables.values():
                sink.undo_within(connection, name, kept)

    def close(self) -> None:
        """Closes all connections."""
        for sink in self.tables.values():
            sink.close()

    @property
    def _database(self) -> Any:
        return next(iter(self.tables.values())).database
