"""Groups of the rows of one time, and any aggregate that Spark has."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from falkirk.core.policy import Policy
from falkirk.dataflow.arguments import function_of
from falkirk.dataflow.batch import Frame
from falkirk.dataflow.location import refusal
from falkirk.lindi.expressions import Expression, checked, column, columns
from falkirk.lindi.functions import Call

if TYPE_CHECKING:
    from falkirk.lindi.rows import Rows


@dataclass(frozen=True, slots=True)
class Groups:
    """Rows of the same time that agree on ``keys``; without keys all rows are one group.

    Times do not see each other: ``stream.group_by`` has totals over all times so far.
    """

    whole: "Rows"
    keys: tuple[Expression, ...]

    def count(
        self, column: str = "count", *, name: str | None = None, policy: Policy | None = None
    ) -> "Rows":
        """How many rows each group has."""
        return self._aggregated({column: "count(*)"}, (), "count", name, policy)

    def agg(
        self,
        *aggregates: Expression,
        name: str | None = None,
        policy: Policy | None = None,
        **named: Expression,
    ) -> "Rows":
        """The keys and the given aggregates, each under its own name: ``agg(mean="avg(n)")``."""
        chosen = checked(aggregates, "agg", least=0)
        checked(tuple(named.values()), "agg", least=0 if aggregates else 1)
        return self._aggregated(named, chosen, "agg", name, policy)

    def apply(
        self,
        function: Callable[[Any], Any],
        schema: Any,
        *,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Rows":
        """What ``function`` makes of each group: an Arrow table of an Arrow table."""
        function_of(function, "apply")
        if not self.keys:
            raise refusal("apply needs keys: group_by them first, or see map_batches and transform")
        call = Call(function, schema, "apply")

        def applied(frame: Frame) -> Frame:
            return frame.groupBy(*columns(frame, self.keys)).applyInArrow(
                call.for_table(), call.spark_schema()
            )

        return call.placed(self.whole.together(applied, "apply", name, policy))

    def _aggregated(
        self,
        named: dict[str, Expression],
        others: tuple[Expression, ...],
        stem: str,
        name: str | None,
        policy: Policy | None,
    ) -> "Rows":
        def aggregated(frame: Frame) -> Frame:
            results = columns(frame, others)
            results += [column(frame, each).alias(alias) for alias, each in named.items()]
            return frame.groupBy(*columns(frame, self.keys)).agg(*results)

        return self.whole.together(aggregated, stem, name, policy)
