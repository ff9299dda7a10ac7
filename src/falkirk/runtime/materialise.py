"""Evaluates plans: small results rest on the driver as Arrow, large ones on executors as blocks.

A job costs tens of milliseconds and a small table on the driver costs nothing to hold, to write and
to read again. So what is known to be small is fetched by the very job that computes it. What may be
large is cut from its lineage and cached by executors, and counted on the way (no job only counts).
"""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from threading import local
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]
from pyspark.sql import Observation
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from falkirk.core.errors import ExecutionError
from falkirk.runtime.blocks import Blocks, Cached, LostBlocksError
from falkirk.runtime.classic import gateway_of
from falkirk.runtime.content import Content, PlanError, Several, Step
from falkirk.runtime.uniting import united_frames, united_tables
from falkirk.store.reference import Reference

SMALL_BYTES_MAX = 32 * 1024 * 1024
"""What a plan reads at most for its result to be fetched without asking how large it is."""

SMALL_ROWS_MAX = 10_000
"""A cached result with no more rows is fetched, too: from then on it costs no jobs."""

KEPT_BYTES_MAX = 4 * 1024 * 1024
"""A larger table is handed to Spark once, as blocks, which it may move to its disk; a smaller one
stays in Spark's memory as long as it is used, and goes into every task that reads it."""


COLUMNS_BYTES_MIN = 4 * 1024 * 1024
"""Rows on executors that take so many bytes in a file are let go once they are there, and read from
it: as rows they take ten times the room, and Spark finds some of them later."""


