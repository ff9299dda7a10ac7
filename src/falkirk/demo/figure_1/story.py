"""What happened in a demonstration, from what the process wrote down and clients measured."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from falkirk.demo.figure_1.clients import Query


@dataclass(slots=True)
class Failure:
    """One thing that was broken, when, and what came of it."""

    what: str
    at: float
    rollback: dict[str, Any] | None = None
    over: float | None = None


@dataclass(slots=True)
class Story:
    """Follows the file of events, and puts rollbacks to the failures that caused them."""

    path: Path
    failures: list[Failure] = field(default_factory=list)
    progress: dict[str, Any] = field(default_factory=dict)
    before: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    _read: int = 0

    def broke(self, what: str, at: float) -> None:
        """Something was just broken."""
        self.failures.append(Failure(what, at))

    def read(self) -> None:
        """Reads what was written since; a line that is not whole yet is left."""
        if not self.path.exists():
            return
        with self.path.open("rb") as file:
            file.seek(self._read)
            for line in file:
                if not line.endswith(b"\n"):
                    break
                self._read += len(line)
                self._heard(json.loads(line))

    def _heard(self, told: dict[str, Any]) -> None:
        match told["what"]:
            case "progress":
                self.before, self.progress = self.progress, told
            case "rollback" if self.failures and self.failures[-1].rollback is None:
                self.failures[-1].rollback = told
            case "caught up" if self.failures and self.failures[-1].over is None:
                self.failures[-1].over = told["at"]
            case "ended":
                self.error = told["error"]

    def rate(self, processor: str) -> float:
        """Rows a second that a processor takes in, by the last two reports."""
        rows = [
            each.get("processors", {}).get(processor, {}).get("rows", 0) for each in self._two()
        ]
        seconds = [each.get("at", 0.0) for each in self._two()]
        passed = seconds[1] - seconds[0]
        return max(0.0, (rows[1] - rows[0]) / passed) if passed > 0 else 0.0

    def _two(self) -> tuple[dict[str, Any], dict[str, Any]]:
        return self.before, self.progress


@dataclass(frozen=True, slots=True)
class Latency:
    """How long clients waited, in seconds."""

    queries: int
    median: float
    p99: float
    most: float

    @classmethod
    def of(cls, queries: Sequence[Query]) -> "Latency | None":
        """Of those that were answered; None if none was."""
        seconds = sorted(q.seconds for q in queries if q.seconds is not None)
        if not seconds:
            return None
        p99 = quantiles(seconds, n=100)[-1] if len(seconds) > 1 else seconds[0]
        return cls(len(seconds), median(seconds), min(p99, seconds[-1]), seconds[-1])

    def __str__(self) -> str:
        return f"{shown(self.median)} median, {shown(self.p99)} p99, {shown(self.most)} at most"


def shown(seconds: float) -> str:
    """A duration as people say it.

    >>> shown(0.0421), shown(3.14)
    ('42 ms', '3.1 s')
    """
    return f"{seconds * 1000:.0f} ms" if seconds < 1 else f"{seconds:.1f} s"
