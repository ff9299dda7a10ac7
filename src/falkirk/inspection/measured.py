"""What policies cost, as it was measured: facts that come with the package.

``python -m benchmarks matrix --write-advice`` writes them anew.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from math import log

from falkirk.core.policy import Policy, Regime, lazy
from falkirk.dataflow.explanation import policy_text


@dataclass(frozen=True, slots=True)
class Fact:
    """What a policy was found to cost; ``cost`` is times an epoch with nothing saved."""

    cost: float
    bytes: int
    latency_ms: float | None = None
    caught_up_ms: float | None = None


@dataclass(frozen=True, slots=True)
class Measured:
    """What was found, and where: by policies as they are written."""

    falkirk: str
    spark: str
    machine: str
    date: str
    work: str
    ways: Mapping[str, Fact]

    def fact(self, policy: Policy) -> Fact | None:
        """What is known of ``policy``; of another interval, what the nearest one was found to be.

        >>> found = Measured("", "", "", "", "", {"lazy(every=10)": Fact(1.1, 9)})
        >>> found.fact(lazy(every=8)).cost
        1.1
        """
        if policy.regime is not Regime.LAZY:
            return self.ways.get(policy_text(plain(policy)))
        known = {every: self.ways.get(policy_text(lazy(every))) for every in range(1, 101)}
        near = [every for every, fact in known.items() if fact is not None]
        if not near or policy.clocked:
            return None
        return known[min(near, key=lambda every: abs(log(every / policy.every)))]


def plain(policy: Policy) -> Policy:
    """The policy without what was chosen besides its regime."""
    return Policy(policy.regime)


@cache
def measured() -> Measured | None:
    """What comes with this package; None if nothing was measured yet."""
    place = files("falkirk.inspection") / "measured.json"
    return read(place.read_text("utf-8")) if place.is_file() else None


def read(text: str) -> Measured:
    """Facts as the benchmark writes them."""
    found = json.loads(text)
    ways = {name: Fact(**fact) for name, fact in found.pop("ways").items()}
    return Measured(**found, ways=ways)
