"""What the outside must have seen in the end: nothing lost, nothing twice, no contradictions.

What is expected is worked out here in plain Python, by nothing that the framework has.
"""

import json
from collections import Counter, defaultdict
from collections.abc import Iterator
from itertools import accumulate
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from tests.faults.driver_flows import EPOCHS, KEYS, ROWS, SLOW_EPOCHS, WINDOW
from tests.faults.driver_sinks import Rows, canonical, connected

Shown = dict[str, dict[int, list[str]]]
"""What each sink has for each epoch: the canonical contents, one for each time it was written."""

AT_LEAST_ONCE = "side-out"


def judge(folder: Path) -> list[str]:
    """Everything that is wrong with what the outside saw; empty if all is well."""
    shown, attempts = seen(folder), attempted(folder)
    return [*counted(shown), *contradicted(attempts), *compared(shown), *agreeing(shown)]


def seen(folder: Path) -> Shown:
    """What is to be seen in all sinks."""
    found = table(folder, "rows")
    for sink, name in (("eager-out", "eager"), ("pairs-out", "pairs")):
        found[sink] = parquet(folder / "parquet" / name)
    for sink, name in (("right-out", "right"), ("newest-too-out", "newest")):
        found[sink] = parquet(folder / "parquet" / name)
    return found


def attempted(folder: Path) -> Shown:
    """What was tried, even if the process died before it was to be seen."""
    return table(folder, "attempts")


def table(folder: Path, name: str) -> Shown:
    """A table of the SQLite sinks."""
    found: Shown = defaultdict(lambda: defaultdict(list))
    with connected(folder / "outside.sqlite") as connection:
        for sink, epoch, content in connection.execute(f"SELECT * FROM {name}"):
            found[sink][epoch].append(content)
    return found


def parquet(folder: Path) -> dict[int, list[str]]:
    """The epochs of a Parquet sink; what is hidden was never shown."""
    found: dict[int, list[str]] = defaultdict(list)
    for part in sorted(folder.glob("epoch=*")):
        rows = [row for file in sorted(part.glob("*.parquet")) for row in read(file)]
        found[int(part.name.removeprefix("epoch="))].append(canonical(rows))
    return found


def read(file: Path) -> Rows:
    """The rows of one file, without the columns that its path would add."""
    rows: Rows = pq.ParquetFile(file).read().to_pylist()
    return rows


def counted(shown: Shown) -> Iterator[str]:
    """Every epoch is there, once; at least once where no more is promised."""
    for sink in SINKS:
        epochs = shown.get(sink, {})
        for epoch in sorted({*range(expected_epochs(sink)), *epochs}):
            times = len(epochs.get(epoch, []))
            if times == 0 and not (sink == "looped-out" and not expected_loop(epoch)):
                yield f"{sink}: epoch {epoch} was lost"
            if times > 1 and sink != AT_LEAST_ONCE:
                yield f"{sink}: epoch {epoch} is there {times} times"


def expected_epochs(sink: str) -> int:
    """How many epochs a sink has in the end."""
    return EPOCHS // WINDOW if sink == "windows-out" else EPOCHS


def contradicted(attempts: Shown) -> Iterator[str]:
    """Whatever was once about to be shown is never shown differently."""
    for sink, epochs in attempts.items():
        for epoch, contents in sorted(epochs.items()):
            if len({promised(sink, content) for content in contents}) > 1:
                yield f"{sink}: epoch {epoch} was contradicted: {' then '.join(contents)}"


def compared(shown: Shown) -> Iterator[str]:
    """What does not depend on chance is what plain Python works out."""
    for sink, expected in EXPECTED.items():
        for epoch in range(expected_epochs(sink)):
            wanted = canonical(expected(epoch))
            for content in shown.get(sink, {}).get(epoch, []):
                if promised(sink, content) != wanted:
                    yield f"{sink}: epoch {epoch} is {content} and should be {wanted}"


def promised(sink: str, content: str) -> str:
    """What a sink answers for of a content: at least once, a row may be there again."""
    if sink != AT_LEAST_ONCE:
        return content
    return canonical([json.loads(row) for row in {json.dumps(row) for row in json.loads(content)}])


def agreeing(shown: Shown) -> Iterator[str]:
    """What depends on chance is the same wherever it shows."""
    for left, right in (("left-out", "right-out"), ("newest-out", "newest-too-out")):
        for epoch in range(EPOCHS):
            one, other = shown[left].get(epoch, []), shown[right].get(epoch, [])
            if set(one) != set(other):
                yield f"{left} and {right} disagree at epoch {epoch}: {one} and {other}"
    yield from added_up(shown)
    yield from versions(shown)


