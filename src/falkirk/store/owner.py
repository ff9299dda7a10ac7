"""Who holds a store: a process on a host, told apart from a later one with the same number."""

import os
import socket
from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Owner:
    """A process; ``started`` tells it from a later one with the same ``pid``."""

    host: str
    pid: int
    started: str

    @property
    def dead(self) -> bool:
        """Whether this is a process of this host that is surely gone."""
        if self.host != socket.gethostname():
            return False
        if not alive(self.pid):
            return True
        return bool(self.started) and started(self.pid) not in ("", self.started)


def this_process() -> Owner:
    """The process that asks."""
    pid = os.getpid()
    return Owner(socket.gethostname(), pid, started(pid))


def alive(pid: int) -> bool:
    """Whether a process with this number runs on this host.

    One that has ended and was not buried does not: a container whose first process buries nobody
    keeps such ones for ever.
    """
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        pass
    return said_by_kernel(pid)[:1] not in (["Z"], ["X"])


def started(pid: int) -> str:
    """When a process started, as the kernel says it; empty where it does not say."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return f"{boot}:{said_by_kernel(pid)[19]}"
    except (OSError, IndexError):
        return ""


def said_by_kernel(pid: int) -> list[str]:
    """What the kernel says of a process, from its state on; nothing where it does not say."""
    try:
        # The name of the program is in parentheses and may hold anything, spaces too.
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []
