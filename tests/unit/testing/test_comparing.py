"""What is said of outputs that differ; a row that is there twice must be there twice."""

from pathlib import Path
from typing import Any

import pytest

import falkirk as fk
from falkirk.connectors import Numbers
from falkirk.runtime.options import Options
from falkirk.testing.comparing import beyond, difference, lack, unlike
from falkirk.testing.crashing import CrashTest, Trial
from falkirk.testing.ends import Contradicted
from falkirk.testing.script import Remembered, Rows

ONE, TWO = {"n": 1}, {"n": 2}


class Given:
    """A batch of these rows."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows

    def arrow(self) -> "Given":
        return self

    def to_pylist(self) -> Rows:
        return list(self.rows)


def test_rows_are_counted() -> None:
    assert beyond([ONE, ONE, TWO], [TWO, ONE]) == [ONE]
    assert beyond([ONE], [ONE, ONE]) == []


def test_the_order_of_columns_and_their_types_do_not_matter() -> None:
    assert beyond([{"a": [1], "b": None}], [{"b": None, "a": [1]}]) == []
    assert beyond(["a line", ("a", "tuple")], ["a line"]) == [("a", "tuple")]


def test_at_least_once_may_not_lose_one_of_two_equal_rows() -> None:
    assert lack("out", [ONE, ONE], [ONE, ONE, ONE]) is None
    assert lack("out", [ONE, ONE], [ONE]) == (
        "'out', which promises at least once:\n  missing   [{'n': 1}]"
    )


def test_what_the_outside_shows_is_compared_whatever_its_order() -> None:
    assert unlike("out", [ONE, TWO], [TWO, ONE]) is None
    told = unlike("out", [ONE, TWO], [ONE, ONE, ONE])
    assert told is not None
    assert told.splitlines() == [
        "'out', as the outside shows it: 3 rows instead of 2",
        "  missing   [{'n': 2}]",
        "  too often [{'n': 1}, {'n': 1}]",
    ]


def test_of_many_rows_some_are_shown() -> None:
    told = unlike("out", [], [{"n": n} for n in range(12)])
    assert told is not None
    assert "{'n': 4}] and 7 more" in told


def test_times_are_compared_one_by_one() -> None:
    told = difference("out", {(0,): [ONE], (1,): [TWO]}, {(0,): [ONE]})
    assert told == "'out' at (1,):\n  without failures  [{'n': 2}]\n  with failures     nothing"
    assert difference("out", {(0,): [ONE]}, {(0,): [ONE]}) is None


def written(policy: fk.Policy | None, tmp_path: Path) -> CrashTest:
    flow = fk.Dataflow("numbers")
    numbers = flow.read(Numbers(rows=1), name="numbers")
    numbers.where("value > 0", name="kept", policy=policy).write(Remembered(), name="out")
    return CrashTest(flow, tmp_path, None, {}, Options())


def trial_of(*times: tuple[int, Rows], sink: type[Remembered] = Contradicted) -> Trial:
    output = sink()
    for epoch, rows in times:
        output.write("out", (epoch,), Given(rows))
    return Trial(1, {"out": output})


def times_of(output: Remembered) -> Any:
    return output.times


@pytest.mark.parametrize(("found", "loses"), [([ONE], True), ([ONE, ONE, ONE], False)])
def test_a_trial_of_an_at_least_once_output(found: Rows, loses: bool, tmp_path: Path) -> None:
    test = written(fk.at_least_once(), tmp_path)
    told = test.difference(trial_of((0, [ONE, ONE])), trial_of((0, found)), times_of)
    assert (told is not None) == loses


def test_a_time_that_comes_again_with_other_rows_is_told_at_once(tmp_path: Path) -> None:
    """The sink keeps the first rows, which are right: only that something else came is wrong."""
    test, again = written(None, tmp_path), trial_of((0, [ONE]), (0, [ONE]), (0, [TWO]))
    assert again.outputs["out"].times == {(0,): [ONE]}
    told = test.difference(trial_of((0, [ONE])), again, times_of)
    assert told is not None
    assert "had shown      [{'n': 1}]" in told
    assert "then came     [{'n': 2}]" in told
