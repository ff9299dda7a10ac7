"""Rows that are in a file of the store: executors keep columns of it, and never the only rows."""

import gc
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as F
from tests.spark.test_jobs import jobs_of
from tests.spark.test_materialising import plan

from falkirk.runtime.classic import Gateway
from falkirk.runtime.content import Content, Step
from falkirk.runtime.materialise import Materialiser
from falkirk.store import open_store

pytestmark = pytest.mark.spark

ROWS = 30_000
Make = Callable[[int], Materialiser]


@pytest.fixture
def make(spark: SparkSession, tmp_path: Path) -> Iterator[Make]:
    """Makes one with files, that leaves no blocks behind: others count them."""
    store, made = open_store(tmp_path), list[Materialiser]()

    def one(columns_bytes_min: int = 0) -> Materialiser:
        made.append(Materialiser(spark, store.files, 0, columns_bytes_min))
        return made[-1]

    yield one
    for each in made:
        each.blocks.close()
    store.close()


def rows(spark: SparkSession) -> Content:
    return Content(plan=spark.range(ROWS).selectExpr("id AS key", "id % 7 AS n"))


def test_they_are_let_go_and_kept_as_columns_once_they_are_read_again(
    spark: SparkSession, make: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    materialiser, content, gateway = make(0), rows(spark), Gateway(spark)
    before = gateway.persisted()
    materialiser.settle(content)
    assert content.volatile
    assert gateway.persisted() == before + 1
    materialiser.persist(content)
    assert not content.volatile
    materialiser.blocks.sweep()
    assert gateway.persisted() == before
    with jobs_of(spark) as jobs:
        once = materialiser.hand_out(content).where("n = 3")
        assert "FileScan parquet" in plan(once, capsys)
        assert once.agg(F.count("*"), F.sum("key")).collect()[0] == right()
        for _ in range(2):
            often = materialiser.hand_out(content).where("n = 3")
            assert "InMemoryTableScan" in plan(often, capsys)
            assert often.agg(F.count("*"), F.sum("key")).collect()[0] == right()
    assert jobs == [3], "no job looks for the columns"
    assert gateway.persisted() == before + 1
    del content, once, often
    gc.collect()
    materialiser.blocks.sweep()
    assert gateway.persisted() == before


def right() -> tuple[int, int]:
    """Count and sum of those keys whose remainder by seven is three."""
    return len(range(3, ROWS, 7)), sum(range(3, ROWS, 7))


def test_few_bytes_stay_where_they_are(spark: SparkSession, make: Make) -> None:
    materialiser, content = make(10_000_000), rows(spark)
    materialiser.settle(content)
    frame = materialiser.hand_out(content)
    materialiser.persist(content)
    assert materialiser.hand_out(content) is frame


def test_blocks_stay_until_the_jobs_of_a_plan_over_them_have_run(
    spark: SparkSession, make: Make
) -> None:
    """Somebody else may write the rows to a file while a plan over their blocks is carried out."""
    materialiser, content, gateway = make(0), rows(spark), Gateway(spark)
    before = gateway.persisted()
    materialiser.settle(content)
    made = Content(plan=Step(content, lambda frame: frame.where("n = 3"), "p"))
    with materialiser.opened(made) as frame:
        materialiser.persist(content)
        assert not content.volatile
        materialiser.blocks.sweep()
        assert frame.count() == right()[0]
    materialiser.blocks.sweep()
    assert gateway.persisted() == before


def test_after_a_restart_they_are_looked_for_once(spark: SparkSession, make: Make) -> None:
    """The first look takes a job, since nobody knows the columns yet."""
    content = rows(spark)
    reference = make(0).persist(content)
    revived, materialiser = Content(reference=reference), make(0)
    with jobs_of(spark) as jobs:
        for _ in range(3):
            found = materialiser.hand_out(revived).agg(F.sum("n")).collect()[0][0]
            assert found == sum(n % 7 for n in range(ROWS))
    assert jobs == [4]


def test_the_file_is_there_as_long_as_a_frame_of_it(spark: SparkSession, make: Make) -> None:
    """A processor may have made a plan of it that is evaluated when nobody else needs the rows."""
    materialiser, content = make(0), rows(spark)
    name = materialiser.persist(content).name
    for _ in range(2):
        with materialiser.event():
            frame: Any = materialiser.hand_out(content)
            made = Content(plan=frame.where("n = 3"), needs=materialiser.handed_out())
    del content, frame
    gc.collect()
    assert materialiser.files.in_use(name)
    materialiser.settle(made)
    assert made.rows == right()[0]
    gc.collect()
    assert not materialiser.files.in_use(name)
