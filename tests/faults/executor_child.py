"""One Spark application with executors of its own, which are killed while flows run on it.

``python -m tests.faults.executor_child FOLDER SCENARIOS FIRST COUNT KIND`` prints a line of JSON
for each run: what was killed, who went back, and what is wrong with the outcome.
"""

import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import product
from pathlib import Path
from threading import Event, Thread
from typing import Any

from tests.faults.executor_flows import (
    EPOCHS,
    GATES,
    HOOKS,
    IN_FILES,
    ON_EXECUTORS,
    Halves,
    Mixed,
)
from tests.faults.executor_killing import (
    Striker,
    executors,
    kill,
    seeded,
    wait_for_executors,
)
from tests.spark.masters import prepared

import falkirk as fk
from falkirk.runtime.report import Report
from falkirk.runtime.run import run
from falkirk.runtime.session import start_session

MASTER = "local-cluster[2,1,1024]"


def main(folder: Path, scenarios: list[str], first: int, count: int, kind: str) -> None:
    """Runs every scenario for each seed."""
    with {"classic": classic, "connect": connect}[kind](folder) as session:
        for scenario, seed in product(scenarios, range(first, first + count)):
            wait_for_executors(session, 2)
            began = time.monotonic()
            outcome = SCENARIOS[scenario](folder / f"{scenario}-{seed}", session, seed)
            outcome |= {"scenario": scenario, "seconds": round(time.monotonic() - began, 1)}
            print(json.dumps({"seed": seed, **outcome}), flush=True)


@contextmanager
def classic(folder: Path) -> Iterator[Any]:
    """A session of this process, which sees its executors."""
    short_lived = "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC"
    settings = {
        "spark.executor.memory": "1g",
        "spark.local.dir": str(folder / "local"),
        "spark.driver.extraJavaOptions": f"{short_lived} -Djava.io.tmpdir={folder}",
        "spark.executor.extraJavaOptions": short_lived,
    }
    session = start_session("kills", MASTER, settings)
    try:
        yield session
    finally:
        session.stop()


@contextmanager
def connect(folder: Path) -> Iterator[Any]:
    """A session of a Spark Connect server, whose executors cannot be seen."""
    with prepared("connect", folder, MASTER) as address:
        session = start_session("kills", address)
        try:
            yield session
        finally:
            session.stop()


def mixed(folder: Path, session: Any, seed: int) -> dict[str, Any]:
    """Kills at a seeded moment of a flow with every policy."""
    strike = seeded(seed, EPOCHS)
    striker, made = Striker(strike), Mixed()
    HOOKS.append(striker.at)
    logging.getLogger("falkirk").addHandler(striker)
    try:
        options = IN_FILES if seed % 2 else ON_EXECUTORS
        report = run(made.flow(), folder, session, options=options)
    finally:
        logging.getLogger("falkirk").removeHandler(striker)
    return {
        "strike": str(strike),
        "kills": striker.done(),
        "wrong": made.wrong(),
        **told(report),
    }


def resting(
    made: Halves, folder: Path, session: Any, awaited: list[Any], options: fk.Options
) -> dict[str, Any]:
    """Kills all executors while the flow rests, and opens the gate when new ones are there."""
    gate, kills = Event(), 0
    GATES.append(gate)
    HOOKS.append(lambda epoch: None)

    def strike() -> None:
        nonlocal kills
        while not all((EPOCHS // 2 - 1,) in sink.times for sink in awaited):
            time.sleep(0.05)
        time.sleep(2.0)
        for _ in executors():
            kills += kill(0)
            time.sleep(0.5)
        gate.set()

    thread = Thread(target=strike)
    thread.start()
    report = run(made.flow(), folder, session, options=options)
    thread.join()
    return {"kills": kills, "wrong": made.wrong(), **told(report)}


def durable(folder: Path, session: Any, seed: int) -> dict[str, Any]:
    """Everything is durable when the executors go."""
    made = Halves(fk.lazy())
    return resting(made, folder, session, [made.counts, made.totals], IN_FILES)


def volatile(folder: Path, session: Any, seed: int) -> dict[str, Any]:
    """The state of one processor is not durable when the executors go."""
    made = Halves(fk.lazy(every=100))
    return resting(made, folder, session, [made.counts], ON_EXECUTORS)


def told(report: Report) -> dict[str, Any]:
    """Who failed, who went back and who stayed, in each recovery."""
    return {
        "retries": report.retries,
        "recoveries": [
            {
                "failed": sorted(each.failed),
                "back": {p: repr(f) for p, f in sorted(each.frontiers.items()) if not f.is_top},
                "stayed": sorted(p for p, f in each.frontiers.items() if f.is_top),
            }
            for each in report.recoveries
        ],
    }


SCENARIOS = {"mixed": mixed, "durable": durable, "volatile": volatile}

if __name__ == "__main__":
    logging.basicConfig(
        level=logging.INFO, format="%(relativeCreated)d %(name)s %(message).300s", stream=sys.stderr
    )
    logging.getLogger("py4j").setLevel(logging.WARNING)
    main(Path(sys.argv[1]), sys.argv[2].split(","), int(sys.argv[3]), int(sys.argv[4]), sys.argv[5])
