"""What was enabled is asked for again item by item, and the answer is that of a look at all."""

from collections import Counter

import pytest

from falkirk.core.machine.events import Item
from falkirk.testing.case import Case

SEEDS = 150


@pytest.mark.parametrize("first", range(0, SEEDS, 50))
def test_an_item_is_enabled_if_it_is_among_all(first: int) -> None:
    """After every step of runs with all their faults: for what is enabled, and what was lately."""
    seen: Counter[tuple[str, bool]] = Counter()
    for seed in range(first, first + 50):
        run, lately = Case(seed).simulation(), list[Item]()
        while run.advance():
            found = run.machine.enabled()
            for item in (*found, *lately):
                enabled = run.machine.is_enabled(item)
                assert enabled == (item in found), (seed, run.steps, item)
                seen[type(item).__name__, enabled] += 1
                behind = run.machine.successor(item)
                assert behind is None or behind in found, (seed, run.steps, item)
                seen["behind", behind is not None] += 1
            lately = [*lately[-8:], *found[:4]]
    kinds = ("Delivery", "Notification", "Again", "behind")
    assert all(seen[kind, enabled] for kind in kinds for enabled in (True, False)), seen
