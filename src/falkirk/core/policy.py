"""Fault-tolerance policies: what a processor saves, and when (§2, §4.1).

A policy is declared for each processor. It decides three things and nothing else: which sent
messages are logged, when a checkpoint of the completed times is taken, and whether sends wait until
it is durable. What really happened (N̄, M̄, D̄) is tracked by the system whatever the policy says.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from enum import Enum

from falkirk.core.errors import DefinitionError
from falkirk.core.times import EdgeId


class Regime(Enum):
    """The fault-tolerance regimes, by their names in the paper where it has one."""

    EPHEMERAL = "ephemeral"
    BATCH = "batch"
    LAZY = "lazy"
    EAGER = "eager"
    HISTORY = "history"
    SNAPSHOT = "snapshot"
    AT_LEAST_ONCE = "at-least-once"


ROUND_SECONDS = 1.0
"""How far apart rounds of a loop are saved, unless the user says otherwise."""


@dataclass(frozen=True, slots=True)
class Policy:
    """One processor's policy.

    A checkpoint is due at every ``every``-th epoch (with sequence numbers after so many completions
    of times), or ``seconds`` after the last one, or when ``when(completions, seconds)`` says so.
    Inside a loop rounds are saved besides, ``round_seconds`` after the last checkpoint or later.
    ``log`` names output edges to log besides those that the regime logs anyway (§4.1: "some or all
    sent messages"); ``region`` names the processors that take a snapshot together. ``aside`` sets a
    batch aside that cannot be processed, instead of stopping the flow.
    """

    regime: Regime
    every: int = 1
    log: frozenset[EdgeId] = frozenset()
    region: str = ""
    seconds: float | None = None
    when: Callable[[int, float], bool] | None = None
    round_seconds: float = ROUND_SECONDS
    aside: bool = False

    def __post_init__(self) -> None:
        """Refuses an interval of nothing."""
        if self.round_seconds < 0:
            raise DefinitionError(
                f"rounds {self.round_seconds:g} seconds apart make no sense: at least 0"
            )
        if self.every < 1:
            raise DefinitionError(
                f"a checkpoint every {self.every} times makes no sense: at least 1"
            )

    def logging(self, *edges: EdgeId) -> "Policy":
        """This policy with ``edges`` logged too."""
        return replace(self, log=self.log | frozenset(edges))

    def setting_aside(self) -> "Policy":
        """This policy, which sets a batch aside when its processing keeps failing.

        The batch becomes state of its time, so it is saved and rolled back like all state, and it
        is neither lost nor processed in part. A policy that saves no state cannot do this.
        """
        if self.regime not in (Regime.LAZY, Regime.EAGER):
            raise DefinitionError(
                f"{self.regime.value} saves no state of its own, so it has nowhere to set a batch"
                " aside: lazy or eager do"
            )
        return replace(self, aside=True)

    def logs(self, edge: EdgeId) -> bool:
        """Whether messages sent on ``edge`` can be sent again without redoing the work."""
        return edge in self.log or self.regime in (Regime.BATCH, Regime.EAGER, Regime.HISTORY)

    def is_due(self, completions: int, seconds: float) -> bool:
        """Whether a checkpoint is due, so long after the last one.

        >>> lazy(every=3).is_due(2, 60.0), lazy(seconds=30).is_due(2, 60.0)
        (False, True)
        """
        if self.when is not None:
            return self.when(completions, seconds)
        if self.seconds is not None:
            return seconds >= self.seconds
        return completions >= self.every

    @property
    def clocked(self) -> bool:
        """Whether it is not the count of completed times that makes a checkpoint due."""
        return self.seconds is not None or self.when is not None

    @property
    def stateless(self) -> bool:
        """Whether nothing is kept between times."""
        return self.regime in (Regime.EPHEMERAL, Regime.BATCH)

    @property
    def holds(self) -> bool:
        """Whether sends wait until what caused them is durable."""
        return self.regime is Regime.EAGER

    @property
    def replays(self) -> bool:
        """Whether state is restored by replaying the history."""
        return self.regime is Regime.HISTORY

    @property
    def tainted(self) -> bool:
        """Whether messages may be delivered again: results are at least once."""
        return self.regime is Regime.AT_LEAST_ONCE


def ephemeral() -> Policy:
    """Nothing is saved; who sent the input sends it again."""
    return Policy(Regime.EPHEMERAL)


def batch() -> Policy:
    """Nothing is kept between times and everything sent is logged: a firewall (§4.1)."""
    return Policy(Regime.BATCH)


def lazy(
    every: int = 1,
    *,
    seconds: float | None = None,
    when: Callable[[int, float], bool] | None = None,
    round_seconds: float = ROUND_SECONDS,
) -> Policy:
    """Selective incremental checkpoints of completed times: by count, time or ``when``.

    In a loop that takes long, rounds are saved besides, ``round_seconds`` apart: 0 is as often as
    the store keeps up.
    """
    return Policy(Regime.LAZY, every, seconds=seconds, when=when, round_seconds=round_seconds)


def eager() -> Policy:
    """State and sent messages are durable before anything is released: exactly-once streaming."""
    return Policy(Regime.EAGER)


def history() -> Policy:
    """All deliveries are logged and replayed on restore: any deterministic processor (§4.1)."""
    return Policy(Regime.HISTORY)


def snapshot(every: int = 1, region: str = "snapshot") -> Policy:
    """A coordinated cut over all processors of ``region``, messages in flight included (§2.1)."""
    return Policy(Regime.SNAPSHOT, every, region=region)


def at_least_once() -> Policy:
    """Nothing is guaranteed but that nothing is lost: deliveries may be repeated (§2.1)."""
    return Policy(Regime.AT_LEAST_ONCE)
