"""State that is far larger than Spark's memory: it moves to the disk, and nothing runs out."""

import os
from collections.abc import Iterator
from pathlib import Path

import pyarrow.dataset as ds
import pytest
from tests.spark.test_command import Commands

pytestmark = [
    pytest.mark.faults,
    pytest.mark.spark,
    pytest.mark.timeout(900),
    pytest.mark.skipif(not os.environ.get("FALKIRK_KILLS_ALL"), reason="make faults-long runs it"),
]

KEYS, EPOCHS = 1_000_000, 3
APP = f"""
import falkirk as fk
from falkirk.connectors import Numbers, ParquetSink

flow = fk.Dataflow("large")
numbers = flow.read(Numbers(rows={EPOCHS * KEYS}, rows_per_epoch={KEYS}), name="numbers")
keys = numbers.select("IF(value < {2 * KEYS}, value, value - {2 * KEYS}) AS key")
keys.group_by("key").count(name="counts").write(ParquetSink("out"), name="written")
"""
RUN = ("run", "app.py", "--store", "state", "--master", "local[2]")
HEAP = ("--conf", "spark.driver.memory=512m")
"""As Java objects the rows of one epoch alone take a fifth of it, several times over."""


@pytest.fixture
def commands(tmp_path: Path) -> Iterator[Commands]:
    """Commands that do not outlive the test, and the flow that they run."""
    with Commands(tmp_path, APP) as found:
        yield found


def test_two_million_keys_fit_into_half_a_gigabyte(commands: Commands) -> None:
    process = commands.start(*RUN, *HEAP)
    out, err = process.communicate(timeout=800)
    assert process.returncode == 0, (out, err)
    counts = ds.dataset(commands.folder / "out", ignore_prefixes=["_", "."]).to_table()
    found = counts.group_by("count").aggregate([("key", "count")]).to_pydict()
    assert dict(zip(found["count"], found["key_count"], strict=True)) == {1: 2 * KEYS, 2: KEYS}
