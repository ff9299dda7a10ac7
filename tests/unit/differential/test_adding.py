"""Adding up what rests on the driver: nothing is copied that is added up already."""

from typing import Any

import pyarrow as pa

from falkirk.differential.adding import add_up
from falkirk.differential.weights import WEIGHT


class Held:
    """A batch whose rows rest on the driver."""

    small = True

    def __init__(self, *rows: tuple[str, int]) -> None:
        self.table = pa.table(
            {"k": pa.array([k for k, _ in rows], pa.string()), WEIGHT: [n for _, n in rows]},
            schema=pa.schema([("k", pa.string()), (WEIGHT, pa.int64())]),
        )

    def arrow(self) -> pa.Table:
        return self.table

    def is_empty(self) -> bool:
        return bool(self.table.num_rows == 0)


class Context:
    """Makes batches of tables."""

    def batch(self, table: pa.Table) -> Held:
        return Held(*((row["k"], row[WEIGHT]) for row in table.to_pylist()))


def added(*batches: Held) -> Any:
    return add_up(Context(), batches)  # type: ignore[arg-type]


def test_what_is_added_up_already_is_the_same_batch() -> None:
    """So a change that a reduction keeps and sends, and a join keeps as well, is written once."""
    one = Held(("a", 1), ("b", -2))
    assert added(one) is one
    assert added(Held(), one, Held()) is one


def test_everything_else_is_added_up() -> None:
    for batches, right in [
        ([Held(("a", 1), ("a", 1))], [{"k": "a", WEIGHT: 2}]),
        ([Held(("a", 1), ("b", 0))], [{"k": "a", WEIGHT: 1}]),
        ([Held(("a", 1)), Held(("a", -1), ("b", 1))], [{"k": "b", WEIGHT: 1}]),
        ([Held(("a", 1)), Held(("a", -1))], []),
        ([Held()], []),
    ]:
        assert added(*batches).arrow().to_pylist() == right
