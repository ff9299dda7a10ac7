"""Delivering messages and notifications, and applying what processing them did (§2, §3.3)."""

from typing import Any

from falkirk.core.errors import DefinitionError
from falkirk.core.machine.alignment import arrive
from falkirk.core.machine.checks import check_again, check_result
from falkirk.core.machine.events import (
    Again,
    Close,
    Delivery,
    End,
    Finish,
    Ingest,
    Item,
    Notification,
    PutBack,
    Result,
    Work,
)
from falkirk.core.machine.flow import Batch
from falkirk.core.machine.ledger import Past, Record, Sent, within
from falkirk.core.machine.message import Message
from falkirk.core.machine.state import State
from falkirk.core.order import joins, least
from falkirk.core.times import EdgeId, ProcessorId, SequenceNumber


def enabled(state: State) -> list[Item]:
    """Everything that may be processed next, in a fixed order.

    Different times of one processor may be worked on at once; one time is worked on by one event at
    a time, and a processor with sequence numbers takes one message at a time.
    """
    found: list[Item] = []
    busy = {(work.processor, work.time) for work in state.running.values()}
    occupied = {p for p, _ in busy}
    edges, standings, channels = state.flow.graph.edges, state.standing, state.channels
    suspected = state.suspected if state.rules.hold_suspects else frozenset[ProcessorId]()
    for name, queue in channels.queues.items():
        if not queue:
            continue
        edge = edges[name]
        p = edge.target
        if p in suspected or edge.source in suspected or standings[p].replaying:
            continue
        if p not in occupied:
            found += channels.deliveries(name)
        elif not state.flow.numbered(p):
            found += [
                each for each in channels.deliveries(name) if (p, each.message.time) not in busy
            ]
    for p, standing in standings.items():
        if standing.replaying:
            if p not in suspected and p not in occupied:
                found += list(standing.restoring)[:1]
        elif standing.requests and p not in suspected:
            # A request holds all later times open, so only the first ones can be complete.
            found += [
                Notification(p, time)
                for time in least(standing.requests)
                if (p, time) not in busy and state.progress.may_notify(p, time)
            ]
    return found


def is_enabled(state: State, item: Item) -> bool:
    """Whether an item that was enabled still is, after others were begun or finished."""
    p, standing = item.processor, state.standing[item.processor]
    suspected = state.suspected if state.rules.hold_suspects else frozenset[ProcessorId]()
    if p in suspected:
        return False
    times = [work.time for work in state.running.values() if work.processor == p]
    if isinstance(item, Again):
        return not times and bool(standing.restoring) and standing.restoring[0] == item
    if standing.replaying:
        return False
    if isinstance(item, Notification):
        held = item.time in standing.requests and item.time not in times
        return held and state.progress.may_notify(p, item.time)
    edge = state.flow.graph.edges[item.message.edge]
    occupied = bool(times) if state.flow.numbered(p) else item.message.time in times
    waits = occupied or edge.source in suspected
    return not waits and item in state.channels.deliveries(edge.name)


def successor(state: State, item: Item) -> Item | None:
    """The message that comes after one that was delivered, if it may be processed now."""
    if not isinstance(item, Delivery):
        return None
    waiting = state.channels.deliveries(item.message.edge)
    same = (each for each in waiting if each.message.time == item.message.time)
    return next((each for each in same if is_enabled(state, each)), None)


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


def put_back(state: State, event: PutBack) -> None:
    """Work was not done: its item goes back to where it came from, unless a rollback took it."""
    work = event.work
    if state.running.pop(work.number, None) is None:
        return
    match work.item:
        case Delivery():
            state.channels.put_back(work.item.message)
        case Notification():
            state.standing[work.processor].requests.add(work.time)
        case Again():
            state.standing[work.processor].restoring.appendleft(work.item)
            state.uncount(work.processor, work.time)


def finish(state: State, event: Finish) -> bool:
    """Applies the result of work; False if a rollback has overtaken it."""
    work = event.work
    current = work.number in state.running
    if not current and state.rules.drop_late_work:
        return False
    p, item = work.processor, work.item
    if isinstance(item, Again):
        check_again(p, item, event.result)
    else:
        check_result(state, p, work.time, isinstance(item, Notification), event.result)
    if current:
        del state.running[work.number]
    applied(state, work, event.result)
    if current:
        state.uncount(p, work.time)  # last: what it led to is counted by now
    return True


def applied(state: State, work: Work, result: Result) -> None:
    """Applies a result that was checked."""
    p, item = work.processor, work.item
    record = state.ledgers[p].at(work.time)
    if isinstance(item, Again):
        apply_again(record, item, result)
        return
    edge, batch = None, None
    if isinstance(item, Delivery):
        edge, batch = item.message.edge, item.message.batch
        record.processed.add(edge)
        if isinstance(work.time, SequenceNumber):
            arrive(state, p, work.time)
    else:
        record.notified = True
    sent = apply(state, p, record, result)
    if state.flow.processors[p].policy.replays:
        record.delivered.append(Past(work.number, edge, batch, sent))


