"""Rollback problems as documents, and ways to change them and to ask for their answers."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from falkirk.core.errors import ProblemError
from falkirk.core.problem import read_problem, write_solution
from falkirk.core.rollback import solve

KEYS = ["frontiers", "notification_frontiers", "reasons"]
EPOCH, SEQUENCE = {"kind": "epoch"}, {"kind": "sequence"}
LEX = {"kind": "structured", "depth": 2, "order": "lex"}
PRODUCT = {"kind": "structured", "depth": 2, "order": "product"}

# The example that fixes the format.
EXAMPLE: dict = {
    "processors": {
        "p": {"domain": EPOCH, "any_frontier": True, "complete": [[2]]},
        "q": {
            "domain": LEX,
            "checkpoints": [
                {"frontier": "empty"},
                {
                    "frontier": [[1, 3]],
                    "notified": [[1, 2]],
                    "processed": {"e1": [[1, 0]], "e2": [[1, 3]]},
                    "discarded": {"e2": "empty", "e3": [[1]]},
                },
                {
                    "frontier": "top",
                    "notified": [[1, 4]],
                    "processed": {"e1": [[2, 0]], "e2": [[1, 4]]},
                    "discarded": {"e2": "empty", "e3": [[1]]},
                },
            ],
        },
        "r": {"domain": EPOCH, "any_frontier": True, "failed": True, "complete": [[0]]},
    },
    "edges": {
        "e1": {"src": "p", "dst": "q", "projection": "enter"},
        "e2": {"src": "q", "dst": "q", "projection": "feedback"},
        "e3": {"src": "q", "dst": "r", "projection": "leave"},
    },
}
# Everything else that the format has.
RICH: dict = {
    "processors": {
        "a": {
            "domain": EPOCH,
            "failed": False,
            "checkpoints": [
                {"frontier": [[0]], "projection": {"n": {"n": 3}}},
                {"frontier": [[4]], "projection": {"n": {"n": 9}}, "discarded": {"n": "empty"}},
            ],
        },
        "s": {
            "domain": SEQUENCE,
            "checkpoints": [{"frontier": {"n": 5}, "projection": {"m": [[0, "inf"], [1, 1]]}}],
        },
        "t": {
            "domain": PRODUCT,
            "any_frontier": True,
            "notifies": False,
            "logs": ["o"],
            "complete": [[0, "inf"], [1, 2]],
        },
        "u": {"domain": LEX, "any_frontier": True, "complete": [[1, "inf"]]},
    },
    "edges": {
        "n": {"src": "a", "dst": "s", "projection": "recorded"},
        "m": {"src": "s", "dst": "t", "projection": "recorded"},
        "o": {"src": "t", "dst": "u", "projection": "identity"},
    },
}


def alone(domain: dict, **body: Any) -> dict:
    return {"processors": {"p": {"domain": domain, **body}}, "edges": {}}


def answer(problem: dict) -> dict:
    """The answer as the command writes it."""
    return write_solution(solve(*read_problem(json.dumps(problem))))


def refusal(text: str) -> str | None:
    """What is said of a problem that is refused; None for one that is answered."""
    try:
        found = write_solution(solve(*read_problem(text)))
    except ProblemError as error:
        return str(error)
    assert list(found) == KEYS
    json.dumps(found, allow_nan=False)
    return None


def complaint(text: str) -> ProblemError:
    """The one complaint about a malformed problem; it is one line."""
    with pytest.raises(ProblemError) as caught:
        read_problem(text)
    assert len(str(caught.value).splitlines()) == 1
    assert caught.value.place
    assert str(caught.value).startswith(f"[FK200] {caught.value.place}: ")
    return caught.value


def edited(problem: dict, *path: Any, to: Any) -> str:
    """``problem`` with the value at ``path`` replaced, or removed if ``to`` is ``...``."""
    copy = json.loads(json.dumps(problem))
    place = copy
    for key in path[:-1]:
        place = place[key]
    if to is ...:
        del place[path[-1]]
    else:
        place[path[-1]] = to
    return json.dumps(copy)


def paths(value: Any, path: tuple = ()) -> Iterator[tuple]:
    """The way to every value of a document."""
    items = value.items() if isinstance(value, dict) else enumerate(value)
    for key, inner in items:
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from paths(inner, (*path, key))
