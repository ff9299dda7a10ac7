"""``falkirk ui``: the dashboard of a store, beside a run or after it."""

import os
import signal
from threading import Event

import click

from falkirk.cli.common import json_option, port_type, store_option
from falkirk.cli.page import as_json
from falkirk.cli.settings import settings
from falkirk.cli.watched import TOKEN


@click.command(short_help="Open the dashboard of a store.")
@store_option
@click.option("--host", default="127.0.0.1", help="Address to serve on; elsewhere by a token.")
@click.option("--port", type=port_type, default=8640, help="Port, or 0 for a free one.")
@click.option(
    "--seconds",
    type=click.FloatRange(min=0.1),
    default=1.0,
    help="How often the store is looked at.",
)
@json_option
def ui(store: str | None, host: str, port: int, seconds: float, wants_json: bool) -> None:
    """Serve a page that shows how the flow in a store stands, until it is interrupted.

    It works beside a live run and afterwards, and needs neither Spark nor the app. What only a run
    knows (rates, queues, lag, why somebody went back) is on the page of `falkirk run --ui`. Where
    others can reach it, it asks for a token: FALKIRK_UI_TOKEN, or one that is made up.
    """
    from falkirk.inspection.look import look_at
    from falkirk.web.feed import Feed
    from falkirk.web.polling import polled
    from falkirk.web.serving import dashboard

    place = settings(store=store).the_store()
    look_at(place)  # what is wrong with the store is told here, not on a page
    feed = Feed(place, live=False)
    ended = Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: ended.set())
    token = os.environ.get(TOKEN)
    with polled(feed, place, seconds), dashboard(feed, host=host, port=port, token=token) as at:
        if wants_json:
            as_json({"dashboard": at.url})
        else:
            click.echo(f"dashboard: {at.url}")
        ended.wait()
