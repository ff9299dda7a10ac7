"""Python functions of the user's, called by Spark's Python workers with Arrow data.

What goes to the workers is one function with plain values in it. Spark ships it by value, so that
workers need what the user's function imports, and nothing of falkirk.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any

from falkirk.dataflow.location import refusal, user_location

if TYPE_CHECKING:
    from falkirk.lindi.rows import Rows

Rowwise = Callable[[dict[str, Any]], Iterable[dict[str, Any]]]
"""A function from a row to rows."""


class Call:
    """A function with the columns of what it gives, and the place that is told when it raises."""

    def __init__(self, function: Callable[..., Any], schema: Any, method: str) -> None:
        """``schema`` is Spark's DDL, a StructType, or an Arrow schema."""
        if not (schema.strip() if isinstance(schema, str) else hasattr(schema, "names")):
            raise refusal(
                f"{method} needs the columns that it gives, such as 'word STRING, n INT', a"
                f" StructType or an Arrow schema; not {schema!r}"
            )
        self.function, self.schema, self.place = function, schema, method

    def placed(self, made: "Rows") -> "Rows":
        """Remembers the name that the operator was given, for errors."""
        called = getattr(self.function, "__name__", "its function")
        self.place = f"{user_location()}: {made.stream.name!r} called {called}, which"
        return made

    def spark_schema(self) -> Any:
        """The columns as Spark describes them."""
        import pyarrow as pa  # type: ignore[import-untyped]
        from pyspark.sql.pandas.types import from_arrow_schema
        from pyspark.sql.types import StructType

        if isinstance(self.schema, pa.Schema):
            return from_arrow_schema(self.schema)
        return StructType.fromDDL(self.schema) if isinstance(self.schema, str) else self.schema

    def for_rows(self) -> Callable[[Iterator[Any]], Iterator[Any]]:
        """For ``mapInArrow``: the function gets a row and gives any number of rows."""
        from pyspark.sql.pandas.types import to_arrow_schema

        function, place = self.function, self.place
        schema = to_arrow_schema(self.spark_schema(), timezone="UTC")

        def call(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            names = set(schema.names)
            for batch in batches:
                found: list[Any] = []
                for row in batch.to_pylist():
                    try:
                        found.extend(function(row))
                    except Exception as error:
                        told = f"{place} raised {type(error).__name__}: {error}; the row was {row}"
                        raise RuntimeError(told) from error
                for made in found:
                    if not isinstance(made, dict) or not names.issuperset(made):
                        told = f"a dictionary with columns of {schema.names} is needed"
                        raise RuntimeError(f"{place} gave the row {made!r}: {told}")
                try:
                    yield pa.RecordBatch.from_pylist(found, schema=schema)
                except (pa.ArrowException, ArithmeticError, TypeError) as error:
                    told = f"gave rows that do not fit the columns: {error}; some are {found[:3]}"
                    raise RuntimeError(f"{place} {told}") from error

        return call

    def for_batches(self) -> Callable[[Iterator[Any]], Iterator[Any]]:
        """For ``mapInArrow``: the function gets a record batch and gives one, or a table."""
        function, place, fitted = self.function, self.place, self.fitting()

        def call(batches: Iterator[Any]) -> Iterator[Any]:
            import pyarrow as pa

            for batch in batches:
                try:
                    made = function(batch)
                except Exception as error:
                    told = f"{place} raised {type(error).__name__}: {error}; the batch had"
                    raise RuntimeError(f"{told} {batch.num_rows} rows") from error
                if isinstance(made, pa.RecordBatch):
                    yield fitted(made)
                elif isinstance(made, pa.Table):
                    yield from fitted(made).to_batches()
                else:
                    raise RuntimeError(
                        f"{place} gave {made!r}: a record batch or a table is needed"
                    )

        return call

    def for_table(self) -> Callable[[Any], Any]:
        """For ``applyInArrow``: the function gets the table of a group and gives one."""
        function, place, fitted = self.function, self.place, self.fitting()

        def call(table: Any) -> Any:
            import pyarrow as pa

            try:
                made = function(table)
            except Exception as error:
                told = f"{place} raised {type(error).__name__}: {error}; the group had"
                raise RuntimeError(f"{told} {table.num_rows} rows") from error
            if not isinstance(made, pa.Table):
                raise RuntimeError(f"{place} gave {made!r}: an Arrow table is needed")
            return fitted(made)

        return call

    def fitting(self) -> Callable[[Any], Any]:
        """Gives a record batch or a table the declared columns, found by their names.

        Spark would take those of ``map_batches`` by their places, whatever they are called.
        """
        from pyspark.sql.pandas.types import to_arrow_schema

        place, schema = self.place, to_arrow_schema(self.spark_schema(), timezone="UTC")

        def fitted(made: Any) -> Any:
            import pyarrow as pa

            if sorted(made.schema.names) != sorted(schema.names):
                told = f"gave the columns {made.schema.names}: {schema.names} are declared"
                raise RuntimeError(f"{place} {told}")
            columns = []
            for field in schema:
                column = made.column(field.name)
                try:
                    same = column.type == field.type or pa.types.is_nested(field.type)
                    columns.append(column if same else column.cast(field.type))
                except pa.ArrowException as error:
                    told = (
                        f"gave {field.name!r} as {column.type}, which is no {field.type}: {error}"
                    )
                    raise RuntimeError(f"{place} {told}") from error
            return type(made).from_arrays(columns, names=schema.names)

        return fitted
