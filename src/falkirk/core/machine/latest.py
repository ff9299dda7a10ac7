"""The ``latest`` bridge: a fast stream joined with the newest version of a slow one (§1, Figure 1).

The slow side ends in an output, the fast side has an input of its own for the versions, and the
bridge couples the two: what the output releases is ingested at the epoch that is open on the fast
side. An output releases only inside its own low-watermark, so a version is never taken back. The
two sides are as independent as two systems with a durable queue between them: neither waits for
the other, and neither rolls back because of the other.

* The epochs of the version input follow those of the fast input, so it never holds back progress.
* Which version came at which epoch is the version input's record, durable before the epoch counts.
* The output keeps a version until the version input has it inside its own low-watermark.
"""

from falkirk.core.machine.checkpointing import delivered, look
from falkirk.core.machine.delivery import close, ingest
from falkirk.core.machine.events import Close, Delivered, Effect, End, Ingest, Release
from falkirk.core.machine.flow import Latest
from falkirk.core.machine.state import State


def carry_over(state: State, effects: list[Effect]) -> list[Effect]:
    """Carries versions from slow outputs to version inputs, after every step."""
    effects = divert(state, effects)
    for bridge in state.flow.latest.values():
        offer(state, bridge)
        follow(state, bridge)
    effects += divert(state, look(state))
    for event in settled(state):
        effects += delivered(state, event)
    return effects


def divert(state: State, effects: list[Effect]) -> list[Effect]:
    """Turns the releases of coupled outputs into versions on offer; other effects pass."""
    kept: list[Effect] = []
    for effect in effects:
        if isinstance(effect, Release) and effect.processor in state.flow.latest:
            state.versions[effect.processor][effect.time] = effect.batches
        else:
            kept.append(effect)
    return kept


def offer(state: State, bridge: Latest) -> None:
    """Ingests the versions on offer that the version input does not have yet, oldest first.

    The version's time is the input's position.
    """
    newest = tuple(state.ledgers[bridge.versions].position() or ())
    for time, batches in sorted(state.versions[bridge.slow].items()):
        if time > newest and state.standing[bridge.versions].epoch is not None:
            ingest(state, Ingest(bridge.versions, state.gather(batches), time))


def follow(state: State, bridge: Latest) -> None:
    """Closes the version input's epochs up to the one that is open on the fast side."""
    versions, fast = state.standing[bridge.versions], state.standing[bridge.fast]
    while versions.epoch is not None and fast.epoch is not None and versions.epoch < fast.epoch:
        close(state, Close(bridge.versions))
    if fast.epoch is None and versions.epoch is not None:
        close(state, Close(bridge.versions))
        close(state, End(bridge.versions))


def settled(state: State) -> list[Delivered]:
    """The versions that their input will never ask for again: as if the outside had taken them."""
    found = []
    for bridge in state.flow.latest.values():
        ledger = state.ledgers[bridge.versions]
        safe = [tuple(time) for _, time in ledger.base.state]
        for record in ledger.inside(state.collectable(bridge.versions)):
            safe += map(tuple, record.state)
        on_offer = state.versions[bridge.slow]
        for time in [time for time in sorted(on_offer) if safe and time <= max(safe)]:
            del on_offer[time]
            found.append(Delivered(bridge.slow, time))
    return found
