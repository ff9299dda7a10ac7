"""What an event may do: a result is checked as a whole, before any of it is applied."""

from typing import Any

from falkirk.core.errors import DefinitionError
from falkirk.core.machine.events import Again, Result
from falkirk.core.machine.flow import Role
from falkirk.core.machine.state import State
from falkirk.core.order import product_leq
from falkirk.core.times import EdgeId, ProcessorId


def check_result(state: State, p: ProcessorId, cause: Any, notified: bool, result: Result) -> None:
    """Refuses a result that the processor's policy or the flow cannot bear; changes nothing.

    ``notified`` says that the time of the event, ``cause``, is complete once it is applied.
    """
    for time in result.requests:
        check_request(state, p, cause, time)
    for edge, time, _ in result.sends:
        if edge not in state.ledgers[p].targets:
            raise DefinitionError(f"{p!r} sent on {edge!r}, which is not an output edge of it")
        if edge in state.ledgers[p].sent_count:
            check_order(state, p, edge, cause, notified)
        else:
            check_time(state, p, edge, cause, time)
    check_closes(state, p, result)


def check_time(state: State, p: ProcessorId, edge: EdgeId, cause: Any, time: Any) -> None:
    """Messages never go back in time; a processor that saves nothing sends at its own time only."""
    windows = state.standing[p].windows
    if edge in windows:
        least = state.window_time(edge, windows[edge])
    else:
        least = state.flow.edge_summaries[edge].apply(cause)
    if not comparable(least, time) or not product_leq(least, time):
        raise DefinitionError(
            f"{p!r} sent a message at {time} on {edge!r} because of an event at {cause}:"
            f" the earliest time there is {least}"
        )
    if state.flow.restores_anywhere(p) and time != least:
        raise DefinitionError(
            f"{p!r} sent a message into the future, at {time} on {edge!r} because of an event at"
            f" {cause}: an ephemeral processor cannot, so log the edge or choose another policy"
        )


def check_order(state: State, p: ProcessorId, edge: EdgeId, cause: Any, notified: bool) -> None:
    """All of an epoch is forwarded before any of a later one: only when it is complete (§3.2)."""
    if state.flow.numbered(p) or state.flow.processors[p].role is Role.INPUT:
        return
    records = state.ledgers[p].records
    complete = notified or (cause in records and records[cause].notified)
    if not complete or any(edge in r.first and time > cause for time, r in records.items()):
        raise DefinitionError(
            f"{p!r} forwards to sequence numbers on {edge!r} because of an event at {cause}"
            " before that time is complete: keep the data and send it when notified"
        )


def check_request(state: State, p: ProcessorId, cause: Any, time: Any) -> None:
    """Notifications are requested for the present or the future."""
    if state.flow.numbered(p):
        raise DefinitionError(f"{p!r} has sequence numbers, which need no notifications")
    if not comparable(cause, time) or not product_leq(cause, time):
        raise DefinitionError(f"{p!r} asked at {cause} for a notification at {time}, in the past")
    if time != cause and state.flow.processors[p].policy.stateless:
        raise DefinitionError(
            f"{p!r} asked at {cause} for a notification at {time}: a processor that keeps nothing"
            " between times can ask for its own time only"
        )


def check_closes(state: State, p: ProcessorId, result: Result) -> None:
    """Epochs are closed by the sender that holds them open, one after the other (§3.2)."""
    windows = dict(state.standing[p].windows)
    for edge, epoch in result.closes:
        if edge not in windows or epoch < windows[edge]:
            raise DefinitionError(
                f"{p!r} closed epoch {epoch} of {edge!r}, which it does not hold open"
            )
        windows[edge] = epoch + 1


def check_again(p: ProcessorId, item: Again, result: Result) -> None:
    """A replayed event sends on the edges on which it sent the first time."""
    before, now = [s.edge for s in item.past.sent], [edge for edge, _, _ in result.sends]
    if before != now:
        raise DefinitionError(
            f"{p!r} sent on {before} because of an event at {item.time}, and on {now} when it was"
            " replayed: the history policy needs a deterministic processor"
        )


def comparable(left: Any, right: Any) -> bool:
    """Whether ``right`` is a structured time of the depth of ``left``."""
    return isinstance(right, tuple) and len(left) == len(right)
