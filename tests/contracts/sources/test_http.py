"""HTTP requests keep the contract of a source for as long as their process lives."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from threading import Semaphore
from typing import Any

import httpx
import pytest

from falkirk.connectors import HttpRequests
from falkirk.testing.contracts import SourceContract

SECONDS = 30
SECRET = "hush-hush"
BODIES = [[0], [1, 2], [3], [4, 5], [6], [7, 8]]


def row(number: int) -> dict[str, Any]:
    """A row that a client sends."""
    return {"n": number, "text": f"row {number}"}


class Clients:
    """Clients that send rows to the newest server, and wait for answers that nobody makes."""

    def __init__(self) -> None:
        self.servers: list[HttpRequests] = []
        self.came = Semaphore(0)
        self.pool = ThreadPoolExecutor(2 * len(BODIES))
        self.http = httpx.Client(timeout=SECONDS, headers={"Authorization": f"Bearer {SECRET}"})
        self.asked: list[Future[httpx.Response]] = []

    def serve(self) -> HttpRequests:
        """A new server; only the first is asked for something."""
        server = HttpRequests("n BIGINT, text STRING", token=SECRET, collect_seconds=0)
        server.answers()
        server.listen(self.came.release)
        self.servers.append(server)
        if len(self.servers) == 1:
            self.send(*BODIES)
        return server

    def send(self, *bodies: list[int]) -> None:
        """Sends a request for each body, and waits until all of them are taken in."""
        for body in bodies:
            rows, url = [row(n) for n in body], self.servers[-1].url
            self.asked.append(self.pool.submit(self.http.post, url, json=rows))
        for _ in bodies:
            assert self.came.acquire(timeout=SECONDS)


class TestRequests(SourceContract):
    """Over loopback, with real clients, who are told to retry in the end."""

    ends = False
    secrets = (SECRET,)

    @pytest.fixture
    def clients(self) -> Iterator[Clients]:
        clients = Clients()
        yield clients
        for asked in clients.asked:
            told = asked.result(SECONDS)
            assert (told.status_code, "Retry-After" in told.headers) == (503, True)
        clients.pool.shutdown()
        clients.http.close()

    @pytest.fixture
    def make(self, clients: Clients) -> Callable[[], Any]:
        return clients.serve

    @pytest.fixture
    def expected(self) -> list[dict[str, Any]]:
        return [row(n) for body in BODIES for n in body]

    @pytest.fixture
    def more(self, clients: Clients) -> Callable[[], list[dict[str, Any]]]:
        def add() -> list[dict[str, Any]]:
            clients.send([20], [21, 22])
            return [row(n) for n in (20, 21, 22)]

        return add

    def rows(self, data: Any) -> list[dict[str, Any]]:
        found = super().rows(data)
        assert all(each.pop("_request") and each.pop("_key") for each in found)
        return found