class Materialiser:
    """Gives contents the form that is wanted. Safe to use from several threads."""

    def __init__(
        self,
        session: Any,
        files: Any,
        small_bytes_max: int = SMALL_BYTES_MAX,
        columns_bytes_min: int = COLUMNS_BYTES_MIN,
    ) -> None:
        """Evaluates on ``session``; durable contents are read from and written to ``files``."""
        self.session, self.files = session, files
        self.small_bytes_max, self.columns_bytes_min = small_bytes_max, columns_bytes_min
        self._gateway = gateway_of(session)
        self.blocks = Blocks(self._gateway)
        self._handed = local()
        self._columns: dict[str, Any] = {}

    def column(self, expression: str) -> Any:
        """An SQL expression as a column, made once: that takes several calls to Spark."""
        found = self._columns.get(expression)
        if found is None:
            found = self._columns[expression] = F.expr(expression)
        return found

    # Into one content.

    def settle(self, content: Content) -> None:
        """Evaluates a plan, once."""
        with content.lock:
            if content.settled:
                return
            if content.hint is not None and content.hint <= self.small_bytes_max:
                with self.opened(content) as frame:
                    content.table = fetched(frame)
                content.rows = content.table.num_rows
            else:
                self._cache(content)
            content.plan, content.needs = None, ()

    def _cache(self, content: Content) -> None:
        seen = Observation()
        executors = self.blocks.executors()
        with self.opened(content) as frame:
            cached = self.blocks.cache(frame.observe(seen, F.count(F.lit(1)).alias("rows")))
        rows = seen.get.get("rows")
        if rows is None:  # a Spark Connect server may answer before it has the count
            rows = cached.frame.count()
        if rows <= SMALL_ROWS_MAX and self.small_bytes_max:
            table = fetched(cached.frame)
            if table.nbytes <= self.small_bytes_max:
                content.table, content.rows = table, table.num_rows
                return
        # What had to be computed again because an executor went was counted again.
        if not self.blocks.stayed(executors):
            rows = cached.frame.count()
        content.cached, content.rows = cached, int(rows)

    def spread(self, content: Content) -> None:
        """Puts many rows that are on the driver or in a file on executors: one job, once."""
        with content.lock:
            self.settle(content)
            if content.rows is None or content.rows <= SMALL_ROWS_MAX:
                return
            if content.cached is None or content.cached.lost:
                content.cached, content.small_frame = None, None
                if content.table is not None:
                    content.cached = self._blocks_of(content.table)
                else:
                    with self.opened(content) as frame:
                        content.cached = self.blocks.cache(frame)

    def table(self, content: Content) -> pa.Table:
        """The content on the driver."""
        with content.lock:
            self.settle(content)
            if content.table is None:
                if content.reference is not None and content.reference.kind == "file":
                    content.table = self.files.read(content.reference)
                else:
                    with self.opened(content) as frame:
                        return fetched(frame)
            return content.table

    @contextmanager
    def opened(self, content: Content) -> Iterator[Any]:
        """The content as a DataFrame, for jobs in the ``with``: no block of it is let go before.

        What a plan is built on may become durable meanwhile, and then it leaves its blocks.
        """
        reads: list[Cached] = []
        yield self._frame(content, reads)

    def _frame(self, content: Content, reads: list[Cached]) -> Any:
        """The content as a DataFrame: a plan is built, and not evaluated.

        Only a large table is handed to Spark at once, by a job, and a long plan is cut by some. The
        blocks that it reads are added to ``reads``, and are there as long as they are held.
        """
        with content.lock:
            for cut in content.cuts:
                self.settle(cut)
            return self._built(content, reads)

    def _built(self, content: Content, reads: list[Cached]) -> Any:
        with content.lock:
            if content.cached is not None:
                if not content.cached.lost:
                    return self._read(content.cached, reads)
                if not content.volatile:
                    content.cached = None
            if content.lost_itself:
                raise LostBlocksError("the rows were on a lost executor and nowhere else")
            if isinstance(content.plan, Step):
                return content.plan.build(self._built(content.plan.before, reads))
            if isinstance(content.plan, Several):
                befores = [self._built(each, reads) for each in content.plan.befores]
                return content.plan.function(befores)
            if content.plan is not None:
                reads += content.needs
                return content.plan
            if content.table is None and content.reference is not None:
                if content.reference.kind == "folder":
                    content.cached = self._in_file(content.reference, self.session.read)
                    return self._read(content.cached, reads)
                content.table = self.files.read(content.reference)
            if content.small_frame is None:
                table: pa.Table = content.table
                if table.nbytes > KEPT_BYTES_MAX:
                    content.cached = self._blocks_of(table)
                    return self._read(content.cached, reads)
                # One partition needs no shuffle to be grouped or joined.
                content.small_frame = self._frame_of(table).coalesce(1)
            return content.small_frame

    def _read(self, cached: Cached, reads: list[Cached]) -> Any:
        reads.append(cached)
        return self.blocks.read(cached)

    def _blocks_of(self, table: pa.Table) -> Cached:
        """A table on executors; no task gets more of it than a small table has."""
        partitions = int(self.session.conf.get("spark.sql.shuffle.partitions"))
        pieces = -(-table.nbytes // KEPT_BYTES_MAX)
        return self.blocks.cache(self._frame_of(table).coalesce(max(partitions, pieces)))

    def _frame_of(self, table: pa.Table) -> Any:
        """A table as a DataFrame; Spark would take moments without a time zone to have one.

        Of a table in pieces Spark reads no row behind a piece that is empty, so it gets one piece.
        """
        table = table.combine_chunks()
        if any(pa.types.is_timestamp(f.type) and f.type.tz is None for f in table.schema):
            return self.session.createDataFrame(table, schema=from_arrow_schema(table.schema))
        return self.session.createDataFrame(table)

    # Into durable ones.

    def persist(self, content: Content) -> Reference:
        """Writes a content that is not durable yet; its metadata will make it visible."""
        with content.lock:
            self.settle(content)
            if content.reference is None:
                if content.table is not None:
                    content.reference = self.files.write(content.table, content.piece)
                else:
                    content.reference = self._write(content)
                    self._leave(content)
            return content.reference

    def persist_together(self, contents: Sequence[Content]) -> None:
        """Writes contents that are tables of the same columns into one file."""
        parts = self.files.write_together([content.table for content in contents])
        for content, part in zip(contents, parts, strict=True):
            with content.lock:
                if content.reference is None:  # somebody else may have needed it meanwhile
                    content.reference = part

    def _leave(self, content: Content) -> None:
        """Has many rows read from the file that they were written to."""
        reference, cached = content.reference, content.cached
        assert cached is not None, "these rows were written just now"
        assert reference is not None, "to this file"
        if reference.size >= self.columns_bytes_min:
            content.cached = self._in_file(reference, self.session.read.schema(cached.frame.schema))

    def _in_file(self, reference: Reference, reader: Any) -> Cached:
        """Durable rows; without a schema Spark looks for it by a job."""
        return Cached(reader.parquet(self.files.path(reference)), source=reference)

    def _write(self, content: Content) -> Reference:
        name, path = self.files.reserve(content.piece)
        try:
            with self.opened(content) as frame:
                frame.write.parquet(path)
            reference: Reference = self.files.seal(name)
        except BaseException:
            self.files.abandon(name)
            raise
        return reference

    def find_lost(self, content: Content) -> bool:
        """Looks whether a content is lost, after a job has missed blocks."""
        for cached in content.reads:
            cached.lost = cached.lost or self.blocks.is_lost(cached)
        return content.lost

    # From outside.

    def content_of(self, data: Any) -> Content:
        """The content that a DataFrame, an Arrow table or a list of rows stands for."""
        if isinstance(data, pa.Table):
            return Content(table=data)
        if isinstance(data, pa.RecordBatch):
            return Content(table=pa.Table.from_batches([data]))
        if isinstance(data, list):
            return Content(table=pa.Table.from_pylist(data))
        return Content(plan=data, needs=self.handed_out())

    # Frames that processors get hold of.

    @contextmanager
    def event(self, pool: str | None = None) -> Iterator[None]:
        """While an event is processed on this thread, remembers which blocks its code may read.

        The event's jobs run in ``pool``, if it is given and Spark can be told.
        """
        if self._gateway is not None and pool != getattr(self._handed, "pool", None):
            self._gateway.into_pool(pool)
            self._handed.pool = pool
        self._handed.cached = {}
        try:
            yield
        finally:
            del self._handed.cached

    def hand_out(self, content: Content) -> Any:
        """The content as a DataFrame for somebody's code, which may make other frames of it."""
        reads: list[Cached] = []
        frame = self._frame(content, reads)
        handed = getattr(self._handed, "cached", None)
        if handed is not None:
            handed.update((id(cached), cached) for cached in reads)
        return frame

    def handed_out(self) -> tuple[Cached, ...]:
        """The blocks that a frame made by the code of this event may read."""
        return tuple(getattr(self._handed, "cached", {}).values())

    # Several in one.

    def union(self, contents: Sequence[Content], who: str = "", alike: bool = True) -> Content:
        """All rows of several contents; on the driver if they are all small.

        ``who`` unites them, and is named if they are not ``alike`` though they have to be.
        """
        for content in contents:
            self.settle(content)
        if self.all_small(contents):
            tables = [self.table(content) for content in contents]
            return Content(table=united_tables(tables, alike))

        def united(frames: list[Any]) -> Any:
            try:
                return united_frames(frames, alike)
            except ExecutionError as error:
                raise PlanError(who, error) from error

        return Content(plan=Several(tuple(contents), united))

    def all_small(self, contents: Iterable[Content]) -> bool:
        """Whether several contents together fit on the driver."""
        total = 0
        for content in contents:
            if content.table is None and (
                content.reference is None or content.reference.kind != "file"
            ):
                return False
            total += content.size or 0
        return total <= self.small_bytes_max


def fetched(frame: Any) -> pa.Table:
    """Runs a plan and brings its rows to the driver."""
    table: pa.Table = frame.toArrow()
    return table.combine_chunks()
