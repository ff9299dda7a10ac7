"""Whether a machine, its packages and a store are fit to run a flow."""

import importlib.metadata
import importlib.util
import os
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from falkirk.core.errors import ConfigurationError, FalkirkError
from falkirk.core.machine.recovery import offered
from falkirk.core.rollback import solve
from falkirk.dataflow.blueprint import Blueprint
from falkirk.dataflow.description import describe
from falkirk.inspection.diagnosis import FAIL, OK, WARN, Diagnosis, first_line
from falkirk.inspection.look import Look, look, opened
from falkirk.inspection.outside import outside
from falkirk.inspection.retention import orphans_of
from falkirk.inspection.words import several, size
from falkirk.runtime.java import find_java_home, reason_against_given
from falkirk.runtime.masters import check_master
from falkirk.runtime.reaching import master_trouble, shown
from falkirk.runtime.sizes import check_sizes
from falkirk.store.addresses import parted
from falkirk.store.adoption import differences
from falkirk.store.codec import parsed, text
from falkirk.store.opening import MEMORY, METADATA, sqlite_folder
from falkirk.store.places import Place, reached
from falkirk.store.store import SqlStore

ROOM_BYTES_MIN = 1 << 30
EXTRAS = {
    "confluent_kafka": ("Kafka", "kafka"),
    "psycopg": ("PostgreSQL", "postgres"),
    "grpc": ("Spark Connect", "connect"),
    "fsspec": ("file systems of fsspec", "fsspec"),
}
"""Packages that some connectors need, and the extra that installs each."""

Told = Callable[[int, int], None]
"""Is told how much of how much is done."""

Built = Callable[[Any], Blueprint]
"""The flow that settings name; whatever is wrong with it is raised."""


def examine(settings: Callable[[], Any], built: Built, deep: bool, told: Told) -> list[Diagnosis]:
    """Looks at everything; with ``deep`` at every byte of the store."""
    return [*machine(), *packages(), *rooms(), *configured(settings, built, deep, told)]


def machine() -> Iterator[Diagnosis]:
    """Python, Spark and Java."""
    version = ".".join(map(str, sys.version_info[:3]))
    yield Diagnosis("Python", OK, f"{version}, falkirk {version_of('falkirk')}")
    try:
        yield Diagnosis("Spark", OK, f"PySpark {importlib.metadata.version('pyspark')}")
    except importlib.metadata.PackageNotFoundError:
        yield Diagnosis("Spark", FAIL, "PySpark is not installed", "pip install falkirk")
    try:
        home = str(find_java_home())
    except ConfigurationError as error:
        yield Diagnosis(
            "Java", FAIL, first_line(error), "pip install 'falkirk[java]', or set JAVA_HOME"
        )
        return
    if reason := reason_against_given():
        words = f"{home}, and not JAVA_HOME ({os.environ['JAVA_HOME']}): {reason}"
        yield Diagnosis("Java", WARN, words, "set JAVA_HOME to another one, or unset it")
    else:
        yield Diagnosis("Java", OK, home)


def packages() -> Iterator[Diagnosis]:
    """What the connectors need beyond falkirk itself."""
    for package, (name, extra) in EXTRAS.items():
        if importlib.util.find_spec(package) is not None:
            yield Diagnosis(name, OK, f"{package} is installed")
        else:
            advice = f"only if you need it: pip install 'falkirk[{extra}]'"
            yield Diagnosis(name, OK, "not installed", advice)


def rooms() -> Iterator[Diagnosis]:
    """Where Spark puts what does not fit into memory."""
    for folder in os.environ.get("SPARK_LOCAL_DIRS", tempfile.gettempdir()).split(","):
        yield room("temp space", Path(folder))


