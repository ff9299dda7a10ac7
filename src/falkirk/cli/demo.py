"""``falkirk demo``: the application of the paper's Figure 1, and what failures do to it."""

import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import click
from rich.console import Console
from rich.live import Live

from falkirk.cli.common import json_option
from falkirk.cli.page import as_json
from falkirk.core.errors import ConfigurationError
from falkirk.demo.figure_1.sabotage import RULES

WRONG = 1


@click.command(short_help="Run the paper's Figure 1, break it, and check every answer.")
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Keep everything in this folder, which must be new or empty.",
)
@click.option("--postgres", "database", metavar="URL", help="Keep the statistics in PostgreSQL.")
@click.option(
    "--kafka",
    default=None,
    is_flag=False,
    flag_value="",
    metavar="HOST:PORT",
    help="Read the records from a topic of this broker; one is made, and deleted afterwards.",
)
@click.option(
    "--master",
    default="local-cluster[2,1,1024]",
    show_default=True,
    help="Spark master; only one with executors of its own can lose one.",
)
@click.option(
    "--seconds",
    type=click.FloatRange(min=0),
    default=6.0,
    show_default=True,
    help="How long between one failure and the next.",
)
@click.option(
    "--sabotage",
    type=click.Choice(list(RULES)),
    help="Switch a rule of recovery off; the verdict must notice.",
)
@json_option
def demo(
    folder: Path | None,
    database: str | None,
    kafka: str | None,
    master: str,
    seconds: float,
    sabotage: str | None,
    wants_json: bool,
) -> None:
    """Run the application of the paper's Figure 1 while things break, for about a minute.

    Users ask questions over HTTP. Their answers are joined from a batch computation and an
    iterative one, and logged in a database: four regimes of fault tolerance in one flow. Then the
    iterative region fails, an executor is killed, and at last the whole application. At the end
    every answer and every row is compared with what a run without failures gives; the exit status
    is 1 if something differs. With --sabotage it should: try discarded_constraint.
    """
    from falkirk.demo.figure_1.closing import closing, measured, verdict_lines
    from falkirk.demo.figure_1.runner import Demonstration, Settings, default_database

    if kafka == "":
        raise click.UsageError(
            "--kafka needs the address of a broker that runs, as HOST:PORT (none is brought along);"
            " without --kafka the records are made up"
        )
    with place(folder) as where:
        settings = Settings(
            where,
            database or default_database(where),
            master,
            phase_seconds=seconds,
            sabotage=sabotage or "",
            kafka=kafka or "",
            failures=failures_on(master),
        )
        with watching(wants_json) as watch:
            demonstration = Demonstration(settings, watch)
            demonstration.run()
        story, clients = demonstration.story, demonstration.clients
        if wants_json:
            wrong = demonstration.verdict()
            as_json(measured(story, clients.queries, wrong, len(clients.asked)))
        else:
            for line in closing(story, clients.queries):
                click.echo(line)
            click.echo("\nChecking every answer and every row against the records …")
            wrong = demonstration.verdict()
            for line in verdict_lines(wrong, clients.asked):
                click.echo(line)
    if wrong:
        sys.exit(WRONG)


def failures_on(master: str) -> tuple[str, ...]:
    """What can fail: only some masters have executors that can be killed on their own."""
    executor = ("executor",) if master.startswith("local-cluster") else ()
    return ("region", *executor, "process")


@contextmanager
def place(folder: Path | None) -> Iterator[Path]:
    """The folder that was given, or one that is gone afterwards."""
    if folder is not None:
        make_empty(folder)
        yield folder
        return
    with tempfile.TemporaryDirectory(prefix="falkirk-demo-", ignore_cleanup_errors=True) as made:
        yield Path(made)


def make_empty(folder: Path) -> None:
    """Makes the folder; one that has something in it would be taken for an earlier run's."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        full = any(folder.iterdir())
    except OSError as error:
        raise ConfigurationError(
            f"{folder} cannot be used: {error.strerror}; choose another folder"
        ) from None
    if full:
        raise ConfigurationError(f"{folder} is not empty: name a new folder, or an empty one")


@contextmanager
def watching(in_json: bool = False) -> Iterator[Any]:
    """A live view on a terminal, and lines of text elsewhere: on standard error beside JSON."""
    console = Console()
    if in_json or not console.is_terminal:
        yield Lines(err=in_json)
        return
    with Live(console=console, screen=True, auto_refresh=False) as live:
        yield View(live)


class View:
    """The live view."""

    def __init__(self, live: Live) -> None:
        """Drawn by ``live``."""
        self.live = live

    def show(self, story: Any, clients: Any, phase: str) -> None:
        """Draws it anew."""
        from falkirk.demo.figure_1.view import screen

        size = self.live.console.size
        self.live.update(screen(story, list(clients.queries), phase, size), refresh=True)


class Lines:
    """For those who do not look at a terminal: a line when something begins."""

    def __init__(self, err: bool = False) -> None:
        """Nothing was said yet; it goes to standard error if ``err``."""
        self.phase, self.err = "", err

    def show(self, story: Any, clients: Any, phase: str) -> None:
        """Says what has begun."""
        if phase != self.phase:
            self.phase = phase
            click.echo(f"{phase} …", err=self.err)
