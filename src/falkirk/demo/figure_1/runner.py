"""The demonstration: the flow runs, users ask, things break, and at the end there is a verdict."""

import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from falkirk.core.errors import ExecutionError
from falkirk.demo.figure_1.clients import Clients
from falkirk.demo.figure_1.judging import Judge
from falkirk.demo.figure_1.story import Story
from falkirk.demo.figure_1.topic import Produced
from falkirk.demo.figure_1.trouble import CIRCLES, STATISTICS, kill_an_executor, kill_everything
from falkirk.demo.figure_1.verdict import write_queries

START_SECONDS = 300.0
"""How long Spark may take to start, and a flow to come to its end."""

PATIENCE_SECONDS = 180.0
"""How long after a failure users wait for answers from newer versions, at most."""

CATCH_UP_SECONDS = 10.0
LOOK_SECONDS = 0.25
VERSIONS = ("ranks_version", "circles_version")


class StoodStill(ExecutionError):
    """What should have happened has not."""


@dataclass(frozen=True, slots=True)
class Settings:
    """How the demonstration is run; ``phase_seconds`` between one failure and the next.

    With ``kafka``, a broker's address, the records are produced into a topic and read from there.
    ``program`` is the module that runs the flow, and what it is told besides. With 4,000 rows an
    epoch has so many friendships that circles grow for the whole minute: were an epoch lost, one
    user of eight would be told a wrong circle. Twice as many, and circles are full before it ends.
    """

    folder: Path
    database: str
    master: str = "local-cluster[2,1,1024]"
    rows_per_epoch: int = 4_000
    epoch_seconds: float = 4.0
    phase_seconds: float = 6.0
    clients: int = 4
    sabotage: str = ""
    kafka: str = ""
    failures: tuple[str, ...] = ("region", "executor", "process")
    program: tuple[str, ...] = ("falkirk.demo.figure_1.child",)


class Watch(Protocol):
    """Who is shown how it goes."""

    def show(self, story: Story, clients: Clients, phase: str) -> None:
        """A moment has passed."""


