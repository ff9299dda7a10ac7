"""What goes wrong in the demonstration, and how it is brought about."""

import os
import signal
from pathlib import Path

CIRCLES = ("known", "distinct", "min", "loop", "circles")
"""Processors of the iterative region."""

STATISTICS = ("asked", "query-log")
"""Those to whom answers go on their way to the database."""


def children_of(pid: int) -> list[int]:
    """The processes that a process has started, and theirs."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                fields = (entry / "stat").read_text().rpartition(")")[2].split()
            except OSError:
                continue
            parents.setdefault(int(fields[1]), []).append(int(entry.name))
    found, pending = [], [pid]
    while pending:
        for child in parents.get(pending.pop(), []):
            found.append(child)
            pending.append(child)
    return found


def executors_of(pid: int) -> list[int]:
    """The Spark executors that a driver's process has started."""
    found = []
    for child in children_of(pid):
        try:
            command = Path(f"/proc/{child}/cmdline").read_bytes()
        except OSError:
            continue
        if b"CoarseGrainedExecutorBackend" in command:
            found.append(child)
    return found


def kill_an_executor(pid: int) -> int | None:
    """Kills one executor of a driver's process; returns its number."""
    found = executors_of(pid)
    if not found:
        return None
    os.kill(found[0], signal.SIGKILL)
    return found[0]


def kill_everything(group: int) -> None:
    """Kills a process and all that it has started, without any farewell."""
    os.killpg(group, signal.SIGKILL)
