"""The class archive: named for one installation, made whole or not at all, and never a bother.

No JVM is started here: what would run one is replaced, and it writes what a JVM would.
"""

import fcntl
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pyspark
import pytest

from falkirk.runtime import startup
from falkirk.runtime.session import spark_home
from falkirk.runtime.startup import (
    ARCHIVES_MAX,
    ATTEMPTS_MAX,
    SWITCH,
    attempts_of,
    java_options,
    make,
    tidy,
)


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An installation with a Java, a Spark and a cache folder of its own."""
    (tmp_path / "java" / "bin").mkdir(parents=True)
    (tmp_path / "java" / "bin" / "java").write_text("#!/bin/sh")
    (tmp_path / "spark" / "jars").mkdir(parents=True)
    (tmp_path / "spark" / "jars" / "spark.jar").write_text("classes")
    return {
        "JAVA_HOME": str(tmp_path / "java"),
        "SPARK_HOME": str(tmp_path / "spark"),
        "XDG_CACHE_HOME": str(tmp_path / "cache"),
    }


@pytest.fixture
def archive(environment: dict[str, str]) -> Path:
    """Where the archive of that installation goes."""
    return startup.archive_path(environment)


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[list[str]]:
    """The programs that were started, none of them really."""
    commands: list[list[str]] = []
    monkeypatch.setattr(startup.subprocess, "Popen", lambda command, **_: commands.append(command))
    return commands


def writing(content: str) -> Callable[[str], None]:
    """What a JVM does with the option that it is given."""
    return lambda option: Path(option.partition("=")[2]).write_text(content) and None


def test_the_first_run_does_without_and_has_it_made_beside(
    environment: dict[str, str], started: list[list[str]]
) -> None:
    assert java_options("local[*]", environment) == ()
    assert [command[-1] for command in started] == ["falkirk.runtime.startup"]


def test_nobody_is_warned_of_what_is_made_beside(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(startup.sys, "executable", shutil.which("true"))
    assert java_options("local[*]", environment) == ()
    startup.BESIDE.pop().wait(60)  # a process that nobody has is warned of, and that is an error


def test_later_runs_use_it(
    environment: dict[str, str], archive: Path, started: list[list[str]]
) -> None:
    assert make(archive, writing("classes"))
    options = java_options("local[*]", environment)
    assert options[0] == f"-XX:SharedArchiveFile={archive}"
    assert "-Xshare:auto" in options
    assert not started


@pytest.mark.parametrize("variable", [*startup.FOLDERS, "SPARK_HOME"])
def test_settings_on_the_class_path_leave_no_room_for_it(
    environment: dict[str, str], started: list[list[str]], tmp_path: Path, variable: str
) -> None:
    folder = tmp_path / "settings" / "conf"
    folder.mkdir(parents=True)
    if variable == "SPARK_HOME":
        folder = tmp_path / "spark" / "conf"
        folder.mkdir()
    else:
        environment[variable] = str(folder)
    assert not startup.obstacle(environment), "an empty folder is in nobody's way"
    (folder / "spark-defaults.conf").touch()
    assert str(folder) in startup.obstacle(environment)
    assert java_options("local[*]", environment) == ()
    assert not started, "it would be tried in vain"


@pytest.mark.parametrize("master", ["spark://host:7077", "spark://127.0.0.1:7077", "yarn"])
def test_only_a_local_master_has_it(
    environment: dict[str, str], archive: Path, started: list[list[str]], master: str
) -> None:
    make(archive, writing("classes"))
    assert java_options(master, environment) == ()
    assert not started


def test_a_local_cluster_has_it_under_whatever_links(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, environment: dict[str, str]
) -> None:
    """The home of links is another one every time, and gone when an archive is made beside."""
    del environment["SPARK_HOME"]
    made_for = startup.archive_path(environment)
    given: list[dict[str, str]] = []
    monkeypatch.setattr(startup.subprocess, "Popen", lambda _, env, **__: given.append(env))
    linked = {**environment, "SPARK_HOME": str(spark_home(tmp_path / "links"))}
    assert startup.archive_path(linked) == made_for
    assert java_options("local-cluster[2,1,1024]", linked) == ()
    assert [env["SPARK_HOME"] for env in given] == [str(Path(pyspark.__file__).parent)]
    assert make(made_for, writing("classes"))
    assert f"-XX:SharedArchiveFile={made_for}" in java_options("local-cluster[2,1,1024]", linked)


def test_it_can_be_switched_off(
    environment: dict[str, str], archive: Path, started: list[list[str]]
) -> None:
    make(archive, writing("classes"))
    assert java_options("local[*]", {**environment, SWITCH: "off"}) == ()
    archive.unlink()
    assert java_options("local[*]", {**environment, SWITCH: "off"}) == ()
    assert not started


def test_another_jar_or_another_java_is_another_installation(
    environment: dict[str, str], archive: Path, tmp_path: Path
) -> None:
    jar = tmp_path / "spark" / "jars" / "spark.jar"
    os.utime(jar, (1, 1))
    other = startup.archive_path(environment)
    assert other != archive
    (tmp_path / "java" / "release").write_text('JAVA_VERSION="17.0.15"')
    assert startup.archive_path(environment) not in (archive, other)


def test_a_jvm_that_dies_leaves_no_archive(archive: Path) -> None:
    def dying(option: str) -> None:
        writing("half of the cl")(option)
        raise OSError("killed")

    with pytest.raises(OSError, match="killed"):
        make(archive, dying)
    assert [path.name for path in archive.parent.iterdir()] == [attempts_of(archive).name]


def test_it_is_not_tried_for_ever(
    environment: dict[str, str], archive: Path, started: list[list[str]]
) -> None:
    for _ in range(ATTEMPTS_MAX):
        assert not make(archive, lambda option: None)
    assert not make(archive, writing("classes"))
    assert java_options("local[*]", environment) == ()
    assert not started


def test_one_at_a_time(
    environment: dict[str, str], archive: Path, started: list[list[str]]
) -> None:
    archive.parent.mkdir(parents=True)
    with attempts_of(archive).open("ab") as attempts:
        fcntl.flock(attempts, fcntl.LOCK_EX)
        assert not make(archive, writing("classes"))
        assert java_options("local[*]", environment) == ()
        assert not started
    assert make(archive, writing("classes"))


def test_a_cache_folder_that_cannot_be_had_is_no_trouble(
    environment: dict[str, str], tmp_path: Path, started: list[list[str]]
) -> None:
    (tmp_path / "cache").write_text("a file")
    assert java_options("local[*]", environment) == ()
    assert not started


def test_a_process_that_cannot_be_started_is_no_trouble(
    environment: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refusing(command: list[str], **_: object) -> None:
        raise OSError("no more processes")

    monkeypatch.setattr(startup.subprocess, "Popen", refusing)
    assert java_options("local[*]", environment) == ()


def test_one_that_was_tidied_away_is_made_again_however_often(archive: Path) -> None:
    for _ in range(ATTEMPTS_MAX + 1):
        assert make(archive, writing("classes"))
        archive.unlink()


def test_one_that_is_in_use_stays(environment: dict[str, str], archive: Path) -> None:
    make(archive, writing("classes"))
    os.utime(archive, (0, 0))
    for number in range(1, ARCHIVES_MAX + 1):
        other = archive.with_name(f"classes-{number}.jsa")
        other.write_text("classes")
        os.utime(other, (number, number))
    assert java_options("local[*]", environment)
    tidy(archive.parent)
    assert archive.is_file()


def test_old_archives_go(archive: Path) -> None:
    archive.parent.mkdir(parents=True)
    for number in range(6):
        old = archive.with_name(f"classes-{number}.jsa")
        old.write_text("classes")
        os.utime(old, (number, number))
    make(archive, writing("classes"))
    names = {path.stem for path in archive.parent.glob("*.jsa")}
    assert names == {"classes-3", "classes-4", "classes-5", archive.stem}