@dataclass
class Demonstration:
    """One demonstration, in a folder of its own."""

    settings: Settings
    watch: Watch
    port: int = field(default_factory=lambda: free_port())
    process: "subprocess.Popen[str] | None" = None

    def __post_init__(self) -> None:
        """Nothing runs yet."""
        folder = self.settings.folder
        folder.mkdir(parents=True, exist_ok=True)
        self.story = Story(folder / "events.jsonl")
        self.clients = Clients(self.port, self.settings.clients)
        self.topic: Produced | None = None
        self.judge: Judge | None = None
        self.wrong: list[str] = []

    # The whole.

    def run(self) -> None:
        """From the start to the last answer.

        A flow that does not come back after a failure is not as one without failures: that goes
        into the verdict. Before anything failed it is an error like any other.
        """
        try:
            self.produce()
            self.start()
            self.go_on("the first versions are computed", self.story.has_versions)
            self.clients.start()
            self.go_on("steady", self.waited(self.settings.phase_seconds))
            for failure in self.settings.failures:
                getattr(self, f"fail_{failure}")()
            self.judge = Judge()
            self.clients.ask_about_everybody()
            self.go_on("everybody is asked about", self.clients.all_answered, PATIENCE_SECONDS)
            self.clients.stop()
            self.stop()
        except ExecutionError as error:
            if not self.story.failures:
                raise
            self.wrong.append(str(error.args[0]))
        finally:
            self.clients.stop(patience=0.0)
            self.kill()
            if self.topic is not None:
                self.topic.close()

    def verdict(self) -> list[str]:
        """What is wrong with the answers and the database; computed by another process."""
        path = self.settings.folder / "queries.json"
        given = self.settings
        write_queries(path, self.clients.asked, given.database, given.rows_per_epoch)
        if self.wrong:
            if self.judge is not None:
                self.judge.close()
            return self.wrong
        return (self.judge or Judge()).wrong(path)

    # The processes.

    def produce(self) -> None:
        """Has records produced into a topic, if they are to come from Kafka."""
        given = self.settings
        if given.kafka:
            self.topic = Produced(given.kafka, given.rows_per_epoch, given.epoch_seconds)
            self.topic.start()

    def start(self) -> None:
        """Starts the process, and waits until it takes requests."""
        given = self.settings
        command: list[str] = [sys.executable, "-m", *given.program]
        options: dict[str, Any] = {
            "store": given.folder / "store",
            "events": self.story.path,
            "port": self.port,
            "database": given.database,
            "master": given.master,
            "rows": given.rows_per_epoch,
            "seconds": given.epoch_seconds,
        }
        command += [word for name, value in options.items() for word in (f"--{name}", str(value))]
        if given.sabotage:
            command += ["--sabotage", given.sabotage]
        if self.topic is not None:
            command += ["--kafka", given.kafka, "--topic", self.topic.name]
        with (given.folder / "log.txt").open("a") as log:
            self.process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=log,
                stderr=log,
                text=True,
                start_new_session=True,
            )
        self.go_on("Spark starts", self.listens, START_SECONDS)

    def order(self, text: str) -> None:
        """Tells the process something."""
        assert self.process is not None
        assert self.process.stdin is not None
        self.process.stdin.write(text + "\n")
        self.process.stdin.flush()

    def kill(self) -> None:
        """Ends the process, if there is one, and all that it has started."""
        process, self.process = self.process, None
        if process is None:
            return
        if process.poll() is None:
            kill_everything(process.pid)
            process.wait()
        if process.stdin is not None:
            with suppress(BrokenPipeError):
                process.stdin.close()

    def stop(self) -> None:
        """Ends the process as a person would."""
        self.order("stop")
        assert self.process is not None
        process = self.process
        self.go_on("the last checkpoints", lambda: process.poll() is not None, START_SECONDS)
        self.story.read()
        if process.returncode:
            raise ExecutionError(
                f"the flow ended with status {process.returncode}: {self.story.error}."
                f" {self.settings.folder / 'log.txt'} has more"
            )

    # What is broken.

    def fail_region(self) -> None:
        """The iterative region loses all that it holds."""
        with self.broken("the iterative region fails", at_work=True):
            self.order("strike " + " ".join(CIRCLES))

    def fail_executor(self) -> None:
        """A process of Spark's that computes is killed."""
        assert self.process is not None
        with self.broken("an executor is killed (SIGKILL)"):
            if kill_an_executor(self.process.pid) is None:
                raise ExecutionError(f"{self.settings.master} has no executors that can be killed")

    def fail_process(self) -> None:
        """Everything is killed, while answers are on their way, and started again."""
        assert self.process is not None
        self.order("die " + " ".join(STATISTICS))
        with suppress(subprocess.TimeoutExpired):
            self.process.wait(PATIENCE_SECONDS)
        with self.broken("the application is killed (SIGKILL) and started again"):
            self.kill()
            self.start()

    @contextmanager
    def broken(self, what: str, at_work: bool = False) -> Iterator[None]:
        """Notes a failure, and goes on until both computations have brought something new.

        One that strikes ``at_work`` happens when there is something to lose, a moment later.
        """
        self.story.broke(what, time.time(), at_work)
        failure = self.story.failures[-1]
        newest = {version: self.newest(version) for version in VERSIONS}
        enough = self.waited(self.settings.phase_seconds)
        yield
        if at_work:
            self.go_on(what, lambda: failure.rollback is not None, PATIENCE_SECONDS)
            newest = {version: self.newest(version) for version in VERSIONS}
            enough = self.waited(self.settings.phase_seconds)
        self.go_on(what, lambda: self.answered_beyond(newest), PATIENCE_SECONDS)
        if failure.rollback is not None and failure.over is None:
            self.go_on("catching up", self.caught_up, CATCH_UP_SECONDS, strict=False)
        self.go_on(f"after: {what}", enough)

    # Waiting.

    def go_on(
        self, phase: str, over: Callable[[], bool], most: float = START_SECONDS, strict: bool = True
    ) -> None:
        """Shows how it goes until ``over``, for ``most`` seconds at most."""
        deadline = time.monotonic() + most
        while not over():
            self.story.read()
            self.watch.show(self.story, self.clients, phase)
            if self.process is not None and self.process.poll() not in (None, 0):
                self.story.read()
                raise ExecutionError(
                    f"the flow ended while it should run ({phase}): {self.story.error or 'killed'}."
                    f" {self.settings.folder / 'log.txt'} has more"
                )
            if time.monotonic() > deadline:
                if not strict:
                    return
                raise StoodStill(f"it stood still for {most:.0f} seconds: {phase}")
            time.sleep(LOOK_SECONDS)

    def waited(self, seconds: float) -> Callable[[], bool]:
        """Whether so many seconds have passed from now on."""
        until = time.monotonic() + seconds
        return lambda: time.monotonic() >= until

    def listens(self) -> bool:
        """Whether the process takes requests."""
        try:
            socket.create_connection(("127.0.0.1", self.port), timeout=1).close()
        except OSError:
            return False
        return True

    def answered_beyond(self, newest: Mapping[str, int]) -> bool:
        """Whether answers come from newer versions of both computations."""
        return all(self.newest(version) > newest.get(version, -1) for version in VERSIONS)

    def newest(self, version: str) -> int:
        """The newest version that an answer was made from; -1 if there is none."""
        found = [q.answer[version] for q in list(self.clients.queries) if q.answer]
        return max((each for each in found if each is not None), default=-1)

    def caught_up(self) -> bool:
        """Whether all who went back are where they were."""
        return self.story.failures[-1].over is not None


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return int(listener.getsockname()[1])


def default_database(folder: Path) -> str:
    """A file of SQLite's in ``folder``."""
    return f"sqlite:///{os.path.abspath(folder / 'statistics.sqlite')}"
