"""A flow shows the same rows on every kind of master, in whatever form its batches are."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.spark.children import output_of_python
from tests.spark.masters import environment, prepared

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

SECONDS_MAX = 400
BOTH = [
    [[0], [{"count": 1, "total": 2, "word": "b"}, {"count": 2, "total": 4, "word": "a"}]],
    [[1], [{"count": 2, "total": 6, "word": "b"}]],
    [[2], [{"count": 1, "total": 6, "word": "c"}, {"count": 3, "total": 11, "word": "a"}]],
]
SUMS = [
    [[0], [{"total": 2, "word": "b"}, {"total": 4, "word": "a"}]],
    [[1], [{"total": 5, "word": None}, {"total": 6, "word": "b"}]],
    [[2], [{"total": 11, "word": "a"}, {"total": 6, "word": "c"}]],
]
HALVES = [
    [[0], [{"n": 1, "rounds": 1, "start": 2}, {"n": 1, "rounds": 2, "start": 4}]],
    [[1], [{"n": 1, "rounds": 3, "start": 8}, {"n": 3, "rounds": 1, "start": 6},
           {"n": 5, "rounds": 1, "start": 10}]],
]  # fmt: skip
EXPECTED = {"both": BOTH, "sums": SUMS, "halves": HALVES}


@pytest.mark.parametrize("kind", ["local-cluster[2,1,1024]", "standalone", "connect"])
def test_a_flow_shows_the_same_rows_on(kind: str, tmp_path: Path) -> None:
    with prepared(kind, tmp_path) as master:
        output = output_of_python(
            *("-m", "tests.spark.master_child", str(tmp_path), master),
            folder=tmp_path,
            environment=environment(tmp_path),
            seconds_max=SECONDS_MAX,
        )
    found = [json.loads(line) for line in output if line.startswith("{")]
    assert [each["form"] for each in found] == ["small", "cached"]
    for each in found:
        assert {name: ordered(rows) for name, rows in each["shown"].items()} == {
            name: ordered(rows) for name, rows in EXPECTED.items()
        }, each["form"]


def ordered(shown: list[Any]) -> list[Any]:
    """The rows of each time in one order, whatever the order of their columns."""
    return [[time, sorted(json.dumps(row, sort_keys=True) for row in rows)] for time, rows in shown]
