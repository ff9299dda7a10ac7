"""A contender's process and its supervisor: started, killed as by a power failure, started again.

From outside there is nothing else to see than the files that it shows.
"""

from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.harness.processes import Process, kill, kill_one, last_words, started
from benchmarks.ysb.contenders import Contender


class Died(Exception):
    """A contender that ended by itself or shows nothing; its text is the end of its log."""


@dataclass
class Worker:
    """A contender at work in ``folder``, which has ``in``, ``out``, ``state`` and its log."""

    contender: Contender
    folder: Path
    attempt: int = 0
    process: Process | None = field(default=None, repr=False)

    def start(self) -> float:
        """Starts it, for the first time or again; returns when that was."""
        command = [*self.contender.command(), str(self.folder), str(self.attempt)]
        self.process, begun = started(
            self.folder, command, self.contender.variables(), cwd=self.folder
        )
        self.attempt += 1
        return begun

    def kill(self) -> float:
        """Ends the process and all that it started; returns, when it is dead, when that began."""
        begun = kill(self.process)
        self.process = None
        return begun

    def fail(self) -> float:
        """Kills one of its worker processes, if it has several, or else everything; returns when.

        Of several the others go on at once, so that nobody waits for it to be dead.
        """
        if self.contender.worker and self.process is not None:
            return kill_one(self.process, self.contender.worker)
        return self.kill()

    def check(self) -> None:
        """Raises if it has ended by itself."""
        if self.process is not None and self.process.poll() is not None:
            raise Died(f"it ended with {self.process.returncode}:\n{self.last_words()}")

    def last_words(self) -> str:
        """The end of the log."""
        return last_words(self.folder, 2_500)
