"""Dead letters: rows that are not what their file was said to hold leave the flow, and are kept.

They leave it right behind the source, at the time of the epoch that they were read in. So they are
rolled back, saved and shown as everything else is, and none is lost or written twice.
"""

import logging
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from falkirk.connectors.locating import locate
from falkirk.connectors.parquet import ParquetSink
from falkirk.core.policy import ephemeral, lazy
from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch, Frame
from falkirk.dataflow.connecting import Sink
from falkirk.dataflow.context import ASIDE, Context
from falkirk.dataflow.processor import Processor
from falkirk.dataflow.stream import Stream

CORRUPT, FILE = "_falkirk_malformed", "_falkirk_file"
"""The columns that tell a malformed row from others, until it has left the flow."""

SIFTED = ("csv", "json", "xml")
"""The formats of which Spark says which rows do not fit."""

LOCATED_MAX = 100_000
"""Of more malformed rows in one epoch the lines are not looked for: the file is another one."""

log = logging.getLogger("falkirk.source")


@dataclass(frozen=True, slots=True)
class DeadLetters(ParquetSink):
    """A folder for malformed rows: ``path/epoch=N/``, with the columns file, line and record.

    An epoch without any has no folder. ``line`` is null where it cannot be found, and for a file
    that cannot be read to its end: then ``record`` says why.
    """


class Letters(Processor):
    """Finds the malformed rows of each batch; sends them, or sets them aside in the store."""

    def __init__(self, folder: str | Path, format: str, options: Mapping[str, str]) -> None:
        """For files in ``folder`` that are read as ``format`` with ``options``."""
        self.folder, self.format, self.options = folder, format, options

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps or sends the malformed rows of ``batch``."""
        bad = malformed(ctx, batch)
        if bad.is_empty():
            return
        log.warning("%s malformed rows in files of %s, at %s", bad.rows, self.folder, time)
        if (bad.rows or 0) > LOCATED_MAX:
            found = bad.transform(without_lines)
        else:
            found = ctx.batch(self.located(bad.arrow()))
        self.keep(ctx, found)

    def keep(self, ctx: Context, letters: Batch) -> None:
        """Sets malformed rows aside, as state of their time."""
        ctx.state.put(letters, label=ASIDE)

    def located(self, bad: Any) -> Any:
        """The same rows with their lines, in the order of files and lines."""
        import pyarrow as pa  # type: ignore[import-untyped]

        wanted: dict[str, Counter[str]] = {}
        for row in bad.to_pylist():
            wanted.setdefault(row["file"], Counter())[row["record"]] += 1
        rows = [
            {"file": file, "line": line, "record": record}
            for file in sorted(wanted)
            for line, record in locate(
                Path(self.folder) / file, wanted[file], self.format, self.options
            )
        ]
        schema = pa.schema([("file", pa.string()), ("line", pa.int64()), ("record", pa.string())])
        return pa.Table.from_pylist(rows, schema=schema)


class SentLetters(Letters):
    """The same, but the rows go to a sink; nothing is kept here."""

    stateless = True

    def keep(self, ctx: Context, letters: Batch) -> None:
        """Sends malformed rows."""
        ctx.send(letters)


def sift(
    stream: Stream,
    folder: str | Path,
    format: str,
    options: Mapping[str, str],
    sink: Sink | None,
) -> Stream:
    """The rows of ``stream`` that fit; the others go to ``sink``, or aside if there is none."""
    kind, policy = (Letters, lazy()) if sink is None else (SentLetters, ephemeral())
    letters = stream.process(
        kind(folder, format, options), name=f"{stream.name}-malformed", policy=policy
    )
    if sink is not None:
        letters.write(sink, name=f"{stream.name}-dead-letters")
    return stream.transform(fitting, name=f"{stream.name}-rows", policy=ephemeral())


def fitting(frame: Frame) -> Frame:
    """The rows that are what they should be."""
    return frame.where(f"{CORRUPT} IS NULL").drop(CORRUPT, FILE)


def without_lines(frame: Frame) -> Frame:
    """Dead letters whose lines are not looked for."""
    return frame.selectExpr("file", "CAST(NULL AS BIGINT) AS line", "record")


def malformed(ctx: Context, batch: Batch) -> Batch:
    """The files and the text of the rows that are not; small batches need no job for that."""
    if batch.small:
        import pyarrow.compute as pc  # type: ignore[import-untyped]

        table = batch.arrow().select([FILE, CORRUPT]).rename_columns(["file", "record"])
        return ctx.batch(table.filter(pc.is_valid(table["record"])))

    def chosen(frame: Frame) -> Frame:
        found = frame.where(f"{CORRUPT} IS NOT NULL")
        return found.selectExpr(f"{FILE} AS file", f"{CORRUPT} AS record")

    return batch.transform(chosen).materialise()
