"""Divides the rows of a batch into pieces by their keys, on the driver and by Spark alike.

Rows with the same keys are in the same piece wherever they were divided, so that they meet when
that piece is merged. Nothing but room depends on it: rows that do not meet are added up when they
are read.
"""

from collections.abc import Callable, Iterator, Sequence
from typing import Any
from zlib import crc32

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]

from falkirk.runtime.batch import Batch
from falkirk.runtime.compaction import PIECES
from falkirk.runtime.content import Content
from falkirk.runtime.uniting import Columns, columns_of_frame, columns_of_table
from falkirk.store.reference import Piece

SEPARATOR = "\x1f"

_WHOLE_NUMBER = "CAST({} AS STRING)"
TEXTS = {
    "string": "{}",
    **dict.fromkeys(("tinyint", "smallint", "int", "bigint"), _WHOLE_NUMBER),
    "date": "CAST(unix_date({}) AS STRING)",
    "timestamp": "CAST(unix_micros({}) AS STRING)",
}
"""Types of keys of which Arrow and Spark make the same text, and how Spark does; others of one row
do not count."""


def divided(batch: Batch, keys: Sequence[str]) -> list[Batch]:
    """The rows of a batch in pieces, but those without rows; one of them if there are no rows."""
    batch.materialise()
    if batch.small:
        found = list(divided_table(batch.arrow(), keys))
    else:
        found = [
            (number, batch.lend().transform(in_piece(number, keys)).materialise().content)
            for number in range(PIECES)
        ]
    pieces = []
    for number, content in [each for each in found if each[1].rows] or found[:1]:
        content.piece = Piece(number, PIECES)
        pieces.append(Batch(content, batch.materialiser, user=batch.user))
    return pieces


def divided_table(table: pa.Table, keys: Sequence[str]) -> Iterator[tuple[int, Content]]:
    """The pieces of rows on the driver."""
    numbers = pa.array(piece_numbers(table, keys))
    for number in range(PIECES):
        yield number, Content(table=table.filter(pc.equal(numbers, number)))


def piece_numbers(table: pa.Table, keys: Sequence[str]) -> Any:
    """The number of the piece of each row.

    >>> piece_numbers(pa.table({"word": ["a", "b", None], "n": [1, 2, 3]}), ["word"]).tolist()
    [3, 1, 0]
    """
    texts = [in_text(table[key]) for key in counted(keys, columns_of_table(table))]
    if not texts:
        return np.zeros(table.num_rows, np.int64)
    whole = pc.binary_join_element_wise(
        *texts, SEPARATOR, null_handling="replace", null_replacement=""
    )
    codes = np.fromiter(map(crc32, whole.cast(pa.binary()).to_pylist()), np.int64, table.num_rows)
    return codes % PIECES


def in_text(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """The values of a key as text."""
    if pa.types.is_timestamp(column.type):
        column = column.cast(pa.timestamp("us", column.type.tz)).cast(pa.int64())
    elif pa.types.is_date(column.type):
        column = column.cast(pa.date32()).cast(pa.int32())
    return column.cast(pa.string())


def in_piece(number: int, keys: Sequence[str]) -> Callable[[Any], Any]:
    """Leaves of a frame the rows of one piece."""

    def those(frame: Any) -> Any:
        columns = columns_of_frame(frame)
        texts = [
            f"coalesce({TEXTS[columns[key]].format(f'`{key}`')}, '')"
            for key in counted(keys, columns)
        ]
        whole = f"concat_ws('{SEPARATOR}', {', '.join(texts)})" if texts else "''"
        return frame.where(f"crc32({whole}) % {PIECES} = {number}")

    return those


def counted(keys: Sequence[str], columns: Columns) -> list[str]:
    """The keys that count."""
    return [key for key in keys if columns.get(key) in TEXTS]
