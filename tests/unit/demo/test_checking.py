"""The verdict of the demonstration notices what is wrong."""

from typing import Any

import pytest

from falkirk.demo.figure_1.checking import Versions, circles_at, wrong_rows
from falkirk.demo.figure_1.clients import Query
from falkirk.demo.figure_1.closing import closing, verdict_lines
from falkirk.demo.figure_1.story import Story

FRIENDS = [(0, 1, 2), (1, 3, 4), (2, 2, 3)]
"""(epoch, user, friend)."""


def answer(**given: Any) -> dict[str, Any]:
    return {
        "user": 1,
        "rank": 3,
        "ranks_version": 0,
        "circle": 1,
        "circles_version": 2,
        **given,
    }


def row(key: str, **given: Any) -> dict[str, Any]:
    return {"_key": key, **answer(**given)}


def query(key: str, asked: float, **given: Any) -> Query:
    return Query(key, 1, asked, asked + 0.5, 1, answer(**given))


def test_circles_grow_together() -> None:
    wanted = [(0, 1), (0, 3), (1, 4), (2, 4)]
    assert circles_at(FRIENDS, wanted) == {(0, 1): 1, (0, 3): None, (1, 4): 3, (2, 4): 1}


def test_what_the_database_says_is_what_clients_were_told() -> None:
    answers = {"a": answer(), "b": answer(circle=None)}
    rows = [row("a"), row("b", circle=None)]
    counts = [{"circle": 1, "queries": 1}, {"circle": -1, "queries": 1}]
    assert wrong_rows(answers, rows, counts) == []


@pytest.mark.parametrize(
    ("rows", "counts", "complaint"),
    [
        ([row("a"), row("a")], {1: 2}, "2 times"),
        ([], {}, "does not know it"),
        ([row("a", rank=4)], {1: 1}, "was told"),
        ([row("a"), row("x")], {1: 2}, "nobody asked"),
        ([row("a")], {1: 2}, "statistics count"),
    ],
)
def test_a_database_that_differs_is_noticed(
    rows: list[dict[str, Any]], counts: dict[int, int], complaint: str
) -> None:
    counted = [{"circle": circle, "queries": n} for circle, n in counts.items()]
    (found,) = wrong_rows({"a": answer()}, rows, counted)
    assert complaint in found


def test_an_answer_without_a_version_is_from_one_that_was_there() -> None:
    queries = [
        query("a", 0.0, circles_version=3),
        query("b", 1.0, circles_version=None),
        query("c", 2.0, circles_version=5),
    ]
    versions = Versions(queries, "circles_version")
    assert versions.possible(queries[1]) == range(3, 6)
    assert versions.possible(queries[0]) == range(3, 4)


def test_the_closing_words_say_what_was_kept(tmp_path: Any) -> None:
    story = Story(tmp_path / "events")
    story.broke("a part fails", 10.0)
    story.failures[0].rollback = {
        "frontiers": {"p": "↓(3)", "q": "⊤"},
        "kept": ["q"],
        "undone": {"p": 2},
    }
    story.failures[0].over = 12.0
    text = "\n".join(closing(story, [query("a", 1.0), query("b", 11.0), query("c", 20.0)]))
    assert "1 of 2 went back (p): at most 2 epochs" in text
    assert "2.0 s later" in text
    assert "Meanwhile users waited 500 ms median" in text


def test_the_verdict_says_what_is_wrong() -> None:
    (good,) = verdict_lines([], [query("a", 1.0)], 1)
    assert good.startswith("Verdict: as without failures")
    bad = list(verdict_lines(["query a is wrong"], [query("a", 1.0)], 1))
    assert bad[0].startswith("Verdict: NOT")
    assert "query a is wrong" in bad[1]
