"""falkirk beside Structured Streaming: how runs become ratios and delays."""

from benchmarks.streaming.exactly_once import (
    EAGER,
    FULL,
    STREAMING,
    TENTH,
    Run,
    delay_cells,
    figures,
    targets,
)
from benchmarks.streaming.recovery import AS_STARTED, FALKIRK
from benchmarks.streaming.recovery import targets as recovery_targets

FOUND = {
    (EAGER, 1_000): [Run(1.0, (0.1, 0.1)), Run(1.0, (0.2, 0.2)), Run(2.0, (0.3, 0.3))],
    (STREAMING, 1_000): [Run(4.0, (0.4,)), Run(5.0, (0.4,)), Run(6.0, (0.4,))],
}


def test_a_figure_rests_on_three_runs() -> None:
    assert FULL.repetitions >= 3


def test_ratios_are_of_the_medians_and_have_the_ends_of_the_rounds() -> None:
    assert [row[1:] for row in targets(FOUND, (1_000,)).rows] == [
        ["5.00× (3.00× to 5.00×)", "yes"],
        ["0.50× (0.25× to 0.75×)", "yes"],
    ]


def test_delays_are_over_all_files_with_the_ends_of_the_runs() -> None:
    assert delay_cells([(0.1, 0.2, 0.3), (0.2, 0.3, 0.4)]) == [
        "250 (200 to 300)",
        "400 (300 to 400)",
    ]


def test_recovery_is_compared_round_by_round() -> None:
    found = {(FALKIRK, AS_STARTED): [5.0, 6.0], (STREAMING, AS_STARTED): [10.0, 10.0]}
    assert recovery_targets(found).rows[0][1:] == ["0.55× (0.50× to 0.60×)", "yes"]


def test_bars_are_of_the_runs_by_how_much_is_in_a_file() -> None:
    """Who shows results in tens has no latency of one file."""
    tenth = {(TENTH, 1_000): [Run(1.0, ())]}
    costs, delays = figures({**FOUND, **tenth}, FULL)
    assert {*costs.series["1,000 events"]} == {EAGER, STREAMING, TENTH}
    assert costs.series["1,000 events"][EAGER] == (25.0, 25.0, 50.0), "a backlog has 40 files"
    assert {*delays.series["1,000 events"]} == {EAGER, STREAMING}
    assert delays.series["1,000 events"][EAGER] == (200.0, 100.0, 300.0)
