"""Table 1, "Most processors can approximate some values": every approximation is on the safe side.

Over random histories: with approximated metadata the solver never keeps more than with exact
metadata, and what it keeps satisfies the exact constraints too.
"""

from dataclasses import dataclass, replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.paper.builders import graph_of, upto

from falkirk.core import (
    EPOCH,
    Chain,
    Checkpoint,
    Choice,
    Event,
    Graph,
    History,
    Message,
    Order,
    Structured,
    delivered_messages,
    discarded_messages,
    processed_notifications,
    solve,
    violations,
)

LEX, PRODUCT = Structured(2, Order.LEX), Structured(2, Order.PRODUCT)
GRAPHS = (
    graph_of(dict.fromkeys("pqr", EPOCH), a="p > q", b="q > r", c="p > r"),
    *(
        graph_of(
            {"p": EPOCH, "q": loop, "r": loop, "x": EPOCH},
            a="p > q by enter",
            b="q > r",
            c="r > q by feedback",
            d="r > x by leave",
        )
        for loop in (LEX, PRODUCT)
    ),
)


@dataclass(frozen=True)
class Run:
    """Random histories of all processors, and random frontiers that each has saved."""

    graph: Graph
    histories: dict[str, History]
    saved: dict[str, list[Any]]

    def chains(self, approximate: Any = None) -> dict[str, Chain]:
        """F* with exact metadata, or with what ``approximate`` makes of it."""
        found = {}
        for p, history in self.histories.items():
            exact = [history.checkpoint(f) for f in self.saved[p]]
            rows = [approximate(self.graph, p, row) if approximate else row for row in exact]
            found[p] = Chain(self.graph, p, rows)
        return found


@st.composite
def runs(draw: st.DrawFn, log: bool = True) -> Run:
    """Events in any order; each may send, as its projection says."""
    graph = draw(st.sampled_from(GRAPHS))
    histories, saved = {}, {}
    for p, domain in graph.domains.items():
        times = st.tuples(*[st.integers(0, 2)] * domain.depth)
        inputs = st.sampled_from([None, *(d.name for d in graph.inputs(p))])
        events = []
        for time in draw(st.lists(times, max_size=5)):
            sent = []
            for e in graph.outputs(p):
                if draw(st.booleans()):
                    logged = log and draw(st.booleans())
                    sent.append(Message(e.name, e.projection.send(time), logged))
            events.append(Event(time, draw(inputs), tuple(sent)))
        histories[p] = History(graph, p, tuple(events))
        frontiers = [domain.empty]
        for time in draw(st.lists(times, max_size=3)):
            larger = frontiers[-1] | domain.frontier([time])
            if larger != frontiers[-1]:
                frontiers.append(larger)
        saved[p] = frontiers
    return Run(graph, histories, saved)


def all_that_is_in_f_was_processed(graph: Graph, p: str, exact: Checkpoint) -> Checkpoint:
    """§3.4: "It is always safe to overestimate M̄(d,f) = N̄(p,f) = f"."""
    return replace(exact, notified=None, processed={})


def nothing_was_logged(graph: Graph, p: str, exact: Checkpoint) -> Checkpoint:
    """§3.4: "For most processors that discard all messages it is safe to use the approximation
    D̄(e,f) = φ(e)(f)".

    Where an edge leads into a loop or out of it this is the image of f; see the module
    `falkirk.core.projection`.
    """
    return replace(exact, discarded={})


def both(graph: Graph, p: str, exact: Checkpoint) -> Checkpoint:
    return Checkpoint(exact.frontier)


@pytest.mark.parametrize("approximate", [all_that_is_in_f_was_processed, nothing_was_logged, both])
@given(run=runs())
def test_an_approximation_is_on_the_safe_side(approximate: Any, run: Run) -> None:
    exact, estimate = run.chains(), run.chains(approximate)
    kept, largest = solve(run.graph, estimate), solve(run.graph, exact)
    for p, frontier in kept.frontiers.items():
        assert frontier <= largest.frontiers[p]
    as_it_was = Choice(run.graph, exact, kept.frontiers, kept.notifications)
    assert violations(as_it_was) == []


@given(run=runs(log=False))
def test_estimates_contain_the_exact_values(run: Run) -> None:
    for p, chain in run.chains().items():
        estimate = run.chains(both)[p]
        for column, larger in (
            (chain.notified, estimate.notified),
            *((chain.processed[d], estimate.processed[d]) for d in chain.processed),
            *((chain.discarded[e], estimate.discarded[e]) for e in chain.discarded),
        ):
            assert all(a <= b for a, b in zip(column, larger, strict=True))


@given(run=runs())
def test_a_processor_that_logs_everything_has_discarded_nothing(run: Run) -> None:
    """§3.4: "If the processor logs all messages, D̄(e,f) = ∅"."""
    for p, history in run.histories.items():
        logging = tuple(
            replace(event, sent=tuple(replace(m, logged=True) for m in event.sent))
            for event in history.events
        )
        for f in run.saved[p]:
            found = replace(history, events=logging).checkpoint(f)
            assert all(discarded.is_empty for discarded in found.discarded.values())


def test_sending_into_the_future_needs_explicit_bookkeeping() -> None:
    """§3.4: "processors that send "into the future" … must explicitly keep track of which times
    they have discarded messages for".

    p at epoch 0 sent, and discarded, a message for epoch 2 that q then loses. The estimate φ(f)
    overlooks it.
    """
    graph = graph_of(dict.fromkeys("pq", EPOCH), e="p > q")
    history = History(graph, "p", (Event((0,), None, (Message("e", (2,)),)),))
    lost = Chain(graph, "q", [Checkpoint(EPOCH.empty), Checkpoint(upto(0))])
    kept = {}
    for name, row in (
        ("exact", history.checkpoint(upto(0))),
        ("estimate", nothing_was_logged(graph, "p", history.checkpoint(upto(0)))),
    ):
        chain = Chain(graph, "p", [Checkpoint(EPOCH.empty), row])
        kept[name] = solve(graph, {"p": chain, "q": lost}).frontiers
    assert kept["exact"] == {"p": EPOCH.empty, "q": EPOCH.empty}
    assert kept["estimate"] == {"p": upto(0), "q": upto(0)}, "and the message would be lost"


def test_each_exact_value_is_the_smallest_that_its_constraint_may_use() -> None:
    """What is not in M̄, N̄ or D̄ cannot be what a constraint of §3.5 complains of."""
    graph = graph_of(dict.fromkeys("apb", EPOCH), d="a > p", e="p > b")
    quiet = History(graph, "p", ())
    chain = Chain(graph, "p", [Checkpoint(EPOCH.empty), quiet.checkpoint(upto(5))])
    nothing = {q: Chain(graph, q, [Checkpoint(EPOCH.empty)]) for q in "ab"}
    frontiers = {"a": EPOCH.empty, "p": upto(5), "b": EPOCH.empty}
    choice = Choice(graph, {**nothing, "p": chain}, frontiers, dict.fromkeys("apb", EPOCH.empty))
    pairwise = (discarded_messages, delivered_messages, processed_notifications)
    assert violations(choice, pairwise) == []
