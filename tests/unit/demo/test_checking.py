"""The verdict of the demonstration notices what is wrong."""

import json
from typing import Any

import pytest

import falkirk as fk
from falkirk.demo.figure_1.checking import Versions, circles_at, wrong_rows
from falkirk.demo.figure_1.clients import Query
from falkirk.demo.figure_1.closing import closing, measured, verdict_lines
from falkirk.demo.figure_1.flow import figure_1
from falkirk.demo.figure_1.records import Records
from falkirk.demo.figure_1.story import VERSIONS, Story

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
    counts = [{"user": 1, "queries": 2, "best": 3}]
    assert wrong_rows(answers, rows, counts) == []


@pytest.mark.parametrize(
    ("rows", "counts", "complaint"),
    [
        ([row("a"), row("a")], (2, 3), "2 times"),
        ([], None, "does not know it"),
        ([row("a", rank=4)], (1, 4), "was told"),
        ([row("a"), row("x", rank=None)], (2, 3), "nobody asked"),
        ([row("a")], (2, 3), "the statistics say"),
        ([row("a")], (1, 4), "the statistics say"),
        ([row("a")], None, "the statistics say"),
    ],
)
def test_a_database_that_differs_is_noticed(
    rows: list[dict[str, Any]], counts: tuple[int, int] | None, complaint: str
) -> None:
    counted = [{"user": 1, "queries": counts[0], "best": counts[1]}] if counts else []
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
    story.progress = {
        "processors": {p: {"completed": "↓(5)"} for p in ("circles", "ranks", "once")}
    }
    story.broke("a part fails", 10.0)
    story.failures[0].rollback = {
        "frontiers": {"circles": "↓(3)", "ranks": "↓(5)", "once": "⊤"},
        "kept": ["once"],
        "undone": {"p": 2},
    }
    story.failures[0].over = 12.0
    text = "\n".join(closing(story, [query("a", 1.0), query("b", 11.0), query("c", 20.0)]))
    assert "2 of 3 went back (circles, ranks)." in text
    assert "ranks not at all, circles from ↓(5) to ↓(3)." in text
    assert "1 kept all their work, once among them." in text
    assert "2.0 s later" in text
    before, during, after, note = text.splitlines()[-4:]
    assert "counted where they were asked" in note
    for line in (before, during, after):
        assert line.split()[-4:] == ["1", *["500", "ms"] * 3][-4:]


def test_the_closing_words_after_a_kill(tmp_path: Any) -> None:
    story = Story(tmp_path / "events")
    story.broke("it is killed", 10.0)
    story.failures[0].rollback = {"frontiers": {"p": "↓(3)", "q": "↓(4)"}, "kept": []}
    text = "\n".join(closing(story, []))
    assert "All 2 were restored from the store" in text
    assert "went back" not in text


def test_the_same_as_plain_values(tmp_path: Any) -> None:
    story = Story(tmp_path / "events")
    story.broke("a part fails", 10.0)
    frontiers = {"circles": "↓(3)", "once": "⊤"}
    story.failures[0].rollback = {"frontiers": frontiers, "kept": ["once"]}
    story.failures[0].over = 12.0
    queries = [query("a", 1.0), query("b", 11.0), query("c", 20.0)]
    found = json.loads(json.dumps(measured(story, queries, ["a row is missing"], 403)))
    (failure,) = found["failures"]
    assert (failure["went_back"], failure["kept"], failure["seconds"]) == (["circles"], ["once"], 2)
    waits = [found["before"], failure["during"], failure["after"]]
    assert [(each["queries"], each["median"]) for each in waits] == [(1, 0.5)] * 3
    assert (found["as_without_failures"], found["wrong"]) == (False, ["a row is missing"])
    assert (found["queries"], found["checked"]) == (3, 403)
    assert measured(story, queries, [], 3)["as_without_failures"]


def test_who_has_caught_up_has_done_so_from_one_failure(tmp_path: Any) -> None:
    story = Story(tmp_path / "events")
    told = [
        {"what": "rollback", "at": 2.0, "number": 7},
        {"what": "caught up", "at": 5.0, "number": 7},
    ]
    for n in range(len(told)):
        story.broke(f"failure {n}", 1.0 + 2 * n)
        story.path.write_text("".join(json.dumps(each) + "\n" for each in told[: n + 1]))
        story.read()
    assert [(f.rollback, f.over) for f in story.failures] == [(told[0], 5.0), (None, None)]


def test_versions_are_there_when_both_computations_have_shown_one(tmp_path: Any) -> None:
    story = Story(tmp_path / "events")
    assert not story.has_versions()
    for p, watermark, enough in ((VERSIONS[0], "↓(0)", False), (VERSIONS[1], "∅", False)):
        story.progress.setdefault("processors", {})[p] = {"watermark": watermark}
        assert story.has_versions() is enough
    story.progress["processors"][VERSIONS[1]] = {"watermark": "↓(0)"}
    assert story.has_versions()
    blueprint = figure_1(Records(), fk.HttpRequests("user BIGINT"), "sqlite://").build()
    assert set(VERSIONS) <= set(blueprint.flow.processors)


def test_the_verdict_says_what_is_wrong() -> None:
    good = list(verdict_lines([], [query("a", 1.0)]))
    assert good[0] == "Verdict: as without failures."
    bad = list(verdict_lines(["query a is wrong"], [query("a", 1.0)]))
    assert bad[0].startswith("Verdict: NOT")
    assert "query a is wrong" in bad[1]


def test_if_nobody_went_back_everybody_has_kept_their_work(tmp_path: Any) -> None:
    story = Story(tmp_path / "events.jsonl")
    story.progress = {"processors": {p: {"completed": "↓(3)"} for p in ("once", "circles")}}
    story.broke("an executor is killed", 10.0)
    [failure] = measured(story, [], [], 0)["failures"]
    assert (failure["went_back"], failure["kept"]) == ([], ["circles", "once"])
