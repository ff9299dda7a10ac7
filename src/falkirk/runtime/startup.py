"""A faster start: Java's class-data archive, made once for each installation and used ever after.

Most of the time that Spark takes to start goes into loading classes. An archive of them (AppCDS) is
made beside the first run, by a process of its own that may wait for everybody else, and lies in
the cache folder under a name for exactly this Java, this Spark and these jars. Later runs on this
machine map it into memory, and so do executors that are processes of this machine. Java passes over
an archive that does not fit, and whatever goes wrong here costs time and nothing else: no run fails
because of it.

``FALKIRK_CLASS_ARCHIVE=off`` does without. ``python -m falkirk.runtime.startup`` makes the archive
now, and prints where it is.
"""

import fcntl
import hashlib
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

from falkirk.core.errors import ConfigurationError
from falkirk.runtime.java import cache_folder, find_java_home

SWITCH = "FALKIRK_CLASS_ARCHIVE"
FORMAT = "1"
"""Goes into the name of an archive: another one when what is exercised changes."""

QUIET = ("-Xshare:auto", "-Xlog:cds=off", "-Xlog:cds+dynamic=off", "-Xlog:class+path=off")
"""An archive that does not fit is passed over without a word."""

ATTEMPTS_MAX = 3
"""How often it is tried; on a Java that cannot do it, not for ever."""

ARCHIVES_MAX = 4
"""How many are kept: they are large, and go out of use with every new version."""

FOLDERS = ("SPARK_CONF_DIR", "HADOOP_CONF_DIR", "YARN_CONF_DIR")
"""Folders of settings, which Spark puts on the class path."""

BESIDE: list[subprocess.Popen[bytes]] = []
"""Processes that nobody waits for. Python warns of one that is let go while it runs."""


def java_options(master: str, environment: Mapping[str, str] = os.environ) -> tuple[str, ...]:
    """What the JVMs of a session on ``master`` are to be started with, to use the archive.

    Nothing if there is none yet; then it is made, beside everything else.
    """
    if not wanted(master, environment):
        return ()
    try:
        if obstacle(environment):
            return ()
        archive = archive_path(environment)
        if archive.is_file():
            with suppress(OSError):
                os.utime(archive)  # it is in use: others go first
            return (f"-XX:SharedArchiveFile={archive}", *QUIET)
        make_beside(archive, environment)
    except (OSError, ConfigurationError):
        pass  # no folder, no Java or no process to be had: a slower start, or an error that is told
    return ()


def wanted(master: str, environment: Mapping[str, str] = os.environ) -> bool:
    """Whether an archive may be used: all JVMs are ours, on this machine, and nobody minds.

    >>> wanted("local[2]", {}), wanted("spark://host:7077", {}), wanted("local", {SWITCH: "off"})
    (True, False, False)
    """
    ours = master.partition("[")[0] in ("local", "local-cluster")
    return ours and environment.get(SWITCH, "").lower() != "off"


def obstacle(environment: Mapping[str, str] = os.environ) -> str:
    """Why there can be no archive here, or nothing."""
    folders = [Path(environment[name]) for name in FOLDERS if environment.get(name)]
    if not environment.get("SPARK_CONF_DIR"):
        folders.append(spark_folder(environment) / "conf")
    for folder in folders:
        if folder.is_dir() and any(folder.iterdir()):
            return f"Java makes none where a folder with files is on the class path, as {folder} is"
    return ""


def archive_path(environment: Mapping[str, str] = os.environ) -> Path:
    """Where the archive for this installation is, or would be."""
    # A session resolves links, and whoever asks before it has started must get the same name.
    java = Path(environment.get("JAVA_HOME") or find_java_home(environment)).resolve()
    return cache_folder(environment) / f"classes-{fingerprint(java, environment)}.jsa"


def fingerprint(java: Path, environment: Mapping[str, str]) -> str:
    """A short name for a Java, a Spark and the class path that Spark makes of itself."""
    spark = spark_folder(environment)
    parts = [FORMAT, str(java), str(spark), environment.get("SPARK_CONF_DIR", "")]
    files = [java / "release", java / "bin" / "java", java / "lib" / "modules"]
    parts += [stamp(path) for path in (*files, *sorted((spark / "jars").iterdir()))]
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:16]


def spark_folder(environment: Mapping[str, str]) -> Path:
    """Where Spark is, with its jars.

    A local cluster has a home of links, another one every time. Java compares files and not their
    names, so what counts is where the links lead.
    """
    import pyspark

    package = Path(pyspark.__file__).parent
    home = Path(environment.get("SPARK_HOME") or package)
    return package if (home / "jars").resolve() == (package / "jars").resolve() else home


def stamp(path: Path) -> str:
    """A file by its name, its size and its age; Java tells jars apart by these."""
    try:
        found = path.stat()
    except OSError:
        return f"{path}: none"
    return f"{path}: {found.st_size} {found.st_mtime_ns}"


# Making it.


def make_beside(archive: Path, environment: Mapping[str, str] = os.environ) -> None:
    """Starts a process that makes the archive, unless one is at it; does not wait for it."""
    with attempting(archive) as ours:
        if not ours:
            return
    beside = subprocess.Popen(
        [sys.executable, "-m", "falkirk.runtime.startup"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # it outlives a run that is shorter
        # A home of links ends with this process.
        env={**environment, "SPARK_HOME": str(spark_folder(environment)), SWITCH: "off"},
    )
    BESIDE.append(beside)


def make(archive: Path, exercise: Callable[[str], None]) -> bool:
    """Makes the archive; whether it is there now. It appears whole or not at all.

    ``exercise(option)`` runs a JVM with ``option`` from its start to its end.
    """
    if archive.is_file():
        return True
    with attempting(archive) as ours:
        if not ours:
            return False
        with attempts_of(archive).open("ab") as attempts:
            attempts.write(b".")
        unfinished = archive.with_suffix(f".{os.getpid()}")
        try:
            exercise(f"-XX:ArchiveClassesAtExit={unfinished}")
            if unfinished.is_file():
                with unfinished.open("rb") as file:
                    os.fsync(file.fileno())
                unfinished.rename(archive)
                os.truncate(attempts_of(archive), 0)  # if it is tidied away, it can be had again
        finally:
            unfinished.unlink(missing_ok=True)
    tidy(archive.parent)
    return archive.is_file()


@contextmanager
def attempting(archive: Path) -> Iterator[bool]:
    """Whether it may be tried now: nobody else is at it, and it did not fail too often."""
    archive.parent.mkdir(parents=True, exist_ok=True)
    with attempts_of(archive).open("ab") as attempts:
        try:
            fcntl.flock(attempts, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            yield False
        else:
            yield os.fstat(attempts.fileno()).st_size < ATTEMPTS_MAX


def attempts_of(archive: Path) -> Path:
    """A file with one byte for each attempt that failed, locked while one lasts."""
    return archive.with_suffix(".attempts")


def tidy(folder: Path) -> None:
    """Deletes all archives but the few that were used last."""
    with suppress(OSError):
        found = sorted(folder.glob("classes-*.jsa"), key=lambda path: path.stat().st_mtime)
        for archive in found[:-ARCHIVES_MAX]:
            archive.unlink(missing_ok=True)


if __name__ == "__main__":
    from falkirk.runtime.exercise import exercise_spark

    with suppress(OSError):
        os.nice(19)
    if reason := obstacle():
        sys.exit(f"no archive can be made: {reason}")
    print(made if make(made := archive_path(), exercise_spark) else "no archive could be made")
