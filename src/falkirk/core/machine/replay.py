"""Sending again: from the log, or by running a logged history once more (§3.6, §4.1)."""

from collections import deque
from typing import Any

from falkirk.core.machine.events import Again
from falkirk.core.machine.ledger import within
from falkirk.core.machine.state import State
from falkirk.core.times import EdgeId, ProcessorId


def start_replay(state: State, p: ProcessorId, frontier: Any) -> None:
    """Queues the history of ``p`` to be run again, in the order in which it happened.

    What an unfinished replay still owed to its receivers stays owed: see ``Standing.resend``.
    """
    standing, ledger = state.standing[p], state.ledgers[p]
    events = [
        Again(p, record.time, past)
        for record in ledger.inside(frontier)
        for past in record.delivered
    ]
    standing.restoring = deque(sorted(events, key=lambda again: again.past.number))
    standing.replaying = frozenset(again.time for again in standing.restoring)
    if not standing.replaying:
        standing.resend = {}


def unfinished(state: State, p: ProcessorId) -> list[Again]:
    """What ``p`` has not run again yet of its history, with what it is about to run."""
    working = [work.item for work in state.running.values() if work.processor == p]
    begun = [item for item in working if isinstance(item, Again)]
    return [*begun, *state.standing[p].restoring]


def go_on(state: State, p: ProcessorId, frontier: Any, left: list[Again]) -> None:
    """A replay that was met by another rollback goes on with what is ``left`` of it inside.

    ``p`` has not failed again, so what it has run by then is there: state, and messages in the log.
    If nothing is left its receivers get what they lack at once.
    """
    standing = state.standing[p]
    inside = [again for again in left if again.time in frontier]
    standing.restoring = deque(sorted(inside, key=lambda again: again.past.number))
    standing.replaying = frozenset(again.time for again in inside)
    if not inside:
        settle_debts(state, p)


def resend(state: State, edge: EdgeId, reached: Any) -> None:
    """Puts the logged messages of ``edge`` outside ``reached`` back into its queue."""
    source = state.flow.graph.edges[edge].source
    held = {message.number for message in state.standing[source].held}
    again = [
        message
        for message in state.ledgers[source].log(edge)
        if not within(message, reached) and message.number not in held
    ]
    state.channels.restore(edge, again)


def replayed(state: State, p: ProcessorId) -> None:
    """When all of a history was run again, what its receivers lack goes into their queues."""
    if not state.standing[p].restoring:
        settle_debts(state, p)
        state.standing[p].replaying = frozenset()
        state.recount()


def settle_debts(state: State, p: ProcessorId) -> None:
    """Sends what the receivers of ``p`` were to get once it had run its history again."""
    standing = state.standing[p]
    for edge, reached in standing.resend.items():
        resend(state, edge, reached)
    standing.resend = {}
