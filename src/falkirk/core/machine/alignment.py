"""Which frontiers are saved, and when: so that neighbours share some of them (§4.1, §4.2).

Two processors that discard what they send can go back together only to a frontier that both have
saved. If each saved whatever is complete when it is due, that might never happen, low-watermarks
would stand still and nothing could be collected: the domino effect. So checkpoints fall on
*boundaries*:

* ``every=k`` saves the epochs k-1, 2k-1, 3k-1, …, each of them, even if several are complete at
  once. Everybody with the same interval, or one that divides it, has these.
* By the clock or by ``when``, a processor that is due saves every *cut*: a boundary that others
  with the same epochs have saved, and it has not. If there is none it makes one where it is.
* Inside a loop parts of the epoch after the last boundary are saved besides (see ``rounds``).
* With sequence numbers a checkpoint of the sender appoints one at the receiver: when it has
  processed what was sent until then, as a marker would say that is sent along. One that closes a
  window saves at once.

Checkpoints are selective, so most of these cost a row of metadata and no data.
"""

from collections.abc import Mapping
from typing import Any

from falkirk.core.domain import Structured
from falkirk.core.machine.boundary import boundary, whole_epochs
from falkirk.core.machine.rounds import part_due
from falkirk.core.machine.state import State
from falkirk.core.times import EdgeId, ProcessorId, SequenceNumber

AT_ONCE = 64
"""How many boundaries of one processor are saved in one step, at most."""


def due(state: State, p: ProcessorId, flush: bool) -> list[Any]:
    """The frontiers of ``p`` that are to be saved now, the smallest first.

    Asked when ``p`` has completed more since its last checkpoint.
    """
    standing, domain = state.standing[p], state.flow.graph.domains[p]
    if not isinstance(domain, Structured):
        asked = flush or standing.appointed or is_due(state, p)
        return [standing.completed] if asked else []
    saved, complete = whole_epochs(standing.saved), whole_epochs(standing.completed)
    choose = by_clock if p in state.flow.clocked else by_count
    epochs, limit = choose(state, p, saved, complete, flush)
    if flush and complete > max(epochs, default=saved):
        epochs.append(complete)
        state.cut(p, [complete])
    found = [boundary(domain, epoch) for epoch in epochs]
    if limit is not None and domain.depth > 1:
        last = found[-1] if found else standing.saved
        part = part_due(state, p, limit, last, flush)
        if part is not None:
            found.append(part)
    return found


def by_count(
    state: State, p: ProcessorId, saved: int, complete: int, flush: bool
) -> tuple[list[int], int | None]:
    """The epochs on the grid of ``every``; and up to which one a part of the next may be saved."""
    every = state.flow.processors[p].policy.every
    epochs = on_grid(saved, complete, every)
    if every > 1:
        state.cut(p, epochs)
    partly = flush or state.standing[p].growth >= every
    return epochs, next_on_grid(complete, every) if partly else None


def by_clock(
    state: State, p: ProcessorId, saved: int, complete: int, flush: bool
) -> tuple[list[int], int | None]:
    """The cuts that there are, or a new one; and likewise."""
    if not flush and not is_due(state, p):
        return [], None
    cuts = state.cuts.get(state.flow.scale[p], [])
    epochs = [epoch for epoch in cuts if saved < epoch <= complete]
    pending = any(epoch > complete for epoch in cuts)
    if not epochs and not pending and complete > saved:
        epochs = [complete]
        state.cut(p, epochs)
    return epochs, None if epochs or pending else complete + 1


def on_grid(saved: int, complete: int, every: int) -> list[int]:
    """The epochs after ``saved`` to be saved: each of the grid, or of many only every so many.

    Coarser grids are parts of finer ones, so those who were faster have saved the same epochs.

    >>> on_grid(3, 12, 3), len(on_grid(-1, 999_999, 3)) < AT_ONCE
    ([5, 8, 11], True)
    """
    step = every
    while (complete - saved) // step >= AT_ONCE - 1:
        step *= 2
    epochs = list(range(next_on_grid(saved, step), complete + 1, step))
    last = next_on_grid(complete, every) - every
    return [*epochs, last] if last > max(epochs, default=saved) else epochs


def next_on_grid(epoch: int, every: int) -> int:
    """The first epoch after ``epoch`` that is the last of ``every``.

    >>> [next_on_grid(epoch, 3) for epoch in (-1, 1, 2, 3)]
    [2, 2, 5, 5]
    """
    return epoch + 1 + (-epoch - 2) % every


def is_due(state: State, p: ProcessorId) -> bool:
    """Whether the policy says so."""
    standing = state.standing[p]
    policy = state.flow.processors[p].policy
    return policy.is_due(standing.growth, state.now - standing.saved_at)


def appoint(state: State, projected: Mapping[EdgeId, Any]) -> None:
    """A checkpoint was taken: who receives by sequence numbers saves once it is as far."""
    for edge, fixed in projected.items():
        if edge not in state.markers or not fixed:
            continue
        target = state.flow.graph.edges[edge].target
        standing = state.standing[target]
        processed = standing.completed.count(edge)
        if processed < fixed[0]:
            state.markers[edge].append(int(fixed[0]))
        elif processed == fixed[0] and standing.growth:
            standing.appointed = True
            state.progress.stale.add(target)


def arrive(state: State, p: ProcessorId, time: SequenceNumber) -> None:
    """``p`` has processed a message that may be the last one before a marker."""
    markers = state.markers.get(time.edge)
    if markers:
        if time.number in markers:
            state.standing[p].appointed = True
        state.markers[time.edge] = [marker for marker in markers if marker > time.number]
