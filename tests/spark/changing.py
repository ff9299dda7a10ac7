"""Random collections that change, a flow over them, and what it should show at each epoch."""

import random
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import falkirk as fk
from falkirk.differential import Collection, collection
from falkirk.runtime.options import Options
from falkirk.runtime.run import run
from falkirk.testing.script import Remembered, Rows, Script

CHANGE = "change"
Row = tuple[Any, ...]
Multiset = Counter[Row]
Draw = Callable[[random.Random], Row]


class Changing:
    """A script of changes and the multiset that it adds up to after each epoch."""

    def __init__(
        self,
        columns: Sequence[str],
        draw: Draw,
        epochs: int,
        changes: int,
        seed: int,
        first: int | None = None,
    ) -> None:
        """``draw`` makes a row; about two changes of five take one away.

        The first epoch has as many changes as the others, or ``first``.
        """
        self.columns, rng = tuple(columns), random.Random(seed)
        self.script: list[Rows] = []
        self.sums: list[Multiset] = []
        now: Multiset = Counter()
        for epoch in range(epochs):
            rows = []
            begin = first if epoch == 0 else None
            for _ in range(rng.randrange(changes + 1) if begin is None else begin):
                if now and rng.random() < 0.4:
                    row, weight = rng.choice(sorted(now, key=repr)), -1
                else:
                    row, weight = draw(rng), rng.choice([1, 1, 2])
                now[row] += weight
                now = +now
                rows.append({**dict(zip(self.columns, row, strict=True)), CHANGE: weight})
            self.script.append(rows)
            self.sums.append(Counter(now))

    def read(self, flow: fk.Dataflow, name: str, schema: Any) -> Collection:
        """The collection in a flow."""
        return collection(flow.read(Script(self.script, schema), name=name), CHANGE)


def shown(sink: Remembered, columns: Sequence[str], epochs: int) -> list[Multiset]:
    """What a sink of changes adds up to after each epoch."""
    found, now = [], Counter[Row]()
    for epoch in range(epochs):
        rows = sink.times.get((epoch,), [])
        assert len({tuple(row[c] for c in columns) for row in rows}) == len(rows), "consolidated"
        for row in rows:
            assert row[CHANGE] != 0
            now[tuple(row[column] for column in columns)] += row[CHANGE]
        now = Counter({row: count for row, count in now.items() if count})
        found.append(Counter(now))
    return found


Wanted = tuple[Sequence[str], list[Multiset]]


def check(
    spark: Any,
    flow: fk.Dataflow,
    made: Mapping[str, Collection],
    wanted: Mapping[str, Wanted],
    options: Options | None = None,
    store: Any = "memory:",
) -> None:
    """Runs the flow and compares each collection with what it should be, epoch by epoch."""
    sinks = {name: Remembered() for name in made}
    for name, each in made.items():
        each.changes(CHANGE, name=f"changes of {name}").write(sinks[name], name=f"{name} out")
    run(flow, store, spark, options=options or Options())
    for name, (columns, sums) in wanted.items():
        found = shown(sinks[name], columns, len(sums))
        for epoch, (right, got) in enumerate(zip(sums, found, strict=True)):
            assert got == right, f"{name} at epoch {epoch}"
