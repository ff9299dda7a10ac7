"""A flow shows the same rows on every kind of master, in whatever form its batches are."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from tests.faults.killing import kill_group
from tests.spark.masters import environment, prepared

pytestmark = [pytest.mark.spark, pytest.mark.slow, pytest.mark.timeout(600)]

ROOT = Path(__file__).parents[2]
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
    with prepared(kind, tmp_path) as master, (tmp_path / "child.log").open("wb") as log:
        child = subprocess.Popen(
            [sys.executable, "-m", "tests.spark.master_child", str(tmp_path), master],
            cwd=ROOT,
            env=environment(tmp_path),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=log,
            start_new_session=True,
        )
        try:
            output, _ = child.communicate(timeout=SECONDS_MAX)
        finally:
            kill_group(child)
    assert child.returncode == 0, (tmp_path / "child.log").read_text()[-3_000:]
    found = [json.loads(line) for line in output.splitlines() if line.startswith(b"{")]
    assert [each["form"] for each in found] == ["small", "cached"]
    for each in found:
        assert {name: ordered(rows) for name, rows in each["shown"].items()} == {
            name: ordered(rows) for name, rows in EXPECTED.items()
        }, each["form"]


def ordered(shown: list[Any]) -> list[Any]:
    """The rows of each time in one order, whatever the order of their columns."""
    return [[time, sorted(json.dumps(row, sort_keys=True) for row in rows)] for time, rows in shown]
