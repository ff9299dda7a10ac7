"""What the matrix shows of its outcomes: tables, figures, and the facts to advise by."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from benchmarks.harness.plots import Bars, Figure, Lines, bar
from benchmarks.harness.report import Table
from benchmarks.harness.spread import ends, if_apart, median, quantile, spread
from benchmarks.inputs.draws import UNIFORM, Shape
from benchmarks.policies.cell import Outcome
from benchmarks.policies.flow import LAZY, NOTHING, WAYS

Key = tuple[str, Shape, float | None]
Found = Mapping[Key, list[Outcome]]
INTERVALS = {"lazy(every=1)": 1, "lazy(every=3)": 3, "lazy(every=10)": 10, "lazy(every=30)": 30}


def tables(found: Found) -> list[Table]:
    """Costs, latency and recovery."""
    return [costs(found), latency(found), failures(found)]


def setting(shape: Shape, seconds: float | None = None) -> str:
    """What is not as at the centre, in words."""
    words = [f"{shape.rows:,} rows"]
    words += [] if shape.skew == UNIFORM else [shape.skew]
    words += [] if seconds is None else [f"every {seconds} s"]
    return ", ".join(words)


def costs(found: Found) -> Table:
    """What saving costs while nothing fails."""
    table = Table(
        "Cost without failures",
        [
            "policy of the count",
            "epochs of",
            "ms an epoch",
            "of nothing saved, round by round",
            "bytes written an epoch",
            "batches",
            "transactions",
        ],
        note="As fast as it goes, four epochs at once. Median, with the least and the greatest.",
    )
    for (way, shape, seconds), outcomes in found.items():
        if seconds is None:
            row = [way, setting(shape), spread([each.ms for each in outcomes], "{:.0f}".format)]
            row.append(spread(over_nothing(found, way, shape), "{:.2f}×".format))
            row += [
                an_epoch(outcomes, lambda each: each.bytes, "{:,.0f}"),
                an_epoch(outcomes, lambda each: each.batches, "{:.1f}"),
                an_epoch(outcomes, lambda each: each.commits, "{:.2f}"),
            ]
            table.rows.append(row)
    return table


def over_nothing(found: Found, way: str, shape: Shape) -> list[float]:
    """How much longer an epoch takes than where nothing is saved, round by round."""
    pairs = zip(found[way, shape, None], found[NOTHING, shape, None], strict=True)
    return [each.ms / base.ms for each, base in pairs]


def an_epoch(outcomes: Sequence[Outcome], of: Callable[[Outcome], float], show: str) -> str:
    """Something an epoch."""
    return if_apart([of(each) / each.epochs for each in outcomes], show.format)


def latency(found: Found) -> Table:
    """How late results are, by the clock and before anything fails."""
    table = Table(
        "Latency by the clock, before the failure",
        ["policy of the count", "epochs of", "median ms", "99 % ms"],
        note="Over all rounds; in brackets the least and the greatest of a round.",
    )
    for (way, shape, seconds), outcomes in found.items():
        if seconds is not None and any(each.latencies for each in outcomes):
            late = [late * 1e3 for each in outcomes for late in each.latencies]
            row = [way, setting(shape, seconds)]
            for measure in (median, latest):
                each = [measure(o.latencies) * 1e3 for o in outcomes if o.latencies]
                row.append(f"{measure(late):.0f} {ends(each, '{:.0f}'.format)}")
            table.rows.append(row)
    return table


def latest(values: Sequence[float]) -> float:
    """What only one in a hundred exceeds."""
    return quantile(values, 0.99)


def failures(found: Found) -> Table:
    """What a failure costs in the running process."""
    table = Table(
        "The count loses all that it holds",
        [
            "policy of the count",
            "epochs of",
            "caught up after ms",
            "latest result afterwards, ms",
            "epochs it went back",
            "rows counted again",
            "rows read again",
            "counts at the end",
        ],
        note="Caught up: from when the loss is noticed until all who went back are where they were."
        " Median, with the least and the greatest.",
    )
    for (way, shape, seconds), outcomes in found.items():
        if seconds is not None:
            after = [max(each.after) * 1e3 for each in outcomes if each.after]
            row = [way, setting(shape, seconds)]
            row.append(spread([each.caught_up * 1e3 for each in outcomes], "{:.0f}".format))
            row.append(spread(after, "{:.0f}".format) if after else "")
            row += [
                spread([each.undone for each in outcomes], "{:.0f}".format),
                spread([each.rows_again for each in outcomes], "{:,.0f}".format),
                spread([each.rows_read_again for each in outcomes], "{:,.0f}".format),
                "exact"
                if all(each.counted == 1 for each in outcomes)
                else spread([each.counted for each in outcomes], "{:.1%}".format),
            ]
            table.rows.append(row)
    return table


def kills(killed: Mapping[str, list[float]]) -> Table:
    """What a kill costs."""
    table = Table(
        "SIGKILL of the driver",
        ["policy of the count", "seconds to the first new result"],
        note="The flow of exactly-once; a new process, the start of Spark included. Behind"
        " lazy(every=10) the first new results are staged ones, which need no job. Median, with the"
        " least and the greatest.",
    )
    for way, seconds in killed.items():
        table.rows.append([way, spread(seconds, "{:.1f}".format)])
    return table


def figures(found: Found) -> list[Figure]:
    """Overhead, latency and recovery as bars, and the interval as a line."""
    return [
        Bars(
            "cost",
            "An epoch without failures, as fast as it goes",
            "× of an epoch with nothing saved",
            {
                setting(shape): {
                    way: bar(over_nothing(found, way, shape))
                    for way in WAYS
                    if way != NOTHING and (way, shape, None) in found
                }
                for shape in shapes(found)
            },
        ),
        by_clock(found, "latency", "Latency by the clock", "ms, median", latencies),
        by_clock(found, "recovery", "After a failure", "ms until caught up", recoveries),
        interval(found),
    ]


def by_clock(
    found: Found, name: str, title: str, y: str, of: Callable[[Sequence[Outcome]], list[float]]
) -> Bars:
    """Bars of the runs by the clock."""
    series: dict[str, dict[str, tuple[float, float, float]]] = {}
    for (way, shape, seconds), outcomes in found.items():
        if seconds is not None and (values := of(outcomes)):
            series.setdefault(setting(shape, seconds), {})[way] = bar(values)
    return Bars(name, title, y, series)


def latencies(outcomes: Sequence[Outcome]) -> list[float]:
    """The median latency of each round in milliseconds."""
    return [median(each.latencies) * 1e3 for each in outcomes if each.latencies]


def recoveries(outcomes: Sequence[Outcome]) -> list[float]:
    """Milliseconds to catch up."""
    return [each.caught_up * 1e3 for each in outcomes]


def interval(found: Found) -> Lines:
    """What an interval saves in writes, and costs in work."""
    centre = next(shape for way, shape, seconds in found if way == LAZY and seconds is not None)
    clock = next(seconds for way, _, seconds in found if way == LAZY and seconds is not None)
    back, cost = [], []
    for way, every in INTERVALS.items():
        back.append((every, max(each.undone for each in found[way, centre, clock])))
        written = median([each.batches / each.epochs for each in found[way, centre, None]])
        cost.append((every, written))
    series = {"epochs that the count went back, at most": back, "batches written an epoch": cost}
    return Lines("interval", "lazy(every=n)", "n", "", series, log="x")


def shapes(found: Found) -> list[Shape]:
    """All shapes that ran as fast as they could."""
    return list(dict.fromkeys(shape for _, shape, seconds in found if seconds is None))


def facts(found: Found, centre: Shape, clock: float) -> dict[str, Any]:
    """What each policy costs and gives at the centre, for ``falkirk check``."""
    known: dict[str, Any] = {}
    for way in WAYS:
        free, timed = found[way, centre, None], found.get((way, centre, clock))
        known[way] = {
            "cost": round(median(over_nothing(found, way, centre)), 2),
            "bytes": round(median([each.bytes / each.epochs for each in free])),
        }
        if timed:
            late = [late for each in timed for late in each.latencies]
            known[way]["latency_ms"] = round(median(late) * 1e3) if late else None
            known[way]["caught_up_ms"] = round(median(recoveries(timed)))
    return known
