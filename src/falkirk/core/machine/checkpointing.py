"""Checkpoints of completed times, announced in order, and what the watermarks then allow."""

from collections.abc import Collection, Iterable
from dataclasses import replace
from typing import Any

from falkirk.core.checkpoint import Checkpoint
from falkirk.core.errors import DefinitionError
from falkirk.core.machine import snapshot
from falkirk.core.machine.alignment import appoint, due
from falkirk.core.machine.careless import understated
from falkirk.core.machine.events import (
    Acknowledge,
    Collect,
    CollectLog,
    Delivered,
    Effect,
    Persist,
)
from falkirk.core.machine.flow import Role
from falkirk.core.machine.releasing import (
    is_prompt,
    outside_has,
    release,
    release_promptly,
    taken,
    waits,
)
from falkirk.core.machine.rounds import landed
from falkirk.core.machine.state import State, Ticket
from falkirk.core.monitor import Advance, Completed, Saved, Update
from falkirk.core.policy import Regime
from falkirk.core.times import EdgeId, ProcessorId


def look(state: State, flush: bool = False) -> list[Effect]:
    """Looks at who has completed more times and takes the checkpoints that are due (§4.1)."""
    stale, anywhere = state.progress.stale, state.flow.anywhere
    if not stale and not flush:
        return []
    effects: list[Effect] = []
    updates: list[Update] = []
    grown: list[ProcessorId] = []
    regions: dict[str, list[ProcessorId]] = {}
    order = state.flow.graph.topology.number
    concerned = list(state.standing) if flush else sorted(stale, key=order.__getitem__)
    stale.clear()
    for p in concerned:
        standing = state.standing[p]
        if not standing.replaying:
            updates += note_completion(state, p)
            if is_prompt(state, p):
                effects += show(state, p)
            elif standing.growth and p not in anywhere:
                grown.append(p)
    for p in grown:
        policy = state.flow.processors[p].policy
        if policy.regime is Regime.SNAPSHOT:
            regions.setdefault(policy.region, snapshot.region_of(state, p))
            continue
        frontiers = due(state, p, flush)
        for frontier in frontiers:
            persist = take(state, p, frontier)
            effects += [persist, *without_rules(state, p, persist)]
        if frontiers and state.standing[p].growth:
            stale.add(p)  # what is left may be due by now
    for region in regions.values():
        if flush or snapshot.is_due(state, region):
            snapshot.log_in_flight(state, region)
            moved = [p for p in region if state.standing[p].growth]
            effects += [take(state, p, state.standing[p].completed) for p in moved]
    # What stateless processors complete allows nothing before those behind them have saved as much,
    # and there are always some (`Flow.restores_anywhere`), so the monitor looks at it with what
    # those announce: a chain of them would be looked at once for each of them.
    state.monitor.note(updates)
    return effects


def show(state: State, p: ProcessorId) -> list[Effect]:
    """Shows what a prompt output has, and saves that the outside has taken it.

    One checkpoint at a time: the next one covers all that was taken meanwhile.
    """
    effects: list[Effect] = [*release_promptly(state, p)]
    standing = state.standing[p]
    if not standing.tickets and not (frontier := outside_has(state, p)) <= standing.saved:
        effects.append(take(state, p, frontier))
    return effects


def note_completion(state: State, p: ProcessorId) -> list[Update]:
    """Notes that ``p`` has completed more times, if it has."""
    standing, completed = state.standing[p], state.completed(p)
    if completed <= standing.completed:
        return []
    standing.completed = standing.completed | completed
    standing.growth += 1
    if state.flow.processors[p].policy.stateless:
        drop_finished(state, p)
    return [Completed(p, standing.completed)] if state.flow.restores_anywhere(p) else []


def without_rules(state: State, p: ProcessorId, persist: Persist) -> list[Effect]:
    """What a careless system would do as well; nothing, while all rules are on."""
    rules, completed = state.rules, state.standing[p].completed
    effects: list[Effect] = []
    if state.flow.processors[p].role is Role.INPUT and not rules.record_input_epochs:
        effects += announce(state, persist.ticket)
    if not rules.collect_within_watermark:
        effects += [
            CollectLog(d.name, state.flow.graph.domains[p].part(completed, d.name))
            for d in state.flow.graph.inputs(p)
        ]
    if not rules.release_within_watermark:
        effects += release(state, p, completed)
    return effects


def drop_finished(state: State, p: ProcessorId) -> None:
    """A stateless processor has nothing left of a completed time but what it logged."""
    ledger, completed = state.ledgers[p], state.standing[p].completed
    for record in ledger.inside(completed):
        if record.state and state.flow.processors[p].role is Role.INNER:
            policy = state.flow.processors[p].policy.regime.value
            raise DefinitionError(
                f"{p!r} is declared {policy}, but keeps state after its time {record.time} is"
                " complete: drop it when notified, or choose a policy that saves state"
            )
        if state.flow.restores_anywhere(p):
            del ledger.records[record.time]


def take(state: State, p: ProcessorId, frontier: Any) -> Persist:
    """Asks for a checkpoint of ``frontier``: only what is not durable yet is written."""
    standing, ledger = state.standing[p], state.ledgers[p]
    fresh = [record for record in ledger.inside(frontier) if not record.durable]
    for record in fresh:
        record.durable = True
    rows = tuple(record.copy() for record in fresh)
    processor = state.flow.processors[p]
    if processor.role is not Role.INPUT:  # the state of an input is its position
        for row in rows:
            if processor.policy.replays:
                row.state, row.sent = [], []
            if processor.policy.tainted:
                row.state = []
    if is_prompt(state, p):
        rows = tuple(row for row in rows if row.requests)
    metadata = reported(state, p, frontier)
    effect = Persist(
        state.number(), p, standing.incarnation, metadata, standing.saved, rows, processor.opaque
    )
    standing.saved, standing.saved_at, standing.appointed = frontier, state.now, False
    standing.growth = 0 if standing.completed <= frontier else 1
    appoint(state, metadata.projected)
    ticket = Ticket(effect)
    standing.tickets.append(ticket)
    state.tickets[effect.ticket] = ticket
    return effect


