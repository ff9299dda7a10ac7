"""``falkirk monitor``: low-watermarks of a flow, computed beside it."""

import json
import signal
from functools import partial
from threading import Event
from typing import Any

import click

from falkirk.core import Graph, ProcessorId, notation


@click.command()
@click.option("--store", required=True, help="Folder or postgresql:// URL of the flow's store.")
@click.option("--once", is_flag=True, help="Look once, print, and end.")
def monitor(store: str, once: bool) -> None:
    """Computes the low-watermarks of the flow in a store and posts them there.

    It may be started and stopped at any moment, and several may run at once: they always agree. A
    flow that was started with --monitor external collects, acknowledges and releases only what
    monitors have posted.
    """
    # The database is loaded when it is needed: the other commands start faster without it.
    from falkirk.runtime.watching import Watcher
    from falkirk.store import open_store

    opened = open_store(store)
    try:
        watcher = Watcher(opened.noticeboard)
        if once:
            watcher.look()
            show(watcher.flow.graph, watcher.watermarks())
            return
        stop = Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, lambda *_: stop.set())
        watcher.watch(stop.is_set, partial(show, watcher.flow.graph))
    finally:
        opened.close()


def show(graph: Graph, watermarks: dict[ProcessorId, Any]) -> None:
    """Prints low-watermarks as one line of JSON."""
    found = {p: notation(graph, p, frontier) for p, frontier in sorted(watermarks.items())}
    click.echo(json.dumps(found))
