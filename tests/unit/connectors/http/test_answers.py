"""The sink that answers: rows find their requests, and nothing else is let through."""

from typing import Any

import pyarrow as pa
import pytest

from falkirk.connectors.http import HttpRequests
from falkirk.core.errors import PermanentError


class Rested:
    """A batch on the driver."""

    def __init__(self, rows: list[dict[str, Any]]) -> None:
        self.rows = rows

    def arrow(self) -> pa.Table:
        return pa.Table.from_pylist(self.rows)


def test_rows_without_a_request_are_refused() -> None:
    with pytest.raises(PermanentError, match="n, m and no _request: nobody can say whose"):
        HttpRequests("n INT").answers().write("answers", (0,), Rested([{"n": 1, "m": 2}]))


def test_rows_are_grouped_by_request_and_lose_what_was_added() -> None:
    sink = HttpRequests("n INT").answers()
    given: dict[str, Any] = {}
    object.__setattr__(sink.desk, "answer", given.update)
    rows = [
        {"_request": "a.1", "_key": "k", "n": 1},
        {"_request": "b.1", "_key": "l", "n": 2},
        {"_request": "a.1", "_key": "k", "n": 3},
        {"_request": None, "_key": None, "n": 4},
    ]
    sink.write("answers", (0,), Rested(rows))
    assert given == {"a.1": [{"n": 1}, {"n": 3}], "b.1": [{"n": 2}]}
