"""Many seeds at once: blocks of them, each run by one of several processes."""

import gc
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing import get_context
from typing import Any, TypeVar

from falkirk.testing.case import RANDOM_FLOWS, Case
from falkirk.testing.teeth import Verdict, bite

BLOCK = 50
Answer = TypeVar("Answer")


@dataclass
class Block:
    """What some seeds did; ``cpu`` is how many seconds of a core's time that took."""

    runs: int = 0
    steps: int = 0
    cpu: float = 0.0
    failures: list[tuple[int, str]] = field(default_factory=list)
    seen: Counter[str] = field(default_factory=Counter)

    def add(self, other: "Block") -> None:
        """Counts another block, too."""
        self.runs += other.runs
        self.steps += other.steps
        self.cpu += other.cpu
        self.failures += other.failures
        for what, times in other.seen.items():
            if times:
                self.seen[what] += times


def run_block(
    start: int, count: int, flows: str = RANDOM_FLOWS, rules_off: tuple[str, ...] = ()
) -> Block:
    """Runs ``count`` seeds from ``start`` on; a run that fails is noted."""
    block, began = Block(), time.process_time()
    with uncollected():
        for seed in range(start, start + count):
            block.add(run_one(Case(seed, flows, rules_off)))
    block.cpu = time.process_time() - began
    return block


def run_one(case: Case) -> Block:
    """Runs one case; when this returns, nothing is left of the run."""
    run, failures = case.simulation(), []
    try:
        run.run()
    except Exception as error:
        failures.append((case.seed, f"{type(error).__name__}: {error}"))
    return Block(1, run.steps, failures=failures, seen=run.seen)


def bite_block(rule: str, start: int, count: int, flows: str = RANDOM_FLOWS) -> list[Verdict]:
    """Runs ``count`` seeds with one rule off."""
    with uncollected():
        return [bite(rule, seed, flows) for seed in range(start, start + count)]


@contextmanager
def uncollected() -> Iterator[None]:
    """Lets Python's collector rest: a run has no cycles, so it goes as soon as it is over."""
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            gc.enable()


def run_in_processes(
    function: Callable[..., Answer], calls: Sequence[tuple[Any, ...]], jobs: int
) -> Iterator[tuple[int, Answer]]:
    """Calls ``function`` with each of ``calls``; yields which, and the answer, as they come.

    One job needs no process of its own.
    """
    if jobs <= 1:
        for i, call in enumerate(calls):
            yield i, function(*call)
        return
    with ProcessPoolExecutor(jobs, mp_context=get_context("spawn")) as pool:
        left = list(enumerate(calls))[::-1]
        running: dict[Future[Answer], int] = {}
        while left or running:
            while left and len(running) < 2 * jobs:
                i, call = left.pop()
                running[pool.submit(function, *call)] = i
            for future in wait(running, return_when=FIRST_COMPLETED).done:
                yield running.pop(future), future.result()


def blocks(start: int, count: int) -> list[tuple[int, int]]:
    """``count`` seeds from ``start`` on, cut into blocks: (first, how many)."""
    end = start + count
    return [(first, min(BLOCK, end - first)) for first in range(start, end, BLOCK)]
