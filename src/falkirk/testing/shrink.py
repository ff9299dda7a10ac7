"""Makes a failing run small: fewer faults, less input, a shorter and more prompt schedule.

Every smaller run is tried, and kept if it fails too. What is left is what the failure needs.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from falkirk.testing.case import Case, read_batches, write_batches
from falkirk.testing.decisions import Decision
from falkirk.testing.faults import Fault

STEPS_MAX = 3_000


@dataclass(frozen=True)
class Failure:
    """A case that fails, and how."""

    case: Case
    error: Exception
    transcript: list[str]

    def __str__(self) -> str:
        lines = [f"  {line}" for line in self.transcript]
        what = f"{type(self.error).__name__}: {self.error}"
        return "\n".join([*lines, what, "Replay it:", f"  {self.case.command()}"])


def attempt(case: Case) -> tuple[Failure | None, list[Decision]]:
    """Runs a case: how it fails, if it does, and the decisions that were made until then."""
    run = case.simulation()
    failure: Failure | None = None
    try:
        run.run(STEPS_MAX)
    except Exception as error:
        failure = Failure(case, error, run.transcript())
    return failure, list(run.decisions.made)


def shrink(case: Case, runs_max: int = 2_000) -> Failure | None:
    """The smallest failing run that ``runs_max`` attempts find; None if ``case`` does not fail."""
    failure, decisions = attempt(case)
    if failure is None:
        return None
    kind, left = type(failure.error), runs_max
    written, _ = attempt(case.written(decisions))
    if written is None:
        return failure
    best, progress = written, True
    while progress and left > 0:
        progress = False
        for smaller in smaller_cases(best.case):
            left -= 1
            found, _ = attempt(smaller)
            if found is not None and type(found.error) is kind:
                best, progress = found, True
                break
            if left <= 0:
                break
    return best


def smaller_cases(case: Case) -> Iterator[Case]:
    """Cases that are smaller in one way, the most promising first."""
    script = case.script or ()
    yield from (replace(case, script=each) for each in without_chunks(script, len(script) // 2))
    for i in [i for i, decision in enumerate(script) if isinstance(decision, Fault)]:
        yield replace(case, script=script[:i] + script[i + 1 :])
    yield from less_input(case)
    yield from (replace(case, script=each) for each in fewer_names(script))
    size = len(script) // 4
    while size:
        yield from (replace(case, script=each) for each in without_chunks(script, size))
        size //= 2
    for i, decision in enumerate(script):
        if isinstance(decision, int) and decision:
            yield replace(case, script=(*script[:i], 0, *script[i + 1 :]))


def without_chunks(script: tuple[Decision, ...], size: int) -> Iterator[tuple[Decision, ...]]:
    """``script`` without one of its parts of length ``size``, the last ones first."""
    if size:
        for start in range((len(script) - 1) // size * size, -1, -size):
            yield script[:start] + script[start + size :]


def fewer_names(script: tuple[Decision, ...]) -> Iterator[tuple[Decision, ...]]:
    """``script`` with one processor less in one of its faults."""
    for i, decision in enumerate(script):
        if isinstance(decision, Fault) and len(decision.names) > 1:
            for name in decision.names:
                names = tuple(other for other in decision.names if other != name)
                yield (*script[:i], Fault(decision.kind, names), *script[i + 1 :])


def less_input(case: Case) -> Iterator[Case]:
    """The case with an epoch less, or a batch less."""
    batches = read_batches(case.batches) if case.batches else case.scenario().batches()
    for p, counts in batches.items():
        if counts:
            yield replace(case, batches=write_batches({**batches, p: counts[:-1]}))
        for epoch, count in enumerate(counts):
            if count:
                less = [*counts[:epoch], count - 1, *counts[epoch + 1 :]]
                yield replace(case, batches=write_batches({**batches, p: less}))
