"""Repetitions in words: every figure of a report is shown by this."""

from benchmarks.harness.spread import ends, if_apart, ratio, ratios, spread, times
from hypothesis import given
from hypothesis import strategies as st

SECONDS = st.lists(st.floats(0.001, 1_000.0), min_size=1, max_size=6)


def test_a_figure_has_its_median_and_both_ends() -> None:
    assert spread([3.0, 1.0, 2.0], "{:.0f}".format) == "2 (1 to 3)"
    assert ends([3.0, 1.0, 2.0], "{:.0f}".format) == "(1 to 3)"


def test_what_looks_alike_is_said_once() -> None:
    assert if_apart([2.001, 2.002], "{:.1f}".format) == "2.0"
    assert if_apart([2.001, 2.002], "{:.3f}".format) == "2.002 (2.001 to 2.002)"


def test_ratios_are_of_the_same_turn() -> None:
    assert ratios([2.0, 8.0], [1.0, 2.0]) == [2.0, 4.0]
    assert times([2.0, 8.0], [1.0, 2.0]) == "3.33× (2.00× to 4.00×)"


def test_where_turns_are_not_as_many_each_is_compared_with_each() -> None:
    assert sorted(ratios([2.0, 4.0, 8.0], [1.0, 2.0])) == [1.0, 2.0, 2.0, 4.0, 4.0, 8.0]


@given(SECONDS, SECONDS)
def test_the_ratio_of_the_medians_is_between_the_ends(
    values: list[float], bases: list[float]
) -> None:
    found = ratios(values, bases)
    assert min(found) * (1 - 1e-9) <= ratio(values, bases) <= max(found) * (1 + 1e-9)