def reported(state: State, p: ProcessorId, frontier: Any) -> Checkpoint:
    """Ξ(p, f) as it goes to the monitor: exact, but at least once says that it processed nothing.

    N̄ counts what the processor was told: its notifications, and that the times of its checkpoints
    are complete. Without the latter a sender could roll back, choose to send at such a time after
    all, and the checkpoint would no longer be the state at its frontier (the trouble of Figure 5,
    with a checkpoint in the place of x's notification).
    """
    told = None
    if not state.flow.numbered(p):
        told = state.standing[p].saved if frontier.is_top else frontier
    metadata = state.ledgers[p].metadata(frontier, told)
    if state.flow.processors[p].policy.tainted:
        domain = state.flow.graph.domains[p]
        processed = dict.fromkeys(metadata.processed, domain.edge_empty)
        metadata = replace(metadata, notified=domain.empty, processed=processed)
    return understated(state, p, metadata)


def announce(state: State, *numbers: int) -> list[Effect]:
    """Tickets are durable: tells the monitor what may be announced by now, all at once."""
    updates: list[Update] = []
    prompt: dict[ProcessorId, None] = {}
    for number in numbers:
        ticket = state.tickets.pop(number, None)
        if ticket is not None:  # else it was asked for before a rollback
            updates += announced(state, ticket)
            if is_prompt(state, ticket.effect.processor):
                prompt[ticket.effect.processor] = None
    effects = allow(state, state.monitor.update(updates)) if updates else []
    return effects + [effect for p in prompt for effect in show(state, p)]


def announced(state: State, ticket: Ticket) -> list[Update]:
    """A ticket is durable: announces it once all earlier ones of its processor are, too."""
    ticket.durable = True
    p = ticket.effect.processor
    standing = state.standing[p]
    ready: list[Ticket] = []
    if state.rules.announce_in_order:
        while standing.tickets and standing.tickets[0].durable:
            ready.append(standing.tickets.popleft())
    else:
        while standing.tickets and ticket in standing.tickets:
            earlier = standing.tickets.popleft()
            if earlier is ticket:
                ready.append(earlier)
    for done in ready:
        release_held(state, p, done.effect.checkpoint.frontier)
    if ready:
        landed(state, p)
    return [Saved(p, done.effect.checkpoint) for done in ready]


def release_held(state: State, p: ProcessorId, frontier: Any) -> None:
    """Lets go the sends whose cause is durable now."""
    standing = state.standing[p]
    for message in standing.held:
        if message.cause in frontier:
            state.channels.put(message)
    standing.held = [message for message in standing.held if message.cause not in frontier]


def allow(state: State, allowed: Advance) -> list[Effect]:
    """Forgets and acknowledges what low-watermarks that have risen allow."""
    return forget(state, allowed.logs, allowed.watermarks, allowed.acknowledge)


def forget(
    state: State,
    edges: Iterable[EdgeId],
    risen: Collection[ProcessorId],
    inputs: Iterable[ProcessorId],
) -> list[Effect]:
    """Does what low-watermarks and pins allow: for logs, for those who have risen, for inputs."""
    effects: list[Effect] = []
    senders: dict[ProcessorId, None] = {}
    graph = state.flow.graph
    for edge in edges:
        p, target = graph.edges[edge].source, graph.edges[edge].target
        reached = graph.domains[target].part(state.collectable(target), edge)
        if state.ledgers[p].forget_log(edge, reached):
            senders[p] = None
            effects.append(CollectLog(edge, reached))
    for p in risen:
        effects += release(state, p, state.showable(p))
        effects += collect(state, p)
    for p in senders:
        if p not in risen:
            effects += collect(state, p)
    return effects + [
        Acknowledge(p, frontier) for p in inputs if not (frontier := state.collectable(p)).is_empty
    ]


def collect(state: State, p: ProcessorId) -> list[Effect]:
    """Folds what lies below the low-watermark; an output first waits for the outside to take it."""
    if state.flow.restores_anywhere(p):
        return []
    watermark, ledger = state.collectable(p), state.ledgers[p]
    if state.is_output(p):
        if waits(state, p, watermark):
            return []
        for record in ledger.inside(watermark):
            record.state = []
    times = () if state.standing[p].replaying else ledger.finished(watermark)
    if watermark == ledger.base.frontier and not times:
        return []
    ledger.fold(watermark, times)
    if state.is_output(p):
        standing = state.standing[p]
        for time in [time for time in standing.released if time in watermark]:
            del standing.released[time]
        standing.delivered -= {time for time in standing.delivered if time in watermark}
    if state.flow.processors[p].role is Role.INPUT:
        newest = sorted(ledger.base.state, key=lambda entry: entry[0])[-1:]
        ledger.base.state = newest  # where it stands is all that it has to know
    return [Collect(p, watermark, times, tuple(ledger.base.state))]


def delivered(state: State, event: Delivered) -> list[Effect]:
    """The outside has an output's time: nothing of it need be kept."""
    p, standing = event.processor, state.standing[event.processor]
    if is_prompt(state, p):
        if event.incarnation != standing.incarnation:
            return []  # what it took was shown before a failure, and is shown again
        taken(state, p, event.time)
        return show(state, p)
    if event.time not in state.ledgers[p].base.frontier:
        standing.delivered.add(event.time)
    return collect(state, p)
