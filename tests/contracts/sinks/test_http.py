"""Answers to HTTP requests keep the contract of a sink: what clients get is what was written."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Event
from typing import Any

import httpx
import pyarrow as pa
import pytest
from tests.contracts.json_rows import parsed

from falkirk.connectors import HttpRequests
from falkirk.dataflow.connecting import UNLIMITED
from falkirk.testing.contracts import SinkContract

SECONDS = 30


class Addressed:
    """A batch whose rows are the answer to one request."""

    def __init__(self, batch: Any, request: str) -> None:
        self.batch, self.request = batch, request

    def arrow(self) -> pa.Table:
        table = self.batch.arrow()
        return table.append_column("_request", pa.array([self.request] * table.num_rows))


class Clients:
    """A server, and a client for each time that is written: its answer has the rows of the time.

    A request whose answer broke off is read again for the next.
    """

    def __init__(self, server: HttpRequests) -> None:
        self.server, self.answers, self.position = server, server.answers(), server.initial()
        self.came, self.pool = Event(), ThreadPoolExecutor(1)
        self.asked: Future[httpx.Response] | None = None
        self.got: list[dict[str, Any]] = []

    def write(self, name: str, time: Any, batch: Any) -> None:
        if self.asked is None:
            self.asked = self.pool.submit(httpx.post, self.server.url, json=[{}], timeout=SECONDS)
            assert self.came.wait(SECONDS)
            self.came.clear()
        end = self.server.latest(self.position, UNLIMITED)
        (request,) = self.server.read(None, self.position, end).column("_request").to_pylist()
        self.answers.write(name, time, Addressed(batch, request))
        self.server.settled(end)
        self.server.commit(end)
        self.position = end
        told, self.asked = self.asked.result(SECONDS), None
        assert told.status_code == (200 if batch.rows else 204)
        self.got += told.json() if batch.rows else []


class Answering:
    """A sink for the contract: the answers of a server that has clients."""

    def __init__(self, clients: Clients) -> None:
        self.clients, self.write = clients, clients.write

    @property
    def exactly_once(self) -> bool:
        return self.clients.answers.exactly_once


class TestAnswers(SinkContract):
    """Over loopback, with real clients."""

    @pytest.fixture
    def clients(self) -> Iterator[Clients]:
        server = HttpRequests("n BIGINT", collect_seconds=0)
        clients = Clients(server)
        server.listen(clients.came.set)
        yield clients
        server.close()
        clients.pool.shutdown()

    @pytest.fixture
    def make(self, clients: Clients) -> Callable[[], Any]:
        return lambda: Answering(clients)

    @pytest.fixture
    def shown(self, clients: Clients, types: Any) -> Callable[[], list[dict[str, Any]]]:
        return lambda: [parsed(row, types.schema) for row in clients.got]
