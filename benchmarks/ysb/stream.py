"""The stream of the Yahoo streaming benchmark as files of JSON lines, the same for the same seed.

A file is a number: what is in it follows from the number, the moment at which it begins and how
much time it covers, so that the right counts can be worked out without reading any file.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from benchmarks.inputs.events import ADS_EACH, POOLS, WINDOW_SECONDS

WINDOW_MS = WINDOW_SECONDS * 1000
SCHEMA = (
    "user_id STRING, page_id STRING, ad_id STRING, ad_type STRING, event_type STRING,"
    " event_time BIGINT, ip_address STRING"
)
SEED = 20260
VIEW = POOLS["event_type"].index("view")
Key = tuple[str, int]
"""A campaign and the first millisecond of a window."""


@dataclass(frozen=True)
class Piece:
    """One file: its number, the milliseconds that it begins at and covers, and its events."""

    number: int
    begin_ms: int
    span_ms: int
    events: int

    @property
    def name(self) -> str:
        """The name of the file; names are ordered as the stream is."""
        return f"{self.number:06}.json"

    def drawn(self) -> dict[str, np.ndarray]:
        """For each column where in its pool each event is, and the times in their order."""
        random = np.random.default_rng((SEED, self.number, self.events))
        columns = {
            name: random.integers(0, len(values), self.events) for name, values in POOLS.items()
        }
        times = self.begin_ms + np.sort(random.integers(0, self.span_ms, self.events))
        return {**columns, "event_time": times}

    def text(self) -> str:
        """The events as JSON lines."""
        drawn = self.drawn()
        named = {name: [values[i] for i in drawn[name]] for name, values in POOLS.items()}
        return "".join(
            f'{{"user_id":"{user}","page_id":"{page}","ad_id":"{ad}","ad_type":"{kind}",'
            f'"event_type":"{event}","event_time":{moment},"ip_address":"{address}"}}\n'
            for user, page, ad, kind, event, moment, address in zip(
                named["user_id"],
                named["page_id"],
                named["ad_id"],
                named["ad_type"],
                named["event_type"],
                drawn["event_time"].tolist(),
                named["ip_address"],
                strict=True,
            )
        )

    def views(self) -> Counter[Key]:
        """How many views each campaign had in each window."""
        drawn = self.drawn()
        seen = drawn["event_type"] == VIEW
        windows = drawn["event_time"][seen] // WINDOW_MS * WINDOW_MS
        campaigns = drawn["ad_id"][seen] // ADS_EACH
        return Counter(
            (f"campaign-{campaign:03}", window)
            for campaign, window in zip(campaigns.tolist(), windows.tolist(), strict=True)
        )


def pieces(first: int, count: int, begin_ms: int, span_ms: int, events: int) -> list[Piece]:
    """So many files, one after the other."""
    return [Piece(first + i, begin_ms + i * span_ms, span_ms, events) for i in range(count)]


def expected(stream: Iterable[Piece]) -> Counter[Key]:
    """The right counts."""
    found: Counter[Key] = Counter()
    for piece in stream:
        found.update(piece.views())
    return found


def make(folder: Path, stream: Iterable[Piece]) -> None:
    """Writes files where nobody looks for them yet."""
    folder.mkdir(parents=True, exist_ok=True)
    for piece in stream:
        (folder / piece.name).write_text(piece.text(), "ascii")


def make_campaigns(folder: Path) -> None:
    """Writes the table that says which campaign each advertisement belongs to."""
    folder.mkdir(parents=True, exist_ok=True)
    lines = [
        f'{{"ad_id":"{ad}","campaign_id":"campaign-{n // ADS_EACH:03}"}}\n'
        for n, ad in enumerate(POOLS["ad_id"])
    ]
    (folder / "all.json").write_text("".join(lines), "ascii")
