"""Groups of a collection, and what can be made of each: a row, a few, what a function gives."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from falkirk.core.policy import Policy
from falkirk.dataflow.arguments import columns, expressions, function_of
from falkirk.dataflow.location import refusal
from falkirk.differential.calls import Calls
from falkirk.differential.reduce import Reduce
from falkirk.differential.reducers import Least, Sums, Top

if TYPE_CHECKING:
    from falkirk.differential.collection import Collection


@dataclass(frozen=True, slots=True)
class Groups:
    """The groups of a collection; what is made of a group bears its keys."""

    whole: "Collection"
    keys: tuple[str, ...]

    def count(
        self, column: str = "count", *, name: str | None = None, policy: Policy | None = None
    ) -> "Collection":
        """How many rows each group has."""
        self._check(columns(column, "count"), "count")
        return self._reduce(Sums(column, {}), "count", name, policy)

    def sum(
        self, *, name: str | None = None, policy: Policy | None = None, **sums: str
    ) -> "Collection":
        """Sums of SQL expressions over whole numbers or decimals, each a column of its own."""
        if not sums:
            raise refusal('sum needs an expression, such as sum(total="price * pieces")')
        self._check(sums, "sum")
        expressions(tuple(sums.values()), "sum")
        return self._reduce(Sums(None, sums), "sum", name, policy)

    def min(
        self, column: str, *, name: str | None = None, policy: Policy | None = None
    ) -> "Collection":
        """The least value of a column."""
        self._check(columns(column, "min"), "min")
        return self._reduce(Least(column), "min", name, policy)

    def max(
        self, column: str, *, name: str | None = None, policy: Policy | None = None
    ) -> "Collection":
        """The greatest value of a column."""
        self._check(columns(column, "max"), "max")
        return self._reduce(Least(column, greatest=True), "max", name, policy)

    def top(
        self, rows: int, *by: str, name: str | None = None, policy: Policy | None = None
    ) -> "Collection":
        """The first ``rows`` rows, by SQL orderings such as ``"price DESC"``."""
        count: object = rows
        if not isinstance(count, int) or isinstance(count, bool) or count < 1:
            raise refusal(f"top takes one row or more, not {rows!r}")
        return self._reduce(Top(rows, expressions(by, "top")), "top", name, policy)

    def reduce(
        self,
        function: Callable[..., Iterable[dict[str, Any]]],
        schema: Any,
        *,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Collection":
        """What a Python function makes of each group.

        It is given the keys and a list of rows, each with how often it is there, and gives rows
        with the columns of ``schema`` (Arrow's), to which the keys are added. It must not depend on
        anything else.
        """
        function_of(function, "reduce")
        if not hasattr(schema, "names") or not hasattr(schema, "field"):
            raise refusal(
                "reduce needs the columns that it gives as an Arrow schema, such as"
                f" pa.schema([('total', pa.int64())]); not {schema!r}"
            )
        self._check(schema.names, "reduce")
        return self._reduce(Calls(function, schema), "reduce", name, policy)

    def _check(self, made: Iterable[str], method: str) -> None:
        for each in made:
            if each in self.keys:
                raise refusal(
                    f"{method} would give {each!r} a second time, for it is a key of the group: use"
                    " another name, or copy the column by a map before"
                )

    def _reduce(
        self, reducer: Any, stem: str, name: str | None, policy: Policy | None
    ) -> "Collection":
        return self.whole._operate(Reduce(self.keys, reducer), (), stem, name, policy)
