"""The moves of a run: everything that goes on around the machine, one small step at a time.

A move is the name of a function of this module and its argument. The order in which
:func:`possible` lists them is that of a prompt run: what was begun is finished first, and inputs
are read when there is nothing else to do.
"""

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from falkirk.core.machine.events import (
    Again,
    Close,
    Collect,
    CollectLog,
    Compacted,
    Delivery,
    End,
    Finish,
    Ingest,
    Item,
    Persist,
    Persisted,
    PutBack,
    Release,
    Result,
    Trust,
    Work,
)
from falkirk.core.times import EdgeId, ProcessorId
from falkirk.testing.decisions import Move
from falkirk.testing.logic import Context, Items, flat
from falkirk.testing.opaque import visible

if TYPE_CHECKING:
    from falkirk.testing.simulator import Simulation

AT_ONCE = 4
"""How many pieces of work are under way at most."""
TOGETHER = 3
"""How much is collected in one transaction."""


def possible(run: "Simulation") -> list[Move]:
    """Every way to go on."""
    works = run.works
    found: list[Move] = [("finish", work) for work in works] if works else []
    if len(works) < AT_ONCE:
        found += run.beginnings()
    if not run.outage:
        if run.writes:
            found += [("commit", persist) for persist in run.writes]
        if run.collections:
            found.append(("collect", run.collections[0]))
    if run.releases:
        found += [("hand_out", release) for release in run.releases]
    if run.compactable:
        found += [("compact", p) for p in run.compactable]
    if run.compacting:
        found += [("compacted", event) for event in run.compacting]
    found += [("read", p) for p in run.scenario.inputs if can_read(run, p)]
    if run.late:
        found += [("finish_late", work) for work in run.late]
    if run.machine.state.suspected:
        found.append(("trust", frozenset(run.machine.state.suspected)))
    return found


def make(run: "Simulation", move: Move) -> None:
    """Makes a move."""
    kind, subject = move
    _MOVES[kind](run, subject)


# Work.


def begin(run: "Simulation", item: Item) -> None:
    """Starts to work on something."""
    if isinstance(item, Delivery):
        run.guard.delivery(run.machine.state, item)
    elif isinstance(item, Again):
        run.seen["replayed event"] += 1
    work = run.machine.begin(item)
    run.changed()
    run.entries.append(("begin", work))
    run.works.append(work)


def finish(run: "Simulation", work: Work) -> None:
    """Reports what came of work."""
    run.works.remove(work)
    result, p = execute(run, work), work.processor
    if run.scenario.flow.processors[p].opaque and result.state is not None:
        run.memory.setdefault(p, {})[work.time] = result.state
        result = replace(result, state=None)
    run.step(Finish(work, result))


def finish_late(run: "Simulation", work: Work) -> None:
    """Work that was begun before a rollback ends after it."""
    run.late.remove(work)
    run.seen["late work"] += 1
    run.step(Finish(work, execute(run, work)))


def execute(run: "Simulation", work: Work) -> Result:
    """Runs the user's code."""
    p, item, machine = work.processor, work.item, run.machine
    if run.scenario.flow.processors[p].opaque:
        own = run.memory.get(p, {}).get(work.time, ())
        seen = visible(run.memory, p, work.time)
    else:
        own, seen = tuple(machine.own_state(work)), flat(machine.visible_state(work))
    context = Context(run.scenario.flow, p, work.time, own, seen, run.random)
    logic = run.scenario.logics[p]
    edge: EdgeId | None = None
    batch: Items = ()
    if isinstance(item, Delivery):
        edge, batch = item.message.edge, item.message.batch
    elif isinstance(item, Again):
        edge, batch = item.past.edge, item.past.batch
    if edge is None:
        return logic.on_notify(context)
    return logic.on_message(context, edge, batch) if batch else Result()


