"""Reducers that are Python functions of the user's."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

from falkirk.core.errors import ExecutionError
from falkirk.dataflow.context import Context
from falkirk.differential.reducers import Reducer
from falkirk.differential.weights import WEIGHT, quoted

Row = dict[str, Any]


@dataclass(frozen=True)
class Calls(Reducer):
    """What a Python function makes of each group.

    It gets the keys and the rows of a group, each with how often it is there, and gives rows, as
    dictionaries with the columns of ``schema``. The keys are put in front.
    """

    function: Callable[[Row, list[tuple[Row, int]]], Iterable[Row]]
    schema: pa.Schema

    def reduced(self, ctx: Context, table: pa.Table, keys: Sequence[str]) -> pa.Table:
        """On the driver, where the rows are."""
        return self.called(table, keys)

    def reduced_frame(self, frame: Any, keys: Sequence[str]) -> Any:
        """By Spark's workers, group by group."""
        from pyspark.sql.pandas.types import from_arrow_schema, to_arrow_schema

        known = to_arrow_schema(frame.select(*map(quoted, keys)).schema, timezone="UTC")
        result = from_arrow_schema(self.result_schema(known))
        function = self.called

        def call(table: pa.Table) -> pa.Table:
            return function(table, keys)

        return frame.groupBy(*map(quoted, keys)).applyInArrow(call, result)

    def called(self, table: pa.Table, keys: Sequence[str]) -> pa.Table:
        """What the function gives for all groups of a table."""
        groups: dict[tuple[Any, ...], list[tuple[Row, int]]] = {}
        for row in table.to_pylist():
            weight = row.pop(WEIGHT)
            if weight > 0:
                groups.setdefault(tuple(row[key] for key in keys), []).append((row, weight))
        found: list[Row] = []
        for values, rows in groups.items():
            group = dict(zip(keys, values, strict=True))
            rows.sort(key=lambda each: repr(sorted(each[0].items())))
            found += ({**made, **group, WEIGHT: 1} for made in self.made(group, rows))
        schema = self.result_schema(table.select(list(keys)).schema)
        try:
            return pa.Table.from_pylist(found, schema=schema)
        except (pa.ArrowException, ArithmeticError, TypeError) as error:
            raise ExecutionError(
                f"{self.name} gave rows that do not fit the columns: {error}; they are"
                f" {', '.join(f'{each.name} {each.type}' for each in self.schema)}"
            ) from error

    def made(self, group: Row, rows: list[tuple[Row, int]]) -> list[Row]:
        """What the function gives for one group, if that is what was declared.

        An error of its own is told with the group, and may be a passing one: the call is repeated.
        """
        try:
            given: Any = self.function(group, rows)
            made: list[Any] | None = list(given) if isinstance(given, Iterable) else None
        except Exception as error:
            told = f"{self.name} raised {type(error).__name__}: {error}"
            raise RuntimeError(f"{told}; the group was {group}, of {len(rows)} rows") from error
        if made is None:
            raise ExecutionError(
                f"{self.name} gave {given!r} for the group {group}: a list of rows is needed"
            )
        for each in made:
            if not isinstance(each, Mapping) or set(each) != set(self.schema.names):
                raise ExecutionError(
                    f"a reducer gives rows with the columns {', '.join(self.schema.names)},"
                    f" as dictionaries, not {each!r}, which {self.name} gave for the group {group}"
                )
        return made

    @property
    def name(self) -> str:
        """What the function is called, for messages."""
        return getattr(self.function, "__name__", "the reducer")

    def result_schema(self, keys: pa.Schema) -> pa.Schema:
        """The keys, what the function gives, and the weight."""
        return pa.schema([*keys, *self.schema, pa.field(WEIGHT, pa.int64())])
