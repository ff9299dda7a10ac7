"""Jars of Maven Central for the tests: exact versions, checked, fetched once and kept.

``python -m tests.servers.jars`` fetches all of them. The client is Maven, which knows the mirrors
of its user, or else Ivy, which comes with PySpark. They are kept in the user's cache.
"""

import hashlib
import os
import shutil
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

import pyspark
from tests.servers.lacking import lacking

from falkirk.runtime.java import cache_folder, find_java_home

LOCK = Path(__file__).with_name("jars.lock")
SECONDS_MAX = 240


class NoJars(Exception):
    """Why jars could not be had."""


@dataclass(frozen=True, slots=True)
class Jar:
    """One line of the lock."""

    group: str
    artifact: str
    version: str
    sha256: str

    @property
    def file(self) -> str:
        """The name that Maven Central gives it."""
        return f"{self.artifact}-{self.version}.jar"


def locked(name: str) -> list[Jar]:
    """The jars of the set ``name``."""
    lines = [line.split() for line in LOCK.read_text("utf-8").splitlines() if line[:1] != "#"]
    return [Jar(*place.split(":"), sha256) for chosen, place, sha256 in lines if chosen == name]


def jars(name: str) -> list[Path]:
    """The files of the set ``name``, fetched if need be; raises `NoJars`."""
    wanted = locked(name)
    digest = hashlib.sha256(repr(wanted).encode()).hexdigest()[:16]
    folder = cache_folder(os.environ) / "jars" / f"{name}-{digest}"
    if not folder.exists():
        fetch(wanted, folder)
    return [folder / jar.file for jar in wanted]


def needed(name: str, what: str) -> list[Path]:
    """The same for a test that needs ``what`` is in them; where it cannot be had it is skipped."""
    try:
        return jars(name)
    except NoJars as error:
        lacking(what, error)


def fetch(wanted: list[Jar], folder: Path) -> None:
    """Fills ``folder``, which appears whole or not at all."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    problems = []
    for client in (by_maven, by_ivy):
        with tempfile.TemporaryDirectory(prefix=".fetching-", dir=folder.parent) as name:
            place = Path(name)
            (place / "jars").mkdir()
            try:
                client(wanted, place)
                check(wanted, place / "jars")
            except (OSError, subprocess.SubprocessError, NoJars) as error:
                problems.append(f"{client.__name__}: {said(error)}")
                continue
            try:
                (place / "jars").rename(folder)
            except OSError:
                if not folder.exists():  # else somebody else was faster
                    raise
            return
    raise NoJars("; ".join(problems))


def by_ivy(wanted: list[Jar], place: Path) -> None:
    """Ivy as it comes with PySpark, with its own settings."""
    dependencies = "".join(
        f'<dependency org="{jar.group}" name="{jar.artifact}" rev="{jar.version}"'
        ' transitive="false" conf="default->master"/>'
        for jar in wanted
    )
    (place / "ivy.xml").write_text(
        '<ivy-module version="2.0"><info organisation="falkirk" module="jars"/>'
        '<configurations><conf name="default"/></configurations>'
        f"<dependencies>{dependencies}</dependencies></ivy-module>"
    )
    (ivy,) = (Path(pyspark.__file__).parent / "jars").glob("ivy-*.jar")
    java = find_java_home() / "bin" / "java"
    command = [java, "-jar", ivy, "-ivy", place / "ivy.xml", "-cache", place / "cache"]
    command += ["-retrieve", place / "jars" / "[artifact]-[revision].[ext]"]
    called([*command, "-types", "jar", "bundle"])


def by_maven(wanted: list[Jar], place: Path) -> None:
    """Maven with its user's settings."""
    maven = shutil.which("mvn")
    if maven is None:
        raise NoJars("it is not installed")
    nothing = "<exclusions><exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>"
    dependencies = "".join(
        f"<dependency><groupId>{jar.group}</groupId><artifactId>{jar.artifact}</artifactId>"
        f"<version>{jar.version}</version>{nothing}</exclusions></dependency>"
        for jar in wanted
    )
    (place / "pom.xml").write_text(
        "<project><modelVersion>4.0.0</modelVersion><groupId>falkirk</groupId>"
        "<artifactId>jars</artifactId><version>1</version><packaging>pom</packaging>"
        f"<dependencies>{dependencies}</dependencies></project>"
    )
    command = [maven, "--quiet", "--batch-mode", "--file", place / "pom.xml"]
    called([*command, "dependency:copy-dependencies", f"-DoutputDirectory={place / 'jars'}"])


def called(command: list[object]) -> None:
    """Runs a client."""
    words = [str(word) for word in command]
    subprocess.run(words, check=True, capture_output=True, text=True, timeout=SECONDS_MAX)


def check(wanted: list[Jar], folder: Path) -> None:
    """Refuses a jar that is missing or is not the locked one."""
    for jar in wanted:
        file = folder / jar.file
        if not file.exists():
            raise NoJars(f"{jar.group}:{jar.artifact}:{jar.version} was not found")
        found = hashlib.sha256(file.read_bytes()).hexdigest()
        if found != jar.sha256:
            raise NoJars(f"{jar.file} has SHA-256 {found}, and {jar.sha256} is locked")


def said(error: Exception) -> str:
    """An error with the end of what its process printed."""
    printed = getattr(error, "stdout", None) or getattr(error, "stderr", None) or ""
    return " ".join([str(error)[:200], *str(printed).splitlines()[-5:]])


if __name__ == "__main__":
    for each in ("broker", "delta", "hdfs", "s3", "spark"):
        print(each, jars(each)[0].parent)
