"""Columns of different types: the wider one is taken, if there is one; Spark and Arrow agree."""

from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.pandas.types import from_arrow_type

from falkirk.core.errors import ExecutionError
from falkirk.differential.join import alike
from falkirk.differential.local import joined
from falkirk.differential.traces import united
from falkirk.differential.weights import WEIGHT

TOGETHER = [
    (pa.int32(), pa.int64()),
    (pa.int8(), pa.int16()),
    (pa.float32(), pa.float64()),
    (pa.decimal128(9, 2), pa.decimal128(12, 4)),
]
APART = [
    (pa.string(), pa.int64()),
    (pa.int64(), pa.float64()),
    (pa.int64(), pa.decimal128(9, 2)),
    (pa.float64(), pa.decimal128(9, 2)),
    (pa.date32(), pa.timestamp("us", "UTC")),
    (pa.timestamp("us"), pa.timestamp("us", "UTC")),
]


def side(kind: Any, name: str) -> pa.Table:
    numbers = pa.array([1, 2], pa.int8())
    wide = pa.int32() if pa.types.is_date(kind) else pa.int64()
    if pa.types.is_temporal(kind):
        numbers = numbers.cast(wide)
    numbers = numbers.cast(kind)
    return pa.table({"k": numbers, name: ["x", "y"], WEIGHT: [1, 1]})


@pytest.mark.parametrize(("one", "other"), TOGETHER + [(b, a) for a, b in TOGETHER])
def test_numbers_of_different_widths_meet(one: Any, other: Any) -> None:
    found = joined(side(one, "a"), side(other, "b"), ["k"])
    assert list(zip(found["a"].to_pylist(), found["b"].to_pylist(), strict=True)) == [
        ("x", "x"),
        ("y", "y"),
    ]
    assert found["k"].type == one, "as the left side has it"
    alike("k", from_arrow_type(one), from_arrow_type(other))


def test_a_number_that_is_too_wide_meets_nothing() -> None:
    wide = pa.table({"k": [1, 1 << 40], "b": ["x", "y"], WEIGHT: [1, 1]})
    assert joined(side(pa.int32(), "a"), wide, ["k"])["b"].to_pylist() == ["x"]
    assert joined(wide, side(pa.int32(), "a"), ["k"])["b"].to_pylist() == ["x"]


@pytest.mark.parametrize(("one", "other"), APART + [(b, a) for a, b in APART])
def test_what_has_nothing_in_common_is_refused(one: Any, other: Any) -> None:
    with pytest.raises(ExecutionError, match="the two sides of a join have the column 'k' as"):
        joined(side(one, "a"), side(other, "b"), ["k"])
    with pytest.raises(ExecutionError, match="the two sides of a join have the column 'k' as"):
        alike("k", from_arrow_type(one), from_arrow_type(other))


class Frame:
    """What a union looks at."""

    def __init__(self, **kinds: str) -> None:
        self.dtypes = list(kinds.items())

    def unionByName(self, other: "Frame") -> "Frame":
        return self


def test_frames_come_together_as_tables_do() -> None:
    one = Frame(v="bigint", _weight="bigint")
    assert united([one, Frame(_weight="bigint", v="bigint"), Frame(v="void", _weight="bigint")])
    with pytest.raises(ExecutionError, match="the column 'v' as bigint and as string: a map with"):
        united([one, Frame(v="string", _weight="bigint")])
    with pytest.raises(ExecutionError, match="different columns: v and w"):
        united([one, Frame(w="bigint", _weight="bigint")])
