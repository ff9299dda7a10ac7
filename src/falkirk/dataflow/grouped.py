"""Grouped streams: running aggregates over all times so far."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from falkirk.core.policy import Policy
from falkirk.dataflow.expression import Aggregate, Key, read_aggregate
from falkirk.dataflow.location import refusal
from falkirk.dataflow.meeting import operate
from falkirk.dataflow.operators.aggregate import RunningAggregate

if TYPE_CHECKING:
    from falkirk.dataflow.stream import Stream


@dataclass(frozen=True, slots=True)
class Grouped:
    """A stream with keys; its aggregates send, at each time, the new totals of touched groups.

    With ``every_group`` they send the totals of all groups at each time: the whole table, for who
    takes what comes at one time for all that there is (``join_latest``, a sink that overwrites).
    """

    stream: "Stream"
    keys: tuple[Key, ...]

    def count(
        self,
        column: str = "count",
        *,
        every_group: bool = False,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Stream":
        """How many rows each group has had so far."""
        wanted = (Aggregate(column, "count", "1"),)
        return self._aggregate(wanted, every_group, "count", name, policy)

    def agg(
        self,
        *,
        every_group: bool = False,
        name: str | None = None,
        policy: Policy | None = None,
        **aggregates: str,
    ) -> "Stream":
        """Columns of running results, each one call of sum, count, min, max or avg."""
        if not aggregates:
            raise refusal('agg needs an aggregate, such as agg(total="sum(n)")')
        read = tuple(read_aggregate(column, text) for column, text in aggregates.items())
        return self._aggregate(read, every_group, "agg", name, policy)

    def _aggregate(
        self,
        wanted: tuple[Aggregate, ...],
        every_group: bool,
        stem: str,
        name: str | None,
        policy: Policy | None,
    ) -> "Stream":
        # Spark does not tell names apart by case.
        taken = {key.name.lower() for key in self.keys}
        for each in wanted:
            if each.name.lower() in taken:
                raise refusal(f"{each.name!r} is the name of a key or of another result already")
            taken.add(each.name.lower())
        if not isinstance(every_group, bool):
            raise refusal(f"every_group is True or False, not {every_group!r}")
        made = RunningAggregate(self.keys, wanted, every_group)
        return operate(made, (self.stream,), stem, name, policy)
