"""A lattice processor is notified wherever times at which it keeps state meet."""

from itertools import combinations

import pytest

from falkirk.core import Edge, Identity, Order, Structured
from falkirk.core.machine.engine import Machine
from falkirk.core.machine.events import (
    Close,
    Delivery,
    End,
    Finish,
    Ingest,
    Notification,
    Result,
)
from falkirk.core.machine.flow import Flow, Processor, Role
from falkirk.core.machine.rules import ALL_RULES, Rules
from falkirk.core.policy import lazy
from falkirk.core.projection import Enter
from falkirk.core.times import Time

INPUT, OUTER = Structured(1), Structured(2)


def notified_times(kept: list[Time], order: Order, rules: Rules = ALL_RULES) -> set[Time]:
    """When a processor is told of completion that keeps state at ``kept``."""
    inner = Structured(3, order)
    flow = Flow(
        [
            Processor("in", INPUT, lazy(), Role.INPUT),
            Processor("enters", OUTER, lazy()),
            Processor("scatters", inner, lazy()),
            Processor("meets", inner, lazy(), lattice=True),
        ],
        [
            Edge("a", "in", "enters", Enter(INPUT, OUTER)),
            Edge("b", "enters", "scatters", Enter(OUTER, inner)),
            Edge("c", "scatters", "meets", Identity(inner, inner)),
        ],
    )
    machine = Machine(flow, rules=rules)
    for _ in range(1 + max(epoch for epoch, *_ in kept)):
        machine.step(Ingest("in", "rows", None))
        machine.step(Close("in"))
    machine.step(End("in"))
    found: set[Time] = set()
    while items := machine.enabled():
        work = machine.begin(items[0])
        result = Result()
        if isinstance(work.item, Notification):
            found.add(work.time)
        elif isinstance(work.item, Delivery) and work.processor == "enters":
            result = Result((("b", (work.time[0], 0, 0), "rows"),))
        elif work.processor == "scatters":
            result = Result(tuple(("c", t, "rows") for t in kept if t[0] == work.time[0]))
        else:
            result = Result(state=("rows",))
        machine.step(Finish(work, result))
    return found


def all_joins(times: list[Time]) -> set[Time]:
    """The joins of every choice of ``times``, one by one."""
    chosen = [c for n in range(1, len(times) + 1) for c in combinations(times, n)]
    return {tuple(max(column) for column in zip(*group, strict=True)) for group in chosen}


@pytest.mark.parametrize("order", list(Order))
@pytest.mark.parametrize(
    "kept",
    [
        [(0, 1, 2)],
        [(0, 0, 3), (0, 2, 1)],
        [(1, 0, 0), (0, 1, 0), (0, 0, 1)],
        [(0, 3, 0), (0, 2, 1), (1, 1, 2), (2, 0, 3)],
    ],
    ids=["one", "two", "three", "many"],
)
def test_it_is_notified_at_every_join_and_nowhere_else(kept: list[Time], order: Order) -> None:
    assert notified_times(kept, order) == all_joins(kept)


def test_without_the_rule_it_hears_of_no_join() -> None:
    kept: list[Time] = [(0, 0, 3), (0, 2, 1)]
    assert notified_times(kept, Order.LEX, Rules(notify_at_joins=False)) == set()
