"""Users who ask: on and on, and at the end about everybody."""

import json
from collections import Counter
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import ClassVar

import pytest

from falkirk.demo.figure_1.clients import Clients
from falkirk.demo.figure_1.records import USERS


class Moody(BaseHTTPRequestHandler):
    """Refuses every key at first."""

    asked: ClassVar[Counter[str]] = Counter()

    def do_POST(self) -> None:
        key = self.headers["Idempotency-Key"]
        query = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        self.asked[key] += 1
        self.send_response(503 if self.asked[key] == 1 else 200)
        self.end_headers()
        self.wfile.write(json.dumps({"user": query["user"]}).encode())

    def log_message(self, *_: object) -> None:
        """Nothing is said."""


class Server(ThreadingHTTPServer):
    """One that a crowd may call at once."""

    request_queue_size = 128


@pytest.fixture
def port() -> Iterator[int]:
    Moody.asked = Counter()
    with Server(("127.0.0.1", 0), Moody) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield server.server_port
        server.shutdown()


def test_everybody_is_asked_about_once_until_there_is_an_answer(port: int) -> None:
    clients = Clients(port)
    assert clients.all_answered()
    clients.ask_about_everybody()
    clients.stop()
    assert clients.all_answered()
    assert clients.queries == [], "the last questions are no measure of how long users wait"
    assert [query.user for query in clients.asked] == list(range(USERS))
    assert [query.answer for query in clients.asked] == [{"user": user} for user in range(USERS)]
    assert {query.attempts for query in clients.asked} == {2}
    assert set(Moody.asked.values()) == {2}


def test_who_leaves_waits_for_nothing() -> None:
    with Server(("127.0.0.1", 0), Moody) as closed:
        port = closed.server_port
    clients = Clients(port)
    clients.ask_about_everybody()
    clients.stop(patience=0.0)
    for thread in clients._threads:
        if thread.is_alive():
            thread.join(30)
    assert clients.all_answered()
    assert not any(query.answer for query in clients.asked)
