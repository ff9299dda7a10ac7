"""What happened in a demonstration, from what the process wrote down and clients measured."""

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median, quantiles
from typing import Any

from falkirk.demo.figure_1.clients import Query

VERSIONS = ("ranks-version-versions-out", "circles-version-versions-out")
"""The outputs of the two computations, from which the query path gets its versions."""

RATE_SECONDS = 8.0
"""Over how long a rate is taken: several epochs."""


@dataclass(slots=True)
class Failure:
    """One thing that was broken, when, what was complete then, and what came of it.

    One that waits for its moment, ``awaited``, happened when the rollback says that it was noticed.
    """

    what: str
    at: float
    complete: dict[str, str] = field(default_factory=dict)
    rollback: dict[str, Any] | None = None
    over: float | None = None
    awaited: bool = False


@dataclass(slots=True)
class Story:
    """Follows the file of events, and puts rollbacks to the failures that caused them."""

    path: Path
    failures: list[Failure] = field(default_factory=list)
    progress: dict[str, Any] = field(default_factory=dict)
    error: str | None = None
    _read: int = 0
    _recent: deque[dict[str, Any]] = field(default_factory=deque)

    def broke(self, what: str, at: float, awaited: bool = False) -> None:
        """Something was just broken, or will be as soon as the moment is there."""
        self.failures.append(Failure(what, at, self._complete(), awaited=awaited))

    def _complete(self) -> dict[str, str]:
        """What each processor has completed, as far as is known."""
        return {p: each["completed"] for p, each in self.progress.get("processors", {}).items()}

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
                self._progressed(told)
            case "rollback" if self.failures and self.failures[-1].rollback is None:
                self._rolled_back(self.failures[-1], told)
            case "caught up":
                self._caught_up(told)
            case "ended":
                self.error = told["error"]

    def _rolled_back(self, failure: Failure, told: dict[str, Any]) -> None:
        failure.rollback = told
        if failure.awaited:
            failure.at, failure.complete = told["at"] - told["seconds"], self._complete()

    def _caught_up(self, told: dict[str, Any]) -> None:
        for failure in self.failures:
            if failure.over is None and (failure.rollback or {}).get("number") == told["number"]:
                failure.over = told["at"]

    def _progressed(self, told: dict[str, Any]) -> None:
        if told["uptime"] < self.progress.get("uptime", 0.0):
            self._recent.clear()  # another process counts from the beginning
        self.progress = told
        self._recent.append(told)
        while self._recent[0]["at"] < told["at"] - RATE_SECONDS:
            self._recent.popleft()

    def has_versions(self) -> bool:
        """Whether both computations have brought something that queries can be answered from."""
        found = self.progress.get("processors", {})
        return all(found.get(p, {}).get("watermark", "∅") != "∅" for p in VERSIONS)

    def rate(self, processor: str) -> float:
        """Rows a second that a processor took in lately."""
        if not self._recent:
            return 0.0
        first, last = self._recent[0], self._recent[-1]
        rows = [each["processors"].get(processor, {}).get("rows", 0) for each in (first, last)]
        passed = last["at"] - first["at"]
        return max(0.0, (rows[1] - rows[0]) / passed) if passed > 0 else 0.0


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
