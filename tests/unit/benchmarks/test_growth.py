"""Growth: what is made of what was seen on the way."""

import pytest
from benchmarks.growth.epochs import Course, tell
from benchmarks.growth.keys import COUNTED, Grew, shown
from benchmarks.harness.report import Report, Table


def course(ms: list[float], metadata: list[float]) -> Course:
    """Marks a hundred epochs apart: milliseconds of each stretch, megabytes at each mark."""
    seen, seconds = [], 0.0
    for number, each in enumerate([0.0, *ms]):
        seconds += each / 10
        sizes = {"data": 0.0, "metadata": metadata[number] * 1e6, "python": 2e8, "heap": 7e7}
        seen.append({"epoch": number * 100.0, "seconds": seconds, **sizes})
    return Course(seen)


LEVEL = course([30.0] * 8, [4.0] * 9)
SLOWER = course([20.0, 20.0, *[30.0] * 4, 50.0, 50.0], [1.0, 1.0, 2.0, 2.0, *[3.0] * 3, 8.0, 8.0])


def test_an_epoch_of_the_last_quarter_is_compared_with_one_of_the_first() -> None:
    assert [epoch for epoch, _ in LEVEL.stretches] == [100.0 * n for n in range(1, 9)]
    assert LEVEL.slower == pytest.approx(1.0)
    assert SLOWER.slower == pytest.approx(2.5)


def test_storage_of_the_last_quarter_is_compared_with_that_of_the_second() -> None:
    assert LEVEL.larger == 1.0
    assert SLOWER.larger == 4.0


def test_targets_have_the_spread_of_all_runs() -> None:
    report = Report("growth", {}, targets=Table("Targets", []))
    tell(report, 10, 800, [LEVEL, SLOWER, LEVEL])
    assert report.targets is not None
    assert [row[1:] for row in report.targets.rows] == [
        ["1.00× (1.00× to 2.50×)", "yes"],
        ["1.00× (1.00× to 4.00×)", "yes"],
    ]
    assert report.tables[0].rows[0] == [
        *("100", "30.0 (20.0 to 30.0)"),
        *("0.00", "4.00 (1.00 to 4.00)", "200.00", "70.00"),
    ]


def test_keys_are_shown_by_the_medians_of_their_rounds() -> None:
    """The first epochs and the last apart, and nothing of those in between."""
    first, last = ([seconds] * COUNTED for seconds in (0.5, 0.2))
    one = Grew(1.0, [*first, 9.0, *last[:-1], 0.1], 1_000_000)
    other = Grew(3.0, [*first[:-1], 0.7, 9.0, *(2 * each for each in last)], 1_000_000)
    assert shown({1_000: [one, other]}).rows == [
        [
            *("1,000", "2.0 (1.0 to 3.0)"),
            *("500 (500 to 500)", "300 (200 to 400)", "100 to 400", "1.0"),
        ]
    ]