def put_back(run: "Simulation", work: Work) -> None:
    """Work comes to nothing, and will be begun again."""
    run.works.remove(work)
    run.seen["work put back"] += 1
    run.step(PutBack(work))


# Inputs.


def can_read(run: "Simulation", p: ProcessorId) -> bool:
    """Whether an input is still open; with a limit, also that nobody is too far behind."""
    epoch = run.machine.state.standing[p].epoch
    if epoch is None or run.backlog is None:
        return epoch is not None
    standing = run.machine.state.standing
    others = [standing[q].epoch for q in run.scenario.inputs]
    slowest = min(other for other in others if other is not None)
    return epoch <= slowest + 2 and pending(run) <= run.backlog


def pending(run: "Simulation") -> int:
    """How many things wait to be done."""
    state = run.machine.state
    queued = sum(map(len, state.channels.queues.values()))
    held = sum(len(standing.held) for standing in state.standing.values())
    stored = len(run.writes) + len(run.collections)
    return queued + held + stored + len(run.works) + len(run.releases)


def read(run: "Simulation", p: ProcessorId) -> None:
    """Ingests the next batch of the open epoch, or closes it, or ends the input."""
    epoch = run.machine.state.standing[p].epoch
    assert epoch is not None
    if p not in run.reading:
        run.guard.position(p, epoch, run.machine.position(p))
    if epoch >= len(run.scenario.inputs[p]):
        run.step(End(p))
        return
    if p not in run.reading:
        run.reading[p] = list(run.world.read(p, epoch))
    if run.reading[p]:
        batch = run.reading[p].pop(0)
        run.step(Ingest(p, batch, [epoch, len(run.reading[p])]))
    else:
        del run.reading[p]
        run.step(Close(p))


# The store and the outside.


def commit(run: "Simulation", persist: Persist) -> None:
    """The row that makes a write visible is there: before, nobody sees any of it."""
    run.writes.remove(persist)
    orphans = run.store.orphans
    run.store.commit(persist, run.captured.pop(persist.ticket, None))
    run.seen["late write"] += run.store.orphans - orphans
    if run.scenario.flow.processors[persist.processor].policy.holds:
        run.changed()
    run.acknowledge(Persisted(persist.ticket))


def collect(run: "Simulation", effect: Collect | CollectLog) -> None:
    """The store deletes what will never be asked for again: this, and what comes next."""
    assert effect is run.collections[0], "in order"
    for each in run.collections[:TOGETHER]:
        run.entries.append(("store does", each))
        run.store.collect(each)
    del run.collections[:TOGETHER]


def compact(run: "Simulation", p: ProcessorId) -> None:
    """Begins to make folded state of several times into one batch, or two if there is much."""
    run.compactable.remove(p)
    for time, group in run.machine.compactable(p):
        merged = tuple(sorted(flat(batch for _, batch in group)))
        pieces = (merged[::2], merged[1::2]) if len(group) > 2 else (merged,)
        put = tuple((time, piece) for piece in pieces if piece)
        run.compacting.append(Compacted(p, group, put))


def compacted(run: "Simulation", event: Compacted) -> None:
    """State was compacted, if it is still there."""
    run.compacting.remove(event)
    run.seen["compaction"] += 1
    run.step(event)


def hand_out(run: "Simulation", release: Release) -> None:
    """The outside takes an output."""
    run.releases.remove(release)
    if release.time in run.world.outputs.get(release.processor, {}):
        run.seen["output repeated"] += 1
    run.world.take(release.processor, release.time, release.batches)
    run.acknowledge(release.taken)


def trust(run: "Simulation", suspected: frozenset[ProcessorId]) -> None:
    """Suspicion was unfounded."""
    run.step(Trust(suspected))


_MOVES: dict[str, Any] = {
    function.__name__: function
    for function in (
        begin,
        finish,
        finish_late,
        put_back,
        read,
        commit,
        collect,
        compact,
        compacted,
        hand_out,
        trust,
    )
}
