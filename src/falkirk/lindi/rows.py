"""Rows: a stream with the everyday operators; those that must see a whole time wait for it."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from falkirk.core.policy import Policy
from falkirk.dataflow.arguments import columns as names_of
from falkirk.dataflow.arguments import function_of, one_of
from falkirk.dataflow.batch import Frame
from falkirk.dataflow.connecting import Sink
from falkirk.dataflow.location import refusal
from falkirk.dataflow.meeting import operate, operate_together
from falkirk.dataflow.operators.plan import Transform, Whole
from falkirk.dataflow.stream import Stream
from falkirk.lindi import loop as loops
from falkirk.lindi.expressions import (
    Expression,
    checked,
    columns,
    is_text,
    ordering,
    total_ordering,
)
from falkirk.lindi.functions import Call, Rowwise
from falkirk.lindi.groups import Groups
from falkirk.lindi.tables import Lookup, Table
from falkirk.lindi.window import Window

TABLE_KINDS = ("inner", "left", "semi", "anti")
"""The kinds of joins with a table: those in which each row of ours is looked at by itself."""


@dataclass(frozen=True, slots=True, repr=False)
class Rows:
    """The rows of a stream. Every method that makes rows takes ``name=`` and ``policy=``.

    An expression is SQL text, a Column, or a function that is given the frame and gives a Column.
    """

    stream: Stream

    # Row by row: each batch as it comes.

    def select(
        self, *columns_: Expression, name: str | None = None, policy: Policy | None = None
    ) -> "Rows":
        """The given expressions of each row."""
        chosen = checked(columns_, "select")
        if is_text(chosen):
            return Rows(self.stream.select(*chosen, name=name, policy=policy))
        return self.each(lambda f: f.select(*columns(f, chosen)), "select", name, policy)

    def where(
        self, condition: Expression, *, name: str | None = None, policy: Policy | None = None
    ) -> "Rows":
        """The rows for which a condition holds."""
        chosen = checked((condition,), "where")
        if is_text(chosen):
            return Rows(self.stream.where(*chosen, name=name, policy=policy))
        return self.each(lambda f: f.where(*columns(f, chosen)), "where", name, policy)

    def flat_map(
        self,
        function: Rowwise,
        schema: Any,
        *,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Rows":
        """All rows that ``function`` makes of each row; rows are dictionaries.

        ``schema`` has the columns that it gives: Spark's DDL, a StructType, or an Arrow schema.
        """
        function_of(function, "flat_map")
        call = Call(function, schema, "flat_map")
        made = self.each(
            lambda f: f.mapInArrow(call.for_rows(), call.spark_schema()), "flat_map", name, policy
        )
        return call.placed(made)

    def map_batches(
        self,
        function: Callable[[Any], Any],
        schema: Any,
        *,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Rows":
        """What ``function`` makes of Arrow record batches; which rows share one is Spark's choice.

        ``schema`` has the columns that it gives: Spark's DDL, a StructType, or an Arrow schema.
        """
        function_of(function, "map_batches")
        call = Call(function, schema, "map_batches")
        made = self.each(
            lambda f: f.mapInArrow(call.for_batches(), call.spark_schema()),
            "map_batches",
            name,
            policy,
        )
        return call.placed(made)

    def transform(
        self,
        function: Callable[..., Frame],
        *others: "Rows",
        whole: bool = False,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Rows":
        """What ``function`` makes of a DataFrame: of each batch, or of whole times."""
        streams = streams_of(others, "transform")
        made = self.stream.transform(function, *streams, whole=whole, name=name, policy=policy)
        return Rows(made)

    def repartition(
        self,
        partitions: int,
        *columns_: Expression,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Rows":
        """The same rows in so many partitions; those that agree on ``columns`` share one."""
        count = positive(partitions, "repartition", "partition")
        chosen = checked(columns_, "repartition", least=0)
        return self.each(
            lambda f: f.repartition(count, *columns(f, chosen)), "repartition", name, policy
        )

    def union(
        self, *others: "Rows", name: str | None = None, policy: Policy | None = None
    ) -> "Rows":
        """The rows of all; they have the same columns, by name and type."""
        return Rows(self.stream.union(*streams_of(others, "union"), name=name, policy=policy))

    def join_table(
        self,
        table: Callable[[Any], Frame],
        on: str | Iterable[str],
        how: str = "inner",
        *,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Rows":
        """Joins with a table that does not change: ``table`` is given the session and makes it.

        The kinds are inner, left, semi and anti.
        """
        function_of(table, "join_table")
        chosen, kind = list(names_of(on, "join_table")), one_of(how, TABLE_KINDS, "join_table")
        lookup = Lookup(Table(table), chosen, kind)
        return Rows(operate(lookup, (self.stream,), "join_table", name, policy))

    # Whole times: they wait until all batches of a time have come.

    def whole(self, *, name: str | None = None, policy: Policy | None = None) -> "Rows":
        """The same rows, in one batch for each time: what follows sees the whole time."""
        return self.together(lambda f: f, "whole", name, policy)

    def join(
        self,
        other: "Rows",
        on: str | Iterable[str],
        how: str = "inner",
        *,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Rows":
        """The rows of both that have the same time and agree on the columns ``on``.

        The kinds are inner, left, right, full, semi and anti.
        """
        (stream,) = streams_of((other,), "join")
        return Rows(self.stream.join(stream, on, how, name=name, policy=policy))

    def distinct(self, *, name: str | None = None, policy: Policy | None = None) -> "Rows":
        """Each row once, however often a time has it."""
        return self.together(lambda f: f.distinct(), "distinct", name, policy)

    def group_by(self, *keys: Expression) -> Groups:
        """Groups of the rows of each time, by expressions; without any, one group."""
        return Groups(self, checked(keys, "group_by", least=0))

    def order_by(
        self, *by: Expression, name: str | None = None, policy: Policy | None = None
    ) -> "Rows":
        """The rows of each time in order: for a sink, or for ``limit``.

        Text may end in ASC or DESC, and NULLS FIRST or NULLS LAST. A join or a group does not keep
        the order.
        """
        chosen = checked(by, "order_by")
        return self.together(
            lambda f: f.orderBy(*(ordering(f, each) for each in chosen)), "order_by", name, policy
        )

    def limit(
        self,
        rows: int,
        *by: Expression,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Rows":
        """The first ``rows`` rows of each time by the orderings ``by``, or any so many.

        Rows that are equal by those are told apart by all their columns, so the choice is fixed.
        """
        count = positive(rows, "limit", "row")
        chosen = checked(by, "limit", least=0)

        def first(frame: Frame) -> Frame:
            ordered = frame.orderBy(*total_ordering(frame, chosen)) if chosen else frame
            return ordered.limit(count)

        return self.together(first, "limit", name, policy)

    # Over several times.

    def window(
        self,
        epochs: int,
        every: int | None = None,
        *,
        name: str | None = None,
        policy: Policy | None = None,
    ) -> "Rows":
        """The rows of the last ``epochs`` epochs, after every ``every`` epochs.

        Without ``every`` windows follow each other (tumbling); with ``every=1`` there is one for
        each epoch (sliding). This is the one operator here that keeps rows between times.
        """
        length = positive(epochs, "window", "epoch")
        step = length if every is None else positive(every, "window", "epoch")
        if step > length:
            raise refusal(
                f"windows of {length} epochs after every {step} would leave rows out: every= is at"
                f" most {length}"
            )
        if self.stream.loop is not None:
            raise refusal(
                f"{self.stream.name!r} is inside the loop {self.stream.loop.name!r}: windows are"
                " over epochs, so use them outside"
            )
        return Rows(operate(Window(length, step), (self.stream,), "window", name, policy))

    def iterate_while(
        self,
        condition: Expression,
        body: Callable[["Rows"], "Rows"],
        *,
        rounds_max: int = loops.ROUNDS_MAX,
        name: str | None = None,
    ) -> "Rows":
        """While the condition holds for a row it goes through ``body``, and comes out when not.

        The body gets all rows of a round that go on. Rows that go on after ``rounds_max`` rounds
        are an error, which costs no data.
        """
        (chosen,) = checked((condition,), "iterate_while")
        function_of(body, "iterate_while")
        bound = positive(rounds_max, "iterate_while", "round")
        if self.stream.numbered:
            raise refusal(f"{self.stream.name!r} has sequence numbers: a loop needs epochs")
        return Rows(loops.iterate_while(self.stream, chosen, body, bound, name))

    # The end.

    def write(self, sink: Sink, *, name: str | None = None, policy: Policy | None = None) -> None:
        """Hands all rows to ``sink``, time by time."""
        self.stream.write(sink, name=name, policy=policy)

    # What operators are made of.

    def each(
        self,
        function: Callable[[Frame], Frame],
        stem: str,
        name: str | None,
        policy: Policy | None,
    ) -> "Rows":
        """What ``function`` makes of each batch as it comes."""
        return Rows(operate(Transform(function), (self.stream,), stem, name, policy))

    def together(
        self,
        function: Callable[[Frame], Frame],
        stem: str,
        name: str | None,
        policy: Policy | None,
    ) -> "Rows":
        """What ``function`` makes of all rows of a time."""
        return Rows(operate_together(Whole(function), (self.stream,), (), stem, name, policy))

    def __repr__(self) -> str:
        return f"Rows({self.stream.name!r} of {self.stream.flow.name!r})"


def rows(stream: Stream) -> Rows:
    """The operators of this library for a stream; ``.stream`` leads back."""
    if not isinstance(stream, Stream):
        raise refusal(f"rows are those of a stream, not of {stream!r}")
    return Rows(stream)


def streams_of(given: tuple[Any, ...], method: str) -> tuple[Stream, ...]:
    """The streams of rows, and nothing else."""
    for each in given:
        if not isinstance(each, Rows):
            raise refusal(f"{method} takes rows, not {each!r}: lindi.rows(stream) makes them")
    return tuple(each.stream for each in given)


def positive(given: Any, method: str, what: str) -> int:
    """A number of things, at least one."""
    if not isinstance(given, int) or isinstance(given, bool) or given < 1:
        raise refusal(f"{method} takes one {what} or more, not {given!r}")
    return given
