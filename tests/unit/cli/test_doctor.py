"""``falkirk doctor``: every line is ok, a warning or a failure, with what to do."""

import json
from pathlib import Path

import pytest
from click.testing import Result
from tests.unit.cli.stories import Make, falkirk


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