def room(what: str, folder: Path) -> Diagnosis:
    """Whether there is room in a folder."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    free = shutil.disk_usage(folder).free
    words = f"{size(free)} free in {folder}"
    if not os.access(folder, os.W_OK):
        return Diagnosis(what, FAIL, f"{folder} cannot be written to", "choose another folder")
    if free < ROOM_BYTES_MIN:
        return Diagnosis(what, WARN, words, "free some, or choose another place")
    return Diagnosis(what, OK, words)


def configured(
    settings: Callable[[], Any], built: Built, deep: bool, told: Told
) -> Iterator[Diagnosis]:
    """The settings, and the master, the app and the store that they name."""
    try:
        given = settings()
        given.the_options()
    except ConfigurationError as error:
        yield Diagnosis("settings", FAIL, first_line(error), "mend it, then ask again")
        return
    yield Diagnosis("settings", OK, str(given.file) if given.file else "no falkirk.toml here")
    yield from spark_given(given)
    blueprint = None
    if given.app is not None:
        try:
            blueprint = built(given)
        except FalkirkError as error:
            yield Diagnosis("app", FAIL, first_line(error), "mend it; `falkirk check` says more")
        else:
            yield Diagnosis("app", OK, f"{given.app}: the flow {blueprint.name}")
            yield from outside(blueprint)
    if given.store is None:
        yield Diagnosis("store", OK, "none given", "--store looks at one")
    else:
        yield from store_health(given.store, deep, told, blueprint)


def spark_given(given: Any) -> Iterator[Diagnosis]:
    """What Spark would be started with: the form of its settings, and whether a master answers."""
    try:
        check_sizes(given.spark, given.origins)
    except ConfigurationError as error:
        yield Diagnosis("Spark settings", FAIL, first_line(error), "mend it, then ask again")
    if given.master is None:
        return
    try:
        check_master(given.master, given.origins.get("master", ""))
    except ConfigurationError as error:
        yield Diagnosis("master", FAIL, first_line(error), "mend it, then ask again")
        return
    name, because = shown(given.master), master_trouble(given.master)
    if because:
        advice = "see whether it is up, and whether the address is right"
        yield Diagnosis("master", FAIL, f"{name} does not answer: {because}", advice)
    else:
        yield Diagnosis("master", OK, name)


def store_health(
    location: str, deep: bool, told: Told, blueprint: Blueprint | None = None
) -> Iterator[Diagnosis]:
    """Whether a store can be opened, is whole, by whom it is used, and whether a flow fits it."""
    if location == MEMORY:
        yield Diagnosis("store", OK, "in memory: it ends with the run")
        return
    try:
        folder = sqlite_folder(location)
        if folder is not None and not (folder / METADATA).is_file():
            yield from new_store(folder)
            _, data, via = parted(location)
            if data is not None:
                yield space(reached(data, via))
            return
        with opened(location) as store:
            seen = look(store)
            yield Diagnosis("store", OK, f"{seen.place}: the flow {seen.name}")
            if blueprint is not None:
                yield belonging(seen, blueprint)
            yield lease(seen)
            yield from files(store, seen, deep, told)
            yield recoverable(store, seen, deep)
            yield space(store.files.place)
    except (FalkirkError, OSError) as error:
        yield Diagnosis("store", FAIL, first_line(error), "see the message")


def new_store(folder: Path) -> Iterator[Diagnosis]:
    """Whether a store can be made in a folder that has none."""
    there = next(each for each in (folder, *folder.absolute().parents) if each.exists())
    if not there.is_dir():
        words = f"{there} is a file, and a store is a folder"
        yield Diagnosis("store", FAIL, words, "choose another place")
        return
    yield Diagnosis("store", OK, f"{folder} is not there yet", "the first run makes it")
    yield room("store space", folder)


def belonging(seen: Look, blueprint: Blueprint) -> Diagnosis:
    """Whether a run of the flow would be refused, because the store is that of another one."""
    found = list(differences(seen.description, parsed(text(describe(blueprint)))))
    if not found:
        return Diagnosis("flow", OK, f"{blueprint.name}, as the store knows it")
    words = f"the store belongs to a flow that differs from {blueprint.name}: {'; '.join(found)}"
    advice = "run the flow that wrote it, or choose a new place for this one"
    return Diagnosis("flow", FAIL, words, advice)


def space(place: Place) -> Diagnosis:
    """Whether the place of the batches takes more of them."""
    if place.folder is not None:
        return room("store space", place.folder)
    try:
        place.clock(time.time())
    except OSError as error:
        advice = "see whether this process has the keys and the rights to write there"
        return Diagnosis("store space", FAIL, f"{place.shown} takes no file: {error}", advice)
    advice = "how much room is left it does not say; Spark needs its own way there"
    return Diagnosis("store space", OK, f"{place.shown} takes and gives files", advice)


def lease(seen: Look) -> Diagnosis:
    """Who uses the store."""
    holder = seen.holder
    who = f"process {holder.pid} on {holder.host}"
    if holder.state == "expired":
        advice = "see whether it still runs; the next run takes over"
        return Diagnosis("lease", WARN, f"{who} has not been heard of", advice)
    words = {"free": "free", "live": f"held by {who}", "dead": f"free: {who} is gone"}
    return Diagnosis("lease", OK, words[holder.state])


def files(store: SqlStore, seen: Look, deep: bool, told: Told) -> Iterator[Diagnosis]:
    """Whether every durable batch is there; with ``deep`` its bytes are compared, too."""
    references = store.references()
    bad: list[str] = []
    for number, reference in enumerate(references):
        problem = store.files.problem(reference, verify=deep)
        if problem:
            bad.append(f"{reference.name}: {problem}")
        told(number + 1, len(references))
    read = "read and as they were written" if deep else "there; --deep reads them"
    if not bad:
        yield Diagnosis("files", OK, f"{several(len(references), 'file')}, {read}")
    elif seen.holder.state == "live":
        words = f"{several(len(bad), 'file')} gone while we looked, for instance {bad[0]}"
        yield Diagnosis("files", WARN, words, "a run is deleting what it does not need: ask again")
    else:
        words = f"{several(len(bad), 'file')} damaged, for instance {bad[0]}"
        yield Diagnosis("files", FAIL, words, "restore them, or see what recovery can do without")
    orphans = orphans_of(store, seen)
    if orphans.files and seen.holder.state != "live":
        words = f"{several(orphans.files, 'file')} that nothing refers to, {size(orphans.bytes)}"
        yield Diagnosis("orphans", OK, words, "falkirk gc removes them, and so does the next run")


def recoverable(store: SqlStore, seen: Look, deep: bool) -> Diagnosis:
    """Whether a run could go on from here, without the files that are damaged."""
    stored = store.load(seen.flow, lambda reference, label: None, verify=deep)
    try:
        solve(seen.flow.recovery, {p: offered(seen.flow, p, stored[p]) for p in stored})
    except FalkirkError as error:
        return Diagnosis("recovery", FAIL, first_line(error), "see the message")
    lost = sum(len(damage.checkpoints) for damage in store.damages)
    if lost:
        words = f"a consistent state is there, without {several(lost, 'checkpoint')}"
        return Diagnosis("recovery", WARN, words, "the next run goes back further and goes on")
    return Diagnosis("recovery", OK, "a consistent state is there to go on from")


def version_of(package: str) -> str:
    """The version of an installed package."""
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:
        return "not installed"
