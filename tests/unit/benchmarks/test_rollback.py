"""Updates of the monitor: they come in parts, so that two sizes take turns."""

from benchmarks.harness.measure import Timing
from benchmarks.rollback.flows import LAST, mixed
from benchmarks.rollback.updates import ROUNDS, in_parts, monitor_at, row


def test_every_update_is_made_once_in_one_of_the_rounds() -> None:
    flow = mixed(30, 60, 1)
    steps = dict.fromkeys(flow.graph.domains, LAST)
    chosen = list(steps)[:10]
    part = in_parts(flow, monitor_at(flow, steps), steps, chosen)
    made = [len(timing.seconds) for timing, _ in map(part, range(ROUNDS))]
    assert made == [4, 3, 3]
    assert {p for p, step in steps.items() if step == LAST + 1} == set(chosen)


def test_a_row_has_all_updates_and_the_medians_of_the_rounds() -> None:
    rounds = [(Timing((0.001, 0.003)), 1), (Timing((0.004, 0.008)), 3)]
    assert row("some", 1_000, rounds) == [
        *("some", "1,000", "1.00 ms", "3.50 ms", "4.00 ms (2.00 ms to 6.00 ms)"),
        *("4.00 ms", "8.00 ms", "1.0"),
    ]
