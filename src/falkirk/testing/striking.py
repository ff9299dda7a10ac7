"""How each kind of fault happens to a run."""

from typing import TYPE_CHECKING

from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import Collect, CollectLog, Fail, GoBack, Pin, Suspect, Tick
from falkirk.core.times import ProcessorId
from falkirk.testing import moves
from falkirk.testing.faults import Fault, Trouble
from falkirk.testing.moments import Before

if TYPE_CHECKING:
    from falkirk.testing.simulator import Simulation

SEVERED = 40
"""Steps in which the store takes nothing, when it is severed."""


def strike(run: "Simulation", fault: Fault) -> None:
    """Something goes wrong."""
    run.entries.append(("fault", fault))
    run.seen[fault.kind.value] += 1
    names = frozenset(ProcessorId(name) for name in fault.names)
    match fault.kind:
        case Trouble.FAIL:
            tidy(run)
            fail(run, names)
        case Trouble.SEVER:
            tidy(run)
            fail(run, names, severed=SEVERED)
        case Trouble.KILL:
            forget_writes(run, names)
            fail(run, names)
        case Trouble.CRASH:
            crash(run)
        case Trouble.ORPHAN:
            if run.writes:
                run.entries.append(("files of", run.writes[0]))
                run.seen["orphaned files"] += 1
            crash(run)
        case Trouble.SUSPECT:
            run.step(Suspect(names))
        case Trouble.REPEAT:
            which = int(fault.names[0])
            if which < len(run.acknowledgements):
                run.step(run.acknowledgements[-1 - which])
        case Trouble.STUMBLE:
            if run.works:
                moves.put_back(run, run.works[int(fault.names[0]) % len(run.works)])
        case Trouble.REFUSE:
            if run.writes:
                refused = run.writes.pop(int(fault.names[0]) % len(run.writes))
                run.writes.append(refused)
        case Trouble.OUTAGE:
            run.outage = int(fault.names[0])
        case Trouble.TICK:
            run.now += int(fault.names[0])
            run.step(Tick(run.now))
        case Trouble.PIN:
            low = dict(run.machine.state.monitor.watermarks())
            run.pin_to(Pin(low, low))
        case Trouble.RETURN:
            go_back(run)


def tidy(run: "Simulation") -> None:
    """What is to be collected belongs to the timeline that is left."""
    while run.collections:
        moves.collect(run, run.collections[0])


def forget_writes(run: "Simulation", names: frozenset[ProcessorId]) -> None:
    """What processors have asked of the store or the outside and was not done yet never will be."""
    run.writes = [write for write in run.writes if write.processor not in names]
    run.releases = [release for release in run.releases if release.processor not in names]
    run.collections = [effect for effect in run.collections if owner(run, effect) not in names]


def owner(run: "Simulation", effect: Collect | CollectLog) -> ProcessorId:
    """Whose storage a collection is about."""
    if isinstance(effect, Collect):
        return effect.processor
    return run.scenario.flow.graph.edges[effect.edge].source


def fail(run: "Simulation", failed: frozenset[ProcessorId], severed: int = 0) -> None:
    """Some processors fail; what they were doing may still end later.

    The store takes nothing in the ``severed`` steps from then on.
    """
    if len(failed) == len(run.names):
        run.seen["everything at once"] += 1
    before = Before(run.machine.state)
    run.store_is_back()  # nobody recovers before the store can be read
    for p in failed:
        run.memory.pop(p, None)
    stored = {p: run.store.read(p) for p in run.names if p in failed}
    run.outage = severed
    run.guard.before_failure(run.machine.state)
    run.step(Fail(failed, stored))
    run.seen.update(before.moments(failed, run.frontiers))


def go_back(run: "Simulation") -> None:
    """Somebody has the flow go back to what is pinned, unless a recovery is under way."""
    state = run.machine.state
    if not run.pin.kept or state.suspected or run.replaying:
        return
    run.store_is_back()
    tidy(run)
    bounds = {
        p: run.pin.kept[p]
        for p in run.names
        if p in run.guard.chained and not state.flow.processors[p].policy.tainted
    }
    if run.risen():
        run.seen["went back below low-watermarks"] += 1
    run.guard.before_failure(state)
    run.guard.watermarks.clear()  # they fall
    run.step(GoBack(bounds, bounds))


def crash(run: "Simulation") -> None:
    """The whole process is killed: only the store and the outside remain."""
    before = Before(run.machine.state)
    run.seen.update(before.at_all())
    if before.replaying:
        run.seen["crashed while replaying"] += 1
    if run.world.outputs:
        run.seen["crashed after a release"] += 1
    if run.retractions:
        run.seen["crashed before a retraction"] += 1
    run.forget()
    stored = {p: run.store.read(p) for p in run.names}
    run.machine = Machine(run.scenario.flow, stored, run.rules, pinned=run.pin)
    run.carry_out(run.machine.effects)
