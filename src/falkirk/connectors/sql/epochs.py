"""A column that says of which epoch each row is: by it rows can be taken back."""

from collections.abc import Iterable, Iterator

import pyarrow as pa  # type: ignore[import-untyped]
from sqlalchemy import Connection, delete

from falkirk.connectors.sql.columns import known_table
from falkirk.core.errors import PermanentError


def stamped(
    pieces: Iterable[pa.RecordBatch], column: str, epoch: int, table: str
) -> Iterator[pa.RecordBatch]:
    """The same rows with their epoch."""
    for piece in pieces:
        if column in piece.schema.names:
            raise PermanentError(
                f"the rows for {table!r} have a column {column!r} of their own: give another name"
                " by epoch="
            )
        epochs = pa.repeat(pa.scalar(epoch, pa.int64()), piece.num_rows)
        yield pa.RecordBatch.from_arrays(
            [*piece.columns, epochs], schema=piece.schema.append(pa.field(column, pa.int64()))
        )


def delete_after(
    connection: Connection, name: str, schema: str | None, column: str, epoch: int | None
) -> None:
    """Deletes the rows of all epochs after ``epoch``, or all rows; others have no epoch."""
    table = known_table(connection, name, schema)
    if table is None:
        return
    if column not in table.c:
        raise PermanentError(
            f"the table {name!r} has no column {column!r}, so nobody knows of which epoch its rows"
            " are: delete by hand what is to be taken back, and add the column"
        )
    of = table.c[column]
    connection.execute(delete(table).where(of.is_not(None) if epoch is None else of > epoch))
