"""A table of Delta Lake as a sink: a commit for each time, by which the table recognises it."""

from dataclasses import KW_ONLY, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any
from uuid import uuid4

from falkirk.core.errors import PermanentError
from falkirk.core.times import Time
from falkirk.disk import sync_path

if TYPE_CHECKING:
    from falkirk.connectors.delta.kernel import DeltaTable, Known

OWNER = "falkirk.sink."
"""Begins the name of a table's property that says which store an output is from."""

OWN_FOLDERS = ("_delta_log", "_delta_index", "_change_data")
"""Folders in a table's that are Delta's; others whose names begin with "_" VACUUM passes over."""


@dataclass(frozen=True, slots=True)
class DeltaSink:
    """Adds rows to the Delta table at ``path``, which is made if it is missing.

    A time is one commit: its files, and Delta's own transaction identifier with the store and the
    output as the application and the epoch as the version. A version that the table has had is left
    out, so it is exactly once. A table that another store has written to is refused; with
    ``shared`` other outputs may add to it too.

    Spark must have the jars of Delta's kernel, which knows nothing of Spark's version: those of
    ``io.delta:delta-kernel-api`` and ``io.delta:delta-kernel-defaults``. Tables that are
    partitioned, or whose columns are mapped to other names, are refused.
    """

    path: str | Path
    _: KW_ONLY
    shared: bool = False
    _stores: dict[str, str] = field(default_factory=dict, init=False, repr=False, compare=False)

    exactly_once = True
    shares = True

    @property
    def places(self) -> tuple[Path, ...]:
        """The folder, and those in it that are Delta's: VACUUM deletes what it does not know.

        Tables at addresses are not compared.
        """
        path = str(self.path).removeprefix("file://")
        if not is_local(path):
            return ()
        folder = Path(path).resolve()
        return (folder, *(folder / name for name in OWN_FOLDERS))

    def attach(self, name: str, store: str) -> None:
        """Refuses a Spark without Delta, and a table that holds another store's rows."""
        self._stores[name] = store
        self._look(self._table(), name)

    def write(self, name: str, time: Time, batch: Any) -> None:
        """Commits all rows of ``time``, unless the table has them."""
        from falkirk.connectors.delta.kernel import Append, nullable

        table = self._table()
        known = self._look(table, name)
        if known is not None and known.version is not None and known.version >= time[0]:
            return
        if batch.rows == 0:
            return
        place = f"{table.path}/falkirk-{uuid4().hex}.parquet"
        if batch.small and is_local(table.path):
            rows = batch.arrow()
            schema = schema_of(rows)
            self._check(known, schema)
            write_file(Path(place), rows)
        else:
            frame = batch.frame
            schema = frame.schema
            self._check(known, schema)
            frame.write.parquet(place)
        version = table.append(
            Append(
                place,
                self._application(name),
                int(time[0]),
                nullable(schema) if known is None else None,
                {OWNER + name: self._store(name)} if self._is_new(known, name) else {},
            )
        )
        if version is not None and is_local(table.path):
            log = Path(table.path) / "_delta_log"
            sync_path(log / f"{version:020}.json")
            sync_path(log)

    def _table(self) -> "DeltaTable":
        from pyspark.sql import SparkSession

        from falkirk.connectors.delta.kernel import DeltaTable

        path = str(self.path)
        absolute = str(Path(path).absolute()) if is_local(path) else path
        return DeltaTable(SparkSession.active(), absolute)

    def _look(self, table: "DeltaTable", name: str) -> "Known | None":
        """What is there, if it is not another store's."""
        known = table.known(self._application(name))
        owners = {} if known is None else known.properties
        for key, store in sorted(owners.items()):
            output = key.removeprefix(OWNER)
            others = key.startswith(OWNER) and store != self._store(name)
            if others and (output == name or not self.shared):
                raise PermanentError(
                    f"the Delta table {self.path} has rows that another store has written, or one"
                    f" that is gone, as its output {output!r}: they would be mixed with this one's."
                    " Run on the store that wrote it, write to another table, delete it, or give"
                    " shared=True if it is another flow's output"
                )
        return known

    def _check(self, known: "Known | None", schema: Any) -> None:
        if known is not None:
            known.check(schema, str(self.path))

    def _is_new(self, known: "Known | None", name: str) -> bool:
        """Whether the table does not say yet whose rows it gets."""
        return known is None or known.properties.get(OWNER + name) != self._store(name)

    def _application(self, name: str) -> str:
        return f"falkirk:{self._store(name)}:{name}"

    def _store(self, name: str) -> str:
        return self._stores.get(name, "")


def is_local(path: str) -> bool:
    """Whether a path is one of this machine, and no address.

    >>> is_local("data/out"), is_local("s3a://bucket/out")
    (True, False)
    """
    return "://" not in path


def schema_of(rows: Any) -> Any:
    """The columns of an Arrow table as Spark has them."""
    from pyspark.sql.pandas.types import from_arrow_schema

    return from_arrow_schema(rows.schema)


def write_file(path: Path, rows: Any) -> None:
    """A file that is on the disk before anybody speaks of it."""
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(rows, path)
    sync_path(path)
    sync_path(path.parent)
