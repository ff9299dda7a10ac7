"""The flow whose driver is killed: every policy that a flow can express, side by side.

Some sinks have rows that any run must give. Others have random rows, or rows that depend on how
fast the two sides of a bridge were; no two runs give the same, but what one run shows in several
places must agree.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.faults.driver_sinks import AtLeastOnceSink, SqliteSink, StruckParquetSink
from tests.faults.driver_strikes import Striker

import falkirk as fk
from falkirk.connectors import Numbers

EPOCHS, ROWS = 6, 6
SLOW_EPOCHS, KEYS, WINDOW = 4, 3, 2


class Struck(fk.Processor):
    """Passes rows on; its code is where a driver can die between two events."""

    stateless = True

    def __init__(self, striker: Striker) -> None:
        """Tells ``striker`` of every event."""
        self.striker = striker

    def on_message(self, ctx: Any, port: int, time: Any, batch: Any) -> None:
        """Passes ``batch`` on."""
        self.striker.at("event")
        ctx.send(batch)


class Tally(fk.Processor):
    """A running total that is kept in the object, and saved by its own callbacks."""

    opaque = True

    def __init__(self, striker: Striker) -> None:
        """Nothing was counted."""
        self.striker = striker
        self.totals: dict[int, int] = {}

    def on_message(self, ctx: Any, port: int, time: Any, batch: Any) -> None:
        """Counts the rows of ``time``."""
        rows = batch.arrow().to_pylist()
        self.totals[time[0]] = self.totals.get(time[0], 0) + sum(row["value"] for row in rows)
        ctx.notify()

    def on_notify(self, ctx: Any, time: Any) -> None:
        """Sends the total of all times so far."""
        self.striker.at("event")
        total = sum(value for epoch, value in self.totals.items() if epoch <= time[0])
        ctx.send(ctx.batch([{"total": total}]))

    def checkpoint(self, frontier: Any) -> Any:
        """The totals of the times in ``frontier``."""
        self.striker.at("capturing")
        return {str(epoch): value for epoch, value in self.totals.items() if (epoch,) in frontier}

    def restore(self, frontier: Any, saved: Any) -> None:
        """Goes back to what was saved."""
        self.striker.at("restoring")
        self.totals = {int(epoch): value for epoch, value in (saved or {}).items()}


class Balance(fk.Processor):
    """Takes messages one at a time, and sends the sum of the values so far."""

    def on_message(self, ctx: Any, port: int, time: Any, batch: Any) -> None:
        """Adds the values of one message."""
        before, value = total(ctx.state.visible()), total([batch])
        ctx.state.put(ctx.batch([{"value": value}]))
        ctx.send(ctx.batch([{"number": time.number, "value": before + value}]))

    def consolidate(self, ctx: Any, batches: list[Any]) -> Any:
        """One sum for several."""
        return ctx.batch([{"value": total(batches)}])


def total(batches: list[Any]) -> int:
    """The sum of all values."""
    return sum(row["value"] for batch in batches for row in batch.arrow().to_pylist())


class Source(Numbers):
    """Numbers that can be struck when they are read and when they are acknowledged."""

    def read(self, session: Any, start: int, end: int) -> Any:
        """The numbers from ``start`` to ``end``."""
        STRIKERS[-1].at("read")
        return Numbers.read(self, session, start, end)

    def commit(self, end: int) -> None:
        """Takes the acknowledgement."""
        STRIKERS[-1].at("acknowledged")


STRIKERS = [Striker()]
"""The striker of this process is the last one: a source is a value and holds none."""


def mixed(folder: Path, striker: Striker, careful: bool = True) -> fk.Dataflow:
    """The flow, with its outputs in ``folder``."""
    STRIKERS.append(striker)
    database = folder / "outside.sqlite"
    flow = fk.Dataflow("mixed")

    def sqlite() -> SqliteSink:
        return SqliteSink(database, striker, careful)

    def parquet(name: str) -> StruckParquetSink:
        return StruckParquetSink(folder / "parquet" / name, striker)

    numbers = flow.read(Source(rows=EPOCHS * ROWS, rows_per_epoch=ROWS), name="numbers")
    passed = numbers.process(Struck(striker), name="passed", policy=fk.ephemeral())
    keyed = passed.select("value", f"value % {KEYS} AS k", name="keyed", policy=fk.batch())
    aggregates(flow, keyed, sqlite, parquet)
    opaque(passed, striker, sqlite)
    at_random(passed, sqlite, parquet)
    bridge(flow, keyed, sqlite, parquet)
    loop(passed, sqlite)
    cut(passed, sqlite)
    side = passed.select("value", name="side", policy=fk.at_least_once())
    side.write(AtLeastOnceSink(database, striker), name="side-out")
    return flow


def running(folder: Path, striker: Striker) -> fk.Dataflow:
    """A small flow for places that are slow: two of the running aggregates."""
    STRIKERS.append(striker)
    flow = fk.Dataflow("running")
    numbers = flow.read(Source(rows=EPOCHS * ROWS, rows_per_epoch=ROWS), name="numbers")
    keyed = numbers.select("value", f"value % {KEYS} AS k", name="keyed", policy=fk.batch())
    for name, column, policy in (
        ("lazy", {"count": "count(*)"}, fk.lazy(every=3)),
        ("eager", {"total": "sum(value)"}, fk.eager()),
    ):
        sink = SqliteSink(folder / "outside.sqlite", striker)
        keyed.group_by("k").agg(**column, name=name, policy=policy).write(sink, name=f"{name}-out")
    return flow


Make = Callable[..., Any]


def aggregates(flow: fk.Dataflow, keyed: Any, sqlite: Make, parquet: Make) -> None:
    """Running aggregates and a join, each under another policy."""
    groups = keyed.group_by("k")
    groups.count(name="lazy", policy=fk.lazy(every=3)).write(sqlite(), name="lazy-out")
    groups.agg(total="sum(value)", name="eager", policy=fk.eager()).write(
        parquet("eager"), name="eager-out"
    )
    groups.agg(most="max(value)", name="history", policy=fk.history()).write(
        sqlite(), name="history-out", policy=fk.lazy(every=2)
    )
    logged = fk.lazy(seconds=0.4).logging("clocked>clocked-out")
    groups.agg(least="min(value)", n="count(*)", name="clocked", policy=logged).write(
        sqlite(), name="clocked-out", policy=fk.eager()
    )
    even = keyed.where("value % 2 = 0", name="even")
    odd = keyed.where("value % 2 = 1", name="odd").select("k", "value AS other", name="others")
    even.join(odd, on="k", name="joined").write(parquet("pairs"), name="pairs-out")


def opaque(passed: Any, striker: Striker, sqlite: Make) -> None:
    """Processors that keep their own state."""
    first = passed.process(Tally(striker), name="tally", policy=fk.lazy(every=2))
    first.write(sqlite(), name="tally-out")
    second = passed.process(Tally(striker), name="eager-tally", policy=fk.eager())
    second.write(sqlite(), name="eager-tally-out")


def at_random(passed: Any, sqlite: Make, parquet: Make) -> None:
    """Rows that are never the same twice, shown at two places and added up at a third."""
    drawn = passed.select(
        "value", "CAST(rand() * 1000000 AS BIGINT) AS r", "uuid() AS u", name="drawn"
    )
    drawn.write(sqlite(), name="left-out")
    drawn.write(parquet("right"), name="right-out")
    totals = drawn.group_by("value % 2 AS parity").agg(
        total="sum(r)", name="drawn-totals", policy=fk.lazy(every=2)
    )
    totals.write(sqlite(), name="drawn-totals-out")


def bridge(flow: fk.Dataflow, keyed: Any, sqlite: Make, parquet: Make) -> None:
    """A fast stream with the newest version of a slow one."""
    slow = flow.read(Source(rows=SLOW_EPOCHS * KEYS, rows_per_epoch=KEYS), name="slow")
    versions = slow.select(f"value % {KEYS} AS k", f"value DIV {KEYS} AS version", name="versions")
    newest = keyed.join_latest(
        versions, on="k", how="left", otherwise={"version": "CAST(-1 AS BIGINT)"}, name="newest"
    )
    newest.write(sqlite(), name="newest-out")
    newest.write(parquet("newest"), name="newest-too-out")


def loop(passed: Any, sqlite: Make) -> None:
    """Rows go around until they are used up, and are counted in every round."""

    def body(inner: Any) -> tuple[Any, Any]:
        stepped = inner.select("value", "n - 1 AS n", name="stepped", policy=fk.batch())
        seen = stepped.group_by("value % 2 AS parity", "n").count(
            name="seen", policy=fk.lazy(every=2)
        )
        return stepped.where("n > 0", name="left-over"), seen

    ready = passed.select("value", "value % 3 AS n", name="ready").where("n > 0", name="positive")
    ready.iterate(body, name="rounds").write(sqlite(), name="looped-out")


def cut(passed: Any, sqlite: Make) -> None:
    """Messages in sequence through a region that takes snapshots, and back to epochs."""
    snapshots = fk.snapshot(every=2)
    once = passed.in_sequence(name="in-sequence").process(
        Balance(), name="balance", policy=snapshots
    )
    twice = once.process(Balance(), name="balance-of-balances", policy=snapshots)
    twice.windows(count=WINDOW, name="windows").write(sqlite(), name="windows-out")


def pair(folder: Path, striker: Striker) -> fk.Dataflow:
    """Random rows for two sinks; that which the strike waits for saves at once, the other last.

    They have one epoch. With more, how many a checkpoint covers would depend on who was faster, and
    two checkpoints of different frontiers are never combined.
    """
    STRIKERS.append(striker)
    flow = fk.Dataflow("pair")
    drawn = flow.read(Source(rows=2, rows_per_epoch=2), name="numbers").select("uuid() AS u")
    for name in ("first", "second"):
        prompt = striker.strike.moment in ("never", f"persisted {name}")
        policy = fk.lazy(when=lambda completions, seconds, due=prompt: due)
        drawn.write(SqliteSink(folder / "outside.sqlite", striker), name=name, policy=policy)
    return flow
