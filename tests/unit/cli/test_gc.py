"""``falkirk gc``: what is kept and for whom, and what goes."""

import json
from pathlib import Path

from tests.unit.cli.stories import Make, falkirk, shop

import falkirk as fk
from falkirk.core.errors import StoreError


def found(*arguments: str) -> dict:
    return json.loads(falkirk("gc", *arguments, "--store", "state", "--json").output)


def test_what_is_kept_has_a_reason_and_a_name(story: Make) -> None:
    story(shop(orders=fk.batch())).epochs(8).stop()
    rows = {(row["processor"], row["what"]): row for row in found("--explain")["kept"]}
    assert set(rows) == {
        ("orders", "log on orders>sold"),
        ("totals", "settled state"),
        ("written", "recent state"),
    }
    log = rows["orders", "log on orders>sold"]
    assert log["reason"] == ["totals"]
    assert log["files"] == 3
    assert "sold might ask for it again" in log["because"]
    assert rows["written", "recent state"]["reason"] == ["totals"]


def test_orphans_are_counted_and_removed(story: Make) -> None:
    story().epochs(3).stop()
    found()
    for name, content in (("left.parquet", b"1234"), ("left.parquet.writing", b"12")):
        Path("state/data", name).write_bytes(content)
    assert found("--dry-run")["orphans"] == {"files": 2, "bytes": 6}
    assert Path("state/data/left.parquet").exists()
    done = found()
    assert done["removed"] is True
    entries = json.loads(falkirk("audit", "--store", "state", "--json").output)["entries"]
    assert entries[-1]["what"] == "gc of 2 files, 6 B"
    assert not Path("state/data/left.parquet").exists()
    assert found("--dry-run")["orphans"] == {"files": 0, "bytes": 0}


def test_what_is_needed_stays(story: Make) -> None:
    story().epochs(8).stop()
    found()
    doctor = json.loads(falkirk("doctor", "--deep", "--store", "state", "--json").output)
    assert {each["what"]: each["state"] for each in doctor}["files"] == "ok"


def test_a_live_run_clears_up_by_itself(story: Make) -> None:
    story().epochs(1)
    result = falkirk("gc", "--store", "state")
    assert isinstance(result.exception, StoreError)
    assert "in use by process" in str(result.exception)
    assert falkirk("gc", "--explain", "--store", "state").exit_code == 0
