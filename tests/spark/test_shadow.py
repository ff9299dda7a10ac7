"""A changed flow beside the live one: just the differences, and a promotion that loses nothing."""

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import sleep
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

import falkirk as fk
from falkirk.inspection.look import look_at
from falkirk.inspection.shadow.comparing import Compared, compare
from falkirk.inspection.shadow.promoting import promote
from falkirk.inspection.shadow.running import run_shadow
from falkirk.inspection.shadow.starting import Wish, start_shadow

pytestmark = pytest.mark.spark

BROKEN, FIXED = "value % 3 = 0", "value % 2 = 0"


def numbers(condition: str) -> fk.Dataflow:
    """Files of ten numbers, those that are wanted, and how many there are of each last digit."""
    flow = fk.Dataflow("numbers")
    source = fk.Files(Path("in").resolve(), schema="value BIGINT", order="name")
    wanted = flow.read(source, name="files", limit=fk.Limit(files=1)).where(
        condition, name="wanted"
    )
    wanted.write(fk.ParquetSink(Path("rows").resolve()), name="rows")
    digits = wanted.group_by("value % 10 AS digit").count(name="digits", policy=fk.lazy(every=2))
    digits.write(fk.ParquetSink(Path("counts").resolve()), name="counts")
    return flow


def arrive(first: int, last: int) -> None:
    Path("in").mkdir(exist_ok=True)
    for file in range(first, last + 1):
        table = pa.table({"value": list(range(10 * file, 10 * file + 10))})
        pq.write_table(table, f"in/{file:04}.parquet")


def shown(folder: str) -> dict[int, list[Any]]:
    """What a folder has, by epoch."""
    return {
        int(epoch.name.partition("=")[2]): [
            row
            for part in sorted(epoch.glob("*.parquet"))
            for row in pq.read_table(part).to_pylist()
        ]
        for epoch in sorted(Path(folder).glob("epoch=*"))
    }


def values(found: dict[int, list[Any]], first: int, last: int) -> Counter[int]:
    return Counter(row["value"] for t, rows in found.items() if first <= t <= last for row in rows)


def of(place: str, output: str) -> Compared:
    return next(each for each in compare(place).outputs if each.output == output)


@pytest.fixture(autouse=True)
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)


def test_a_fixed_filter_is_tried_beside_the_live_flow_and_takes_its_place(
    spark: SparkSession, tmp_path: Path
) -> None:
    live, same, fixed, old = (str(tmp_path / name) for name in ("live", "same", "fixed", "old"))
    arrive(0, 3)
    fk.run(numbers(BROKEN), live, spark)
    before = look_at(live).fingerprint
    start_shadow(numbers(BROKEN).build(), live, same, Wish(), "")
    start_shadow(numbers(FIXED).build(), live, fixed, Wish(), "")
    assert look_at(live).fingerprint == before
    arrive(4, 5)
    fk.run(numbers(BROKEN), live, spark)
    had_shown = shown("rows")
    for place, condition in ((same, BROKEN), (fixed, FIXED)):
        run_shadow(numbers(condition), place, spark)
    assert shown("rows") == had_shown  # nothing was written but by the live flow

    # The unchanged flow kept everything, and did epochs 4 and 5.
    for output in ("rows", "counts"):
        found = of(same, output)
        assert (found.first, found.last, found.equal, found.spans) == (4, 5, 2, ())
        assert found.live_rows == found.shadow_rows == 6

    # The changed one did everything again.
    rows = of(fixed, "rows")
    assert [(span.first, span.last) for span in rows.spans] == [(t, t) for t in range(6)]
    wanted = {n for n in range(60) if n % 2 == 0}
    had = {n for n in range(60) if n % 3 == 0}
    assert (rows.only_live, rows.only_shadow) == (len(had - wanted), len(wanted - had))
    samples = [row for span in rows.spans for row in span.rows.shadow_sample]
    assert {row["value"] for row in samples} <= wanted - had

    done = promote(fixed, "the filter was wrong", old)
    assert [(each.output, each.shown) for each in done.outputs] == [("rows", 5), ("counts", 5)]
    arrive(6, 7)
    fk.run(numbers(FIXED), live, spark)
    after = shown("rows")
    assert {t: after[t] for t in had_shown} == had_shown  # what was shown stays
    assert values(after, 6, 7) == Counter(n for n in range(60, 80) if n % 2 == 0)
    totals: dict[int, int] = {}
    for t, changed in sorted(shown("counts").items()):
        if t > 5:
            totals |= {row["digit"]: row["count"] for row in changed}
    assert totals == dict.fromkeys(range(0, 10, 2), 8)  # of all the fixed flow's numbers


def counted() -> fk.Dataflow:
    """Numbers by the clock, and a running count of them."""
    flow = fk.Dataflow("counted")
    source = fk.Numbers(rows=120, rows_per_epoch=10, rows_per_second=60)
    digits = flow.read(source, name="numbers").select("value % 10 AS digit", name="digits")
    counts = digits.group_by("digit").count(name="counts", policy=fk.lazy(every=2))
    counts.write(fk.ParquetSink(Path("counts").resolve()), name="written")
    return flow


def test_a_live_flow_goes_on_while_all_of_it_is_done_again_beside_it(
    spark: SparkSession, tmp_path: Path
) -> None:
    place, own, flow = str(tmp_path / "live"), str(tmp_path / "shadow"), counted()
    with ThreadPoolExecutor(1) as beside:
        live = beside.submit(fk.run, flow, place, spark)
        while len(list(Path("counts").glob("epoch=*"))) < 3:
            assert not live.done(), live.result()
            sleep(0.05)
        start_shadow(counted().build(), place, own, Wish(changed=("digits",)), "")
        run_shadow(counted(), own, spark)
        live.result()
    run_shadow(counted(), own, spark)  # the rest, had the live flow ended just before it was seen
    (found,) = compare(own).outputs
    epochs = len(shown("counts"))
    assert epochs >= 12
    assert (found.first, found.last, found.equal, found.spans) == (0, epochs - 1, epochs, ())
    assert found.live_rows == found.shadow_rows == sum(map(len, shown("counts").values()))
