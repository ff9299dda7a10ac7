"""Joining with the newest version of a slow stream: what comes out of a latest bridge (§1)."""

from collections.abc import Mapping, Sequence

from falkirk.core.times import Time
from falkirk.dataflow.batch import Batch, Frame
from falkirk.dataflow.context import Context
from falkirk.dataflow.expression import quoted
from falkirk.dataflow.processor import Processor

ROWS, VERSIONS = range(2)
"""The ports."""

KINDS = ("inner", "left")
"""The kinds of joins with a version."""


class JoinNewest(Processor):
    """Joins the rows of each time with the newest version that has come by then.

    A version is everything that the slow stream sent at one time of its own. Before the first one
    an inner join has no rows; a left join fills the columns of the version from ``otherwise``.
    """

    def __init__(self, on: Sequence[str], how: str, otherwise: Mapping[str, str]) -> None:
        """``otherwise`` has an SQL expression for each column of a version but those of ``on``."""
        self.on, self.how, self.otherwise = list(on), how, dict(otherwise)

    def on_message(self, ctx: Context, port: int, time: Time, batch: Batch) -> None:
        """Keeps a version for good, and rows until their time is complete."""
        if port == VERSIONS:
            ctx.state.put(batch.materialise(), label="version")
        else:
            ctx.state.put(batch, label="rows", passing=True)
            ctx.notify()

    def on_notify(self, ctx: Context, time: Time) -> None:
        """Sends the joined rows."""
        rows, own = ctx.state.own("rows"), ctx.state.own("version")
        older = ctx.state.trace("version")
        ctx.state.clear()
        for version in own[-1:]:
            ctx.state.put(version, label="version")
        if not rows:
            return
        # Of several versions at one time the last one is the newest.
        versions = [older[i][1] for i in sorted(range(len(older)), key=lambda i: (older[i][0], i))]
        newest = [*versions, *own][-1:]
        asked = ctx.union(rows)
        for version in newest:
            ctx.send(ctx.join(asked, version, self.on, self.how))
        if not newest and self.how != "inner":
            ctx.send(asked.transform(self.without))

    def without(self, frame: Frame) -> Frame:
        """The rows of ``frame`` while there is no version."""
        # A join has the columns that it joins by first.
        columns = [*self.on, *(c for c in frame.columns if c not in self.on)]
        filled = (f"{expression} AS {quoted(c)}" for c, expression in self.otherwise.items())
        return frame.selectExpr(*map(quoted, columns), *filled)

    def consolidate(self, ctx: Context, batches: list[Batch]) -> Batch:
        """Of versions that no time tells apart only the newest counts."""
        return batches[-1]