def added_up(shown: Shown) -> Iterator[str]:
    """The running totals of random rows are those of the random rows that were shown."""
    totals: Counter[int] = Counter()
    for epoch in range(EPOCHS):
        rows = [row for content in shown["left-out"][epoch] for row in json.loads(content)]
        if sorted(row["value"] for row in rows) != values(epoch):
            yield f"left-out: epoch {epoch} has not the rows of its epoch: {rows}"
        for row in rows:
            totals[row["value"] % 2] += row["r"]
        wanted = canonical(
            [{"parity": p, "total": totals[p]} for p in {v % 2 for v in values(epoch)}]
        )
        if set(shown["drawn-totals-out"][epoch]) != {wanted}:
            found = shown["drawn-totals-out"][epoch]
            yield f"drawn-totals-out: epoch {epoch} is {found} and the rows make {wanted}"


def versions(shown: Shown) -> Iterator[str]:
    """Every epoch is joined with one version, and versions never go back."""
    before = -1
    for epoch in range(EPOCHS):
        rows = [row for content in shown["newest-out"][epoch] for row in json.loads(content)]
        used = {row["version"] for row in rows}
        whole = canonical([{"value": v, "k": v % KEYS} for v in values(epoch)])
        if canonical([{"value": row["value"], "k": row["k"]} for row in rows]) != whole:
            yield f"newest-out: epoch {epoch} has not the rows of its epoch: {rows}"
        if len(used) != 1 or not before <= max(used) < SLOW_EPOCHS:
            yield f"newest-out: epoch {epoch} has the versions {used} after {before}"
        before = max(used, default=before)


# What plain Python works out.


def values(epoch: int) -> list[int]:
    """The numbers of one epoch."""
    return list(range(epoch * ROWS, (epoch + 1) * ROWS))


def groups(epoch: int) -> dict[int, list[int]]:
    """All numbers so far, by their key."""
    found: dict[int, list[int]] = {k: [] for k in sorted({v % KEYS for v in values(epoch)})}
    for value in range((epoch + 1) * ROWS):
        if value % KEYS in found:
            found[value % KEYS].append(value)
    return found


def expected_pairs(epoch: int) -> Rows:
    """The even numbers of an epoch beside its odd ones."""
    return [
        {"k": a % KEYS, "value": a, "other": b}
        for a in values(epoch)
        for b in values(epoch)
        if a % 2 == 0 and b % 2 == 1 and a % KEYS == b % KEYS
    ]


def expected_loop(epoch: int) -> Rows:
    """How many rows were seen in each round, among all those with no later time in any respect."""
    found: list[dict[str, Any]] = []
    for turn in range(2):

        def rows(until: int, turn: int = turn) -> list[tuple[int, int]]:
            return [
                (v % 2, v % 3 - 1 - r)
                for e in range(until + 1)
                for r in range(turn + 1)
                for v in values(e)
                if v % 3 > r
            ]

        now = {(v % 2, v % 3 - 1 - turn) for v in values(epoch) if v % 3 > turn}
        total = Counter(rows(epoch))
        found += [{"parity": p, "n": n, "count": total[p, n]} for p, n in sorted(now)]
    return found


def expected_total(epoch: int) -> Rows:
    """The sum of all numbers so far."""
    return [{"total": sum(range((epoch + 1) * ROWS))}]


def expected_window(window: int) -> Rows:
    """The sums of the sums so far, one for each epoch, in the order of the epochs."""
    sums = list(accumulate(accumulate(sum(values(epoch)) for epoch in range(EPOCHS))))
    return [
        {"number": i + 1, "value": sums[i]} for i in range(window * WINDOW, (window + 1) * WINDOW)
    ]


EXPECTED: dict[str, Any] = {
    "lazy-out": lambda e: [{"k": k, "count": len(g)} for k, g in groups(e).items()],
    "eager-out": lambda e: [{"k": k, "total": sum(g)} for k, g in groups(e).items()],
    "history-out": lambda e: [{"k": k, "most": max(g)} for k, g in groups(e).items()],
    "clocked-out": lambda e: [{"k": k, "least": min(g), "n": len(g)} for k, g in groups(e).items()],
    "pairs-out": expected_pairs,
    "tally-out": expected_total,
    "eager-tally-out": expected_total,
    "looped-out": expected_loop,
    "windows-out": expected_window,
    "side-out": lambda e: [{"value": v} for v in values(e)],
}

SINKS = (
    *EXPECTED,
    "left-out",
    "right-out",
    "drawn-totals-out",
    "newest-out",
    "newest-too-out",
)
