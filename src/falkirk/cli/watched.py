"""How a run can be watched: a dashboard, metrics, spans, logs in JSON."""

import logging
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from falkirk.cli.common import Command, port_type

if TYPE_CHECKING:
    from falkirk.runtime.listening import Listener

TOKEN = "FALKIRK_UI_TOKEN"
MEMORY = "memory:"


def watching_options(command: Command) -> Command:
    """Adds the options that :func:`watched` takes."""
    for option in reversed(
        [
            click.option("--ui", is_flag=True, help="Serve a dashboard while the flow runs."),
            click.option("--ui-host", default="127.0.0.1", help="Where; elsewhere by a token."),
            click.option(
                "--ui-port", type=port_type, default=8640, help="Its port, or 0 for a free one."
            ),
            click.option(
                "--metrics-port", type=port_type, help="Serve metrics for Prometheus there."
            ),
            click.option("--metrics-host", default="127.0.0.1", help="On which address."),
            click.option("--log-json", is_flag=True, help="Log to standard error, in JSON."),
        ]
    ):
        command = option(command)
    return command


@contextmanager
def watched(
    place: str,
    verbose: bool,
    *,
    ui: bool = False,
    ui_host: str = "127.0.0.1",
    ui_port: int = 8640,
    metrics_port: int | None = None,
    metrics_host: str = "127.0.0.1",
    log_json: bool = False,
) -> "Iterator[list[Listener]]":
    """The listeners that a run needs for what was asked for; what they serve ends with it."""
    from falkirk.telemetry import LogListener, PrometheusListener, SpanListener
    from falkirk.telemetry.logs import log_as_json
    from falkirk.telemetry.spans import traced

    listeners: list[Listener] = [SpanListener()] if traced() else []
    with ExitStack() as stack:
        metrics = PrometheusListener() if ui or metrics_port is not None else None
        if metrics is not None:
            listeners.append(metrics)
        if log_json:
            log_as_json(logging.DEBUG if verbose else logging.INFO)
            listeners.append(LogListener())
        if metrics is not None and metrics_port is not None:
            port = stack.enter_context(metrics.served(metrics_port, metrics_host))
            say(f"metrics: http://{metrics_host}:{port}/metrics", log_json)
        if ui:
            from falkirk.web.feed import Feed
            from falkirk.web.serving import dashboard

            feed = Feed(None if place == MEMORY else place)
            listeners.append(feed)
            token = os.environ.get(TOKEN)
            served = dashboard(feed, metrics, host=ui_host, port=ui_port, token=token)
            say(f"dashboard: {stack.enter_context(served).url}", log_json)
        yield listeners


def say(words: str, log_json: bool) -> None:
    """Tells where something is: on standard error, as what else goes there."""
    if log_json:
        logging.getLogger("falkirk.run").info(words)
    else:
        click.echo(words, err=True)
