"""Running aggregates: totals over all times so far, sent anew for touched groups or for all."""

import re
from collections.abc import Iterable, Sequence

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch, Frame
from falkirk.dataflow.context import Context
from falkirk.dataflow.expression import Aggregate, Key, quoted
from falkirk.dataflow.processor import Processor

MERGES = {"sum": "sum", "count": "sum", "min": "min", "max": "max"}
"""How two results of a function become one; an average is merged as a sum and a count."""

_PLAIN, _WORD = re.compile(r"\w+|`\w+`"), re.compile(r"\w+")


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
        self.names = self.merge_keys = tuple(key.name for key in keys)
        self.parts = tuple(part for each in aggregates for part in parts(each))
        self.averages = len(self.parts) > len(self.aggregates)
        self.merges = tuple((part.name, MERGES[part.function]) for part in self.parts)
        self.direct = stand_alone(self.keys, self.parts)

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps the partial results of ``batch``."""
        ctx.state.put(self.partial(ctx, batch).materialise())
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

    def partial(self, ctx: Context, batch: Batch) -> Batch:
        """The partial results of one batch; nothing is evaluated yet.

        Keys and arguments become columns first, unless that makes no difference: then each of them
        is computed once for each row, and may use the names of keys.
        """
        if self.direct:
            keys = [f"{key.expression} AS {quoted(key.name)}" for key in self.keys]
            return ctx.group(batch, keys, [called(part, part.argument) for part in self.parts])
        stem = free_stem(self.names)
        columns = [f"{stem}{number}" for number in range(len(self.parts))]
        chosen = [f"{key.expression} AS {quoted(key.name)}" for key in self.keys]
        chosen += [f"{p.argument} AS {c}" for p, c in zip(self.parts, columns, strict=True)]
        found = [called(part, column) for part, column in zip(self.parts, columns, strict=True)]
        named = batch.transform(lambda frame: frame.selectExpr(*chosen))
        return ctx.group(named, [quoted(name) for name in self.names], found)

    def result(self, frame: Frame) -> Frame:
        """The columns that were asked for, of merged parts."""
        chosen = [quoted(name) for name in self.names]
        for each in self.aggregates:
            names = [quoted(part.name) for part in parts(each)]
            value = f"try_divide({names[0]}, {names[1]})" if len(names) == 2 else names[0]
            chosen.append(f"{value} AS {quoted(each.name)}")
        return frame.selectExpr(*chosen)


def called(part: Aggregate, argument: str) -> str:
    """A part as an expression with a name.

    >>> called(Aggregate("n", "count", "*"), "1")
    'count(1) AS `n`'
    """
    return f"{part.function}({argument}) AS {quoted(part.name)}"


def stand_alone(keys: Sequence[Key], parts: Sequence[Aggregate]) -> bool:
    """Whether no key and no argument can mean something else beside the others.

    Arguments are columns or numbers then, and nothing has the name of a key that is computed.

    >>> day, n = Key("day", "date(at)"), Aggregate("n", "sum", "amount")
    >>> stand_alone([day], [n]), stand_alone([day], [Aggregate("n", "max", "day")])
    (True, False)
    """
    texts = [(None, part.argument) for part in parts]
    if not all(_PLAIN.fullmatch(argument) for _, argument in texts):
        return False
    computed = [key for key in keys if key.expression != quoted(key.name)]
    others = [*texts, *((key, key.expression) for key in keys)]
    return not any(
        key.name.lower() in words(text)
        for key in computed
        for owner, text in others
        if owner != key
    )


def words(text: str) -> Iterable[str]:
    """All names in an expression, and more."""
    return [word.lower() for word in _WORD.findall(text)]


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
