"""The matrix and epochs: counts, latencies and ratios over several rounds."""

from benchmarks.inputs.draws import Shape
from benchmarks.policies import epochs
from benchmarks.policies.cell import Outcome
from benchmarks.policies.flow import EAGER, NOTHING
from benchmarks.policies.tables import costs, latency

SHAPE = Shape()
FREE = {
    NOTHING: [Outcome(10, seconds=1.0, commits=1), Outcome(10, seconds=2.0, commits=1)],
    EAGER: [Outcome(10, seconds=2.0, commits=10), Outcome(10, seconds=3.0, commits=20)],
}


def test_a_cost_is_told_with_its_spread_where_it_has_one() -> None:
    found = {(way, SHAPE, None): outcomes for way, outcomes in FREE.items()}
    rows = {row[0]: row[2:] for row in costs(found).rows}
    assert rows[NOTHING][-1] == "0.10"
    assert rows[EAGER] == [
        *("250 (200 to 300)", "1.75× (1.50× to 2.00×)"),
        *("0", "0.0", "1.50 (1.00 to 2.00)"),
    ]


def test_a_latency_is_over_all_rounds_with_the_ends_of_a_round() -> None:
    rounds = [Outcome(3, latencies=[0.1, 0.2, 0.3]), Outcome(3, latencies=[0.2, 0.3, 0.4])]
    (row,) = latency({(EAGER, SHAPE, 0.2): rounds}).rows
    assert row[2:] == ["250 (200 to 300)", "400 (300 to 400)"]


def test_counts_of_an_epoch_are_told_once_where_rounds_agree() -> None:
    found = {(EAGER, None): FREE[EAGER], (NOTHING, 0.2): FREE[NOTHING]}
    (row,) = epochs.counts(found, None).rows
    assert row == [EAGER, "0.00", "0.00", "0.00", "0.00", "1.50 (1.00 to 2.00)"]
