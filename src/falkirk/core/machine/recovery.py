"""Rolling back: choosing frontiers, filtering what everybody owns, sending again (§3.6, §4.4)."""

from collections.abc import Collection, Mapping
from dataclasses import replace
from typing import Any

from falkirk.core.checkpoint import AnyFrontier, Chain, Checkpoint, Restorable
from falkirk.core.errors import InvariantError, RecoveryError
from falkirk.core.machine.checkpointing import allow, reported
from falkirk.core.machine.events import (
    Delivery,
    Effect,
    Notification,
    Restore,
    Retract,
    Rewind,
    RolledBack,
    Work,
)
from falkirk.core.machine.flow import Flow, Role
from falkirk.core.machine.ledger import Ledger, reach
from falkirk.core.machine.releasing import release
from falkirk.core.machine.replay import go_on, resend, start_replay, unfinished
from falkirk.core.machine.state import State
from falkirk.core.machine.stored import Stored
from falkirk.core.monitor import Monitor
from falkirk.core.rollback import Solution
from falkirk.core.times import EdgeId, ProcessorId


def fail(
    state: State, failed: frozenset[ProcessorId], stored: Mapping[ProcessorId, Stored]
) -> list[Effect]:
    """Processors have failed for good: the others go on from wherever the plan puts them (§4.4)."""
    solution = plan(state, failed)
    reasons = solution.reasons  # by the checkpoints that there were
    state.suspected -= failed
    moved = {p: f for p, f in solution.frontiers.items() if p in failed or not f.is_top}
    for p, frontier in moved.items():
        state.monitor.retract(p, frontier)
    effects = roll(state, solution, moved, stored)
    for p in sorted(failed):
        effects += release(state, p, state.showable(p))
    return [RolledBack(failed, dict(solution.frontiers), reasons), *effects]


def plan(
    state: State,
    failed: Collection[ProcessorId],
    bounds: Mapping[ProcessorId, Any] | None = None,
) -> Solution:
    """Where everybody has to be if ``failed`` fail now, inside ``bounds``; nothing is changed."""
    live = {p: live_metadata(state, p) for p in state.flow.processors if p not in failed}
    return state.monitor.rollback_plan(failed, live, bounds)


def live_metadata(state: State, p: ProcessorId) -> Checkpoint:
    """Ξ(p, ⊤): all that ``p`` has done, and what it is working on."""
    domain = state.flow.graph.domains[p]
    live = reported(state, p, domain.top)
    works = [work for work in state.running.values() if work.processor == p]
    if works and not state.flow.processors[p].policy.tainted:
        live = with_works(state, domain, live, works)
    return with_completed(state, p, live) if state.flow.restores_anywhere(p) else live


def with_works(state: State, domain: Any, live: Checkpoint, works: list[Work]) -> Checkpoint:
    """Ξ(p, ⊤) as it will be when ``works`` are finished."""
    processed, notified = dict(live.processed), live.notified
    for work in works:
        if isinstance(work.item, Delivery):
            if state.rules.delivered_constraint:
                edge = work.item.message.edge
                processed[edge] = processed[edge] | reach(domain, [work.time])
        elif isinstance(work.item, Notification) and state.rules.notification_constraint:
            notified = notified | reach(domain, [work.time])
    return replace(live, processed=processed, notified=notified)


def with_completed(state: State, p: ProcessorId, live: Checkpoint) -> Checkpoint:
    """Ξ(p, ⊤) of a stateless processor, which has no books of the times that it has completed.

    It may have processed, sent and been told anything inside them.
    """
    complete = state.standing[p].completed
    outputs = state.ledgers[p].outputs
    return replace(
        live,
        processed={d: taken | complete for d, taken in live.processed.items()},
        notified=live.notified | complete,
        discarded={e.name: live.discarded[e.name] | e.projection.image(complete) for e in outputs},
    )


def roll(
    state: State,
    solution: Solution,
    moved: Mapping[ProcessorId, Any],
    stored: Mapping[ProcessorId, Stored],
) -> list[Effect]:
    """Puts ``moved`` processors back to their frontiers; everyone else is left in peace."""
    effects: list[Effect] = [
        Retract(
            {p: f for p, f in moved.items() if not state.flow.restores_anywhere(p)},
            {p: state.standing[p].incarnation + 1 for p in moved},
        )
    ]
    for p, frontier in moved.items():
        if p in stored:
            state.ledgers[p] = restored(state, solution, p, frontier, stored[p])
        else:
            state.ledgers[p].rollback(frontier)
        effects += settle_processor(state, p, frontier, lost=p in stored)
    for name, edge in state.flow.graph.edges.items():
        refill(state, name, moved, lost=edge.target in stored)
    if state.rules.rebuild_progress:
        state.recount()
    return effects


def restored(
    state: State, solution: Solution, p: ProcessorId, frontier: Any, stored: Stored
) -> Ledger:
    """The ledger of ``p`` at ``frontier``, from the store alone, which gave it away."""
    ledger = stored.ledger
    if not ledger.base.frontier <= frontier:
        raise InvariantError(f"{p!r} goes back to {frontier!r}, below what was collected")
    ledger.records = {record.time: record for record in ledger.inside(frontier)}
    for record in ledger.records.values():
        record.durable = True
    for edge in ledger.outputs:
        if edge.name in ledger.sent_count:
            fixed = solution.choice.projected(state.flow.recovery.edges[edge.name], frontier)
            ledger.sent_count[edge.name] = int(fixed[0]) if fixed else 0
    return ledger


