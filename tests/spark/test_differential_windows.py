"""Windows and the Yahoo streaming benchmark, as events and campaigns come and go."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.spark.changing import Changing, Multiset, check

import falkirk as fk
from falkirk.core.errors import DefinitionError
from falkirk.differential import collection, windows
from falkirk.runtime.options import Options
from falkirk.testing.script import Script

pytestmark = pytest.mark.spark

START = datetime(1969, 12, 31, 23, 59, 30, tzinfo=UTC)
"""Windows begin at whole multiples before 1970, too."""
MOMENT = pa.timestamp("us", "UTC")
EVENTS = pa.schema(
    [
        ("ad_id", pa.int64()),
        ("event_type", pa.string()),
        ("event_time", MOMENT),
        ("change", "int64"),
    ]
)
CAMPAIGNS = pa.schema([("ad_id", "int64"), ("campaign_id", pa.string()), ("change", "int64")])


def event(rng: Any) -> tuple[Any, ...]:
    moment = START + timedelta(milliseconds=rng.randrange(60_000))
    return rng.randrange(5), rng.choice(["view", "view", "click"]), moment


def floored(moment: datetime, seconds: int) -> datetime:
    whole = int((moment - datetime(1970, 1, 1, tzinfo=UTC)).total_seconds() // seconds) * seconds
    return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(seconds=whole)


def views(events: Multiset, campaigns: Multiset) -> Multiset:
    found: Counter[Any] = Counter()
    for (ad, kind, moment), count in events.items():
        for (other, campaign), times in campaigns.items():
            if ad == other and kind == "view":
                found[campaign, floored(moment, 10)] += count * times
    return Counter((*group, count) for group, count in found.items())


def test_views_of_campaigns(spark: SparkSession) -> None:
    events = Changing(["ad_id", "event_type", "event_time"], event, 10, 9, seed=41)
    campaigns = Changing(
        ["ad_id", "campaign_id"], lambda rng: (rng.randrange(5), rng.choice("ab")), 10, 3, seed=42
    )
    flow = fk.Dataflow("views")
    made = windows.campaign_views(
        events.read(flow, "events", EVENTS), campaigns.read(flow, "campaigns", CAMPAIGNS)
    )
    right = [views(*sums) for sums in zip(events.sums, campaigns.sums, strict=True)]
    columns = ("campaign_id", "window", "views")
    check(spark, flow, {"views": made}, {"views": (columns, right)})


def test_windows_that_overlap(spark: SparkSession) -> None:
    flow = fk.Dataflow("sliding")
    moments = [START + timedelta(seconds=s) for s in (0, 4, 11, 29, 30, 31)]
    script = [[{"at": moment} for moment in moments]]
    rows = collection(flow.read(Script(script, pa.schema([("at", MOMENT)])), name="rows"))
    made = windows.sliding(rows, "at", 10, 4).group_by("window").count("n")
    right: Counter[Any] = Counter()
    for moment in moments:
        begin = floored(moment, 4)
        while begin + timedelta(seconds=10) > moment:
            right[begin] += 1
            begin -= timedelta(seconds=4)
    check(spark, flow, {"n": made}, {"n": (("window", "n"), [Counter(right.items())])})


def test_windows_with_gaps_are_refused() -> None:
    flow = fk.Dataflow("refused")
    rows = collection(flow.read(Script([[{"at": START}]]), name="rows"))
    with pytest.raises(DefinitionError, match="fall out"):
        windows.sliding(rows, "at", 10, 11)
    with pytest.raises(DefinitionError, match="at least one second"):
        windows.tumbling(rows, "at", 0)


@pytest.mark.parametrize("small_bytes_max", [1 << 20, 0])
def test_a_python_reducer_with_moments_for_keys(spark: SparkSession, small_bytes_max: int) -> None:
    flow = fk.Dataflow("moments")
    script = [[{"at": START, "n": n} for n in (1, 2, 3)]]
    schema = pa.schema([("at", MOMENT), ("n", "int64")])
    rows = collection(flow.read(Script(script, schema), name="rows"))
    made = (
        windows.tumbling(rows, "at", 60)
        .group_by("window")
        .reduce(total, pa.schema([("n", "int64")]))
    )
    begin = floored(START, 60)
    right = {"n": (("window", "n"), [Counter({(begin, 6): 1})])}
    check(spark, flow, {"n": made}, right, Options(small_bytes_max=small_bytes_max))


def total(keys: Any, rows: Any) -> Any:
    return [{"n": sum(row["n"] * count for row, count in rows)}]
