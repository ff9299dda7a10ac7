"""Finds the executors that this process has started, and kills them."""

import logging
import os
import random
import signal
import time
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Timer
from typing import Any

EXECUTOR = b"CoarseGrainedExecutorBackend"
SECONDS_MAX = 120


def executors() -> list[int]:
    """The executors in our own process group, by process id."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            words = (entry / "cmdline").read_bytes().split(b"\0")
            ours = os.getpgid(int(entry.name)) == os.getpgid(0)
        except (OSError, ProcessLookupError):
            continue
        if ours and words[0].endswith(b"java") and any(EXECUTOR in word for word in words):
            found.append(int(entry.name))
    return sorted(found)


def wait_for_executors(session: Any, count: int) -> None:
    """Waits until ``count`` executors are there and, if it can be asked, known to Spark."""
    from falkirk.runtime.classic import gateway_of

    gateway = gateway_of(session)
    deadline = time.monotonic() + SECONDS_MAX
    while len(executors()) < count or (gateway and len(gateway.executors()) < count + 1):
        if time.monotonic() > deadline:
            raise TimeoutError(f"no {count} executors after {SECONDS_MAX} seconds")
        time.sleep(0.1)


def kill(which: int) -> int:
    """Kills one executor; returns how many were killed."""
    found = executors()
    if not found:
        return 0
    os.kill(found[which % len(found)], signal.SIGKILL)
    return 1


@dataclass(frozen=True)
class Strike:
    """When an executor is killed: so long after an epoch is read.

    ``again`` kills another one as soon as somebody is found to have lost something, and ``both``
    two at once.
    """

    epoch: int
    milliseconds: int
    which: int
    both: bool = False
    again: bool = False


def seeded(seed: int, epochs: int) -> Strike:
    """The strike of a seed."""
    chosen = random.Random(seed)
    return Strike(
        chosen.randrange(1, epochs),
        chosen.choice([0, 50, 200, 500, 900, 1500]),
        chosen.randrange(2),
        both=chosen.random() < 0.15,
        again=chosen.random() < 0.25,
    )


class Striker(logging.Handler):
    """Carries out a strike, once; listens to the log for the second one."""

    def __init__(self, strike: Strike) -> None:
        """Nobody was killed yet."""
        super().__init__(logging.WARNING)
        self.strike, self.kills, self.begun = strike, 0, False
        self.timers: list[Timer] = []

    def at(self, epoch: int) -> None:
        """An epoch is read."""
        if epoch >= self.strike.epoch and not self.begun:
            self.begun = True
            self._after(self.strike.milliseconds / 1000, 1 + self.strike.both)

    def emit(self, record: logging.LogRecord) -> None:
        """Somebody is found to have lost something."""
        if self.strike.again and self.kills and "lost what they held" in record.msg:
            self.strike = Strike(**(asdict(self.strike) | {"again": False}))
            self._after(0.05, 1)

    def _after(self, seconds: float, count: int) -> None:
        timer = Timer(seconds, self._kill, [count])
        self.timers.append(timer)
        timer.start()

    def _kill(self, count: int) -> None:
        for number in range(count):
            self.kills += kill(self.strike.which + number)

    def done(self) -> int:
        """Waits for all that was begun; how many were killed."""
        for timer in self.timers:
            timer.join()
        return self.kills
