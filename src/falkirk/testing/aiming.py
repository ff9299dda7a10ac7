"""Aimed faults: a run may lie in wait for a moment that chance alone would seldom meet.

Who is haunted and from whom the outside withholds its receipts is drawn with everything else. The
other moments need flows of a certain kind. They have random numbers of their own, so they change
only the runs in which they are waited for, and they take their faults out of the bag: a run with
one is no longer than others.
"""

from collections.abc import Sequence
from random import Random
from typing import Any, Protocol

from falkirk.core.machine.flow import Flow
from falkirk.testing.faults import Fault, Trouble
from falkirk.testing.haunting import Haunting
from falkirk.testing.interrupting import Interrupting
from falkirk.testing.returning import Returning
from falkirk.testing.severing import Severing
from falkirk.testing.situation import Situation
from falkirk.testing.splitting import Splitting
from falkirk.testing.unwinding import Unwinding
from falkirk.testing.withholding import Withholding

HAUNTED = 0.6
"""How many of all runs are haunted."""
WITHHELD = 0.5
"""In how many of the others the outside keeps an output waiting."""
AMBUSHES: tuple[type[Any], ...] = (Interrupting, Splitting, Unwinding, Severing, Returning)
"""What else may be waited for."""
RARE: tuple[type[Any], ...] = (Splitting,)
"""What so few flows allow that even ghosts give way."""


class Aim(Protocol):
    """Waits for its moment, prepares it, and strikes."""

    over: bool
    """Whether it has struck, or given up."""

    def fault(self, situation: Situation) -> Fault | None:
        """What goes wrong now, if its time has come; asked before every move."""

    def choose(self, moves: Sequence[tuple[str, Any]]) -> list[int]:
        """The moves that may be made now; empty if it does not matter."""


class Ambush(Aim, Protocol):
    """An aim whose faults come out of the bag. ``weight(flow)`` says how much a flow suits it."""

    @property
    def takes(self) -> tuple[tuple[Trouble, ...], ...]:
        """The faults, each in the forms that it may have."""


def aim(random: Random) -> Aim | None:
    """The aimed fault of a run, if it has one, whatever its flow is."""
    if random.random() < HAUNTED:
        return Haunting(random)
    return Withholding(random) if random.random() < WITHHELD else None


def ambush(random: Random, flow: Flow, aimed: Aim | None) -> Ambush | None:
    """What is waited for in a run of ``flow`` in the place of ``aimed``; None if nothing is.

    Ghosts mostly are left alone. An output that may repeat what nobody took is always withheld its
    receipts.
    """
    prompt = any(flow.processors[p].policy.tainted for p in flow.output_ones)
    if prompt and aimed is None:
        return Withholding(random)
    kinds = RARE if prompt or isinstance(aimed, Haunting) else AMBUSHES
    weights = [kind.weight(flow) for kind in kinds]
    if not any(weights):
        return None
    chosen: Ambush = random.choices(kinds, weights)[0](random, flow)
    return chosen
