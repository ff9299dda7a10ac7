"""The fixed point of Figure 6, lowered along a worklist (§3.6).

Every variable starts at the largest frontier that it could have and is only ever lowered: f(p), the
frontier to roll back to, and f_n(p), the notification frontier. A processor that was lowered
announces itself: it compares what its neighbours have with what it allows them now, and lowers
those who have more. A constraint is one comparison:

=======================  =====================================  =================
constraint               holds when                             belongs to
=======================  =====================================  =================
discarded messages       ``D̄(e, f(source)) <= f(target)``       the source of e
delivered messages       ``M̄(e, f(target)) <= φ(e)(f(source))`` the target of e
notification frontiers   ``f_n(target) <= φ(e)(f_n(source))``   the target of e
within the frontier      ``f_n(p) <= f(p)``                     p alone
processed notifications  ``N̄(p, f(p)) <= f_n(p)``               p alone
=======================  =====================================  =================

Once everyone has announced itself, every constraint was looked at; after that one is looked at
again only when the side that allows less was lowered. So the work is proportional to what changes
times the degree of what changes, and no object is made for a constraint that holds.
"""

from collections.abc import Iterable
from typing import Any

from falkirk.core.checkpoint import AnyFrontier, Chain
from falkirk.core.descent import demand, leap
from falkirk.core.domain import Structured
from falkirk.core.errors import RecoveryError
from falkirk.core.projection import Projection
from falkirk.core.trail import NO_EDGE, Blocked
from falkirk.core.variables import Variables

PATIENCE = 32
"""After so many steps of one variable a leap is tried."""


