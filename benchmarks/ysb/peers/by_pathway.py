"""The contender Pathway: running counts, at least once (persistence on), until it is killed."""

import sys
from pathlib import Path
from typing import Any

import pathway as pw

from benchmarks.ysb.showing import show

WINDOW_MS = 10_000
COMMIT_MS = 10
"""How long Pathway may gather rows before it works on them."""

SNAPSHOT_MS = 1_000


class Event(pw.Schema):
    """An event."""

    user_id: str
    page_id: str
    ad_id: str
    ad_type: str
    event_type: str
    event_time: int
    ip_address: str


class Campaign(pw.Schema):
    """What says to which campaign an advertisement belongs."""

    ad_id: str = pw.column_definition(primary_key=True)
    campaign_id: str


class Shown(pw.io.python.ConnectorObserver):
    """A file for each of Pathway's times."""

    def __init__(self, folder: Path, attempt: int) -> None:
        """Writes into ``folder``."""
        self.folder, self.attempt, self.rows = folder, attempt, list[tuple[str, int, int]]()

    def on_change(self, key: Any, row: dict[str, Any], time: int, is_addition: bool) -> None:
        """A count that holds from now on; the one that no longer holds is not shown."""
        if is_addition:
            self.rows.append((row["campaign_id"], row["window"], row["count"]))

    def on_time_end(self, time: int) -> None:
        """Shows it."""
        if self.rows:
            show(self.folder, f"{self.attempt}-{time}.json", self.rows)
            self.rows = []

    def on_end(self) -> None:
        """Never: the stream has no end."""


def main() -> None:
    """Runs until it is killed."""
    folder, attempt = Path(sys.argv[1]), int(sys.argv[2])
    events = pw.io.jsonlines.read(
        folder / "in", schema=Event, mode="streaming", autocommit_duration_ms=COMMIT_MS, name="in"
    )
    campaigns = pw.io.jsonlines.read(folder / "campaigns", schema=Campaign, mode="static")
    seen = events.filter(events.event_type == "view")
    named = seen.join(campaigns, seen.ad_id == campaigns.ad_id).select(
        campaigns.campaign_id, window=seen.event_time // WINDOW_MS * WINDOW_MS
    )
    counts = named.groupby(named.campaign_id, named.window).reduce(
        named.campaign_id, named.window, count=pw.reducers.count()
    )
    pw.io.python.write(counts, Shown(folder / "out", attempt))
    backend = pw.persistence.Backend.filesystem(folder / "state")
    pw.run(
        monitoring_level=pw.MonitoringLevel.NONE,
        persistence_config=pw.persistence.Config(backend, snapshot_interval_ms=SNAPSHOT_MS),
    )


if __name__ == "__main__":
    main()
