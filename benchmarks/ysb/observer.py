"""The observer: which results are visible in a folder, and since when."""

import json
import os
import re
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.ysb.stream import Key

LOOK_SECONDS = 0.003
FLINK_ROW = re.compile(r"([+-][IUD])\[([^,]+), (\d+), (\d+)\]")


@dataclass(frozen=True)
class Shown:
    """One row of results: what was said of a group, and since when."""

    seconds: float
    key: Key
    count: int


@dataclass
class Observer:
    """Looks into ``folder`` again and again. A file does not change once it is there."""

    folder: Path
    seen: dict[str, float] = field(default_factory=dict)
    latest: dict[Key, int] = field(default_factory=dict)
    rows: list[Shown] = field(default_factory=list)

    def look(self) -> bool:
        """Takes in what is new; whether there was anything."""
        names = [name for name in os.listdir(self.folder) if name not in self.seen]
        now = time.monotonic()
        fresh = [name for name in names if not name.startswith(".")]
        for name in sorted(fresh, key=lambda name: (self._written(name), name)):
            self.seen[name] = now
            for key, count in rows_of(self.folder / name):
                self.rows.append(Shown(now, key, count))
                self.latest[key] = count
        return bool(fresh)

    def _written(self, name: str) -> int:
        return os.stat(self.folder / name).st_mtime_ns

    def shows(self, counts: dict[Key, int]) -> bool:
        """Whether exactly these counts are visible of these groups."""
        return all(self.latest.get(key) == count for key, count in counts.items())


def rows_of(path: Path) -> list[tuple[Key, int]]:
    """What a file says, in its order: JSON lines, or rows of a change log as Flink prints them."""
    found: list[tuple[Key, int]] = []
    for line in path.read_text("ascii").splitlines():
        if line.startswith("["):
            campaign, window, count = json.loads(line)
            found.append(((campaign, window), count))
        elif (match := FLINK_ROW.fullmatch(line)) is None:
            raise ValueError(f"{path}: {line!r} is no result")
        elif match[1] in ("+I", "+U"):
            found.append(((match[2], int(match[3])), int(match[4])))
    return found