class Fixpoint(Variables):
    """The variables of Figure 6, and how they are lowered."""

    # From scratch, and again after some were raised.

    def settle(self) -> None:
        """Lowers until every constraint holds."""
        self._queue.extend(range(len(self.names)))
        self._queued[:] = b"\1" * len(self.names)
        self._run()

    def resettle(self, raised: Iterable[int]) -> None:
        """Lowers until every constraint holds; only ``raised`` may violate theirs at first."""
        self._suspects.extend(raised)
        self._run()

    def raise_frontier(self, p: int, frontier: Any) -> None:
        """Puts f(p) at ``frontier``, which it is known not to exceed."""
        restorable = self.restorables[p]
        if isinstance(restorable, Chain):
            self._put_chain(p, restorable, restorable.largest_inside(frontier))
        else:
            self._put_any(p, restorable, frontier)
        self._told[p] = None

    def raise_notification(self, p: int, frontier: Any) -> None:
        """Puts f_n(p) at ``frontier``, which it is known not to exceed."""
        self._put_notification(p, frontier)
        self._told_notification[p] = None

    def _run(self) -> None:
        queue, queued, suspects = self._queue, self._queued, self._suspects
        while queue or suspects:
            if suspects:
                self._examine(suspects.pop())
            else:
                p = queue.popleft()
                queued[p] = 0
                self._announce(p)

    def _touch(self, p: int) -> None:
        if not self._queued[p]:
            self._queued[p] = 1
            self._queue.append(p)

    # What p allows its neighbours.

    def _announce(self, p: int) -> None:
        """Lowers the neighbours of ``p`` that have more than it allows."""
        frontier, notification = self.frontier[p], self.notification[p]
        moved = self._told[p] is not frontier
        moved_notification = self._told_notification[p] is not notification
        self._told[p], self._told_notification[p] = frontier, notification
        taken, sent, noted = self._taken, self._sent, self._noted
        for projection, edges, targets in self.topology.groups[p]:
            if projection.recorded:
                self._announce_recorded(p, edges)
                continue
            fixed = None
            if moved:
                fixed = projection.phi(frontier)
                for k in [k for k, q in enumerate(targets) if not taken[q] <= fixed]:
                    self._deliver(edges[k], fixed)
            if moved_notification:
                if fixed is None or notification is not frontier:
                    fixed = projection.phi(notification)
                for k in [k for k, q in enumerate(targets) if not noted[q] <= fixed]:
                    self._notify(edges[k], fixed)
        if moved:
            inputs, sources = self.topology.inputs[p], self.topology.sources[p]
            if self.whole[p]:
                for k in [k for k, q in enumerate(sources) if not sent[q] <= frontier]:
                    self._discard(inputs[k], frontier)
            else:
                for d in inputs:
                    self._discard(d, frontier.on(self.edges[d].name))

    def _announce_recorded(self, p: int, edges: list[int]) -> None:
        chain, notification = self.restorables[p], self.notification[p]
        assert isinstance(chain, Chain), "a recorded projection belongs to a chain of checkpoints"
        here = inside = self.position[p]
        if notification is not self.frontier[p]:
            inside = chain.largest_inside(notification)
        for e in edges:
            recorded = chain.projected[self.edges[e].name]
            self._deliver(e, recorded[here])
            if inside >= 0:
                self._notify(e, recorded[inside])
            else:
                self._notify(e, self.domains[self.topology.target[e]].edge_empty)

    # What the neighbours of p allow it. These may be called when nothing is broken.

    def _examine(self, p: int) -> None:
        """Lowers ``p`` to what its neighbours and its own notifications allow."""
        self._reconcile(p)
        topology, whole, frontier = self.topology, self.whole, self.frontier
        sent, taken = self._sent[p], self._taken[p]
        for e in topology.outputs[p]:
            q = topology.target[e]
            if not (whole[q] and sent <= frontier[q]):
                self._discard(e, self.reached(e))
        for d in topology.inputs[p]:
            q = topology.source[d]
            fixed = self.project(d, frontier[q])
            if not taken <= fixed:
                self._deliver(d, fixed)
            if self.notification[q] is not frontier[q]:
                fixed = self.project(d, self.notification[q])
            if not self._noted[p] <= fixed:
                self._notify(d, fixed)

    def _discard(self, e: int, bound: Any) -> None:
        """The source of e may not have discarded more on it than ``bound``."""
        p, edge = self.topology.source[e], self.edges[e]
        restorable = self.restorables[p]
        if isinstance(restorable, Chain):
            column = restorable.discarded[edge.name]
            self._lower_chain(p, restorable, column, bound, Blocked.DISCARDED, e)
            return
        done = restorable.done(self.frontier[p])
        if done is not None:
            kept_all = done.discarded[edge.name] <= bound
        else:
            logged = edge.name in restorable.logs
            kept_all = logged or edge.projection.image(self.frontier[p]) <= bound
        if not kept_all:
            kept = edge.projection.adjoint(bound)
            if edge.name in restorable.logs:
                kept = self.domains[p].top
            self._lower_any(p, restorable, self._offered(p) & kept, kept, Blocked.DISCARDED, e)

    def _deliver(self, e: int, bound: Any) -> None:
        """The target of e may not have processed more from it than ``bound``."""
        q, name = self.topology.target[e], self.edges[e].name
        restorable, domain = self.restorables[q], self.domains[q]
        if isinstance(restorable, Chain):
            column = restorable.processed[name]
            self._lower_chain(q, restorable, column, bound, Blocked.DELIVERED, e)
            return
        done = restorable.done(self.frontier[q])
        taken = done.processed[name] if done else domain.part(self.frontier[q], name)
        if not taken <= bound:
            kept = domain.limited(self._offered(q), name, bound)
            self._lower_any(q, restorable, kept, bound, Blocked.DELIVERED, e)

    def _notify(self, e: int, bound: Any) -> None:
        """The target of e may not have a notification frontier beyond ``bound``."""
        q, name = self.topology.target[e], self.edges[e].name
        domain, notification = self.domains[q], self.notification[q]
        if domain.part(notification, name) <= bound:
            return
        lower = domain.limited(notification, name, bound)
        self._put_notification(q, lower)
        self._note(2 * q + 1, Blocked.NOTIFICATION_FRONTIER, e, lower, lower == bound)
        self._reconcile(q)
        self._touch(q)

    def _lower_chain(
        self, p: int, chain: Chain, column: list[Any], bound: Any, kind: Blocked, e: int
    ) -> None:
        i = self.position[p]
        if column[i] <= bound:
            return
        while not column[i] <= bound:
            i -= 1
            if i < 0:
                raise RecoveryError(self._below_floor(chain, kind, e))
        self._put_chain(p, chain, i)
        if self.trail is not None:
            self.trail.note(2 * p, kind, e, self.frontier[p], chain.steady)
        self._reconcile(p)
        self._touch(p)

    def _offered(self, p: int) -> Any:
        """The largest frontier of stateless ``p`` that it may be lowered from."""
        frontier, restorable = self.frontier[p], self.restorables[p]
        assert isinstance(restorable, AnyFrontier)
        return restorable.complete & frontier if frontier.is_top else frontier

    def _lower_any(
        self, p: int, restorable: AnyFrontier, lower: Any, bound: Any, kind: Blocked, e: int
    ) -> None:
        if restorable.done(self.frontier[p]) is not None:
            # What it may keep is bounded by more than what it has done: all is due again.
            self._suspects.append(p)
        self._put_any(p, restorable, lower)
        self._note(2 * p, kind, e, lower, lower == bound)
        self._reconcile(p)
        self._touch(p)

    def _reconcile(self, p: int) -> None:
        """Lowers f_n(p) into f(p), and f(p) until N̄ lies within f_n(p)."""
        frontier, notification = self.frontier[p], self.notification[p]
        restorable = self.restorables[p]
        if notification is not frontier and not notification <= frontier:
            notification = self._confine(p)
        if isinstance(restorable, Chain):
            i = self.position[p]
            while not restorable.notified[i] <= notification:
                i -= 1
                if i < 0:
                    raise RecoveryError(self._below_floor(restorable, Blocked.NOTIFIED, NO_EDGE))
                self._put_chain(p, restorable, i)
                if self.trail is not None:
                    value = self.frontier[p]
                    self.trail.note(2 * p, Blocked.NOTIFIED, NO_EDGE, value, restorable.steady)
                self._touch(p)
                notification = self._confine(p)
        elif restorable.notifies and self.whole[p]:
            done = restorable.done(frontier)
            if not (done.notified if done else frontier) <= notification:
                lower = self._offered(p) & notification
                self._lower_any(p, restorable, lower, notification, Blocked.NOTIFIED, NO_EDGE)

    def _confine(self, p: int) -> Any:
        """f_n(p) ⊆ f(p)."""
        frontier, notification = self.frontier[p], self.notification[p]
        if notification <= frontier:
            return notification
        lower = notification & frontier
        self._put_notification(p, lower)
        self._note(2 * p + 1, Blocked.FRONTIER, NO_EDGE, lower, lower == frontier)
        self._touch(p)
        return self.notification[p]

    # Long descents.

    def _note(self, variable: int, kind: Blocked, e: int, value: Any, decisive: bool) -> None:
        """Records that a variable was lowered; one that goes on descending may leap."""
        if self.trail is not None:
            self.trail.note(variable, kind, e, value, decisive)
        self._causes[variable] = kind, e
        self._lowered[variable] += 1
        if self._lowered[variable] % PATIENCE == 0:
            self._leap(variable)

    def _leap(self, variable: int) -> None:
        """Looks for the cycle of constraints that lowers ``variable``, and descends it at once."""
        met: dict[int, int] = {}
        cycle: list[tuple[bool, Projection]] = []
        while variable not in met:
            cause, p = self._causes[variable], variable // 2
            if cause is None or (variable % 2 == 0 and isinstance(self.restorables[p], Chain)):
                return
            met[variable] = len(cycle)
            kind, e = cause
            if e == NO_EDGE:
                variable ^= 1
                continue
            discards = kind is Blocked.DISCARDED
            cycle.append((discards, self.edges[e].projection))
            end = self.topology.target[e] if discards else self.topology.source[e]
            variable = 2 * end + variable % 2
        p, domain = variable // 2, self.domains[variable // 2]
        restorable = self.restorables[p]
        if not isinstance(domain, Structured):
            return
        demanded = demand(domain.depth, cycle[met[variable] :])
        value = self.notification[p] if variable % 2 else self.frontier[p]
        lower = value if demanded is None else leap(domain, value, demanded)
        if lower == value:
            return
        if variable % 2:
            self._put_notification(p, lower)
        elif isinstance(restorable, AnyFrontier):
            self._put_any(p, restorable, lower)
        if self.trail is not None:
            self.trail.note(variable, Blocked.DESCENT, NO_EDGE, lower, False)
        self._suspects.append(p)
        self._touch(p)
