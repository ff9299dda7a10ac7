"""What the report shows: ratios first."""

from collections.abc import Callable, Sequence

from benchmarks.figure_1.contenders import CONTENDERS, FALKIRK, STOP_THE_WORLD
from benchmarks.figure_1.measuring import MASTER, Plan
from benchmarks.figure_1.outcome import TOLERANCE, WINDOW_SECONDS, Run
from benchmarks.harness.report import Table
from benchmarks.harness.spread import ends, median, quantile, ratios, spread
from falkirk.demo.figure_1.flow import WINDOW_EPOCHS

Found = dict[str, list[Run]]
Part = Callable[[Run], Sequence[float]]


def described(plan: Plan) -> dict[str, str]:
    """What is measured, and how."""
    return {
        "work": f"the flow of falkirk demo, the same for both: {plan.rows:,} records every"
        f" {plan.epoch:g} s; ranks over windows of {WINDOW_EPOCHS} epochs, connected components of"
        " all friendships, queries joined with the newest versions of both, one row of SQLite a"
        " query and running statistics of users",
        "users": f"ask {1 / plan.pause:g} times a second, at random moments and whether or not"
        " earlier questions were answered, and again under the same key after an error; a wait is"
        " from the first asking to the answer",
        "falkirk's regimes": "the four of the figure (docs/figure-1.md)",
        STOP_THE_WORLD: "the same flow, lazy(when=…) everywhere: everybody saves in the same global"
        f" snapshot, at every {plan.interval:g} s of the world's clock, up to the epochs that had"
        " been read then (stateless processors in loops have nothing to save). Answers and rows of"
        " the database are shown when the snapshot that holds them is durable: as ever, an answer"
        " goes out when its query is acknowledged, but no checkpoint is taken early because"
        " somebody waits for it. A failure is made to fail all processors, so that everybody goes"
        " back to the last snapshot",
        "how the baseline differs": "a real stop-the-world system pauses while it takes a"
        " snapshot and while it recovers, and writes all its state; this one does neither: it goes"
        " on behind the cut, and writes only what has changed since the last one. Its processes are"
        " not started again after a failure either. Versions of ranks and circles cross to the"
        " query path once they are in a snapshot, so its answers are made from older ones. What is"
        " numbered and what is staged for that path is saved in between, too, but nobody can go"
        " back to it alone. All but these last two is to its advantage",
        "stable": "a record is stable when the low-watermark of its input has passed it: all that"
        " came of it is durable, and nobody will go back behind it. Measured from when its epoch"
        " was read",
        "three failures at once": "the iterative region, the batch region and an ephemeral"
        " processor lose all that they hold, in one moment; of the baseline, everybody does. Runs"
        " differ in when that is, spread evenly over the time between two snapshots",
        "a run": f"a fresh folder and process on {MASTER}, with the demonstration's flags of Java"
        f" (quick compiler, serial collector); {plan.warm:g} s to warm up after the first versions,"
        f" {plan.steady:g} s steady, at least {plan.apart:g} s more, the failures, {plan.after:g} s"
        f" after them. Runs of each: {plan.repetitions}, in turn, in changing order",
        "checked": "every answer and every row against the records, by the demonstration's"
        " verdict; a run that is not as one without failures has no figures here",
        "not measured": "several machines: here failures take no process and no executor away, and"
        " both contenders share two cores with Spark, the clients and whatever else ran; nor"
        " snapshots of large state",
        "command": "python -m benchmarks figure-1",
    }


def tables(found: Found, refused: list[str]) -> list[Table]:
    """All of them."""
    shown = [compared(found), queries(found), inputs(found), failures(found), checked(found)]
    if refused:
        rows = [[each.replace("|", "\\|")] for each in refused]
        shown.append(Table("Runs that were refused", ["why"], rows))
    return shown


def in_words(seconds: float) -> str:
    """A duration with a unit that suits it.

    >>> in_words(0.0421), in_words(3.14159)
    ('42 ms', '3.14 s')
    """
    return f"{seconds * 1e3:.0f} ms" if seconds < 1 else f"{seconds:.2f} s"


def pooled(runs: list[Run], part: Part) -> list[float]:
    """The values of all runs."""
    return [seconds for run in runs for seconds in part(run)]


