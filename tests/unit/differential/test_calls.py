"""Reducers of the user's: what they are given, what is taken of them, and what is told."""

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from falkirk.core.errors import ExecutionError
from falkirk.differential.calls import Calls
from falkirk.differential.weights import WEIGHT

SCHEMA = pa.schema([("n", pa.int64())])
TABLE = pa.table({"k": ["b", "a", "b", "b"], "v": [2, 1, 1, 9], WEIGHT: [1, 2, 3, -1]})


def reduced(function: Callable[..., Any]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = Calls(function, SCHEMA).called(TABLE, ["k"]).to_pylist()
    return found


def test_a_function_gets_keys_and_rows_with_how_often_they_are_there() -> None:
    seen = {}

    def note(keys: Any, rows: Any) -> Any:
        seen[keys["k"]] = rows
        yield {"n": sum(count for _, count in rows)}

    assert reduced(note) == [{"k": "b", "n": 4, WEIGHT: 1}, {"k": "a", "n": 2, WEIGHT: 1}]
    assert seen["b"] == [({"k": "b", "v": 1}, 3), ({"k": "b", "v": 2}, 1)], "sorted, none below 0"


def fails(keys: Any, rows: Any) -> Any:
    yield {"n": 1}
    raise KeyError("price")


def test_an_error_is_told_with_the_group_and_may_pass() -> None:
    """It is none of our own errors, for those are never tried again."""
    with pytest.raises(RuntimeError, match=r"fails raised KeyError: 'price'; the group was \{'k'"):
        reduced(fails)


@pytest.mark.parametrize(
    ("given", "words"),
    [
        (None, "gave None for the group {'k': 'b'}: a list of rows is needed"),
        ([7], "as dictionaries, not 7, which <lambda> gave for the group {'k': 'b'}"),
        ([{"m": 1}], "rows with the columns n, as dictionaries, not {'m': 1}"),
        ([{"n": "x"}], "<lambda> gave rows that do not fit the columns: Could not convert 'x'"),
        ([{"n": 2**70}], "they are n int64"),
    ],
)
def test_what_does_not_fit_is_refused(given: Any, words: str) -> None:
    with pytest.raises(ExecutionError) as told:
        reduced(lambda keys, rows: given)
    assert words in str(told.value)
