"""``falkirk ui``: the dashboard of a store, beside a run or after it."""

import os
import signal
from threading import Event

import click

from falkirk.cli.common import store_option
from falkirk.cli.settings import settings
from falkirk.cli.watched import TOKEN


@click.command(short_help="Open the dashboard of a store.")
@store_option
@click.option("--host", default="127.0.0.1", help="Address to serve on; elsewhere by a token.")
@click.option("--port", default=8640, help="Port to serve on, or 0 for a free one.")
@click.option("--seconds", default=1.0, help="How often the store is looked at.")
def ui(store: str | None, host: str, port: int, seconds: float) -> None:
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
        click.echo(f"dashboard: {at.url}")
        ended.wait()
