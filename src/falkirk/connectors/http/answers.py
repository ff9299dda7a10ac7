"""Answers to HTTP requests as a sink: rows find their client by the column ``_request``."""

from dataclasses import dataclass
from typing import Any

from falkirk.connectors.http.body import plain
from falkirk.connectors.http.desk import Desk
from falkirk.connectors.http.ticket import Rows
from falkirk.core.errors import PermanentError
from falkirk.core.times import Time

REQUEST, KEY = "_request", "_key"
"""The columns that every request has besides its own: its name here, and its idempotency key."""


@dataclass(frozen=True, slots=True)
class Answers:
    """Gives clients the rows that bear the names of their requests, without that column.

    It is an at-least-once sink: after a rollback rows may come again. Those of requests that were
    read again since, that have an answer already, or whose client is gone are passed over.
    """

    desk: Desk

    exactly_once = False

    def write(self, name: str, time: Time, batch: Any) -> None:
        """Answers all requests that ``batch`` has rows for."""
        table = batch.arrow()
        if REQUEST not in table.column_names:
            raise PermanentError(
                f"the rows for {name!r} have the columns {', '.join(table.column_names)} and no"
                f" {REQUEST}: nobody can say whose answers they are. Keep that column of the"
                " requests"
            )
        found: dict[str, Rows] = {}
        for row in table.to_pylist(maps_as_pydicts="lossy"):
            request = row.pop(REQUEST)
            row.pop(KEY, None)
            if request is not None:
                found.setdefault(request, []).append(plain(row))
        self.desk.answer(found)