def apply_again(record: Record, item: Again, result: Result) -> None:
    """Puts back what an event of the history did: its state, and its messages into the log.

    The messages get their old numbers and times: a receiver may have one of them in its queue.
    """
    if result.state is not None:
        record.state = list(result.state)
    for (_, _, batch), sent in zip(result.sends, item.past.sent, strict=True):
        record.sent.append(Message(sent.number, sent.edge, sent.time, record.time, batch))


def apply(state: State, p: ProcessorId, record: Record, result: Result) -> tuple[Sent, ...]:
    """Puts the consequences of one event into its record, and the sends on their way.

    Returns what identifies the messages that were sent.
    """
    record.durable = False
    if result.state is not None:
        record.state = list(result.state)
    for time in result.requests:
        request(state, p, record, time)
    if result.state and state.flow.processors[p].lattice and state.rules.notify_at_joins:
        for time in joins(record.time, state.ledgers[p].kept_times()):
            request(state, p, record, time)
    sent = tuple(send(state, p, record, *each) for each in result.sends)
    for edge, epoch in result.closes:
        close_window(state, p, record, edge, epoch)
    return sent


def request(state: State, p: ProcessorId, record: Record, time: Any) -> None:
    """Asks for a notification because of the events of ``record``, unless it was delivered."""
    standing = state.standing[p]
    if time not in standing.requests and not state.ledgers[p].was_notified(time):
        standing.requests.add(time)
        state.see(time)
        state.count(p, time)
    record.requests.add(time)


def close_window(state: State, p: ProcessorId, record: Record, edge: EdgeId, epoch: int) -> None:
    """Nothing more will be sent on ``edge`` at ``epoch`` or before: its window is closed (§3.2)."""
    windows, target = state.standing[p].windows, state.flow.graph.edges[edge].target
    state.uncount(target, state.window_time(edge, windows[edge]))
    record.closed[edge], windows[edge] = epoch, epoch + 1
    state.standing[p].appointed = True
    state.see((epoch,))
    state.count(target, state.window_time(edge, epoch + 1))


def send(
    state: State, p: ProcessorId, record: Record, edge: EdgeId, time: Any, batch: Batch
) -> Sent:
    """Sends one batch; logs it, or counts its time among the discarded ones."""
    policy, target = state.flow.processors[p].policy, state.flow.graph.edges[edge].target
    ledger = state.ledgers[p]
    if edge in ledger.sent_count:
        ledger.sent_count[edge] += 1
        time = SequenceNumber(edge, ledger.sent_count[edge])
        record.first.setdefault(edge, time.number)
    else:
        state.see(time)
    message = Message(state.number(), edge, time, record.time, batch)
    if policy.logs(edge) or (not policy.tainted and ahead(state, p, record, edge, time)):
        record.sent.append(message)
    else:
        record.discarded.setdefault(edge, set()).add(time)
    if policy.tainted and within(message, reached_by(state, edge)):
        # The receiver has it. It may lose it yet, so p answers for it all the same.
        return Sent(message.number, edge, time)
    state.count(target, time)
    if policy.holds:
        state.standing[p].held.append(message)
    else:
        state.channels.put(message)
    return Sent(message.number, edge, time)


def ahead(state: State, p: ProcessorId, record: Record, edge: EdgeId, time: Any) -> bool:
    """Whether a message goes to a later epoch. Such ones are logged, whatever the policy says.

    If they were discarded, no frontier would be consistent before the receiver has saved the later
    epoch, which needs that one of the sender, and so on.
    """
    if edge in state.ledgers[p].sent_count or not state.rules.count_future_sends:
        return False
    now = state.standing[p].windows.get(edge)
    return bool(time[0] > (record.time[0] if now is None else now))


def reached_by(state: State, edge: EdgeId) -> Any:
    """What the receiver of ``edge`` has completed of it."""
    target = state.flow.graph.edges[edge].target
    completed = state.standing[target].completed
    return state.flow.graph.domains[target].part(completed, edge)


def ingest(state: State, event: Ingest) -> None:
    """A batch enters at the open epoch of an input and goes out on all its edges.

    Where in the source it ends is the state of the epoch: durable with it, the newest replaces.
    """
    p = event.processor
    epoch = state.standing[p].epoch
    if epoch is None:
        raise DefinitionError(f"the input {p!r} has ended")
    time = (epoch,)
    state.see(time)
    record = state.ledgers[p].at(time)
    summaries = state.flow.edge_summaries
    sends = tuple(
        (e.name, summaries[e.name].apply(time) if e.name in summaries else None, event.batch)
        for e in state.flow.graph.outputs(p)
    )
    position = None if event.position is None else (event.position,)
    apply(state, p, record, Result(sends, state=position))


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
