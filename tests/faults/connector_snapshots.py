"""A region that takes snapshots, between a source and whoever writes its epochs."""

from typing import Any

from tests.faults.connector_world import ROWS

import falkirk as fk

SNAPSHOT_EVERY = 2


class Counting(fk.Processor):
    """Passes numbers on, changed by as many as it has counted too many or too few before them."""

    def on_message(self, ctx: Any, port: int, time: Any, batch: Any) -> None:
        """Takes the rows of one epoch, which are one message."""
        before = counted(ctx.state.visible())
        values = [row["value"] for row in batch.arrow().to_pylist()]
        wrong = before - ROWS * (time.number - 1)
        ctx.state.put(ctx.batch([{"rows": len(values)}]))
        ctx.send(ctx.batch([{"value": value + wrong} for value in values]))

    def consolidate(self, ctx: Any, batches: list[Any]) -> Any:
        """One count for several."""
        return ctx.batch([{"rows": counted(batches)}])


def counted(batches: list[Any]) -> int:
    """How many rows the state knows of."""
    return sum(row["rows"] for batch in batches for row in batch.arrow().to_pylist())


def cut(stream: Any) -> Any:
    """The epochs of ``stream`` as messages through two processors, and each an epoch again."""
    snapshots = fk.snapshot(every=SNAPSHOT_EVERY)
    once = stream.in_sequence(name="in-sequence").process(
        Counting(), name="counted", policy=snapshots
    )
    twice = once.process(Counting(), name="counted-again", policy=snapshots)
    return twice.windows(count=1, name="epochs-again")
