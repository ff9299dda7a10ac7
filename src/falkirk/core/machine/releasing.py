"""Handing outputs to the outside (§4.3): staged and certain, or promptly and perhaps again.

An output *stages*: what it shows is durable, and is released inside its own low-watermark, where
nothing can contradict it any more. An at-least-once output is *prompt*: a time is released as soon
as it is complete, nothing of it is saved, and what the outside has taken is its checkpoint, as the
paper has it. If it fails before, the time is done again and shown again.
"""

from typing import Any

from falkirk.core.machine.boundary import excluding
from falkirk.core.machine.events import Release
from falkirk.core.machine.state import State
from falkirk.core.times import ProcessorId


def is_prompt(state: State, p: ProcessorId) -> bool:
    """Whether ``p`` shows its times as soon as they are complete.

    The slow side of a bridge is not: its versions are never taken back.
    """
    return p in state.flow.prompt_ones


def release(state: State, p: ProcessorId, watermark: Any) -> list[Release]:
    """Hands the staged times of an output to the outside that lie in its own low-watermark."""
    if not state.is_output(p) or is_prompt(state, p):
        return []
    return [Release(p, time, batches) for time, batches in unreleased(state, p, watermark)]


def release_promptly(state: State, p: ProcessorId) -> list[Release]:
    """Hands all complete times of a prompt output to the outside.

    Rows that come at such a time afterwards, because a sender went back, follow when the outside
    has taken the first ones.
    """
    incarnation = state.standing[p].incarnation
    return [
        Release(p, time, batches, incarnation)
        for time, batches in unreleased(state, p, state.completed(p))
    ]


def unreleased(state: State, p: ProcessorId, frontier: Any) -> list[tuple[Any, tuple[Any, ...]]]:
    """The times of an output inside ``frontier`` that are not with the outside; now they are.

    A prompt output has nothing to show of a time that was taken, until rows come again.
    """
    released, prompt = state.standing[p].released, is_prompt(state, p)
    records = [r for r in state.ledgers[p].inside(frontier) if r.state or not prompt]
    records = sorted((r for r in records if r.time not in released), key=lambda r: r.time)
    released.update((record.time, len(record.state)) for record in records)
    return [(record.time, tuple(record.state)) for record in records]


def taken(state: State, p: ProcessorId, time: Any) -> None:
    """The outside has what a prompt output released of ``time``."""
    count = state.standing[p].released.pop(time, 0)
    if record := state.ledgers[p].records.get(time):
        record.state = record.state[count:]


def outside_has(state: State, p: ProcessorId) -> Any:
    """The largest frontier of which the outside has all that a prompt output can show."""
    completed = state.standing[p].completed
    if not state.rules.announce_taken:
        return completed
    waiting = [record.time for record in state.ledgers[p].inside(completed) if record.state]
    return excluding(state.flow.graph.domains[p], completed, waiting)


def waits(state: State, p: ProcessorId, frontier: Any) -> bool:
    """Whether something inside ``frontier`` is still to be taken by the outside."""
    records = state.ledgers[p].inside(frontier)
    if is_prompt(state, p):
        return any(record.state for record in records)
    return any(record.time not in state.standing[p].delivered for record in records)
