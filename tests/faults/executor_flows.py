"""The flows whose executors are killed. All rows live on executors, under every kind of policy."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from threading import Event
from typing import Any

import falkirk as fk
from falkirk.connectors import Numbers
from falkirk.dataflow.connecting import Limit
from falkirk.runtime.options import Options
from falkirk.testing.script import Remembered

EPOCHS, ROWS, KEYS = 6, 24, 3
ON_EXECUTORS = Options(small_bytes_max=0, epochs_ahead=3)
IN_FILES = replace(ON_EXECUTORS, columns_bytes_min=0)
"""Executors hold what is not durable yet; of what is, they keep what they have read of a file."""

HOOKS: list[Callable[[int], None]] = []
"""The last one is told of every epoch that is read: a source is a value and holds none."""

GATES: list[Event] = []
"""The last one lets the second half of the epochs through."""


class Watched(Numbers):
    """Numbers that tell which epoch is read."""

    def read(self, session: Any, start: int, end: int) -> Any:
        """The numbers from ``start`` to ``end``, in two partitions."""
        HOOKS[-1](start // ROWS)
        return session.range(start, end, 1, 2).withColumnRenamed("id", "value")

    def size(self, start: int, end: int) -> int | None:
        """Nobody knows, so everything goes to executors."""
        return None


class Gated(Watched):
    """Numbers of which the second half waits for a gate."""

    def latest(self, start: int, limit: Limit) -> int:
        """As far as the gate allows."""
        return start if start >= EPOCHS // 2 * ROWS and not GATES[-1].is_set() else start + ROWS


def drawn_at_random(frame: Any) -> Any:
    """Adds a column that Python draws: computed again, it is another one."""
    from pyspark.sql.functions import udf

    def draw(_):  # type: ignore[no-untyped-def]  # Spark reads type hints, and wants others
        from random import randrange

        return randrange(10**9)

    return frame.withColumn("r", udf(draw, "bigint").asNondeterministic()("value"))


@dataclass
class Mixed:
    """Every policy side by side, and random rows that go two ways."""

    sinks: dict[str, Remembered] = field(default_factory=dict)

    def sink(self, name: str) -> Remembered:
        """A new sink."""
        self.sinks[name] = Remembered()
        return self.sinks[name]

    def flow(self) -> fk.Dataflow:
        """The flow."""
        flow = fk.Dataflow("mixed")
        numbers = flow.read(Watched(rows=EPOCHS * ROWS, rows_per_epoch=ROWS), name="numbers")
        drawn = numbers.transform(drawn_at_random, name="drawn", policy=fk.ephemeral())
        drawn.write(self.sink("left"), name="left")
        totals = drawn.group_by(f"value % {KEYS} AS k").agg(
            total="sum(r)", name="totals", policy=fk.lazy(every=3)
        )
        totals.write(self.sink("totals"), name="right")
        keyed = numbers.select("value", f"value % {KEYS} AS k", name="keyed", policy=fk.batch())
        groups = keyed.group_by("k")
        groups.count(name="counts", policy=fk.eager()).write(self.sink("counts"), name="eager-out")
        groups.agg(most="max(value)", name="most", policy=fk.history()).write(
            self.sink("most"), name="history-out"
        )
        return flow

    def wrong(self) -> list[str]:
        """What any run must show and this one did not."""
        found = []
        for name, sink in self.sinks.items():
            if sorted(sink.times) != [(epoch,) for epoch in range(EPOCHS)]:
                found.append(f"{name} shows {sorted(sink.times)}")
            if sink.repeated:
                found.append(f"{name} was given {sink.repeated} twice")
        if found:
            return found
        left = self.sinks["left"].times
        for epoch in range(EPOCHS):
            values = sorted(row["value"] for row in left[(epoch,)])
            if values != list(range(epoch * ROWS, (epoch + 1) * ROWS)):
                found.append(f"left has {values} at {epoch}")
            seen = [row for e in range(epoch + 1) for row in left[(e,)]]
            found += differences("totals", epoch, self.sinks, "total", sums(seen, "r"))
            so_far = [{"value": value, "one": 1} for value in range((epoch + 1) * ROWS)]
            found += differences("counts", epoch, self.sinks, "count", sums(so_far, "one"))
            most = {k: max(r["value"] for r in so_far if r["value"] % KEYS == k) for k in range(3)}
            found += differences("most", epoch, self.sinks, "most", most)
        return found


def sums(rows: Iterable[dict[str, Any]], column: str) -> dict[int, int]:
    """The sum of ``column`` for each key."""
    found = dict.fromkeys(range(KEYS), 0)
    for row in rows:
        found[row["value"] % KEYS] += row[column]
    return found


def differences(
    name: str, epoch: int, sinks: dict[str, Remembered], column: str, expected: dict[int, int]
) -> list[str]:
    """How a sink differs from what is expected at an epoch."""
    shown = {row["k"]: row[column] for row in sinks[name].times[(epoch,)]}
    return [] if shown == expected else [f"{name} shows {shown} at {epoch}, and not {expected}"]


@dataclass
class Halves:
    """A flow that comes to rest in the middle; ``volatile`` is then not durable, if it is lazy."""

    policy: fk.Policy
    counts: Remembered = field(default_factory=Remembered)
    totals: Remembered = field(default_factory=Remembered)

    def flow(self) -> fk.Dataflow:
        """The flow."""
        flow = fk.Dataflow("halves")
        numbers = flow.read(
            Gated(rows=EPOCHS * ROWS, rows_per_epoch=ROWS), name="numbers", policy=fk.eager()
        )
        keyed = numbers.select("value", f"value % {KEYS} AS k", name="keyed", policy=fk.batch())
        groups = keyed.group_by("k")
        groups.count(name="counts", policy=fk.lazy()).write(self.counts, name="counts-out")
        groups.agg(total="sum(value)", name="volatile", policy=self.policy).write(
            self.totals, name="volatile-out"
        )
        return flow

    def wrong(self) -> list[str]:
        """What any run must show and this one did not."""
        found = []
        sinks = {"counts": self.counts, "totals": self.totals}
        for epoch in range(EPOCHS):
            rows = [{"value": v, "one": 1} for v in range((epoch + 1) * ROWS)]
            found += differences("counts", epoch, sinks, "count", sums(rows, "one"))
            found += differences("totals", epoch, sinks, "total", sums(rows, "value"))
        return found + [f"{sink.repeated} twice" for sink in sinks.values() if sink.repeated]