def compared(found: Found) -> Table:
    """The baseline over falkirk, beside the literature's figures."""
    table = Table(
        "Stop-the-world over falkirk",
        ["median", "ratio here", FALKIRK, STOP_THE_WORLD, "ratio there", "there"],
        note="There: the literature's figures, for Falkirk on Naiad, on other machines and data,"
        " over a baseline with a global snapshot every 10 s. Only ratios may be compared, and the"
        " baseline here has advantages that are listed above. Peaks are medians over the runs. In"
        " brackets the least and the greatest ratio of two runs of the same turn.",
    )
    known: list[tuple[str, Part, str, str]] = [
        ("a query, steady", lambda run: run.queries, "445×", "29 ms, 12.9 s"),
        ("a record until it is stable", lambda run: run.inputs, "13×", "1.08 s, 13.6 s"),
        (
            "the slowest query after three failures",
            lambda run: (run.query_peak,),
            "–",
            "0.7 s to 1.1 s and back at once, not told",
        ),
        (
            "the slowest record through three failures",
            lambda run: (run.input_peak,),
            "–",
            "–",
        ),
    ]
    for title, part, ratio, there in known:
        ours, theirs = (median(pooled(found[name], part)) for name in (FALKIRK, STOP_THE_WORLD))
        runs = [of_runs(found[name], part, median) for name in (STOP_THE_WORLD, FALKIRK)]
        turns = ends(ratios(*runs), "{:.1f}×".format)
        cells = [f"{theirs / ours:.1f}× {turns}", in_words(ours), in_words(theirs)]
        table.rows.append([title, *cells, ratio, there])
    return table


def of_runs(
    runs: list[Run], part: Part, measure: Callable[[Sequence[float]], float]
) -> list[float]:
    """A figure of each run that has any values for it."""
    return [measure(part(run)) for run in runs if part(run)]


def late(values: Sequence[float]) -> float:
    """What only one in a hundred exceeds."""
    return quantile(values, 0.99)


def latencies(title: str, what: str, found: Found, part: Part, note: str) -> Table:
    """Median, p99 and the most, over all runs and at the least and the greatest of a run."""
    note += " Over all runs; in brackets the least and the greatest of the runs."
    table = Table(title, ["contender", what, "median", "p99", "at most"], note=note)
    for name in CONTENDERS:
        values = pooled(found[name], part)
        cells = [
            f"{in_words(measure(values))} {ends(of_runs(found[name], part, measure), in_words)}"
            for measure in (median, late, max)
        ]
        table.rows.append([name, f"{len(values):,}", *cells])
    return table


def queries(found: Found) -> Table:
    """Queries while nothing fails."""
    note = "From the asking to the answer."
    return latencies("Queries, steady", "queries", found, lambda run: run.queries, note)


def inputs(found: Found) -> Table:
    """Records while nothing fails."""
    note = "From the reading of an epoch of records until all that came of it is durable."
    return latencies("Records, steady", "epochs", found, lambda run: run.inputs, note)


def failures(found: Found) -> Table:
    """What three failures at once did."""
    table = Table(
        "Three failures at once",
        [
            "contender",
            "slowest query",
            "queries as before after",
            "slowest record",
            "who went back",
            "epochs done again, at most",
            "rows processed again",
            "everybody where they were after",
        ],
        note="Medians over the runs, with the least and the greatest. The slowest query and record"
        " are of those that were under way or came later. Queries are as before when the last one"
        f" is answered of those whose median over {WINDOW_SECONDS:g} s is more than {TOLERANCE:g}×"
        " the highest of the steady part; 0 if there is none.",
    )
    for name in CONTENDERS:
        runs = found[name]
        seconds = [run.redone.seconds for run in runs if run.redone.seconds is not None]
        back = [run.redone.went_back for run in runs]
        whole = runs[0].redone.processors
        table.rows.append(
            [
                name,
                spread([run.query_peak for run in runs], in_words),
                spread([run.back for run in runs], in_words),
                spread([run.input_peak for run in runs], in_words),
                f"{spread(back, '{:.0f}'.format)} of {whole}",
                spread([run.redone.epochs for run in runs], "{:.0f}".format),
                spread([run.redone.rows for run in runs], "{:,.0f}".format),
                spread(seconds, in_words) if seconds else "not while it was looked at",
            ]
        )
    return table


def checked(found: Found) -> Table:
    """How much the verdict rests on."""
    table = Table(
        "Checked",
        ["contender", "runs as without failures", "queries"],
        note="Each query was answered once and rightly, and has one row in the database that says"
        " the same; warming up and all that came after the failures included.",
    )
    for name in CONTENDERS:
        runs = found[name]
        table.rows.append([name, f"{len(runs)}", f"{sum(len(run.around) for run in runs):,}"])
    return table
