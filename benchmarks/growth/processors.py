"""Up to a thousand processors in one flow: what does each of them add to an epoch?"""

import shutil
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import falkirk as fk
from benchmarks.growth.keys import Times
from benchmarks.harness.plots import Lines
from benchmarks.harness.report import Report, Table
from benchmarks.harness.spread import median, spread
from falkirk.connectors import Numbers
from falkirk.runtime.run import run as run_flow

PROCESSORS = (3, 10, 30, 100, 300, 1_000)


class Relay(fk.Processor):
    """Keeps the rows of a time until it is complete, and sends them on; no Spark is needed."""

    def on_message(self, ctx: fk.Context, port: int, time: Any, batch: fk.Batch) -> None:
        """Keeps the rows."""
        ctx.state.put(ctx.batch(batch.arrow()))
        ctx.notify()

    def on_notify(self, ctx: fk.Context, time: Any) -> None:
        """Sends them, and keeps nothing."""
        ctx.send(ctx.union(ctx.state.own()))
        ctx.state.clear()


def chain(numbers: fk.Stream, processors: int) -> fk.Stream:
    """One behind the other, each with state."""
    for number in range(processors):
        numbers = numbers.process(Relay(), name=f"relay-{number}", policy=fk.lazy(every=10))
    return numbers


def fan(numbers: fk.Stream, processors: int) -> fk.Stream:
    """Side by side, each with state; all come together again."""
    each = [
        numbers.process(Relay(), name=f"relay-{number}", policy=fk.lazy(every=10))
        for number in range(processors)
    ]
    return each[0].union(*each[1:], name="together")


def fused(numbers: fk.Stream, processors: int) -> fk.Stream:
    """Stateless steps that become one plan, which is cut here and there if they are many."""
    for number in range(processors):
        numbers = numbers.where(f"value >= -{number}", name=f"step-{number}")
    return numbers


SHAPES: dict[str, Callable[[fk.Stream, int], fk.Stream]] = {
    "a chain of stateful ones": chain,
    "stateful ones side by side": fan,
    "a chain of stateless steps": fused,
}


def add(report: Report, session: Any, quick: bool) -> None:
    """Runs flows of each size and shape."""
    sizes, epochs, repetitions = ((3, 10), 3, 1) if quick else (PROCESSORS, 24, 3)
    report.settings["processors"] = (
        "10 numbers an epoch go through so many processors, and then to an exactly-once sink;"
        " stateful ones are lazy(every=10), keep the rows of a time as an Arrow table, and use no"
        f" Spark; {epochs} epochs a run, so that state is saved twice; {repetitions} rounds in"
        " changing order"
    )
    table = Table(
        "Processors",
        ["flow", "processors", "building, s", "ms an epoch", "ms a processor"],
        note="Building is from the description to a run that asks for its first epoch. An epoch is"
        " the time from there to the last result over the epochs, up to four at once. Median, with"
        " the least and the greatest.",
    )
    found: dict[tuple[str, int], list[tuple[float, float]]] = {
        (name, size): [] for name in SHAPES for size in sizes
    }
    for repetition in range(repetitions):
        for name, size in list(found)[:: -1 if repetition % 2 else 1]:
            found[name, size].append(measured(session, SHAPES[name], size, epochs))
    series: dict[str, list[tuple[float, float]]] = {}
    for (name, size), runs in found.items():
        building, ms = [each for each, _ in runs], [each for _, each in runs]
        series.setdefault(name, []).append((float(size), median(ms)))
        row = [name, f"{size:,}", spread(building, "{:.2f}".format), spread(ms, "{:.0f}".format)]
        table.rows.append([*row, spread([each / size for each in ms], "{:.2f}".format)])
    report.tables.append(table)
    figure = Lines("processors", "Time an epoch", "processors", "ms", series, log="xy")
    report.figures.append(figure)


def measured(
    session: Any, shape: Callable[[fk.Stream, int], fk.Stream], size: int, epochs: int
) -> tuple[float, float]:
    """Seconds until the first epoch is asked for, and milliseconds an epoch from there."""
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    sink, asked = Times(), list[float]()
    begun = time.monotonic()
    flow = fk.Dataflow("processors")
    source = Asked(asked, rows=10 * epochs, rows_per_epoch=10)
    shape(flow.read(source, name="numbers"), size).write(sink, name="shown")
    try:
        run_flow(flow, place, session)
    finally:
        shutil.rmtree(place, ignore_errors=True)
    return asked[0] - begun, (sink.at[-1] - asked[0]) / epochs * 1e3


class Asked(Numbers):
    """Numbers that note when they are asked for."""

    def __init__(self, asked: list[float], **options: Any) -> None:
        """Notes it in ``asked``."""
        super().__init__(**options)
        object.__setattr__(self, "asked", asked)

    def latest(self, start: int, limit: Any) -> int:
        """The next numbers."""
        self.asked.append(time.monotonic())  # type: ignore[attr-defined]
        return super().latest(start, limit)
