"""What lowered whom: the reasons that the monitor keeps, so that it can raise again (§4.2).

The fixed point has two variables for every processor: number ``2 * p`` is f(p) and ``2 * p + 1`` is
f_n(p). Lowering a variable to a value establishes a *fact*, "it cannot exceed this value", from a
fact about one other variable. The trail has for each variable its facts in the order of time. A
first fact needs no record: nobody exceeds the largest frontier that it has saved.

When a processor saves more, only that first fact of its own ceases to hold, and with it whatever
was concluded from it. Variables whose *last* fact is gone go back to the last that still holds, and
are lowered again from there. All others keep their values, which are still proved. So a processor
that runs ahead of its neighbours changes nothing when it saves yet another checkpoint, however many
of them wait for a common laggard; and a laggard that catches up concerns those who waited for it.

A conclusion at time t rests on the newest fact that its premise had before t. A fact is *decisive*
when its constraint alone implies the value: always in a total order or a steady chain, but not
where a value is the intersection of what several neighbours allow. A fact that is not decisive
rests on the one before it as well, back to the last decisive one.
"""

from collections.abc import Callable, Iterator
from enum import IntEnum
from typing import Any, NamedTuple

from falkirk.core.graph import Topology
from falkirk.core.times import INF


class Blocked(IntEnum):
    """The constraint that lowered a variable, and so the variable that it waits for."""

    DISCARDED = 0
    """f(p) waits for f of the target of an output edge."""
    DELIVERED = 1
    """f(p) waits for f of the source of an input edge."""
    NOTIFIED = 2
    """f(p) waits for f_n(p), which must contain N̄."""
    NOTIFICATION_FRONTIER = 3
    """f_n(p) waits for f_n of the source of an input edge."""
    FRONTIER = 4
    """f_n(p) waits for f(p), which contains it."""
    DESCENT = 5
    """No consistent choice has more, by a cycle of constraints: it waits for nobody."""


NO_EDGE = -1


class Fact(NamedTuple):
    """At ``time`` a variable could not exceed ``value``, because of a constraint on an edge.

    A ``grounded`` fact has lost the fact that it rested on, and was found to hold even so: since
    then it rests on the first fact of its premise, whatever the times.
    """

    time: int
    kind: Blocked
    edge: int
    value: Any
    decisive: bool
    grounded: bool = False


Stands = Callable[[int, Fact], bool]
"""Whether a fact about a variable would hold even if its premise were at its largest."""


class Trail:
    """The facts about every variable of one fixed point."""

    def __init__(self, topology: Topology) -> None:
        """No facts: everyone is at its largest frontier."""
        self.topology = topology
        self.clock = 0
        self.facts: dict[int, list[Fact]] = {}
        # The variables from whose first fact, the one without a record, something was concluded.
        self._leaned_on: set[int] = set()

    def note(self, variable: int, kind: Blocked, edge: int, value: Any, decisive: bool) -> None:
        """Records that ``variable`` was lowered to ``value``."""
        premise = self._premise(variable, kind, edge)
        if not any(fact.decisive for fact in self.facts.get(premise, ())):
            self._leaned_on.add(premise)
        self.clock += 1
        fact = Fact(self.clock, kind, edge, value, decisive)
        self.facts.setdefault(variable, []).append(fact)

    def shorten(self, p: int, largest: Any) -> None:
        """``p`` has now nothing beyond ``largest``: facts that say no more need no reason."""
        for variable in (2 * p, 2 * p + 1):
            if variable in self.facts:
                self.facts[variable] = [
                    fact for fact in self.facts[variable] if not largest <= fact.value
                ]
                self._leaned_on.add(variable)

    def withdraw(self, first: list[int], all_of: list[int], stands: Stands) -> dict[int, Any]:
        """Withdraws the first facts of some variables, and all facts of others.

        Returns the variables that have to be raised, each with the value that is still proved, or
        None for its largest frontier.
        """
        raised: dict[int, Any] = {}
        pending: list[tuple[int, float, float]] = []
        for variable in first:
            self._drop(variable, -1, raised, pending)
        for variable in all_of:
            if self.facts.pop(variable, None):
                self._leaned_on.add(variable)
            self._drop(variable, -1, raised, pending)
        while pending:
            premise, after, before = pending.pop()
            if after < 0:
                if premise not in self._leaned_on:
                    continue
                self._leaned_on.discard(premise)
            for variable, kind, edge in self._dependants(premise):
                found = self.facts.get(variable, ())
                for k in range(len(found) - 1, -1, -1):
                    fact = found[k]
                    if fact.time <= after:
                        break
                    if fact.edge != edge or fact.kind != kind:
                        continue
                    # The times are equal when a variable waits for itself.
                    grounded, rests = fact.grounded, fact.time <= before
                    if not (grounded or rests if after < 0 else rests and not grounded):
                        continue
                    if stands(variable, fact):
                        self._leaned_on.add(premise)
                        self.facts[variable][k] = fact._replace(grounded=True)
                    else:
                        self._drop(variable, k, raised, pending)
        return raised

    def _drop(
        self,
        variable: int,
        k: int,
        raised: dict[int, Any],
        pending: list[tuple[int, float, float]],
    ) -> None:
        """Drops the ``k``-th fact, or the first one that has no record, and those that rest on it.

        Other variables' conclusions from these are left in ``pending`` as a span of time.
        """
        facts = self.facts.get(variable, [])
        end = k + 1
        while end < len(facts) and not facts[end].decisive:
            end += 1
        after = facts[k].time if k >= 0 else -1
        before = facts[end].time if end < len(facts) else INF
        pending.append((variable, after, before))
        if end == len(facts):
            raised[variable] = facts[k - 1].value if k > 0 else None
        del facts[max(k, 0) : end]

    def _premise(self, variable: int, kind: Blocked, edge: int) -> int:
        """The variable that this one waits for; itself after a descent."""
        if edge == NO_EDGE:
            return variable if kind is Blocked.DESCENT else variable ^ 1
        topology = self.topology
        end = topology.target[edge] if kind is Blocked.DISCARDED else topology.source[edge]
        return 2 * end + variable % 2

    def _dependants(self, variable: int) -> Iterator[tuple[int, Blocked, int]]:
        """The variables that can wait for this one, each with the constraint and the edge."""
        p, topology = variable // 2, self.topology
        if variable % 2:
            yield variable - 1, Blocked.NOTIFIED, NO_EDGE
            for e in topology.outputs[p]:
                yield 2 * topology.target[e] + 1, Blocked.NOTIFICATION_FRONTIER, e
            return
        yield variable + 1, Blocked.FRONTIER, NO_EDGE
        for e in topology.outputs[p]:
            yield 2 * topology.target[e], Blocked.DELIVERED, e
        for d in topology.inputs[p]:
            yield 2 * topology.source[d], Blocked.DISCARDED, d
