"""What people ask of a running flow: to keep a past that it could go back to, and to go back.

A pin bounds the low-watermarks from which collection and acknowledgement follow, and is nothing
else. Going back is a recovery in which nothing has failed: those who are asked to offer less than
they have, and the solver finds the rest.
"""

from collections.abc import Mapping
from typing import Any

from falkirk.core.errors import RecoveryError
from falkirk.core.machine.checkpointing import forget
from falkirk.core.machine.events import Effect, GoBack, Pin, RolledBack
from falkirk.core.machine.flow import Role
from falkirk.core.machine.recovery import plan, roll
from falkirk.core.machine.releasing import is_prompt
from falkirk.core.machine.state import State
from falkirk.core.times import ProcessorId


class PromiseError(RecoveryError):
    """Somebody would have to go back further than was promised."""


def bound(state: State, event: Pin) -> None:
    """Bounds what may be collected, acknowledged and shown from now on."""
    state.kept = dict(event.kept) if state.rules.keep_pinned else {}
    state.shown = dict(event.shown)
    state.monitor.keep(state.kept)


def pin(state: State, event: Pin) -> list[Effect]:
    """Changes the bounds; what an earlier one held back and this one does not is let go."""
    bound(state, event)
    flow = state.flow
    inputs = [p for p, each in flow.processors.items() if each.role is Role.INPUT]
    return forget(state, flow.graph.edges, flow.processors, inputs)


def go_back(state: State, event: GoBack) -> list[Effect]:
    """Takes processors back inside their bounds, and everybody else as far as that needs (§3.6).

    It may lead below low-watermarks, as far as pins have kept what is there. Where it cannot be,
    nothing is changed.
    """
    solution = plan(state, (), event.bounds)
    moved = {p: f for p, f in solution.frontiers.items() if not f.is_top}
    refuse(state, moved, event)
    reasons = solution.reasons  # by the checkpoints that there were
    effects = roll(state, solution, moved, {})
    state.monitor.go_back(moved)
    return [RolledBack(frozenset(), dict(solution.frontiers), reasons), *effects]


def refuse(state: State, moved: Mapping[ProcessorId, Any], event: GoBack) -> None:
    """Raises if somebody would go where nothing is kept, below a promise, or behind what is shown.

    What an at-least-once output has shown may be shown again.
    """
    promised = event.promised
    for p, frontier in moved.items():
        folded = state.ledgers[p].base.frontier
        if not folded <= frontier and not state.flow.restores_anywhere(p):
            raise RecoveryError(
                f"{p!r} cannot go back to {frontier!r}: this run has folded what it had up to"
                f" {folded!r}. If its store still has it, stop the flow and go back then"
            )
        if p in promised and not promised[p] <= frontier:
            raise PromiseError(
                f"{p!r} would have to go back to {frontier!r} by now, further than to"
                f" {promised[p]!r} as was promised: nothing was done, make a new plan"
            )
        if state.is_output(p) and not is_prompt(state, p) and p not in event.undone:
            shown = sorted(t for t in state.standing[p].released if t not in frontier)
            if shown:
                raise RecoveryError(
                    f"the output {p!r} cannot go back to {frontier!r}: it has released"
                    f" {shown[0]} and what was shown is never contradicted"
                )
