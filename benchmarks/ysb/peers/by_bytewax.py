"""The contender Bytewax: running counts, at least once (recovery on), until it is killed."""

import sys
from collections import Counter
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import bytewax.operators as op
import orjson
from bytewax.dataflow import Dataflow
from bytewax.inputs import FixedPartitionedSource, StatefulSourcePartition
from bytewax.outputs import DynamicSink, StatelessSinkPartition
from bytewax.recovery import RecoveryConfig, init_db_dir
from bytewax.run import cli_main

from benchmarks.ysb.showing import campaigns_of, show

WINDOW_MS = 10_000
EPOCH = timedelta(seconds=1)
"""How often state and positions are saved; that much is re-done after a failure."""

LOOK = timedelta(milliseconds=10)


class Watched(StatefulSourcePartition[list[bytes], str]):
    """The files of a folder by their names, each whole."""

    def __init__(self, folder: Path, done: str) -> None:
        """Goes on after the file ``done``."""
        self.folder, self.done, self.waiting = folder, done, list[str]()

    def next_batch(self) -> Iterable[list[bytes]]:
        """The lines of the next file, as one item: Bytewax is spared a call for each line."""
        if not self.waiting:
            found = sorted(path.name for path in self.folder.iterdir())
            self.waiting = [name for name in found if name > self.done][::-1]
        if not self.waiting:
            return []
        self.done = self.waiting.pop()
        return [(self.folder / self.done).read_bytes().splitlines()]

    def next_awake(self) -> datetime | None:
        """At once while files wait, else after a moment."""
        return None if self.waiting else datetime.now(UTC) + LOOK

    def snapshot(self) -> str:
        """The position."""
        return self.done


class Folder(FixedPartitionedSource[list[bytes], str]):
    """A folder as one partition, since its files have one order."""

    def __init__(self, folder: Path) -> None:
        """Watches ``folder``."""
        self.folder = folder

    def list_parts(self) -> list[str]:
        """The only one."""
        return ["files"]

    def build_part(self, step_id: str, for_part: str, resume_state: str | None) -> Watched:
        """From the start, or after what was done."""
        return Watched(self.folder, resume_state or "")


class Shown(StatelessSinkPartition[list[tuple[str, int, int]]]):
    """A file for each batch."""

    def __init__(self, folder: Path, attempt: int) -> None:
        """Writes into ``folder``."""
        self.folder, self.attempt, self.number = folder, attempt, 0

    def write_batch(self, items: list[Any]) -> None:
        """Shows it."""
        name = f"{self.attempt}-{self.number:06}.json"
        self.number += 1
        show(self.folder, name, items)


class Files(DynamicSink[list[tuple[str, int, int]]]):
    """Files of results."""

    def __init__(self, folder: Path, attempt: int) -> None:
        """Writes into ``folder``."""
        self.folder, self.attempt = folder, attempt

    def build(self, step_id: str, worker_index: int, worker_count: int) -> Shown:
        """One for the only worker."""
        return Shown(self.folder, self.attempt)


def views(folder: Path, attempt: int) -> Dataflow:
    """The flow: views of a file are added up first, as Spark does before a shuffle."""
    campaigns = campaigns_of(folder)

    def added(lines: list[bytes]) -> Iterable[tuple[str, int]]:
        found: Counter[tuple[str, int]] = Counter()
        for line in lines:
            event = orjson.loads(line)
            if event["event_type"] == "view":
                window = event["event_time"] // WINDOW_MS * WINDOW_MS
                found[campaigns[event["ad_id"]], window] += 1
        return [(f"{campaign} {window}", count) for (campaign, window), count in found.items()]

    def total(state: int | None, more: int) -> tuple[int, int]:
        count = (state or 0) + more
        return count, count

    def row(item: tuple[str, int]) -> tuple[str, int, int]:
        campaign, window = item[0].split(" ")
        return campaign, int(window), item[1]

    flow = Dataflow("ysb")
    files = op.input("events", flow, Folder(folder / "in"))
    partial = op.flat_map("views", files, added)
    counts = op.stateful_map("counts", partial, total)
    op.output("out", op.map("rows", counts, row), Files(folder / "out", attempt))
    return flow


def main() -> None:
    """Runs until it is killed: one worker, since Python runs one thread at a time."""
    folder, attempt = Path(sys.argv[1]), int(sys.argv[2])
    state = folder / "state"
    if not state.exists():
        state.mkdir()
        init_db_dir(state, 1)
    recovery = RecoveryConfig(state)
    cli_main(views(folder, attempt), epoch_interval=EPOCH, recovery_config=recovery)


if __name__ == "__main__":
    main()
