"""Looking at a streaming program from outside: files in, folders ``epoch=N`` out, nothing else.

All contenders are programs of their own, each in a fresh JVM, and are measured in the same way: a
file is visible when it is moved into the folder that is watched, a result when its folder is there.
"""

import os
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.harness.processes import Process, kill, last_words, started

LOOK_SECONDS = 0.002
PATIENCE_SECONDS = 300.0


@dataclass
class Program:
    """A contender at work in ``folder``, which has ``in``, ``out`` and its log."""

    folder: Path
    arguments: list[str]
    environment: dict[str, str] = field(default_factory=dict)
    fed: int = 0
    process: Process | None = None

    def start(self) -> float:
        """Starts the program; returns when that was."""
        command = [sys.executable, "-m", *self.arguments, str(self.folder)]
        self.process, begun = started(self.folder, command, {**os.environ, **self.environment})
        return begun

    def kill(self) -> None:
        """Ends the program and its JVM as a power failure would."""
        kill(self.process)
        self.process = None

    def feed(self, files: list[Path]) -> float:
        """Moves files in; returns when the last one was visible."""
        for path in files:
            hidden = self.folder / "in" / f".{path.name}"
            os.link(path, hidden)
            hidden.rename(self.folder / "in" / path.name)
        self.fed += len(files)
        return time.monotonic()

    def epochs(self) -> set[int]:
        """The epochs that are visible."""
        found = os.listdir(self.folder / "out")
        return {int(name[6:]) for name in found if name.startswith("epoch=")}

    def await_epoch(self, number: int) -> float:
        """Waits until an epoch is visible; returns when that was."""
        wanted = self.folder / "out" / f"epoch={number}"
        return self.wait_for(wanted.exists, f"epoch {number}")

    def wait_for(self, happened, what: str) -> float:
        """Waits until ``happened()`` is true; returns when that was."""
        until = time.monotonic() + PATIENCE_SECONDS
        while not happened():
            if self.process is not None and self.process.poll() is not None:
                raise RuntimeError(f"{self.arguments} ended before {what}:\n{self.last_words()}")
            if time.monotonic() > until:
                raise RuntimeError(f"{self.arguments}: no {what}:\n{self.last_words()}")
            time.sleep(LOOK_SECONDS)
        return time.monotonic()

    def last_words(self) -> str:
        """The end of the log."""
        return last_words(self.folder, 12_000)
