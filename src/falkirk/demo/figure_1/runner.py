"""The demonstration: the flow runs, users ask, things break, and at the end there is a verdict."""

import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Protocol

from falkirk.core.errors import ExecutionError
from falkirk.demo.figure_1.clients import Clients
from falkirk.demo.figure_1.story import Story
from falkirk.demo.figure_1.trouble import CIRCLES, kill_an_executor, kill_everything
from falkirk.demo.figure_1.verdict import write_queries

START_SECONDS = 180.0
LOOK_SECONDS = 0.25


@dataclass(frozen=True, slots=True)
class Settings:
    """How the demonstration is run; ``phase_seconds`` between one failure and the next."""

    folder: Path
    database: str
    master: str = "local-cluster[2,1,1024]"
    rows_per_epoch: int = 4_000
    epoch_seconds: float = 2.0
    phase_seconds: float = 12.0
    clients: int = 2
    sabotage: str = ""
    failures: tuple[str, ...] = ("region", "executor", "process")


class Watch(Protocol):
    """Who is shown how it goes."""

    def show(self, story: Story, clients: Clients, phase: str) -> None:
        """A moment has passed."""

    def note(self, text: str) -> None:
        """Something has happened."""


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

    # The whole.

    def run(self) -> None:
        """From the start to the last answer."""
        try:
            self.start()
            self.clients.start()
            self.go_on("warming up", self.warm)
            self.go_on("steady", self.waited(self.settings.phase_seconds))
            for failure in self.settings.failures:
                getattr(self, f"fail_{failure}")()
            self.clients.stop()
            self.stop()
        finally:
            self.kill()

    def verdict(self) -> list[str]:
        """What is wrong with the answers and the database; computed by another process."""
        path = self.settings.folder / "queries.json"
        write_queries(
            path, self.clients.queries, self.settings.database, self.settings.rows_per_epoch
        )
        command = [sys.executable, "-m", "falkirk.demo.figure_1.verdict", str(path)]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode:
            raise ExecutionError(f"the verdict could not be computed: {done.stderr[-2000:]}")
        found: list[str] = json.loads(done.stdout.strip().splitlines()[-1])
        return found

    # The process.

    def start(self) -> None:
        """Starts the process, and waits until it takes requests."""
        given = self.settings
        command: list[str] = [sys.executable, "-m", "falkirk.demo.figure_1.child"]
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
        with self.broken("the iterative region fails"):
            self.order("fail " + " ".join(CIRCLES))

    def fail_executor(self) -> None:
        """A process of Spark's that computes is killed."""
        assert self.process is not None
        with self.broken("an executor is killed (SIGKILL)"):
            if kill_an_executor(self.process.pid) is None:
                raise ExecutionError(f"{self.settings.master} has no executors that can be killed")

    def fail_process(self) -> None:
        """Everything is killed, and started again."""
        with self.broken("the whole application is killed (SIGKILL) and started again"):
            self.kill()
            self.start()

    @contextmanager
    def broken(self, what: str) -> Iterator[None]:
        """Notes a failure, and goes on for a while after it."""
        self.watch.note(what)
        self.story.broke(what, time.time())
        yield
        asked = time.time()
        self.go_on(what, lambda: self.answered_since(asked), START_SECONDS)
        self.go_on(f"after: {what}", self.waited(self.settings.phase_seconds))
        failure = self.story.failures[-1]
        if failure.rollback is not None and failure.over is None:
            self.go_on("catching up", self.caught_up, START_SECONDS / 3, strict=False)

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
                raise ExecutionError(f"nothing happened for {most:.0f} seconds: {phase}")
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

    def warm(self) -> bool:
        """Whether answers come from both computations."""
        answers = [q.answer for q in self.clients.queries if q.answer]
        return all(
            any(answer[version] not in (None, -1) for answer in answers)
            for version in ("ranks_version", "circles_version")
        )

    def answered_since(self, moment: float) -> bool:
        """Whether a query that was asked after ``moment`` has an answer."""
        return any(q.asked > moment and q.answer for q in self.clients.queries)

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
