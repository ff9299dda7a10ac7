"""An aimed fault: a loop goes back to a round of an epoch that is not over (§3.4)."""

from collections.abc import Sequence
from random import Random
from typing import Any

from falkirk.core.domain import Structured
from falkirk.core.machine.flow import Flow
from falkirk.core.times import INF, ProcessorId
from falkirk.testing.faults import FAILURE, Fault
from falkirk.testing.situation import Situation

ATTEMPTS = 6
"""Writes after which nothing is waited for any more."""


class Unwinding:
    """Waits until somebody in a loop saves a part of an epoch, and has it fail right then.

    But only if that is where it would go back to.
    """

    takes = (FAILURE,)

    @classmethod
    def weight(cls, flow: Flow) -> int:
        """Somebody in a loop saves something; the deeper, the better."""
        inside = innermost(flow)
        return 4 ** (depth_of(flow, inside[0]) - 1) // 2 if inside else 0

    def __init__(self, random: Random, flow: Flow) -> None:
        """Chooses how many of the moments pass by."""
        self.random, self.inside = random, innermost(flow)
        self.countdown, self.attempts = random.randrange(4), ATTEMPTS
        self.ticket: int | None = None
        self.names: tuple[ProcessorId, ...] = ()
        self.over = False

    def fault(self, situation: Situation) -> Fault | None:
        """The failure, as soon as a part of an epoch is durable."""
        if self.ticket is not None:
            if any(write.ticket == self.ticket for write in situation.writes):
                return None
            self.ticket = None
            self.attempts -= 1
            self.over = self.attempts == 0
            if is_part(situation.plan(self.names)[self.names[0]]):
                self.over = True
                return Fault(self.random.choice(FAILURE), self.names)
            return None
        for write in situation.writes:
            if write.processor in self.inside and is_part(write.checkpoint.frontier):
                self.countdown -= 1
                if self.countdown < 0:
                    self._aim_at(write)
                break
        return None

    def _aim_at(self, write: Any) -> None:
        self.ticket = write.ticket
        others = [p for p in self.inside if p != write.processor]
        more = [self.random.choice(others)] if others and self.random.random() < 0.3 else []
        self.names = (write.processor, *more)

    def choose(self, moves: Sequence[tuple[str, Any]]) -> list[int]:
        """The write goes first."""
        if self.ticket is None:
            return []
        commits = [(i, move[1].ticket) for i, move in enumerate(moves) if move[0] == "commit"]
        return [i for i, ticket in commits if ticket == self.ticket]


def innermost(flow: Flow) -> list[ProcessorId]:
    """Those in the deepest loops who save something."""
    saving = [p for p in flow.processors if not flow.restores_anywhere(p)]
    deepest = max(depth_of(flow, p) for p in saving)
    return [p for p in saving if depth_of(flow, p) == deepest > 1]


def depth_of(flow: Flow, p: ProcessorId) -> int:
    """How many coordinates the times of ``p`` have: more than one in loops."""
    domain = flow.processors[p].domain
    return domain.depth if isinstance(domain, Structured) else 1


def is_part(frontier: Any) -> bool:
    """Whether a frontier ends within an epoch.

    >>> from falkirk.core.frontier import TotalFrontier
    >>> is_part(TotalFrontier((1, 3))), is_part(TotalFrontier((1, INF)))
    (True, False)
    """
    return any(INF not in time[:2] for time in frontier.maximal)
