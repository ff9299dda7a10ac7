"""HTTP requests as a source: clients get their answers when the flow has made them (§1, §4.3)."""

import ipaddress
import time
from collections.abc import Callable
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING, Any, Literal

from falkirk.connectors.http.answers import KEY, REQUEST, Answers
from falkirk.connectors.http.desk import Desk
from falkirk.core.errors import ConfigurationError, ConnectorError
from falkirk.dataflow.connecting import Limit

if TYPE_CHECKING:
    from falkirk.connectors.http.serving import Serving

When = Literal["acknowledged", "at once"]


class HttpRequests:
    """Rows that clients send, as JSON, to ``http://host:port/path``; they wait for an answer.

    A body is one object or a list of objects that fit ``schema`` (Spark's DDL). They become rows
    with two columns more: ``_request``, the request's name, and ``_key``, its ``Idempotency-Key``
    or, without one, the same name. Whoever waits at one moment, or comes ``collect_seconds`` later,
    makes up one epoch.

    Nothing of a request is ever stored. After a rollback in this process it is read again; if the
    process dies the connection breaks, and the client sends it again.

    Outside of loopback a ``token`` is required. ``certificate`` and ``private_key`` are files for
    TLS; with ``client_authority`` too, clients must show a certificate that it has signed. At most
    ``waiting_max`` requests, of together ``waiting_bytes_max`` bytes, wait to be read; others are
    told to come back. A finished request is remembered by its key for ``remember_seconds``.
    """

    replayable = True
    ephemeral = True
    counts = ("rows", "bytes")

    def __init__(
        self,
        schema: str,
        *,
        path: str = "/",
        port: int = 0,
        host: str = "127.0.0.1",
        token: str | None = None,
        certificate: str | Path | None = None,
        private_key: str | Path | None = None,
        client_authority: str | Path | None = None,
        collect_seconds: float = 0.003,
        timeout_seconds: float = 30.0,
        body_bytes_max: int = 1024 * 1024,
        waiting_max: int = 1_000,
        waiting_bytes_max: int = 64 * 1024 * 1024,
        remember_seconds: float = 600.0,
        remember_max: int = 10_000,
    ) -> None:
        """Opens no port yet: that is done when a flow is run."""
        # Whoever only imports falkirk does not wait for a web server and Arrow.
        from falkirk.connectors.http.app import Service
        from falkirk.connectors.http.schema import Schema

        if not path.startswith("/"):
            raise ConfigurationError(f"the path {path!r} does not begin with a slash")
        if token is None and not is_loopback(host):
            raise ConfigurationError(
                f"{host} can be reached from other machines: give a token= that clients must have,"
                " or listen on 127.0.0.1"
            )
        if token is not None and not (token.isascii() and token.strip() == token and token):
            raise ConfigurationError("a token is ASCII text without blanks around it")
        if (certificate is None) != (private_key is None):
            raise ConfigurationError("TLS needs both: certificate= and private_key=")
        if client_authority is not None and certificate is None:
            raise ConfigurationError(
                "clients show certificates over TLS only: give certificate= and private_key="
            )
        for name, least in (("waiting_max", waiting_max), ("body_bytes_max", body_bytes_max)):
            if least < 1:
                raise ConfigurationError(f"{name} is {least}: no request would be taken")
        self.host, self.given_port, self.path = host, port, path
        self.collect_seconds = collect_seconds
        files = (certificate, private_key, client_authority)
        self._files = [None if file is None else str(file) for file in files]
        self._schema = Schema.read(schema)
        self._desk = Desk(waiting_max, waiting_bytes_max, remember_seconds, remember_max)
        self._service = Service(
            self._desk, self._schema, path, token, body_bytes_max, timeout_seconds
        )
        self._serving: Serving | None = None
        self._ready = Event()
        self._when: When | None = None

    def answers(self, when: When = "acknowledged") -> Answers:
        """The sink that answers: rows with the column ``_request`` go to that client.

        ``"acknowledged"``: when also everything that the request caused and that has to be durable
        is, so that no failure can take it back. ``"at once"``: when it is computed; then a client
        may have an answer whose other effects are lost if the process dies.
        """
        if when not in ("acknowledged", "at once"):
            raise ConfigurationError(f"answers go 'acknowledged' or 'at once', not {when!r}")
        if self._when not in (None, when):
            raise ConfigurationError(f"this server answers {self._when!r} already, not {when!r}")
        self._when = when
        self._desk.at_once = when == "at once"
        return Answers(self._desk)

    # Where it is.

    @property
    def url(self) -> str:
        """Where requests go, while a flow runs."""
        if self._serving is None:
            raise ConnectorError(
                "no port is open: run the flow, or wait() for it if it runs on another thread"
            )
        host = f"[{self.host}]" if ":" in self.host else self.host
        scheme = "http" if self._files[0] is None else "https"
        return f"{scheme}://{host}:{self._serving.port}{self.path}"

    def wait(self, seconds: float = 60.0) -> str:
        """Waits until a run on another thread takes requests, and returns the URL."""
        if not self._ready.wait(seconds):
            raise ConnectorError(f"no run has opened the port within {seconds:g} seconds")
        return self.url

    # A run.

    def listen(self, wake: Callable[[], None]) -> None:
        """Opens the port."""
        from falkirk.connectors.http.serving import Serving

        self._desk.begin(wake)
        self._serving = Serving(self._service.app(), self.host, self.given_port, *self._files)
        self._ready.set()

    def stop(self) -> None:
        """Takes no more requests: those that were not read are told to retry, others finished.

        Call it to end a run; from any thread.
        """
        self._desk.stop()

    def close(self) -> None:
        """Closes the port; whoever has no answer yet is told to retry."""
        self._ready.clear()
        self._desk.close()
        serving, self._serving = self._serving, None
        if serving is not None:
            serving.close()

    # The source.

    def initial(self) -> int:
        """Before the first request."""
        return 0

    def latest(self, start: int, limit: Limit) -> int:
        """All that wait; one that has just come waits a moment for company."""
        waited = self._desk.oldest_seconds()
        if waited is not None and waited < self.collect_seconds:
            time.sleep(self.collect_seconds - waited)
        return self._desk.take(start, limit.rows, limit.bytes)

    def read(self, session: Any, start: int, end: int) -> Any:
        """The rows of the requests, as an Arrow table; none for those of a process that died."""
        import pyarrow as pa  # type: ignore[import-untyped]

        schema = self._schema.arrow
        schema = schema.append(pa.field(REQUEST, pa.string())).append(pa.field(KEY, pa.string()))
        rows = [
            {**row, REQUEST: name, KEY: ticket.key}
            for ticket, name in self._desk.read(start, end)
            for row in ticket.rows
        ]
        return pa.Table.from_pylist(rows, schema=schema)

    def finished(self, position: int) -> bool:
        """Whether it was stopped, and all requests that were taken are read."""
        return self._desk.read_all(position)

    def commit(self, end: int) -> None:
        """What the requests before ``end`` caused is durable: their answers may go out."""
        self._desk.commit(end)

    def settled(self, end: int) -> None:
        """Whatever was made of the requests before ``end`` was written."""
        self._desk.settle(end)

    def answered_by(self, sink: Any) -> bool:
        """Whether ``sink`` gives the answers to these requests."""
        return getattr(sink, "desk", None) is self._desk

    @property
    def awaited(self) -> bool:
        """Whether a client waits for an acknowledgement."""
        return self._desk.awaited

    def __repr__(self) -> str:
        return f"HttpRequests({self.host}:{self.given_port}{self.path})"


def is_loopback(host: str) -> bool:
    """Whether only this machine reaches ``host``.

    >>> is_loopback("127.0.0.1"), is_loopback("0.0.0.0")
    (True, False)
    """
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