def settle_processor(state: State, p: ProcessorId, frontier: Any, lost: bool) -> list[Effect]:
    """Resets how ``p`` stands; late completions of what it was doing will be dropped."""
    standing, processor = state.standing[p], state.flow.processors[p]
    left = unfinished(state, p) if standing.replaying and not lost else []
    standing.completed = standing.saved = frontier
    standing.growth, standing.incarnation = 0, standing.incarnation + 1
    standing.appointed = False
    for ticket in standing.tickets:
        state.tickets.pop(ticket.effect.ticket, None)
    standing.tickets.clear()
    standing.held = [] if lost else [m for m in standing.held if m.cause in frontier]
    kept = dict.fromkeys(standing.delivered, 0) if lost else standing.released
    standing.released = {time: count for time, count in kept.items() if time in frontier}
    standing.delivered = {time for time in standing.delivered if time in frontier}
    standing.restoring.clear()
    standing.replaying = frozenset()
    standing.requests = state.ledgers[p].pending_requests()
    for edge in standing.windows:
        standing.windows[edge] = state.ledgers[p].closed_epoch(edge, frontier) + 1
    if not state.rules.reissue_notifications:
        standing.requests = set()
    for number in [n for n, work in state.running.items() if work.processor == p]:
        work = state.running.pop(number)
        if isinstance(work.item, Delivery) and not lost:
            state.channels.put_back(work.item.message)
    if processor.role is Role.INPUT:
        standing.epoch = int(frontier[0]) + 1 if frontier else 0
        return [Rewind(p, frontier)]
    if processor.policy.replays and lost:
        start_replay(state, p, frontier)
    elif left and state.rules.finish_replay:
        go_on(state, p, frontier, left)
    return [Restore(p, frontier)] if processor.opaque else []


def refill(state: State, edge: EdgeId, moved: Mapping[ProcessorId, Any], lost: bool) -> None:
    """The queue after a rollback: what its sender stands by, and Q'(e) from the log (§3.6)."""
    source, target = state.flow.graph.edges[edge].source, state.flow.graph.edges[edge].target
    if lost:
        state.channels.clear(edge)
    if source in moved and edge in state.markers:
        state.markers[edge] = []
    if source in moved and state.rules.drop_by_cause:
        frontier = moved[source]
        state.channels.keep(edge, lambda message: message.cause in frontier)
    if target in moved and state.rules.resend_logged:
        sender = state.standing[source]
        reached = state.flow.graph.domains[target].part(moved[target], edge)
        if sender.replaying:  # all of Q'(e) comes with the replay, so nothing may come twice
            state.channels.clear(edge)
            before = sender.resend.get(edge)
            sender.resend[edge] = reached if before is None else before & reached
        else:
            resend(state, edge, reached)


def restart(state: State, stored: Mapping[ProcessorId, Stored]) -> list[Effect]:
    """Everything had failed: starts again from what the store holds.

    Low-watermarks say how far everybody rolls back when everything fails, so they are the plan.
    """
    monitor = state.monitor
    solution = Solution(monitor.choice())
    plan, reasons = dict(solution.frontiers), solution.reasons
    for p, frontier in plan.items():
        monitor.retract(p, frontier)
        state.standing[p].incarnation = stored[p].incarnation
        adopt_numbers(state, p, stored[p])
    effects = [RolledBack(frozenset(plan), plan, reasons), *roll(state, solution, plan, stored)]
    return effects + allow(state, monitor.so_far())


def monitor_of(flow: Flow, stored: Mapping[ProcessorId, Stored]) -> Monitor:
    """The monitor to which everything was announced that a store holds."""
    return Monitor(flow.recovery, {p: offered(flow, p, stored[p]) for p in flow.processors})


def offered(flow: Flow, p: ProcessorId, stored: Stored) -> Restorable:
    """What ``p`` can be restored to from the store alone: F*(p) without ⊤."""
    domain, floor = flow.graph.domains[p], stored.ledger.base.frontier
    if flow.restores_anywhere(p):
        return AnyFrontier(domain.top, failed=True)
    if floor.is_empty:
        return Chain(flow.recovery, p, [Checkpoint(domain.empty), *stored.checkpoints])
    if not stored.checkpoints:
        raise RecoveryError(
            f"no checkpoint of {p!r} is left: its state up to {floor!r} was folded, and what holds"
            " it is gone or damaged; restore the store from a copy, or start again with a new one"
        )
    return Chain(flow.recovery, p, stored.checkpoints)


def adopt_numbers(state: State, p: ProcessorId, stored: Stored) -> None:
    """Numbers and epochs go on above those that the store has seen."""
    for record in stored.ledger.records.values():
        used = [message.number for message in record.sent]
        used += [
            number
            for past in record.delivered
            for number in (past.number, *(sent.number for sent in past.sent))
        ]
        state.next_number = max([state.next_number, *used])
    for time in stored.ledger.records:
        state.see(time)
    for checkpoint in stored.checkpoints:
        for time in getattr(checkpoint.frontier, "maximal", ()):
            state.see(time)
