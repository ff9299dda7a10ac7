"""Delivering messages and notifications, and applying what processing them did (§2, §3.3)."""

from typing import Any

from falkirk.core.errors import DefinitionError
from falkirk.core.machine.events import (
    Again,
    Close,
    Delivery,
    End,
    Finish,
    Ingest,
    Item,
    Notification,
    Result,
    Work,
)
from falkirk.core.machine.flow import Batch, Role
from falkirk.core.machine.ledger import Past, Record, Sent, within
from falkirk.core.machine.message import Message, deliverable
from falkirk.core.machine.state import State
from falkirk.core.order import product_leq
from falkirk.core.times import EdgeId, ProcessorId, SequenceNumber


def enabled(state: State) -> list[Item]:
    """Everything that may be processed next, in a fixed order.

    Different times of one processor may be worked on at once; one time is worked on by one event at
    a time, and a processor with sequence numbers takes one message at a time.
    """
    found: list[Item] = []
    busy = {(work.processor, work.time) for work in state.running.values()}
    occupied = {work.processor for work in state.running.values()}
    graph = state.flow.graph
    for edge, queue in state.channels.queues.items():
        if not queue:
            continue
        p, sender = graph.edges[edge].target, graph.edges[edge].source
        if {p, sender} & state.suspected or state.standing[p].replaying:
            continue
        if state.flow.numbered(p) and p in occupied:
            continue
        found += [Delivery(p, m) for m in deliverable(queue) if (p, m.time) not in busy]
    for p, standing in state.standing.items():
        if p in state.suspected:
            continue
        if standing.replaying:
            found += list(standing.restoring)[:1] if p not in occupied else []
        else:
            found += [
                Notification(p, time)
                for time in sorted(standing.requests)
                if (p, time) not in busy and state.progress.may_notify(p, time)
            ]
    return found


def begin(state: State, item: Item) -> Work:
    """Takes an enabled item out of its queue; it counts as work until it is finished."""
    p = item.processor
    if isinstance(item, Delivery):
        state.channels.take(item.message)
    elif isinstance(item, Notification):
        state.standing[p].requests.discard(item.time)
    else:
        state.standing[p].restoring.popleft()
        state.count(p, item.time)
    work = Work(state.number(), state.standing[p].incarnation, item)
    state.running[work.number] = work
    return work


def finish(state: State, event: Finish) -> bool:
    """Applies the result of work; False if a rollback has overtaken it."""
    work = event.work
    if state.running.pop(work.number, None) is None:
        if state.rules.drop_late_work:
            return False
    else:
        state.uncount(work.processor, work.time)
    p, item = work.processor, work.item
    record = state.ledgers[p].at(work.time)
    if isinstance(item, Again):
        apply_again(p, record, item, event.result)
        return True
    edge, batch = None, None
    if isinstance(item, Delivery):
        edge, batch = item.message.edge, item.message.batch
        record.processed.add(edge)
    else:
        record.notified = True
    sent = apply(state, p, record, event.result)
    if state.flow.processors[p].policy.replays:
        record.delivered.append(Past(work.number, edge, batch, sent))
    return True


def apply_again(p: ProcessorId, record: Record, item: Again, result: Result) -> None:
    """Puts back what an event of the history did: its state, and its messages into the log.

    The messages get their old numbers and times: a receiver may have one of them in its queue.
    """
    if result.state is not None:
        record.state = list(result.state)
    before, now = [s.edge for s in item.past.sent], [edge for edge, _, _ in result.sends]
    if before != now:
        raise DefinitionError(
            f"{p!r} sent on {before} because of an event at {record.time}, and on {now} when it was"
            " replayed: the history policy needs a deterministic processor"
        )
    for (_, _, batch), sent in zip(result.sends, item.past.sent, strict=True):
        record.sent.append(Message(sent.number, sent.edge, sent.time, record.time, batch))


def apply(state: State, p: ProcessorId, record: Record, result: Result) -> tuple[Sent, ...]:
    """Puts the consequences of one event into its record, and the sends on their way.

    Returns what identifies the messages that were sent.
    """
    record.durable = False
    if result.state is not None:
        record.state = list(result.state)
    standing = state.standing[p]
    for time in result.requests:
        check_request(state, p, record.time, time)
        if time not in standing.requests and not state.ledgers[p].was_notified(time):
            standing.requests.add(time)
            state.see(time)
            state.count(p, time)
        record.requests.add(time)
    sent = tuple(send(state, p, record, *each) for each in result.sends)
    for edge, epoch in result.closes:
        close_window(state, p, record, edge, epoch)
    return sent


