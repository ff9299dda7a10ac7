"""After a power failure: how long until the first new result, falkirk or Structured Streaming."""

import os
import shutil
import tempfile
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

from benchmarks.harness.archive import make_archive
from benchmarks.harness.plots import Bar, Bars, bar
from benchmarks.harness.report import Report, Table
from benchmarks.harness.spread import ratio, spread, times, verdict
from benchmarks.harness.versions import spark_machine
from benchmarks.inputs import events
from benchmarks.inputs.events import Shape
from benchmarks.streaming.outside import Program
from falkirk.runtime.java import find_java_home
from falkirk.runtime.startup import SWITCH

EVENTS, BEFORE, AFTER = 1_000, 12, 20
"""Events a file; results that are seen before the kill, and files that are left over at most."""

FALKIRK, STREAMING = "falkirk", "Structured Streaming"
AS_STARTED, ARCHIVE, NONE = "as a user starts it", "class archive", "no flags"


@dataclass(frozen=True)
class Contender:
    """A program and how it is started."""

    name: str
    way: str
    arguments: list[str]
    environment: dict[str, str] = field(default_factory=dict)


def contenders(own_archive: Path) -> list[Contender]:
    """Each as its users start it, and both with the same flags: an archive, and none."""
    flow = ["benchmarks.streaming.views_falkirk", "eager"]
    plain = ["benchmarks.streaming.views_streaming", "--session", "plain"]
    archived = [*plain, f"--java-options=-XX:SharedArchiveFile={own_archive} -Xshare:auto"]
    return [
        Contender(FALKIRK, AS_STARTED, flow),
        Contender(STREAMING, AS_STARTED, plain),
        Contender(STREAMING, ARCHIVE, archived),
        Contender(FALKIRK, NONE, flow, {SWITCH: "off"}),
    ]


def run(quick: bool) -> Report:
    """Kills and restarts all contenders in turn."""
    repetitions = 1 if quick else 5
    settings = {**spark_machine(), **described(repetitions)}
    os.environ.setdefault("JAVA_HOME", str(find_java_home()))
    place = Path(tempfile.mkdtemp(prefix="falkirk-bench-"))
    found: dict[tuple[str, str], list[float]] = defaultdict(list)
    try:
        files = events.make(place / "files", Shape(EVENTS), BEFORE + AFTER)
        # Of a quick look nobody expects figures, and making archives takes a while.
        own = place / "streaming.jsa"
        if not quick:
            make_archive()
            train(place, files, own)
        chosen = [each for each in contenders(own) if not quick or each.way == AS_STARTED]
        for repetition in range(repetitions):
            for each in chosen[::-1] if repetition % 2 else chosen:
                found[each.name, each.way].append(measured(place, each, files))
    finally:
        shutil.rmtree(place, ignore_errors=True)
    report = Report("Recovery: the first result after a kill", settings)
    report.targets = targets(found)
    report.tables = [seconds(found)]
    report.figures = [figure(found)]
    return report


def prepared(place: Path, contender: Contender) -> Program:
    """A program that was not started yet, in a folder of its own."""
    folder = Path(tempfile.mkdtemp(dir=place))
    events.make_campaigns(folder / "campaigns")
    return Program(folder, contender.arguments, contender.environment)


def measured(place: Path, contender: Contender, files: list[Path]) -> float:
    """Seconds from the start of the second process to the first result that was not there."""
    program = prepared(place, contender)
    try:
        program.start()
        program.feed(files)
        program.await_epoch(BEFORE - 1)
        program.kill()
        seen = program.epochs()
        if len(seen) == len(files):
            raise RuntimeError("nothing was left to do: give it more files")
        begun = program.start()
        seconds = program.wait_for(lambda: program.epochs() - seen, "result") - begun
        program.await_epoch(len(files) - 1)
    finally:
        program.kill()
    if events.shown(program.folder / "out") != events.expected(files):
        raise RuntimeError(f"{contender.name}: the counts are wrong after a kill")
    shutil.rmtree(program.folder)
    return seconds


def train(place: Path, files: list[Path], archive: Path) -> None:
    """Makes an archive of exactly the classes that Structured Streaming needs for this query."""
    plain = ["benchmarks.streaming.views_streaming", "--session", "plain", "--batches", str(BEFORE)]
    plain.append(f"--java-options=-XX:ArchiveClassesAtExit={archive}")
    program = prepared(place, Contender(STREAMING, ARCHIVE, plain))
    try:
        program.start()
        program.feed(files)
        program.await_epoch(BEFORE - 1)
        assert program.process is not None
        program.process.wait()
        if not archive.is_file():
            raise RuntimeError(f"no archive was made:\n{program.last_words()}")
    finally:
        program.kill()


# What is shown.


def described(repetitions: int) -> dict[str, str]:
    """What is measured, and how."""
    return {
        "work": f"as in exactly-once, with {EVENTS:,} events a file and falkirk's eager()",
        "the kill": f"SIGKILL to the program and its JVM when the result of file {BEFORE} is"
        f" visible and more files wait (of {BEFORE + AFTER}); the counts at the end are checked",
        "time": "from the start of the second process until a result is visible that was not"
        f" before; {repetitions} times each, contenders in turn",
        AS_STARTED: "falkirk as fk.run starts it, with the class archive of an earlier run;"
        " Structured Streaming with SparkSession.builder, no UI, few shuffle partitions",
        ARCHIVE: "Structured Streaming with an archive of exactly its own classes, made by this"
        " very query; falkirk's is the general one that it makes by itself",
        NONE: f"falkirk with {SWITCH}=off",
        "command": "python -m benchmarks recovery",
    }


def targets(found: dict[tuple[str, str], list[float]]) -> Table:
    """The floors."""
    note = "Ratios of the medians, with the least and the greatest of a round."
    table = Table("Targets", ["target", "measured", "met"], note=note)
    comparisons = [
        ("as a user starts each: at most 0.6×", AS_STARTED, AS_STARTED, 0.6),
        ("both with a class archive: no later", AS_STARTED, ARCHIVE, 1.0),
        ("both without: no later", NONE, AS_STARTED, 1.0),
    ]
    for goal, ours, theirs, most in comparisons:
        if (FALKIRK, ours) in found and (STREAMING, theirs) in found:
            both = found[FALKIRK, ours], found[STREAMING, theirs]
            table.rows.append([goal, times(*both), verdict(ratio(*both) <= most)])
    return table


def figure(found: dict[tuple[str, str], list[float]]) -> Bars:
    """The same as bars."""
    series = dict[str, dict[str, Bar]]()
    for (name, way), taken in found.items():
        series.setdefault(name, {})[way] = bar(taken)
    return Bars("seconds", "First result after SIGKILL", "s", series)


def seconds(found: dict[tuple[str, str], list[float]]) -> Table:
    """Seconds to the first result."""
    table = Table(
        "First result after the restart",
        ["contender", "started", "seconds"],
        note="Median, with the least and the greatest.",
    )
    for (name, way), taken in found.items():
        table.rows.append([name, way, spread(taken, "{:.1f}".format)])
    return table
