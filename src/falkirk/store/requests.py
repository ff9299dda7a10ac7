"""Requests: what people ask of a run, left in its store and answered there.

Anyone who reaches the store may ask; only the process that holds it answers. A request that nobody
has answered in time is withdrawn, so that no later run acts on it.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection

from falkirk.store import noting
from falkirk.store.database import Database

REQUEST = "request:"
FORGOTTEN_SECONDS = 3600.0
"""So long an answer is kept for the one who asked."""


@dataclass(frozen=True, slots=True)
class Request:
    """What is asked (``what``, with its ``details``), until when, and the answer once there is one.

    An answer has ``done``, and ``why`` not if it was refused.
    """

    number: str
    what: str
    details: Mapping[str, Any]
    expires: float
    answer: Mapping[str, Any] | None = None

    def answered(self, answer: Mapping[str, Any]) -> dict[str, Any]:
        """The fact that says so."""
        return {
            REQUEST + self.number: {
                "what": self.what,
                "details": dict(self.details),
                "expires": self.expires,
                "answer": dict(answer),
            }
        }


def ask(database: Database, what: str, details: Mapping[str, Any], seconds: float) -> str:
    """Leaves a request that is to be answered within ``seconds``; returns its number."""
    number = uuid4().hex
    with database.writing() as connection:
        now = database.now(connection)
        for old, value in list(noting.found(connection, REQUEST)):
            if value["expires"] + FORGOTTEN_SECONDS < now:
                noting.put(connection, REQUEST + old, None)
        value = {
            "what": what,
            "details": dict(details),
            "expires": now + seconds,
            "answer": None,
        }
        noting.put(connection, REQUEST + number, value)
    return number


def answer_to(database: Database, number: str) -> Mapping[str, Any] | None:
    """The answer to a request, None while there is none."""
    with database.reading() as connection:
        for request in requests_in(connection, number):
            return request.answer
    return None


def withdraw(database: Database, number: str) -> Mapping[str, Any] | None:
    """Takes a request back; returns its answer if it has got one in the meantime."""
    with database.writing() as connection:
        answers = [request.answer for request in requests_in(connection, number)]
        noting.put(connection, REQUEST + number, None)
    return answers[0] if answers else None


def waiting(database: Database) -> list[Request]:
    """The requests that are still to be answered."""
    with database.reading() as connection:
        now = database.now(connection)
        return [r for r in requests_in(connection) if r.answer is None and r.expires > now]


def requests_in(connection: Connection, number: str = "") -> list[Request]:
    """All requests, or the one with this number."""
    return [
        Request(number + rest, v["what"], v["details"], v["expires"], v["answer"])
        for rest, v in noting.found(connection, REQUEST + number)
    ]
