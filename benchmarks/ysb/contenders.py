"""Who takes part: how each is started, what it promises, and how it is set."""

import os
import sys
from dataclasses import dataclass, field, replace
from pathlib import Path

from benchmarks.ysb.environments import python_of, versions
from falkirk.runtime.java import find_java_home

ROOT = Path(__file__).parents[2]
EXACTLY, AT_LEAST = "exactly once", "at least once"
FALKIRK, RELAXED = "falkirk eager()", "falkirk lazy(every=10)"
STREAMING, FLINK, FLINK_AT_ONCE = "Structured Streaming", "Flink", "Flink, at once"
PATHWAY, BYTEWAX = "Pathway", "Bytewax"
MASTER = "local-cluster[2,1,1024]"
EXECUTOR, TASK_MANAGER = "CoarseGrainedExecutorBackend", "TaskManagerRunner"


@dataclass(frozen=True)
class Contender:
    """A program, in which environment it runs, what it promises and how it was set.

    ``worker`` is in the command lines of its worker processes, if one of those is to be killed.
    """

    name: str
    guarantee: str
    module: str
    setting: str
    arguments: tuple[str, ...] = ()
    peer: str | None = None
    environment: dict[str, str] = field(default_factory=dict)
    worker: str = ""

    def command(self) -> list[str]:
        """What starts it; a peer's environment is made first if need be."""
        python = str(python_of(self.peer)) if self.peer else sys.executable
        return [python, "-m", self.module, *self.arguments]

    def variables(self) -> dict[str, str]:
        """The environment of its process."""
        return {**os.environ, "PYTHONPATH": str(ROOT), **self.environment}

    def version(self) -> str:
        """What is installed of a peer."""
        return versions(self.peer) if self.peer else ""


def of_two(name: str) -> str:
    """The name of a contender that has two worker processes."""
    return f"{name}, two workers"


def contenders() -> list[Contender]:
    """All of them: in one process each, then those that outlive a worker, with two of them."""
    alone = in_one_process()
    return alone + [with_workers(each) for each in alone if each.name in OUTLIVING]


def with_workers(contender: Contender) -> Contender:
    """The same with two worker processes, of which one is killed."""
    flag, worker, setting = OUTLIVING[contender.name]
    return replace(
        contender,
        name=of_two(contender.name),
        arguments=(*flag, *contender.arguments),
        worker=worker,
        setting=f"the same, {setting}",
    )


ON_EXECUTORS = ("--master", MASTER), EXECUTOR, f"on {MASTER}: Spark starts another executor itself"
OUTLIVING = {
    FALKIRK: ON_EXECUTORS,
    RELAXED: ON_EXECUTORS,
    STREAMING: ON_EXECUTORS,
    FLINK: (
        ("--cluster",),
        TASK_MANAGER,
        "on a standalone cluster: a job manager and two task managers, each with slots for the"
        " whole job, which is spread over both; heartbeats every 500 ms, lost after 3 s; a job is"
        " restarted after 100 ms, and a task manager that has ended is started again at once",
    ),
}
"""Whose driver or job manager outlives a worker: what starts it so, what its workers are called and
how it is set. Bytewax and Pathway end as a whole when a worker does."""


def in_one_process() -> list[Contender]:
    """As a user starts them on one machine."""
    java = {"JAVA_HOME": str(os.environ.get("JAVA_HOME") or find_java_home())}
    cores = str(os.cpu_count() or 2)
    return [
        Contender(
            FALKIRK,
            EXACTLY,
            "benchmarks.ysb.views_falkirk",
            "default options; the campaigns rest on the driver (join_table); a result is released"
            " when its state and cause are durable",
            ("exactly-once",),
        ),
        Contender(
            RELAXED,
            AT_LEAST,
            "benchmarks.ysb.views_falkirk",
            "the same, but state is saved at every tenth epoch, and a result is shown at once",
            ("at-least-once",),
        ),
        Contender(
            STREAMING,
            EXACTLY,
            "benchmarks.ysb.views_streaming",
            "falkirk's session settings, update mode, no trigger interval, default state store; the"
            " campaigns rest on the driver and are broadcast with each batch; foreachBatch passes"
            " over a batch that is there",
        ),
        Contender(
            FLINK,
            EXACTLY,
            "benchmarks.ysb.peers.by_flink",
            f"SQL, parallelism {cores}, in one JVM; a checkpoint every 200 ms, its FileSink shows"
            " results when a checkpoint is complete; mini-batches of at most 20 ms; the campaigns"
            " are joined by a function over Pandas series (there is no lookup in files), in bundles"
            " of at most 20 ms; restarted from its last complete checkpoint",
            ("exactly-once",),
            peer="flink",
            environment=java,
        ),
        Contender(
            FLINK_AT_ONCE,
            AT_LEAST,
            "benchmarks.ysb.peers.by_flink",
            "the same, with a checkpoint every second; results do not wait for it: another function"
            " over Pandas series shows them, before a sink that swallows everything",
            ("at-least-once",),
            peer="flink",
            environment=java,
        ),
        Contender(
            PATHWAY,
            AT_LEAST,
            "benchmarks.ysb.peers.by_pathway",
            f"{cores} threads, commits every 10 ms; persistence in a folder every second saves"
            " input and replays it all after a failure, what it was warmed up with included"
            " (saving operators needs a licence key); its reader looks"
            " into the folder about twice a second, which cannot be set",
            peer="pathway",
            environment={"PATHWAY_THREADS": cores},
        ),
        Contender(
            BYTEWAX,
            AT_LEAST,
            "benchmarks.ysb.peers.by_bytewax",
            "one worker (Python runs one thread at a time), recovery with epochs of a second, JSON"
            " by orjson, a file is one item and its views are added up before they are counted",
            peer="bytewax",
        ),
    ]
