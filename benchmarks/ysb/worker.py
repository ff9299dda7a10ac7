"""A contender's process and its supervisor: started, killed as by a power failure, started again.

From outside there is nothing else to see than the files that it shows.
"""

import os
import signal
import subprocess
import time
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.ysb.contenders import Contender


class Died(Exception):
    """A contender that ended by itself or shows nothing; its text is the end of its log."""


@dataclass
class Worker:
    """A contender at work in ``folder``, which has ``in``, ``out``, ``state`` and its log."""

    contender: Contender
    folder: Path
    attempt: int = 0
    process: subprocess.Popen[bytes] | None = field(default=None, repr=False)

    def start(self) -> float:
        """Starts it, for the first time or again; returns when that was."""
        for name in ("in", "out"):
            (self.folder / name).mkdir(parents=True, exist_ok=True)
        with (self.folder / "log").open("ab") as log:
            begun = time.monotonic()
            self.process = subprocess.Popen(
                [*self.contender.command(), str(self.folder), str(self.attempt)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=subprocess.STDOUT,
                env=self.contender.variables(),
                cwd=self.folder,
                start_new_session=True,  # its JVM goes with it
            )
        self.attempt += 1
        return begun

    def kill(self) -> None:
        """Ends the process and all that it started, and waits until it is dead."""
        if self.process is not None:
            with suppress(ProcessLookupError):
                os.killpg(self.process.pid, signal.SIGKILL)
            self.process.wait()
            self.process = None

    def check(self) -> None:
        """Raises if it has ended by itself."""
        if self.process is not None and self.process.poll() is not None:
            raise Died(f"it ended with {self.process.returncode}:\n{self.last_words()}")

    def last_words(self) -> str:
        """The end of the log."""
        return (self.folder / "log").read_text("utf-8", "replace")[-2500:]
