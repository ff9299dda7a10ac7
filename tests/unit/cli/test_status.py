"""``falkirk status``: what it says is what the store holds, beside a live run and afterwards."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.unit.cli.stories import Make, falkirk, shop

from falkirk.core.domain import EPOCH
from falkirk.core.errors import ConfigurationError, StoreError
from falkirk.core.times import ProcessorId
from falkirk.dataflow import describe
from falkirk.inspection.look import look_at
from falkirk.store import open_store


def test_every_processor_has_its_policy_checkpoints_and_low_watermark(story: Make) -> None:
    story().epochs(8).stop()
    found = json.loads(falkirk("status", "--store", "state", "--json").output)
    rows = {row["name"]: row for row in found["processors"]}
    assert found["flow"] == "shop"
    assert {name: row["saved"]["words"] for name, row in rows.items()} == {
        "orders": "epoch 7",
        "sold": "nothing",
        "totals": "epoch 4",
        "written": "epoch 7",
    }
    assert {row["watermark"]["words"] for row in rows.values()} == {"epoch 4"}
    assert rows["totals"]["watermark"]["frontier"] == [[4]]
    assert rows["totals"]["policy"] == "lazy(every=5)"
    assert "stories.py:" in rows["totals"]["location"]
    assert [row["checkpoints"] for row in rows.values()] == [4, 0, 1, 4]


def test_inputs_have_positions_and_outputs_say_what_waits(story: Make) -> None:
    story().epochs(8).stop()
    found = json.loads(falkirk("status", "--store", "state", "--json").output)
    (orders,), (written,) = found["inputs"], found["outputs"]
    assert (orders["read_position"], orders["acknowledged_position"]) == (8, 5)
    assert orders["unacknowledged"] == 3
    assert written["released"]["words"] == "epoch 4"
    assert (written["open"], written["leaving"]) == (3, 0)
    assert written["bytes"] > 0


def test_what_is_final_but_not_confirmed_is_told_from_what_can_change(story: Make) -> None:
    begun = story(embedded=False).epochs(8)

    def written() -> tuple[int, int]:
        found = json.loads(falkirk("status", "--store", "state", "--json").output)
        assert found["monitored"]
        ((open_, leaving),) = [(o["open"], o["leaving"]) for o in found["outputs"]]
        return open_, leaving

    assert written() == (8, 0), "no monitor has said anything"
    begun.store.noticeboard.post({ProcessorId("written"): EPOCH.frontier([(4,)])})
    assert written() == (3, 5)
    text = falkirk("status", "--store", "state").output
    assert "5 times shown or on the way out" in text
    begun.stop()


def test_bytes_are_those_of_the_files(story: Make) -> None:
    begun = story().epochs(8)
    found = json.loads(falkirk("status", "--store", "state", "--json").output)
    sizes = {r.name: r.size for r in begun.store.references()}
    assert (found["files"], found["bytes"]) == (len(sizes), sum(sizes.values()))
    assert sum(sizes.values()) == sum(map(begun.store.files.size_of, sizes))


def test_a_live_run_is_told_from_a_stopped_one(story: Make) -> None:
    begun = story().epochs(1)
    lease = json.loads(falkirk("status", "--store", "state", "--json").output)["lease"]
    assert lease["state"] == "live"
    assert "running  process" in falkirk("status", "--store", "state").output
    begun.stop()
    assert "stopped" in falkirk("status", "--store", "state").output


def test_rollbacks_are_counted(story: Make) -> None:
    story().epochs(8).stop()
    story().epochs(1).stop()
    found = json.loads(falkirk("status", "--store", "state", "--json").output)
    assert {row["rollbacks"] for row in found["processors"]} == {1}


def test_a_store_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    result = falkirk("status", "--store", "nowhere")
    assert isinstance(result.exception, StoreError)
    assert "there is no store at nowhere" in str(result.exception)
    assert not (tmp_path / "nowhere").exists()


def test_without_any_store_it_says_where_to_name_one() -> None:
    result = falkirk("status")
    assert isinstance(result.exception, ConfigurationError)
    for place in ("--store", "FALKIRK_STORE", "falkirk.toml"):
        assert place in str(result.exception)


def test_an_older_store_that_knows_no_policies_is_shown_with_regimes(tmp_path: Path) -> None:
    store = open_store(str(tmp_path / "state"))
    store.acquire()
    store.adopt(describe(shop().build()))
    store.close()
    found = json.loads(falkirk("status", "--store", "state", "--json").output)
    assert [row["policy"] for row in found["processors"]] == ["lazy", "ephemeral", "lazy", "lazy"]
    assert look_at("state").embedded, "it must be taken to have released all that it could"


def test_it_needs_neither_spark_nor_arrow(story: Make, tmp_path: Path) -> None:
    story().epochs(2).stop()
    script = (
        "import sys\nfrom falkirk.cli.main import cli\n"
        "cli(['status', '--store', 'state'], standalone_mode=False)\n"
        "heavy = {'pyspark', 'pyarrow', 'pandas'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", script], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("command", ["status", "explain", "gc", "audit"])
def test_no_colour_in_a_pipe_and_ascii_where_nothing_else_goes(
    story: Make, command: str, tmp_path: Path
) -> None:
    story().epochs(8).stop()
    done = subprocess.run(
        [sys.executable, "-m", "falkirk", command, "--store", "state"],
        cwd=tmp_path,
        env={"PYTHONIOENCODING": "ascii", "PATH": "", "PYTHONPATH": ":".join(sys.path)},
        capture_output=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.isascii()
    assert b"\x1b" not in done.stdout
