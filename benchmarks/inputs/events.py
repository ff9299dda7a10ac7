"""A stream of advertisement events after the Yahoo streaming benchmark, as Parquet files.

Each advertisement belongs to a campaign. The question is how many views each campaign had in each
window of ten seconds: a filter, a join with a table that does not change, and a running count.
"""

import os
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

CAMPAIGNS, ADS_EACH = 100, 10
WINDOW_SECONDS = 10
START_SECONDS = 1_700_000_000
SCHEMA = (
    "user_id STRING, page_id STRING, ad_id STRING, ad_type STRING, event_type STRING,"
    " event_time TIMESTAMP, ip_address STRING"
)
CAMPAIGN_SCHEMA = "ad_id STRING, campaign_id STRING"
POOLS = {
    "user_id": [f"user-{n:05}" for n in range(10_000)],
    "page_id": [f"page-{n:03}" for n in range(1_000)],
    "ad_id": [f"ad-{n:04}" for n in range(CAMPAIGNS * ADS_EACH)],
    "ad_type": ["banner", "modal", "sponsored-search", "mail", "mobile"],
    "event_type": ["view", "click", "purchase"],
    "ip_address": [f"10.0.{n // 256}.{n % 256}" for n in range(2_000)],
}


@dataclass(frozen=True)
class Shape:
    """How many events a file has, and how many seconds of the world's time they cover."""

    events: int
    seconds: float = 2.0
    seed: int = 20260

    def file(self, number: int) -> pa.Table:
        """The events of one file; the same for the same number."""
        random = np.random.default_rng((self.seed, self.events, number))
        columns = {
            name: pa.array(values).take(pa.array(random.integers(0, len(values), self.events)))
            for name, values in POOLS.items()
        }
        begin = START_SECONDS + number * self.seconds
        micros = (begin + random.random(self.events) * self.seconds) * 1e6
        times = pa.array(micros.astype("int64"), pa.timestamp("us", "UTC"))
        return pa.table({**columns, "event_time": times}).select(names())


def names() -> list[str]:
    """The columns in order."""
    return [field.split()[0] for field in SCHEMA.split(", ")]


def make(folder: Path, shape: Shape, files: int) -> list[Path]:
    """Writes the first ``files`` files of a stream; those that are there are left as they are."""
    folder.mkdir(parents=True, exist_ok=True)
    made = [folder / f"{number:06}.parquet" for number in range(files)]
    for number, path in enumerate(made):
        if not path.exists():
            hidden = path.with_name(f".{path.name}")
            pq.write_table(shape.file(number), hidden)
            # Who orders files by their time must find the order of their names.
            os.utime(hidden, (START_SECONDS + number, START_SECONDS + number))
            hidden.rename(path)
    return made


def campaigns(session, folder: Path):
    """The table that says which campaign an advertisement belongs to, as a DataFrame."""
    return session.read.schema(CAMPAIGN_SCHEMA).parquet(str(folder / "campaigns"))


def make_campaigns(folder: Path) -> Path:
    """Writes the table that says which campaign each advertisement belongs to."""
    folder.mkdir(parents=True, exist_ok=True)
    ads = POOLS["ad_id"]
    names = [f"campaign-{n // ADS_EACH:03}" for n in range(len(ads))]
    pq.write_table(pa.table({"ad_id": ads, "campaign_id": names}), folder / "all.parquet")
    return folder


def expected(files: list[Path]) -> Counter[tuple[str, int]]:
    """How many views each campaign had in each window, by its first second."""
    campaign = dict(zip(POOLS["ad_id"], range(len(POOLS["ad_id"])), strict=True))
    found: Counter[tuple[str, int]] = Counter()
    for path in files:
        table = pq.read_table(path, columns=["ad_id", "event_type", "event_time"])
        views = table.filter(pc.equal(table["event_type"], "view"))
        seconds = pc.floor(pc.divide(views["event_time"].cast(pa.int64()), 1e6 * WINDOW_SECONDS))
        for ad, window in zip(views["ad_id"].to_pylist(), seconds.to_pylist(), strict=True):
            key = f"campaign-{campaign[ad] // ADS_EACH:03}", int(window) * WINDOW_SECONDS
            found[key] += 1
    return found


def shown(folder: Path) -> Counter[tuple[str, int]]:
    """The last count that each group was shown with, in a folder of ``epoch=N`` folders."""
    found: Counter[tuple[str, int]] = Counter()
    epochs = sorted(folder.glob("epoch=*"), key=lambda path: int(path.name.partition("=")[2]))
    for epoch in epochs:
        for part in sorted(epoch.glob("*.parquet")):
            for row in pq.ParquetFile(part).read().to_pylist():
                found[row["campaign_id"], int(row["window"])] = row["count"]
    return found
