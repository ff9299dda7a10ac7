"""A Delta table as a sink: exactly once by its own log, and nobody else's."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession
from tests.servers.delta import commits, rows
from tests.servers.jars import NoJars, jars
from tests.servers.lacking import lacking

from falkirk.connectors import DeltaSink
from falkirk.core.errors import PermanentError
from falkirk.testing.contracts import Rows, SinkContract
from falkirk.testing.contracts.sinks import attach, rows_of, some, table_of
from falkirk.testing.contracts.sources import counted

pytestmark = [pytest.mark.spark, pytest.mark.usefixtures("kernel")]


@pytest.fixture(scope="module")
def kernel(spark: SparkSession) -> None:
    """Delta's kernel; where it is missing its tests are skipped, but never in CI."""
    try:
        jars("delta")
    except NoJars as error:
        lacking("Delta's kernel", error)


class TestDelta(SinkContract):
    """A commit for each time."""

    @pytest.fixture
    def session(self, spark: SparkSession) -> Any:
        return spark

    @pytest.fixture
    def make(self, tmp_path: Path) -> Callable[[], Any]:
        return lambda: DeltaSink(tmp_path / "out")

    @pytest.fixture
    def shown(self, tmp_path: Path) -> Callable[[], list[dict[str, Any]]]:
        return lambda: rows(tmp_path / "out")


def attached(path: Path, name: str = "out", store: str = "the store", **more: Any) -> DeltaSink:
    """A sink of a store."""
    sink = DeltaSink(path, **more)
    attach(sink, name, store)
    return sink


def test_a_time_its_rows_and_its_store_are_one_commit(tmp_path: Path) -> None:
    sink = attached(tmp_path / "out")
    sink.write("out", (7,), some(1, 2))
    (commit,) = commits(tmp_path / "out")
    actions = {kind: action for each in commit for kind, action in each.items()}
    assert actions["txn"]["appId"] == "falkirk:the store:out"
    assert actions["txn"]["version"] == 7
    assert actions["metaData"]["configuration"] == {"falkirk.sink.out": "the store"}
    assert "add" in actions


def test_the_log_is_shortened_now_and_then_and_still_knows_all_times(tmp_path: Path) -> None:
    for time in range(12):
        attached(tmp_path / "out").write("out", (time,), some(time))
    assert list((tmp_path / "out" / "_delta_log").glob("*.checkpoint.parquet"))
    for time in range(14):
        attached(tmp_path / "out").write("out", (time,), some(time))
    assert counted(rows(tmp_path / "out")) == counted(rows_of(*range(14)))


def test_a_shared_table_takes_other_outputs_and_refuses_its_own_of_another_store(
    tmp_path: Path,
) -> None:
    attached(tmp_path / "out", "one").write("one", (0,), some(0))
    attached(tmp_path / "out", "two", "another", shared=True).write("two", (0,), some(1))
    assert counted(rows(tmp_path / "out")) == counted(rows_of(0, 1))
    with pytest.raises(PermanentError, match="as its output 'one'"):
        attached(tmp_path / "out", "one", "another", shared=True)
    with pytest.raises(PermanentError, match="another store has written"):
        attached(tmp_path / "out", "two", "another")


def test_a_table_at_an_address_is_written_by_spark(spark: SparkSession, tmp_path: Path) -> None:
    sink = DeltaSink(f"file://{tmp_path}/out")
    attach(sink)
    for time in (0, 1, 1):
        sink.write("out", (time,), Rows(table_of(time), spark))
    assert counted(rows(tmp_path / "out")) == counted(rows_of(0, 1))


@pytest.mark.parametrize(
    ("table", "said"),
    [
        (pa.table({"k": [1], "w": ["x"]}), "has no column 'w': add it"),
        (pa.table({"k": ["1"]}), "'k' of the Delta table .* is bigint, and the rows have string"),
    ],
)
def test_columns_that_do_not_fit_are_refused(tmp_path: Path, table: Any, said: str) -> None:
    sink = attached(tmp_path / "out")
    sink.write("out", (0,), some(1))
    before = sorted(tmp_path.rglob("*.parquet"))
    with pytest.raises(PermanentError, match=said):
        sink.write("out", (1,), Rows(table))
    assert sorted(tmp_path.rglob("*.parquet")) == before
    sink.write("out", (1,), Rows(pa.table({"k": [5]})))
    found = rows(tmp_path / "out")
    assert [row["k"] for row in found] == [1, 5]
