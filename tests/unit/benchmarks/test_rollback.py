"""Updates of the monitor come in parts, so that two sizes take turns; storms are counted."""

from benchmarks.harness.measure import Timing
from benchmarks.rollback import storm
from benchmarks.rollback.flows import LAST, mixed
from benchmarks.rollback.solving import figure
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


def test_a_storm_takes_back_at_least_those_who_failed() -> None:
    found = storm.plans([(200, 600)], seed=1)
    assert [each.failed for each in found] == [1, 2, 20]
    for each in found:
        assert len(each.rolled_back) == len(each.timing.seconds) == storm.repetitions(600)
        assert each.failed <= min(each.rolled_back) <= max(each.rolled_back) <= 200
    assert [row[3] for row in storm.table(found).rows] == ["50"] * 3


def test_a_line_is_drawn_by_the_edges() -> None:
    fresh = {("all", 30, 300): Timing((0.3,)), ("all", 10, 500): Timing((0.5,))}
    fresh["all", 10, 100] = Timing((0.1, 0.1, 0.9))
    stormy = [storm.Plans(100, 200, failed, Timing((failed / 10,)), [9]) for failed in (1, 10)]
    drawn = figure(fresh, stormy).series
    assert drawn["all"] == [(100.0, 0.1), (300.0, 0.3), (500.0, 0.5)]
    assert drawn["plan in a storm, one in a hundred failed"] == [(200.0, 0.1)]
