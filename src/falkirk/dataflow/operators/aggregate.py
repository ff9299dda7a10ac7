"""Running aggregates: totals over all times so far, sent anew for touched groups or for all."""

from collections.abc import Sequence

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch, Frame
from falkirk.dataflow.context import Context
from falkirk.dataflow.expression import Aggregate, Key, quoted
from falkirk.dataflow.processor import Processor

MERGES = {"sum": "sum", "count": "sum", "min": "min", "max": "max"}
"""How two results of a function become one; an average is merged as a sum and a count."""


class RunningAggregate(Processor):
    """Keeps one small batch of partial results for each time, and merges them when it is complete.

    What it keeps is a delta for each time, so a checkpoint writes only new ones and a rollback
    drops those of the times that are undone.
    """

    def __init__(
        self, keys: Sequence[Key], aggregates: Sequence[Aggregate], every_group: bool = False
    ) -> None:
        """One group for each value of ``keys``, one column for each of ``aggregates``.

        With ``every_group`` all groups are sent at each time, and not those that it has touched.
        """
        self.keys, self.aggregates = tuple(keys), tuple(aggregates)
        self.every_group = every_group
        self.names = tuple(key.name for key in keys)
        self.parts = tuple(part for each in aggregates for part in parts(each))
        self.averages = len(self.parts) > len(self.aggregates)
        self.merges = tuple((part.name, MERGES[part.function]) for part in self.parts)

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps the partial results of ``batch``."""
        ctx.state.put(batch.transform(self.partial).materialise())
        ctx.notify()

    def on_notify(self, ctx: Context, time: Time) -> None:
        """Sends the totals of the groups that this time has touched, or of all."""
        own = ctx.state.own()
        if own:
            touched = None if self.every_group else ctx.union(own)
            totals = ctx.aggregate(ctx.state.visible(), self.names, self.merges, touched=touched)
            # Without averages the merged parts are the result, and nothing is left to compute.
            ctx.send(totals.transform(self.result) if self.averages else totals)

    def consolidate(self, ctx: Context, batches: list[Batch]) -> Batch:
        """Merges partial results."""
        return ctx.aggregate(batches, self.names, self.merges)

    def partial(self, frame: Frame) -> Frame:
        """The partial results of one frame.

        Each part works on a column of its own, for a mapping from column to function is the one way
        to aggregate by text that every kind of Spark session has and that leaves the frame alone:
        ``sql`` with the frame as a parameter would drop it from Spark's cache. A mapping does not
        keep an order, so the results are picked by the names that Spark gives them.
        """
        stem = free_stem(self.names)
        columns = [f"{stem}{number}" for number in range(len(self.parts))]
        chosen = [f"{key.expression} AS {quoted(key.name)}" for key in self.keys]
        found = [quoted(name) for name in self.names]
        for part, column in zip(self.parts, columns, strict=True):
            chosen.append(f"{part.argument} AS {column}")
            found.append(f"{quoted(f'{part.function}({column})')} AS {quoted(part.name)}")
        functions = {c: part.function for c, part in zip(columns, self.parts, strict=True)}
        return frame.selectExpr(*chosen).groupBy(*self.names).agg(functions).selectExpr(*found)

    def result(self, frame: Frame) -> Frame:
        """The columns that were asked for, of merged parts."""
        chosen = [quoted(name) for name in self.names]
        for each in self.aggregates:
            names = [quoted(part.name) for part in parts(each)]
            value = f"try_divide({names[0]}, {names[1]})" if len(names) == 2 else names[0]
            chosen.append(f"{value} AS {quoted(each.name)}")
        return frame.selectExpr(*chosen)


def free_stem(names: Sequence[str]) -> str:
    """The beginning of names for columns in between, such as no key has; Spark ignores case.

    >>> free_stem(["word"]), free_stem(["Part0"])
    ('part', 'part_')
    """
    stem = "part"
    while any(name.lower().startswith(stem) for name in names):
        stem += "_"
    return stem


def parts(aggregate: Aggregate) -> tuple[Aggregate, ...]:
    """What is kept of an aggregate: itself, or for an average a sum and a count."""
    if aggregate.function != "avg":
        return (aggregate,)
    name, argument = aggregate.name, aggregate.argument
    return (
        Aggregate(f"{name}:sum", "sum", argument),
        Aggregate(f"{name}:count", "count", argument),
    )
