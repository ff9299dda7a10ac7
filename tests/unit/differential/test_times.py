"""The lattice of times: joins and reductions made of it are right at every time, however deep."""

from collections import Counter
from itertools import product
from random import Random
from typing import Any

import pytest

from falkirk.core.order import Order, product_leq
from falkirk.differential.times import meeting, touching

Change = Counter[Any]
Trace = dict[tuple[int, ...], Change]


def random_trace(random: Random, depth: int, entries: int) -> Trace:
    trace: Trace = {}
    for _ in range(entries):
        time = tuple(random.randrange(3) for _ in range(depth))
        row = random.choice("ab"), random.randrange(3)
        trace.setdefault(time, Counter())[row] += random.choice([1, 1, -1])
    return trace


def up_to(trace: Trace, time: tuple[int, ...]) -> Change:
    found: Change = Counter()
    for earlier, change in trace.items():
        if product_leq(earlier, time):
            found.update(change)
    return Counter({row: count for row, count in found.items() if count})


def closed(times: set[tuple[int, ...]]) -> list[tuple[int, ...]]:
    """All joins of some of the times, in an order in which later ones come later."""
    while True:
        more = {Order.PRODUCT.join(a, b) for a, b in product(times, repeat=2)} - times
        if not more:
            return sorted(times)
        times = times | more


def past(trace: Trace, time: tuple[int, ...]) -> list[Any]:
    return [(earlier, change) for earlier, change in trace.items() if product_leq(earlier, time)]


def paired(left: Change, right: Change) -> Change:
    found: Change = Counter()
    for ((k, v), n), ((other, w), m) in product(left.items(), right.items()):
        if k == other:
            found[k, v, w] += n * m
    return Counter({row: count for row, count in found.items() if count})


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_pairs_that_meet_add_up_to_the_join_at_every_time(depth: int) -> None:
    for seed in range(40):
        random = Random(seed)
        left, right = random_trace(random, depth, 6), random_trace(random, depth, 6)
        sent: Trace = {}
        for time in closed(set(left) | set(right)):
            change: Change = Counter()
            for ours, theirs in meeting(time, past(left, time), past(right, time)):
                for one, other in product(ours, theirs):
                    change.update(paired(one, other))
            sent[time] = change
        for time in product(range(3), repeat=depth):
            assert up_to(sent, time) == paired(up_to(left, time), up_to(right, time)), (seed, time)


def greatest(rows: Change) -> Change:
    found: dict[Any, int] = {}
    for (key, value), count in rows.items():
        if count > 0:
            found[key] = max(value, found.get(key, value))
    return Counter(found.items())


@pytest.mark.parametrize("depth", [1, 2, 3])
def test_groups_that_are_touched_are_all_that_change(depth: int) -> None:
    skipped = 0
    for seed in range(40):
        trace = random_trace(Random(seed), depth, 7)
        sent: Trace = {}
        for time in closed(set(trace)):
            sides = touching(time, past(trace, time))
            keys = set("ab").intersection(*({k for c in side for k, _ in c} for side in sides))
            skipped += 2 - len(keys)
            now = {row: n for row, n in greatest(up_to(trace, time)).items() if row[0] in keys}
            before = {row: n for row, n in up_to(sent, time).items() if row[0] in keys}
            change = Counter(now)
            change.subtract(before)
            sent[time] = change
        for time in product(range(3), repeat=depth):
            assert up_to(sent, time) == greatest(up_to(trace, time)), (seed, time)
    assert skipped > 20, "most groups are not looked at"
