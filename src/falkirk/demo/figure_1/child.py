"""The process that runs the flow: ``python -m falkirk.demo.figure_1.child``.

It writes what it hears of its run to a file, one JSON object a line, and takes orders on standard
input: ``fail P Q`` makes processors lose what they hold, ``strike P Q`` does so as soon as they
hold something that was not saved. ``die P Q`` kills everything as soon as they would have to be
sent something again. ``stop`` ends the run.
"""

import argparse
import json
import sys
import time
from itertools import chain
from pathlib import Path
from threading import Thread
from typing import Any, TextIO

import falkirk as fk
from falkirk.core.frontier import SequenceFrontier
from falkirk.core.times import ProcessorId
from falkirk.dataflow.description import describe
from falkirk.demo.figure_1 import moments
from falkirk.demo.figure_1.flow import figure_1
from falkirk.demo.figure_1.records import Records
from falkirk.demo.figure_1.sabotage import rules_without
from falkirk.runtime.driver import Driver
from falkirk.runtime.listening import RollbackNotice
from falkirk.runtime.options import Options
from falkirk.runtime.progress import Progress
from falkirk.runtime.run import held, prepared, session_for, stopped_by_signals

SHORT_LIVED = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
"""For JVMs of a minute: they had better compile quickly than well."""

SETTINGS = {
    "spark.driver.extraJavaOptions": SHORT_LIVED,
    "spark.executor.extraJavaOptions": SHORT_LIVED,
}


class Written(fk.Listener):
    """Writes all it hears to a file."""

    def __init__(self, file: TextIO, store: Path) -> None:
        """To ``file``; the size of ``store`` is looked up now and then."""
        self.file, self.store = file, store
        self.bytes, self.measured = 0, 0.0

    def started(self, flow: str) -> None:
        """The first line."""
        self._write("started", flow=flow)

    def progressed(self, progress: Progress) -> None:
        """What a view shows of each processor."""
        if time.monotonic() - self.measured > 2:
            self.bytes, self.measured = folder_bytes(self.store), time.monotonic()
        processors = {
            p: {
                "policy": each.policy,
                "role": each.role,
                "completed": in_short(each.completed),
                "watermark": in_short(each.watermark),
                "lag": each.lag_seconds,
                "events": each.events,
                "rows": each.rows,
                "queued": each.queued,
                "state": each.state_bytes,
                "suspected": each.suspected,
            }
            for p, each in progress.processors.items()
        }
        self._write(
            "progress",
            uptime=progress.uptime_seconds,
            processors=processors,
            recoveries=progress.recoveries,
            replayed=progress.replayed_rows,
            store_bytes=self.bytes,
        )

    def rolled_back(self, rollback: RollbackNotice) -> None:
        """Who went back, and how far."""
        self._write(
            "rollback",
            number=rollback.number,
            cause=rollback.cause,
            failed=rollback.failed,
            frontiers={p: in_short(f) for p, f in rollback.frontiers.items()},
            kept=sorted(p for p, f in rollback.frontiers.items() if f.is_top),
            undone=rollback.undone,
            seconds=rollback.seconds,
        )

    def caught_up(self, rollback: RollbackNotice, seconds: float) -> None:
        """All are where they were."""
        self._write("caught up", number=rollback.number, seconds=seconds)

    def ended(self, error: Exception | None) -> None:
        """The last line."""
        self._write("ended", error=None if error is None else str(error))

    def _write(self, what: str, **told: Any) -> None:
        self.file.write(json.dumps({"what": what, "at": time.time(), **told}) + "\n")
        self.file.flush()


def in_short(frontier: Any) -> str:
    """A frontier as it is shown: of sequence numbers only how many there are."""
    if isinstance(frontier, SequenceFrontier) and frontier.counts:
        return "first " + ", ".join(str(count) for _, count in frontier.counts)
    return repr(frontier)


def folder_bytes(folder: Path) -> int:
    """How much a folder holds; files may go while it is looked at."""
    total = 0
    for path in folder.rglob("*"):
        try:
            total += path.stat().st_size
        except OSError:
            continue
    return total


def obey(driver: Driver, server: fk.HttpRequests, orders: TextIO) -> None:
    """Does what standard input says; when that ends, nobody is there any more, and it stops."""
    for line in chain(orders, ["stop"]):
        match line.split():
            case ["fail" | "strike" as how, *names]:
                moments.fail(driver, named(driver, names), at_once=how == "fail")
            case ["die", *names]:
                moments.die(driver, named(driver, names))
            case ["stop"]:
                server.stop()
                driver.stop()


def named(driver: Driver, names: list[str]) -> frozenset[ProcessorId]:
    """The processors that an order names."""
    return frozenset(p for p in driver.blueprint.nodes if p in names)


def source_of(given: argparse.Namespace) -> Any:
    """The records: out of Kafka, or made up here."""
    if not given.kafka:
        return Records(given.rows, given.seconds)
    from falkirk.demo.figure_1.topic import WholeEpochs

    return WholeEpochs.of(given.kafka, given.topic, given.rows)


def arguments() -> argparse.ArgumentParser:
    """What the process is told when it starts."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--store", type=Path, required=True)
    parser.add_argument("--events", type=Path, required=True)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--database", required=True)
    parser.add_argument("--master", required=True)
    parser.add_argument("--rows", type=int, required=True)
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--sabotage", default="")
    parser.add_argument("--kafka", default="")
    parser.add_argument("--topic", default="")
    return parser


def run_until_told(
    flow: fk.Dataflow,
    server: fk.HttpRequests,
    given: argparse.Namespace,
    written: type[Written] = Written,
) -> None:
    """Runs the flow until it is told to stop, and has what is heard of it ``written``."""
    blueprint = flow.build()
    with held(str(given.store)) as store, given.events.open("a", encoding="utf-8") as events:
        store.adopt(describe(blueprint))
        with session_for(None, flow.name, given.master, SETTINGS) as session:
            listener, rules = written(events, given.store), rules_without(given.sabotage)
            options = Options(progress_seconds=0.25)
            driver = prepared(blueprint, store, session, options, [listener], rules=rules)
            Thread(target=obey, args=(driver, server, sys.stdin), daemon=True).start()
            with stopped_by_signals(driver):
                driver.run()


def main() -> None:
    """Runs the flow of the figure."""
    given = arguments().parse_args()
    server = fk.HttpRequests("user BIGINT", path="/query", port=given.port)
    flow = figure_1(source_of(given), server, given.database, encoded=bool(given.kafka))
    run_until_told(flow, server, given)


if __name__ == "__main__":
    main()
