"""Serving the dashboard on a thread, beside a run or alone."""

import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from threading import Thread

import uvicorn

from falkirk.core.errors import ConfigurationError
from falkirk.telemetry.prometheus import PrometheusListener
from falkirk.web.access import is_loopback
from falkirk.web.answers import Answers
from falkirk.web.application import application
from falkirk.web.feed import Feed

HOST, PORT = "127.0.0.1", 8640
GRACE_SECONDS = 1


@dataclass(frozen=True, slots=True)
class Address:
    """Where a dashboard is; ``token`` is asked for where others can reach it."""

    host: str
    port: int
    token: str | None

    @property
    def url(self) -> str:
        """What to open in a browser, the token included."""
        name = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{name}:{self.port}/" + (f"?token={self.token}" if self.token else "")


@contextmanager
def dashboard(
    feed: Feed,
    metrics: PrometheusListener | None = None,
    *,
    host: str = HOST,
    port: int = PORT,
    token: str | None = None,
) -> Iterator[Address]:
    """Serves ``feed`` and what its store answers; port 0 takes one that is free.

    Where others than this machine can reach it a token is needed, and one is made if none is given.
    """
    if token is None and not is_loopback(host):
        token = secrets.token_urlsafe(24)
    listening = bound(host, port)
    config = uvicorn.Config(
        application(feed, Answers(feed.place), metrics, token),
        log_level="warning",
        access_log=False,
        lifespan="off",
        ws="none",
        timeout_graceful_shutdown=GRACE_SECONDS,
    )
    server = uvicorn.Server(config)
    thread = Thread(
        target=server.run, kwargs={"sockets": [listening]}, name="falkirk-web", daemon=True
    )
    thread.start()
    try:
        yield Address(host, listening.getsockname()[1], token)
    finally:
        feed.close()
        server.should_exit = True
        thread.join()
        listening.close()


def bound(host: str, port: int) -> socket.socket:
    """A socket that listens, or an error that says why not."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        found = socket.create_server((host, port), family=family, backlog=64)
    except OSError as error:
        raise ConfigurationError(
            f"the dashboard cannot be served on {host}:{port}: {error.strerror or error}; choose"
            " another port, or 0 for one that is free"
        ) from None
    return found