def close_window(state: State, p: ProcessorId, record: Record, edge: EdgeId, epoch: int) -> None:
    """Nothing more will be sent on ``edge`` at ``epoch`` or before: its window is closed (§3.2)."""
    windows, target = state.standing[p].windows, state.flow.graph.edges[edge].target
    if edge not in windows or epoch < windows[edge]:
        raise DefinitionError(
            f"{p!r} closed epoch {epoch} of {edge!r}, which it does not hold open"
        )
    state.uncount(target, state.window_time(edge, windows[edge]))
    record.closed[edge], windows[edge] = epoch, epoch + 1
    state.see((epoch,))
    state.count(target, state.window_time(edge, epoch + 1))


def send(
    state: State, p: ProcessorId, record: Record, edge: EdgeId, time: Any, batch: Batch
) -> Sent:
    """Sends one batch; logs it, or counts its time among the discarded ones."""
    policy, target = state.flow.processors[p].policy, state.flow.graph.edges[edge].target
    ledger = state.ledgers[p]
    if edge in ledger.sent_count:
        check_order(state, p, edge, record)
        ledger.sent_count[edge] += 1
        time = SequenceNumber(edge, ledger.sent_count[edge])
        record.first.setdefault(edge, time.number)
    else:
        check_time(state, p, edge, record.time, time)
        state.see(time)
    message = Message(state.number(), edge, time, record.time, batch)
    if policy.tainted and within(message, reached_by(state, edge)):
        return Sent(message.number, edge, time)  # it was delivered before: a repetition
    if policy.logs(edge):
        record.sent.append(message)
    else:
        record.discarded.setdefault(edge, set()).add(time)
    state.count(target, time)
    if policy.holds:
        state.standing[p].held.append(message)
    else:
        state.channels.put(message)
    return Sent(message.number, edge, time)


def reached_by(state: State, edge: EdgeId) -> Any:
    """What the receiver of ``edge`` has completed of it."""
    target = state.flow.graph.edges[edge].target
    completed = state.standing[target].completed
    return state.flow.graph.domains[target].part(completed, edge)


def check_time(state: State, p: ProcessorId, edge: EdgeId, cause: Any, time: Any) -> None:
    """Messages never go back in time; a processor that saves nothing sends at its own time only."""
    windows = state.standing[p].windows
    if edge in windows:
        least = state.window_time(edge, windows[edge])
    else:
        least = state.flow.edge_summaries[edge].apply(cause)
    if len(time) != len(least) or not product_leq(least, time):
        raise DefinitionError(
            f"{p!r} sent a message at {time} on {edge!r} because of an event at {cause}:"
            f" the earliest time there is {least}"
        )
    if state.flow.restores_anywhere(p) and time != least:
        raise DefinitionError(
            f"{p!r} sent a message into the future, at {time} on {edge!r} because of an event at"
            f" {cause}: an ephemeral processor cannot, so log the edge or choose another policy"
        )


def check_order(state: State, p: ProcessorId, edge: EdgeId, record: Record) -> None:
    """All of an epoch is forwarded before any of a later one: only when it is complete (§3.2)."""
    if state.flow.numbered(p) or state.flow.processors[p].role is Role.INPUT:
        return
    later = [time for time, r in state.ledgers[p].records.items() if edge in r.first]
    if not record.notified or any(time > record.time for time in later):
        raise DefinitionError(
            f"{p!r} forwards to sequence numbers on {edge!r} because of an event at {record.time}"
            " before that time is complete: keep the data and send it when notified"
        )


def check_request(state: State, p: ProcessorId, cause: Any, time: Any) -> None:
    """Notifications are requested for the present or the future."""
    if state.flow.numbered(p):
        raise DefinitionError(f"{p!r} has sequence numbers, which need no notifications")
    if not product_leq(cause, time):
        raise DefinitionError(f"{p!r} asked at {cause} for a notification at {time}, in the past")
    if time != cause and state.flow.processors[p].policy.stateless:
        raise DefinitionError(
            f"{p!r} asked at {cause} for a notification at {time}: a processor that keeps nothing"
            " between times can ask for its own time only"
        )


def ingest(state: State, event: Ingest) -> None:
    """A batch enters at the open epoch of an input and goes out on all its edges."""
    p = event.processor
    standing = state.standing[p]
    if standing.epoch is None:
        raise DefinitionError(f"the input {p!r} has ended")
    time = (standing.epoch,)
    state.see(time)
    record = state.ledgers[p].at(time)
    summaries = state.flow.edge_summaries
    sends = tuple(
        (e.name, summaries[e.name].apply(time) if e.name in summaries else None, event.batch)
        for e in state.flow.graph.outputs(p)
    )
    apply(state, p, record, Result(sends))


def close(state: State, event: Close | End) -> None:
    """Closes the open epoch of an input."""
    p = event.processor
    standing = state.standing[p]
    if standing.epoch is None:
        return
    state.uncount(p, (standing.epoch,))
    if isinstance(event, End):
        standing.epoch = None
        return
    state.see((standing.epoch,))
    standing.epoch += 1
    state.count(p, (standing.epoch,))
