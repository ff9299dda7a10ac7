"""Delta's own kernel: reads a table's log and commits to it, whatever the version of Spark is.

It is Java, in the driver of a classic session. Of its API, the classes named ``internal`` have no
promise to stay: they make a schema of JSON, and an iterator of a list.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from py4j.java_gateway import JavaPackage  # type: ignore[import-untyped]
from py4j.protocol import Py4JJavaError  # type: ignore[import-untyped]
from pyspark.sql.types import StructField, StructType

from falkirk.core.errors import ConnectorError, PermanentError
from falkirk.runtime.session import is_connect

PACKAGES = "io.delta:delta-kernel-api:4.4.0,io.delta:delta-kernel-defaults:4.4.0"
ENGINE = "falkirk"
MAPPING = "delta.columnMapping.mode"
EXCEPTIONS = "io.delta.kernel.exceptions."
NULLS = frozenset({"nullable", "containsNull", "valueContainsNull"})
PASSING = frozenset(
    {
        "CommitStateUnknownException",
        "ConcurrentWriteException",
        "KernelEngineException",
        "MaxCommitRetryLimitReachedException",
        "MetadataChangedException",
        "ProtocolChangedException",
        "TableAlreadyExistsException",
    }
)
"""What may go well when it is tried again: a conflict with another writer, or a disk."""


@dataclass(frozen=True, slots=True)
class Known:
    """A table as it is; ``version`` is the last one that an application has committed."""

    version: int | None
    properties: Mapping[str, str]
    schema: StructType
    partitions: tuple[str, ...]

    def check(self, schema: StructType, path: str) -> None:
        """Refuses columns that the table does not take as they are."""
        if self.partitions or self.properties.get(MAPPING, "none") != "none":
            how = f"partitioned by {', '.join(self.partitions)}" if self.partitions else "mapped"
            raise PermanentError(
                f"the Delta table {path} is {how}, and only plain tables can be written: write to"
                " another one"
            )
        there = {each.name: each for each in self.schema}
        wanted = {each.name: each for each in schema}
        for name, column in wanted.items():
            if name not in there:
                raise PermanentError(
                    f"the Delta table {path} has no column {name!r}: add it (ALTER TABLE … ADD"
                    f" COLUMNS), or select only what it has: {', '.join(there)}"
                )
            ours, theirs = column.dataType.simpleString(), there[name].dataType.simpleString()
            if ours != theirs:
                raise PermanentError(
                    f"the column {name!r} of the Delta table {path} is {theirs}, and the rows have"
                    f" {ours}: change one of them, for instance by CAST"
                )
        for name, column in there.items():
            alone, given = bare([column]), bare([wanted[name]] if name in wanted else [])
            if nullable(alone) != alone and given != alone:
                raise PermanentError(
                    f"the column {name!r} of the Delta table {path} must not be null, and the rows"
                    " do not promise that: allow nulls there"
                )


@dataclass(frozen=True, slots=True)
class Append:
    """One commit: the files at ``place``, under an application's ``version``.

    With a ``schema`` it makes the table, and ``properties`` are added to those that it has.
    """

    place: str
    application: str
    version: int
    schema: StructType | None
    properties: Mapping[str, str]


class DeltaTable:
    """The table at an absolute path, or at an address."""

    def __init__(self, session: Any, path: str) -> None:
        """Nothing is read yet; refuses a session without the kernel."""
        if is_connect(session):
            raise PermanentError(
                "a Delta table is committed to by Java in the driver, and Spark Connect has none"
                " here: run the flow with a classic session"
            )
        self.session, self.path = session, path
        self.jvm = session._jvm
        self.kernel = self.jvm.io.delta.kernel
        if isinstance(self.kernel.defaults.engine.DefaultEngine, JavaPackage):
            raise PermanentError(
                "Spark has no Delta kernel: start it with the setting"
                f" spark.jars.packages={PACKAGES}, for instance by fk.run(flow, settings=…)"
            )
        self.settings = session._jsc.hadoopConfiguration()
        self.engine = self.kernel.defaults.engine.DefaultEngine.create(self.settings)
        self.table = self.kernel.Table.forPath(self.engine, path)

    def known(self, application: str) -> Known | None:
        """The table as it is now, None if there is none."""
        with told(self.path):
            try:
                found = self.table.getLatestSnapshot(self.engine)
            except Py4JJavaError as error:
                if kind_of(error) == "TableNotFoundException":
                    return None
                raise
            version = found.getLatestTransactionVersion(self.engine, application)
            columns = self.kernel.internal.types.DataTypeJsonSerDe
            return Known(
                int(version.get()) if version.isPresent() else None,
                dict(found.getTableProperties()),
                schema_of(columns.serializeStructType(found.getSchema())),
                tuple(found.getPartitionColumnNames()),
            )

    def append(self, appended: Append) -> int | None:
        """Commits files: as which version of the table. None if they were there already."""
        with told(self.path):
            try:
                return self._commit(appended)
            except Py4JJavaError as error:
                if kind_of(error) == "ConcurrentTransactionException":
                    return None
                raise

    def _commit(self, appended: Append) -> int:
        kernel, engine = self.kernel, self.engine
        building = self.table.createTransactionBuilder(
            engine, ENGINE, kernel.Operation.valueOf("WRITE")
        )
        if appended.schema is not None:
            columns = kernel.internal.types.DataTypeJsonSerDe
            made = columns.deserializeStructType(appended.schema.json())
            building = building.withSchema(engine, made)
        if appended.properties:
            given = self.jvm.java.util.HashMap()
            for name, value in appended.properties.items():
                given.put(name, value)
            building = building.withTableProperties(engine, given)
        building = building.withTransactionId(engine, appended.application, appended.version)
        transaction = building.build(engine)
        state = transaction.getTransactionState(engine)
        static = kernel.Transaction
        context = static.getWriteContext(engine, state, self.jvm.java.util.HashMap())
        files = self._files(appended.place).iterator()
        files = kernel.internal.util.Utils.toCloseableIterator(files)
        actions = static.generateAppendActions(engine, state, files, context)
        done = transaction.commit(engine, kernel.utils.CloseableIterable.inMemoryIterable(actions))
        for hook in done.getPostCommitHooks():
            hook.threadSafeInvoke(engine)  # now and then a checkpoint of the log
        return int(done.getVersion())

    def _files(self, place: str) -> Any:
        """The file at ``place``, or the files of the folder there."""
        path = self.jvm.org.apache.hadoop.fs.Path(place)
        found, none = self.jvm.java.util.ArrayList(), self.jvm.java.util.Optional.empty()
        for each in path.getFileSystem(self.settings).listStatus(path):
            if each.getPath().getName().endswith(".parquet"):
                file = (each.getPath().toString(), each.getLen(), each.getModificationTime())
                found.add(self.kernel.utils.DataFileStatus(*file, none))
        return found


@contextmanager
def told(path: str) -> Iterator[None]:
    """What the kernel reports, as something to try again or as something to stop at."""
    try:
        yield
    except Py4JJavaError as error:
        said = f"the Delta table {path}: {kind_of(error)}: {error.java_exception.getMessage()}"
        ours = str(error.java_exception.getClass().getName()).startswith(EXCEPTIONS)
        if ours and kind_of(error) not in PASSING:
            raise PermanentError(said) from None
        raise ConnectorError(said) from None


def kind_of(error: Py4JJavaError) -> str:
    """The class of what was thrown in Java."""
    return str(error.java_exception.getClass().getSimpleName())


def nullable(schema: StructType) -> StructType:
    """The same columns, in which everything may be null, also inside of lists and structures.

    >>> nullable(StructType().add("k", "integer", False))["k"].nullable
    True
    """
    return StructType.fromJson(opened(schema.jsonValue()))


def opened(value: Any) -> Any:
    """A schema's JSON without any promise that there are no nulls."""
    if isinstance(value, dict):
        return {key: key in NULLS or opened(each) for key, each in value.items()}
    return [opened(each) for each in value] if isinstance(value, list) else value


def schema_of(text: str) -> StructType:
    """A schema that was written as JSON."""
    return StructType.fromJson(json.loads(text))


def bare(columns: Sequence[StructField]) -> StructType:
    """Columns without what is noted about them."""
    return StructType([StructField(each.name, each.dataType, each.nullable) for each in columns])
