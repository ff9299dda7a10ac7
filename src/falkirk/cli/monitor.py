"""``falkirk monitor``: low-watermarks of a flow, computed beside it."""

import json
import signal
from functools import partial
from threading import Event
from typing import Any

import click

from falkirk.cli.common import always_json_option, store_option
from falkirk.cli.settings import settings
from falkirk.core import Graph, ProcessorId, notation


@click.command(short_help="Compute low-watermarks beside a flow.")
@store_option
@click.option("--once", is_flag=True, help="Look once, print, and end.")
@click.option(
    "--behind",
    type=click.IntRange(min=0),
    default=0,
    metavar="EPOCHS",
    help="Post what is so many epochs old: so far back `falkirk rollback` can go.",
)
@always_json_option
def monitor(store: str | None, once: bool, behind: int) -> None:
    """Compute the low-watermarks of the flow in a store and post them there.

    It may be started and stopped at any moment, and several may run at once: they always agree. A
    flow that was started with --monitor external collects, acknowledges and releases only what
    monitors have posted. What is posted is printed, one line of JSON each time.
    """
    # The database is loaded when it is needed: the other commands start faster without it.
    from falkirk.inspection.look import opened
    from falkirk.runtime.watching import Watcher

    with opened(settings(store=store).the_store()) as there:
        watcher = Watcher(there.noticeboard, behind=behind)
        if once:
            watcher.look()
            show(watcher.flow.graph, watcher.watermarks())
            return
        stop = Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        watcher.watch(stop.is_set, partial(show, watcher.flow.graph))


def show(graph: Graph, watermarks: dict[ProcessorId, Any]) -> None:
    """Prints low-watermarks as one line of JSON."""
    found = {p: notation(graph, p, frontier) for p, frontier in sorted(watermarks.items())}
    click.echo(json.dumps(found))
