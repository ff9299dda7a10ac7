"""``falkirk doctor``: every line is ok, a warning or a failure, with what to do."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from tests.unit.cli.stories import Make, falkirk

APP = """
import falkirk as fk
from tests.unit.cli.stories import shop
flow = shop(orders={orders})
"""
SYSTEMS = """
import falkirk as fk
flow = fk.Dataflow("systems")
records = flow.read(fk.KafkaSource("127.0.0.1:{kafka}", "topic"), name="records")
rows = flow.read(fk.TableSource("sqlite:///rows.db", "rows", key="id"), name="rows")
url = "postgresql://me:hush@127.0.0.1:{database}/shop"
records.write(fk.TableSink(url, "one"), name="one")
flow.write_together({{"a": records, "b": records}}, fk.TableSinks(
    {{"a": fk.TableSink(url, "a"), "b": fk.TableSink(url, "b")}}), name="both")
"""


def doctor(*arguments: str, **environment: str) -> tuple[Result, dict[str, dict]]:
    result = falkirk("doctor", *arguments, "--json", **environment)
    return result, {each["what"]: each for each in json.loads(result.output)}


def test_a_machine_that_runs_these_tests_has_all_that_is_needed() -> None:
    result, found = doctor()
    assert result.exit_code == 0
    for what in ("Python", "Spark", "Java", "settings", "store"):
        assert found[what]["state"] == "ok", found[what]


def test_a_store_that_is_whole(story: Make) -> None:
    story().epochs(8).stop()
    _, found = doctor("--store", "state", "--deep")
    assert {found[what]["state"] for what in ("store", "lease", "files", "recovery")} == {"ok"}
    assert "as they were written" in found["files"]["words"]


def test_a_flipped_bit_is_found_with_deep_and_a_missing_file_always(story: Make) -> None:
    begun = story().epochs(8)
    first, second, *_ = begun.store.references()
    begun.stop()
    path = Path("state/data", first.name)
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    assert doctor("--store", "state")[1]["files"]["state"] == "ok"
    result, found = doctor("--store", "state", "--deep")
    assert result.exit_code == 1
    assert found["files"]["state"] == "fail"
    assert "checksum is wrong" in found["files"]["words"]
    Path("state/data", second.name).unlink()
    result, found = doctor("--store", "state")
    assert result.exit_code == 1
    assert "missing" in found["files"]["words"]
    assert found["files"]["next"]


def test_what_is_lost_with_damaged_files_is_told(story: Make) -> None:
    """A checkpoint can be done without, and folded state cannot."""
    story().epochs(8).stop()
    for file in Path("state/data").iterdir():
        file.unlink()
    result, found = doctor("--store", "state")
    assert result.exit_code == 1
    assert found["recovery"]["state"] == "fail"
    assert "no checkpoint of" in found["recovery"]["words"]


def test_a_checkpoint_that_is_lost_costs_no_more_than_that(story: Make) -> None:
    begun = story(stuck=["written"]).epochs(8)
    begun.stop()
    for file in Path("state/data").iterdir():
        file.unlink()
    _, found = doctor("--store", "state")
    assert found["recovery"]["state"] == "warn"
    assert "checkpoint" in found["recovery"]["words"]


def test_no_java(tmp_path: Path) -> None:
    result, found = doctor(FALKIRK_JAVA="nonsense")
    assert result.exit_code == 1
    assert found["Java"]["state"] == "fail"
    assert "JAVA_HOME" in found["Java"]["next"]


@pytest.mark.parametrize(
    ("text", "what"), [('stroe = "x"', "settings"), ('app = "gone.py"', "app")]
)
def test_settings_that_cannot_work(text: str, what: str) -> None:
    Path("falkirk.toml").write_text(text)
    result, found = doctor()
    assert result.exit_code == 1
    assert found[what]["state"] == "fail"


def test_a_store_of_another_format(story: Make) -> None:
    import sqlite3

    story().epochs(1).stop()
    with sqlite3.connect("state/metadata.sqlite") as connection:
        connection.execute("UPDATE facts SET value = '99' WHERE name = 'format'")
    connection.close()
    result, found = doctor("--store", "state")
    assert result.exit_code == 1
    assert "format 99" in found["store"]["words"]


def test_the_text_has_a_sign_for_each_line() -> None:
    lines = falkirk("doctor").output.splitlines()
    assert lines[0].startswith("✓ Python")


@pytest.mark.parametrize("store", ["app.py", "app.py/state"])
def test_a_store_that_cannot_be_made(store: str) -> None:
    Path("app.py").write_text(APP)
    result, found = doctor("--store", store)
    assert result.exit_code == 1
    assert found["store"]["state"] == "fail"
    assert "app.py is a file" in found["store"]["words"]


def test_a_store_that_can_be_made() -> None:
    result, found = doctor("--store", "new/state")
    assert result.exit_code == 0
    assert found["store"]["next"] == "the first run makes it"
    assert doctor("--store", "memory:")[1]["store"]["state"] == "ok"


@pytest.mark.parametrize("named", [("app.py",), ()])
def test_an_app_that_fails_when_it_is_read(named: tuple[str, ...]) -> None:
    Path("app.py").write_text("x = 1\nimport nowhere\n")
    Path("falkirk.toml").write_text('app = "app.py"')
    result, found = doctor(*named)
    assert result.exit_code == 1
    assert found["app"]["state"] == "fail"
    assert "app.py:2: ModuleNotFoundError: No module named 'nowhere'" in found["app"]["words"]


def test_an_app_whose_flow_cannot_be_built() -> None:
    Path("app.py").write_text("import falkirk as fk\nflow = fk.Dataflow('empty')\n")
    result, found = doctor("app.py")
    assert result.exit_code == 1
    assert "app.py:2: the flow 'empty' reads nothing" in found["app"]["words"]


def test_the_store_of_another_flow(story: Make) -> None:
    """What `run` would refuse is refused, in its words."""
    story().epochs(2).stop()
    Path("app.py").write_text(APP.format(orders=None))
    result, found = doctor("app.py", "--store", "state")
    assert result.exit_code == 0
    assert found["flow"]["state"] == "ok"
    Path("app.py").write_text(APP.format(orders="fk.eager()"))
    result, found = doctor("app.py", "--store", "state")
    assert result.exit_code == 1
    assert found["store"]["state"] == "ok"
    assert found["flow"]["state"] == "fail"
    assert "processor 'orders': regime changed" in found["flow"]["words"]
    assert "choose a new place" in found["flow"]["next"]


def test_a_master_that_cannot_be(dead: int, listening: int) -> None:
    result, found = doctor(FALKIRK_MASTER="bogus")
    assert result.exit_code == 1
    assert "FALKIRK_MASTER: 'bogus' is no master of Spark" in found["master"]["words"]
    result, found = doctor("--master", f"spark://127.0.0.1:{dead}")
    assert result.exit_code == 1
    assert "does not answer: Connection refused" in found["master"]["words"]
    result, found = doctor("--master", f"spark://127.0.0.1:{listening}")
    assert result.exit_code == 0
    assert found["master"]["state"] == "ok"


def test_settings_of_spark_that_cannot_be() -> None:
    Path("falkirk.toml").write_text('[spark]\n"spark.driver.memory" = "lots"\n')
    result, found = doctor()
    assert result.exit_code == 1
    words = found["Spark settings"]["words"]
    assert "falkirk.toml [spark]: spark.driver.memory is 'lots'" in words


def test_a_java_home_that_is_not_used() -> None:
    result, found = doctor(JAVA_HOME="/nonexistent")
    assert result.exit_code == 0
    assert found["Java"]["state"] == "warn"
    assert "JAVA_HOME (/nonexistent): it does not run" in found["Java"]["words"]


def test_systems_behind_sources_and_sinks(dead: int, listening: int) -> None:
    Path("app.py").write_text(SYSTEMS.format(kafka=dead, database=listening))
    result, found = doctor("app.py")
    assert result.exit_code == 1
    assert found["source records"]["state"] == "fail"
    assert f"Kafka at 127.0.0.1:{dead} does not answer" in found["source records"]["words"]
    assert {found["sink one"]["state"], found["sink both"]["state"]} == {"ok"}
    assert "source rows" not in found, "a file has no address"
    Path("app.py").write_text(SYSTEMS.format(kafka=listening, database=dead))
    result, found = doctor("app.py")
    assert found["source records"]["state"] == "ok"
    assert {found["sink one"]["state"], found["sink both"]["state"]} == {"fail"}
    assert "hush" not in result.output
