"""Matching on the driver: the rows that SQL gives."""

import pyarrow as pa
import pytest

from falkirk.core.errors import ExecutionError
from falkirk.differential.local import having, joined
from falkirk.differential.weights import WEIGHT, added, stacked


def test_a_small_side_narrows_a_large_one_without_losing_rows() -> None:
    keys = [0.0, -0.0, 1.5, None, float("nan")]
    left = pa.table({"k": keys[:2], "a": [1, 2], WEIGHT: [1, 1]})
    right = pa.table({"k": keys * 10, "b": list(range(50)), WEIGHT: [1] * 50})
    found = joined(left, right, ["k"])
    assert sorted(found["b"].to_pylist()) == sorted([n for n in range(50) if n % 5 < 2] * 2)


def test_several_keys_narrow_to_pairs() -> None:
    left = pa.table({"k": [1, 2], "l": ["x", "y"], WEIGHT: [1, 3]})
    right = pa.table(
        {"k": [1, 1, 2, 2] * 9, "l": ["x", "y"] * 18, "b": list(range(36)), WEIGHT: [1] * 36}
    )
    found = joined(left, right, ["k", "l"])
    assert {(row["k"], row["l"], row[WEIGHT]) for row in found.to_pylist()} == {
        (1, "x", 1),
        (2, "y", 3),
    }
    assert found.num_rows == 18


def test_nulls_are_groups_but_never_meet() -> None:
    table = pa.table({"k": [None, 1], "l": ["a", None], WEIGHT: [1, 1]})
    assert having(table, ["k", "l"], table.select(["k", "l"])).num_rows == 2
    assert joined(table, table.rename_columns(["k", "m", WEIGHT]), ["k"]).num_rows == 1


def test_what_is_wanted_twice_is_there_once() -> None:
    table = pa.table({"k": [1, 2], "l": ["a", None], WEIGHT: [1, 1]})
    twice = pa.concat_tables([table, table]).select(["k", "l"])
    assert having(table, ["k", "l"], twice).num_rows == 2
    assert having(table, ["k"], twice).num_rows == 2


def test_zeros_of_either_sign_are_one_row() -> None:
    table = pa.table({"x": [0.0, -0.0], WEIGHT: [1, 2]})
    assert added([table]).to_pylist() == [{"x": 0.0, WEIGHT: 3}]


def test_rows_of_different_kinds_do_not_come_together() -> None:
    one, other = pa.table({"x": [1]}), pa.table({"x": ["1"]})
    with pytest.raises(ExecutionError, match="'x' as int64 and as string"):
        stacked([one, other])
    with pytest.raises(ExecutionError, match="different columns: x and y"):
        stacked([one, pa.table({"y": [1]})])
    assert stacked([pa.table({"x": pa.nulls(1)}), one])["x"].to_pylist() == [None, 1]
