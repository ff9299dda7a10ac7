"""A small shop whose store is forked, and what tests ask of the fork."""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
from tests.unit.cli.stories import Make, Story
from tests.unit.dataflow.ends import Sink, Source

import falkirk as fk
from falkirk.core.policy import Policy
from falkirk.dataflow import Dataflow
from falkirk.inspection.look import look_at, opened
from falkirk.inspection.shadow.ends import End, read_ends
from falkirk.inspection.shadow.facts import recorded
from falkirk.inspection.shadow.starting import Prospect, Wish, start_shadow

ALL = ("orders", "sold", "totals", "written")


class Kept(Source):
    """A source that can be read again from the start, also by others."""

    keeps = True

    def initial(self) -> Any:
        return 0


def shop(
    condition: str = "amount > 0",
    orders: Policy | None = None,
    totals: Policy | None = None,
    source: Source | None = None,
) -> Dataflow:
    """orders → sold → totals → written."""
    flow = fk.Dataflow("shop")
    read = flow.read(source or Kept(), name="orders", policy=orders or fk.lazy())
    sold = read.where(condition, name="sold")
    kept = sold.group_by("item").count(name="totals", policy=totals or fk.lazy())
    kept.write(Sink(), name="written")
    return flow


def fork(flow: Dataflow, **wish: Any) -> Prospect:
    return start_shadow(flow.build(), "state", "shadow", Wish(**wish), "a test")


def frontiers(place: str) -> dict[str, str]:
    return {p: repr(f) for p, f in look_at(place).solution.frontiers.items()}


def ends(p: str) -> list[End]:
    with opened("shadow") as store, store.database.reading() as connection:
        return read_ends(connection, p)  # type: ignore[arg-type]


def begun(story: Make, flow: Dataflow | None = None, **options: Any) -> Story:
    live = story(flow or shop(), **options).epochs(6)
    live.stop()
    return live


def forget_ends() -> None:
    """The live store is one that remembers no ends of what it has folded."""
    with opened("state") as store, store.database.writing() as connection:
        gone = connection.exec_driver_sql("DELETE FROM facts WHERE name LIKE 'end:%'")
        assert gone.rowcount == 6


def epoch(folder: Path, number: int, *values: int) -> None:
    there = folder / f"epoch={number}"
    there.mkdir(parents=True)
    pq.write_table(pa.table({"value": list(values)}), there / "part-0.parquet")


def played(tmp_path: Path, flow: Dataflow, epochs: int) -> None:
    """The shadow does some epochs, and records one row for each."""
    own = Story(flow, tmp_path / "shadow").epochs(epochs)
    for _, (number,) in own.released:
        epoch(recorded("shadow", "written"), number, number)
    own.stop()
