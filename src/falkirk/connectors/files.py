"""Files in a folder as a source: any format that Spark reads, each file once."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import accumulate, takewhile
from pathlib import Path
from typing import Any

from falkirk.connectors.compressed import broken, broken_line
from falkirk.connectors.dead_letters import CORRUPT, FILE, SIFTED, sift
from falkirk.connectors.discretion import unheard
from falkirk.connectors.listing import listed_by_driver
from falkirk.connectors.spark_formats import known_format
from falkirk.connectors.unreadable import WHOLE, Unreadable, divided
from falkirk.core.errors import ConnectorError, PermanentError
from falkirk.dataflow.connecting import Limit, Sink
from falkirk.dataflow.stream import Stream
from falkirk.runtime.one_task import ONE_TASK_BYTES_MAX, ONE_TASK_WORK_BYTES_MAX

PACKED = (*SIFTED, "text")
"""Formats whose files may be compressed as a whole."""

COMPRESSED = {"parquet": 8, "orc": 8, "avro": 4}
"""How much larger rows of a format are in memory than in the file, at a guess."""


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a folder, in the order of their names or of their modification.

    Without ``watch`` the source ends after the files that are there; with it, it waits for more. A
    file must be complete when it appears: write it elsewhere and move it in. A file that appears
    before the position in the order (an earlier name, or an older time) is not seen any more.
    Names that begin with a dot or an underscore are passed over.

    Of CSV, JSON and XML with a ``schema``, rows that do not fit it go where ``malformed`` says,
    each with its file and line: to a sink such as ``fk.DeadLetters("dead")``, or ``"aside"`` into
    the flow's own store; ``"fail"`` stops the flow. A compressed file that breaks off goes there
    as a whole. Who sets Spark's ``mode`` keeps to that. Of Parquet, ORC and Avro there are no
    malformed rows, but files that cannot be read to their end, and of text files that cannot be
    unpacked: they stop the flow, unless ``malformed`` is a sink and there is a ``schema`` (text
    needs none), and then go there.

    Spark needs some 40 ms to find its way into a file. With ``driver_bytes_max``, Parquet files
    that have no more bytes in one epoch, and exactly the columns of ``schema``, are read on the
    driver. Rows are the same, but Spark does not know then which file they came from:
    ``input_file_name()`` is empty and there is no ``_metadata``.
    """

    path: str | Path
    format: str = "parquet"
    schema: str | None = None
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    order: str = "modified"
    watch: bool = False
    driver_bytes_max: int = 0
    malformed: Sink | str = "aside"
    _looked: dict[str, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    replayable = True
    counts = ("files", "bytes")

    def __post_init__(self) -> None:
        """Refuses an order that nobody knows."""
        if self.order not in ("modified", "name"):
            raise ConnectorError(f"files are ordered by 'modified' or 'name', not {self.order!r}")
        if self.driver_bytes_max and (self.format != "parquet" or self.schema is None):
            raise ConnectorError(
                "driver_bytes_max is for Parquet files with a schema=: Spark reads all others"
            )
        if self.malformed not in ("aside", "fail") and not isinstance(self.malformed, Sink):
            raise ConnectorError(
                f"malformed is {self.malformed!r}: it is 'aside', 'fail', or a sink such as"
                ' fk.DeadLetters("dead")'
            )
        if self.malformed != "aside" and not (self._tells_rows or self._tells_files):
            raise ConnectorError(
                "malformed= is for csv, json and xml with a schema= and without a mode of Spark's:"
                " otherwise nobody can tell which rows are malformed. Of parquet, orc and avro with"
                " a schema=, and of text, it may be a sink for files"
            )

    @property
    def _tells_rows(self) -> bool:
        """Whether it is known which rows do not fit, and not decided otherwise."""
        given = {name.lower() for name in self.options}
        decided = given & {"mode", "columnnameofcorruptrecord"}
        return self.format in SIFTED and self.schema is not None and not decided

    @property
    def _tells_files(self) -> bool:
        """Whether files that cannot be read to their end go to a sink."""
        told = (self.format in WHOLE and self.schema is not None) or self.format == "text"
        return told and isinstance(self.malformed, Sink)

    @property
    def _checks_packing(self) -> bool:
        """Whether compressed files must be whole; who told Spark to ignore it keeps that."""
        ignored = {k.lower(): str(v).lower() for k, v in self.options.items()}
        return self.format in PACKED and ignored.get("ignorecorruptfiles") != "true"

    @property
    def _sifts(self) -> bool:
        return (self._tells_rows and self.malformed != "fail") or self._tells_files

    def arrange(self, stream: Stream) -> Stream:
        """The rows that fit; the others leave the flow here."""
        sink = self.malformed if isinstance(self.malformed, Sink) else None
        return sift(stream, self.path, self.format, self.options, sink) if self._sifts else stream

    def initial(self) -> Any:
        """Before the first file."""
        return [0, ""]

    def latest(self, start: Any, limit: Limit) -> Any:
        """The last file of the next epoch."""
        waiting = self._after(start)
        if limit.files is not None:
            waiting = waiting[: limit.files]
        if limit.bytes is not None:
            waiting = waiting[: max(1, self._fitting(waiting, limit.bytes))]
        if not waiting:
            return start
        end = list(waiting[-1])
        self._looked["range"] = (start, end, waiting)  # what is read next
        return end

    def read(self, session: Any, start: Any, end: Any) -> Any:
        """The files after ``start`` up to ``end``: a plan, or the rows of small ones."""
        paths = [self._path(name) for _, name in self._between(start, end)]
        if self._sifts:
            good, bad = divided(paths, self.format)
            if bad or self._tells_files:
                return self._with_letters(session, good, bad)
        elif self._checks_packing:
            self._refuse_broken(paths)
        size = stored_bytes(paths)
        if self.schema is not None and 0 < size <= self.driver_bytes_max:
            from falkirk.connectors.arrow_files import read_parquet

            table = read_parquet(paths, self.schema)
            if table is not None:
                return table
        # One path is handed over in one call, a list of them in several.
        found = self._loaded(session, paths[0] if len(paths) == 1 else paths)
        return self._in_few_tasks(found, size)

    def _refuse_broken(self, paths: list[str]) -> None:
        """Stops at a compressed file that breaks off; Spark reads a part of some of them."""
        for name, why in broken(paths):
            line = broken_line(Path(self._path(name)))
            place = "" if line is None else f", in line {line}"
            raise PermanentError(
                f"{self._path(name)}: {why}{place}. Mend it and run again, or have such files told"
                ' by malformed=, a sink such as fk.DeadLetters("dead")'
            )

    def _with_letters(self, session: Any, good: list[str], bad: list[Unreadable]) -> Any:
        """The rows of the files that can be read, and a row for each of the others."""
        schema = self.schema or "value STRING"
        rows = self._loaded(session, good) if good else session.createDataFrame([], schema)
        told = session.createDataFrame(bad, f"{FILE} STRING, {CORRUPT} STRING")
        all_rows = rows.unionByName(told, allowMissingColumns=True)
        return self._in_few_tasks(all_rows, stored_bytes(good))

    def _in_few_tasks(self, frame: Any, size: int) -> Any:
        """Files that are little work in one task; the runtime does that with all that is small."""
        small = size * self._growth <= ONE_TASK_BYTES_MAX
        return frame if small or size > ONE_TASK_WORK_BYTES_MAX else frame.coalesce(1)

    @property
    def _growth(self) -> int:
        return COMPRESSED.get(self.format, 1)

    def size(self, start: Any, end: Any) -> int | None:
        """About how many bytes there are between two positions."""
        files = [self._path(name) for _, name in self._between(start, end)]
        return stored_bytes(files) * self._growth

    def finished(self, position: Any) -> bool:
        """Whether all files are read and no more are waited for."""
        return not self.watch and not self._after(position)

    def commit(self, end: Any) -> None:
        """Files stay where they are."""

    def _fitting(self, files: list[tuple[int, str]], size_max: int) -> int:
        """How many of the first files have together no more bytes than ``size_max``."""
        sizes = accumulate(os.stat(self._path(name)).st_size for _, name in files)
        return sum(1 for _ in takewhile(lambda size: size <= size_max, sizes))

    def _path(self, name: str) -> str:
        return os.path.join(self.path, name)

    def _loaded(self, session: Any, paths: str | list[str]) -> Any:
        """What Spark reads."""
        count = 1 if isinstance(paths, str) else len(paths)
        with known_format(session, self.format), listed_by_driver(session, count):
            found = self._reader(session).load(paths)
        if self._sifts and self._tells_rows:
            found = found.selectExpr("*", f"_metadata.file_name AS {FILE}")
        return found

    def _reader(self, session: Any) -> Any:
        """A reader with all options, made once: each of them is a call to Spark."""
        known, reader = self._looked.get("reader", (None, None))
        if known is not session:
            with unheard():
                reader = session.read.format(self.format).options(**self.options)
            if self._tells_rows and self.malformed != "fail":
                reader = reader.options(mode="PERMISSIVE", columnNameOfCorruptRecord=CORRUPT)
                reader = reader.schema(f"{self.schema}, {CORRUPT} STRING")
            elif self.schema is not None:
                reader = reader.schema(self.schema)
            if self.malformed == "fail":
                reader = reader.options(mode="FAILFAST")
            self._looked["reader"] = (session, reader)
        return reader

    def _between(self, start: Any, end: Any) -> list[tuple[int, str]]:
        looked = self._looked.get("range")
        if looked is not None and looked[:2] == (start, end) and self._is_there(end):
            found: list[tuple[int, str]] = looked[2]
            return found
        found = [file for file in self._after(start) if file <= (end[0], end[1])]
        if not found or found[-1] != (end[0], end[1]):
            raise ConnectorError(
                f"{self.path}: the file {end[1]!r} was read before and is gone or has changed;"
                " files must stay as they are until they are acknowledged"
            )
        return found

    def _is_there(self, position: Any) -> bool:
        try:
            found = os.stat(self._path(position[1]))
        except OSError:
            return False
        return self.order != "modified" or found.st_mtime_ns == position[0]

    def _after(self, position: Any) -> list[tuple[int, str]]:
        """The files after ``position``, in order: one look at the folder."""
        modified = self.order == "modified"
        after, found = (position[0], position[1]), []
        try:
            entries = os.scandir(self.path)
        except (FileNotFoundError, NotADirectoryError) as error:
            raise ConnectorError(f"{self.path} is not a folder") from error
        with entries:
            for entry in entries:
                if not modified and entry.name <= after[1]:
                    continue  # nearly all of them, at every poll
                if entry.name.startswith((".", "_")) or not entry.is_file():
                    continue
                file = (entry.stat().st_mtime_ns if modified else 0, entry.name)
                if file > after:
                    found.append(file)
        return sorted(found)


def stored_bytes(paths: list[str]) -> int:
    """How many bytes files have."""
    return sum(os.stat(path).st_size for path in paths)
