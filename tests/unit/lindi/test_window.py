"""Windows show the last epochs, whatever fails, and forget what no window will need."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa
import pytest
from tests.scale import scaled
from tests.unit.dataflow.ends import Sink, Source
from tests.unit.dataflow.frames import Frame
from tests.unit.dataflow.running import Run
from tests.unit.dataflow.test_running import frame

import falkirk as fk
from falkirk import lindi
from falkirk.core.errors import DefinitionError, ExecutionError
from falkirk.dataflow import Dataflow
from falkirk.lindi.window import EPOCH, Window, stamped

SEEDS = range(scaled(15))


def windows(epochs: int, every: int | None, policy: fk.Policy) -> Dataflow:
    """Windows over two batches at each time."""
    flow = fk.Dataflow("windows")
    rows = lindi.rows(flow.read(Source(), name="in"))
    both = rows.union(rows.select("n"))
    both.window(epochs, every, policy=policy).write(Sink(), name="out")
    return flow


def shown(run: Run) -> dict[int, list[int]]:
    """The numbers of each window."""
    found = run.shown["out"]
    return {time[0]: sorted(row["n"] for row in rows) for time, rows in sorted(found.items())}


def twice(*numbers: int) -> list[int]:
    return sorted([*numbers, *numbers])


GIVEN: Sequence[Frame | None] = [
    frame("n", (0,)),
    frame("n", (1,)),
    None,
    frame("n"),
    frame("n", (4,)),
    frame("n", (5,)),
    frame("n", (6,)),
]

CASES = {
    # The third epoch has no batch, yet the first window ends there; the last window is cut short.
    "tumbling": (3, None, {2: twice(0, 1), 5: twice(4, 5), 8: twice(6)}),
    # Nothing came at the epoch 2, so there is nothing new to show.
    "sliding": (
        2,
        1,
        {0: twice(0), 1: twice(0, 1), 3: [], 4: twice(4), 5: twice(4, 5), 6: twice(5, 6)},
    ),
    "hopping": (4, 2, {1: twice(0, 1), 3: twice(0, 1), 5: twice(4, 5), 7: twice(4, 5, 6)}),
}


@pytest.mark.parametrize("policy", [fk.lazy(), fk.lazy(every=3), fk.eager(), fk.history()])
@pytest.mark.parametrize("case", CASES)
def test_failures_leave_no_trace_in_windows(case: str, policy: fk.Policy) -> None:
    epochs, every, expected = CASES[case]
    blueprint = windows(epochs, every, policy).build()
    assert shown(Run(blueprint, {"in": GIVEN})) == expected
    for seed in SEEDS:
        assert shown(Run(blueprint, {"in": GIVEN}, seed, failures=3)) == expected, f"seed {seed}"


class Driver:
    """A context that unites tables; batches rest on the driver."""

    def union(self, batches: list[Any]) -> Any:
        return Small(pa.concat_tables([batch.table for batch in batches]))


class Small:
    """A batch on the driver, whose frame is a list of rows."""

    small = True

    def __init__(self, table: pa.Table) -> None:
        self.table = table

    def materialise(self) -> "Small":
        return self

    def arrow(self) -> pa.Table:
        return self.table

    def transform(self, function: Any) -> Frame:
        made = function(Frame(self.table.column_names, self.table.to_pylist()))
        assert isinstance(made, Frame)
        return made


@pytest.mark.parametrize("epochs", range(1, 5))
def test_consolidation_forgets_what_no_window_to_come_has(epochs: int) -> None:
    """The next event is at epoch 4 at the earliest, and sees the epochs after 4 - epochs."""
    batches = [Small(pa.table({"n": [n], EPOCH: [n]})) for n in range(4)]
    made: Any = Window(epochs, 1).consolidate(Driver(), batches)  # type: ignore[arg-type]
    assert [row["n"] for row in made.rows] == [n for n in range(4) if n > 4 - epochs]


def test_consolidation_of_no_rows_is_no_rows() -> None:
    none = pa.table({"n": pa.array([], pa.int64()), EPOCH: pa.array([], pa.int64())})
    made: Any = Window(2, 1).consolidate(Driver(), [Small(none), Small(none)])  # type: ignore[arg-type, list-item]
    assert made.arrow().num_rows == 0


def test_a_column_of_the_same_name_is_refused() -> None:
    with pytest.raises(ExecutionError, match="'_epoch'"):
        stamped(frame("n _EPOCH", (1, 2)), 3)


def test_windows_keep_rows_between_times_so_the_policy_must_save_them() -> None:
    with pytest.raises(DefinitionError, match="Window keeps state between times"):
        windows(2, None, fk.ephemeral())
