"""A long plan is cut, so that Spark never gets one of hundreds of steps."""

import pyarrow as pa
import pytest

from falkirk.runtime.blocks import Cached
from falkirk.runtime.content import STEPS_MAX, Content, Several, Step

ROWS = pa.table({"n": [1]})


def beyond(content: Content, steps: int) -> Content:
    """So many steps more."""
    for _ in range(steps):
        content = Content(plan=Step(content, lambda frame: frame, "p"))
    return content


def together(*contents: Content) -> Content:
    """A plan over several contents."""
    return Content(plan=Several(contents, lambda frames: frames[0]))


def depths(content: Content) -> list[int]:
    """Where a plan is cut."""
    return [each.steps for each in content.cuts]


def test_settled_rows_are_no_step_of_a_plan() -> None:
    assert Content(table=ROWS).steps == Content(plan="a frame").steps == 0
    assert beyond(Content(table=ROWS), 3).steps == 3


def test_of_several_the_longest_counts() -> None:
    short, long = beyond(Content(table=ROWS), 2), beyond(Content(table=ROWS), 5)
    assert together(short, long).steps == 6


@pytest.mark.parametrize("steps", [0, 1, STEPS_MAX - 1, STEPS_MAX])
def test_a_short_plan_is_not_cut(steps: int) -> None:
    assert depths(beyond(Content(table=ROWS), steps)) == []


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        (STEPS_MAX + 1, [STEPS_MAX]),
        (2 * STEPS_MAX, [STEPS_MAX]),
        (2 * STEPS_MAX + 1, [STEPS_MAX, 2 * STEPS_MAX]),
        (10 * STEPS_MAX, [n * STEPS_MAX for n in range(1, 10)]),
    ],
)
def test_a_long_plan_is_cut_where_what_comes_first_comes_first(
    steps: int, expected: list[int]
) -> None:
    assert depths(beyond(Content(table=ROWS), steps)) == expected


def test_all_branches_of_a_long_plan_are_cut() -> None:
    branches = [beyond(Content(table=ROWS), STEPS_MAX + 5) for _ in range(2)]
    assert depths(together(*branches)) == [STEPS_MAX, STEPS_MAX]


def test_what_was_settled_is_not_cut_again() -> None:
    content = beyond(Content(table=ROWS), 2 * STEPS_MAX + 1)
    first, second = content.cuts
    first.table, first.plan = ROWS, None
    assert content.cuts == [second]


def test_a_plan_of_thousands_of_steps_can_still_be_asked() -> None:
    cached = Cached(None, None)
    origin = Content(plan="a frame", needs=(cached,))
    content = beyond(origin, 5_000)
    assert not content.lost
    assert content.exposed
    assert content.reads == (cached,)
    cached.lost = True
    assert content.lost
