"""Users who ask, wait for their answer, and ask again under the same key when something breaks."""

import http.client
import json
import time
from dataclasses import dataclass, field
from random import Random
from threading import Event, Lock, Thread
from typing import Any

from falkirk.demo.figure_1.records import USERS

PATIENCE_SECONDS = 20.0
PAUSE_SECONDS = 0.1
CROWD = 40
"""How many ask at once when everybody is asked about."""


@dataclass(slots=True)
class Query:
    """One query of a user, and what became of it."""

    key: str
    user: int
    asked: float
    answered: float | None = None
    attempts: int = 0
    answer: dict[str, Any] | None = None

    @property
    def seconds(self) -> float | None:
        """How long the user waited, retries and all."""
        return None if self.answered is None else self.answered - self.asked


@dataclass
class Clients:
    """Some users, each with a thread; a new query every ``pause`` seconds.

    ``census`` has the last queries, one about each user. They come all at once, so how long they
    wait says nothing about anybody's daily life.
    """

    port: int
    count: int = 2
    pause: float = 0.25
    seed: int = 0
    queries: list[Query] = field(default_factory=list)
    census: list[Query] = field(default_factory=list)

    def __post_init__(self) -> None:
        """Nobody asks yet."""
        self._stopping, self._leaving, self._lock = Event(), Event(), Lock()
        self._threads = [
            Thread(target=self._ask_on, args=(number,), daemon=True) for number in range(self.count)
        ]

    @property
    def asked(self) -> list[Query]:
        """All that anybody asked."""
        return self.queries + self.census

    def start(self) -> None:
        """They begin to ask."""
        for thread in self._threads:
            thread.start()

    def ask_about_everybody(self) -> None:
        """Nobody asks on, but about each user there is one more query: what is lost will show."""
        self._stopping.set()
        self.census = [Query(f"census-{user}", user, time.time()) for user in range(USERS)]
        crowd = [Thread(target=self._insist_on, args=(n,), daemon=True) for n in range(CROWD)]
        self._threads += crowd
        for thread in crowd:
            thread.start()

    def all_answered(self) -> bool:
        """Whether nobody waits any more."""
        return not any(thread.is_alive() for thread in self._threads)

    def stop(self, patience: float = 60.0) -> None:
        """They ask nothing new, and wait for the answers that are due, at most so many seconds."""
        self._stopping.set()
        until = time.monotonic() + patience
        for thread in self._threads:
            if thread.is_alive():
                thread.join(max(0.0, until - time.monotonic()))
        self._leaving.set()

    def _ask_on(self, number: int) -> None:
        random, asked = Random(self.seed * 1_000 + number), 0
        while not self._stopping.wait(self.pause * random.uniform(0.5, 1.5)):
            query = Query(f"{number}-{asked}", random.randrange(USERS), time.time())
            asked += 1
            with self._lock:
                self.queries.append(query)
            self._insist(query)

    def _insist_on(self, number: int) -> None:
        for query in self.census[number::CROWD]:
            query.asked = time.time()
            self._insist(query)

    def _insist(self, query: Query) -> None:
        while query.answer is None and not self._leaving.is_set():
            query.attempts += 1
            try:
                query.answer = ask(self.port, query.key, query.user)
                query.answered = time.time()
            except (OSError, http.client.HTTPException):
                time.sleep(PAUSE_SECONDS)


def ask(port: int, key: str, user: int) -> dict[str, Any] | None:
    """The answer to one query, or None if it is to be asked again."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE_SECONDS)
    try:
        headers = {"Content-Type": "application/json", "Idempotency-Key": key}
        connection.request("POST", "/query", json.dumps({"user": user}), headers)
        response = connection.getresponse()
        body = response.read()
        if response.status == 200:
            found = json.loads(body)
            return dict(found[0] if isinstance(found, list) else found)
        time.sleep(PAUSE_SECONDS)
        return None
    finally:
        connection.close()
