"""Whoever writes tables dies before each statement, one after the other, and nobody can tell.

This is for a database in which some statements end a transaction: there it is not enough to die
before and after a write. It needs no Spark; ``test_connector_kills.py`` has whole flows.
"""

import subprocess
import sys
from collections import Counter

import pytest
from tests.faults.table_child import TIMES, changes_of, rows_of
from tests.servers.mariadb import Mariadb, connect

pytestmark = pytest.mark.faults


def test_a_process_that_is_killed_before_each_statement(mariadb: Mariadb) -> None:
    url = mariadb.new_database()
    command = [sys.executable, "-m", "tests.faults.table_child", url, mariadb.new_database()]
    done = subprocess.run(command, capture_output=True, text=True, timeout=240)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 15 * TIMES, "too few statements were struck"
    with connect(url) as outside:
        found = {
            name: Counter(tuple(row.values()) for row in outside.execute(f"SELECT * FROM {name}"))
            for name in ("appended", "put", "changed")
        }
        marks = [row["time"] for row in outside.execute("SELECT time FROM falkirk_sinks")]
    every = [row for time in range(TIMES) for row in rows_of(time).to_pylist()]
    changes = [row for time in range(TIMES) for row in changes_of(time).to_pylist()]
    changed: Counter[tuple[int, str]] = Counter()
    for row in changes:
        changed[row["k"], row["v"]] += row["change"]
    assert found["appended"] == Counter((row["k"], row["v"]) for row in every)
    assert found["put"] == Counter({row["k"]: (row["k"], row["v"]) for row in every}.values())
    assert found["changed"] == changed
    assert marks == 3 * [f"[{TIMES - 1}]"]
