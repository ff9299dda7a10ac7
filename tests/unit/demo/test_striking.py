"""A part is made to fail when it has something to lose."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

from tests.unit.cli.stories import Story, shop

from falkirk.demo.figure_1 import child
from falkirk.demo.figure_1.checking import Versions
from falkirk.demo.figure_1.clients import Query

TOTALS = frozenset(["totals"])


def test_who_has_saved_all_that_it_did_is_not_at_work(tmp_path: Path) -> None:
    story = Story(shop(), tmp_path, embedded=False)  # so that nothing is folded
    story.epochs(5)
    assert not child.at_work(story.machine.state, TOTALS), "totals are saved every fifth epoch"
    assert story.machine.state.ledgers["written"].records, "all of them saved, none folded"
    assert not child.at_work(story.machine.state, ["written"])
    story.epochs(3)
    assert child.at_work(story.machine.state, TOTALS)
    story.stop()


def test_it_waits_for_the_moment_and_not_for_ever(monkeypatch: Any) -> None:
    failed: list[Any] = []
    state = SimpleNamespace(standing={}, ledgers={})
    driver: Any = SimpleNamespace(
        machine=SimpleNamespace(state=state),
        failures=SimpleNamespace(lost=lambda processors, error: failed.append(processors)),
        tell=lambda function, *arguments: function(*arguments),
    )
    looks = iter([False, False, True])
    monkeypatch.setattr(child, "at_work", lambda *_: next(looks))
    monkeypatch.setattr(
        child, "Timer", lambda _, tell, given: SimpleNamespace(start=lambda: tell(*given))
    )
    child.strike(driver, TOTALS, child.time.monotonic() + 60)
    assert failed == [TOTALS]
    assert next(looks, None) is None, "it has looked until somebody was at work"
    child.strike(driver, TOTALS, child.time.monotonic() - 1)
    assert failed == [TOTALS, TOTALS]


def test_an_answer_without_a_version_was_made_from_one_that_lacks_the_user() -> None:
    def told(asked: float, version: int | None) -> Query:
        return Query(str(asked), 1, asked, asked + 1, 1, {"circles_version": version})

    unknown, first, later = told(1.0, None), told(3.0, 0), told(5.0, 2)
    versions = Versions([unknown, first, later], "circles_version")
    assert list(versions.possible(unknown)) == [0]
    assert list(versions.possible(told(1.0, -1))) == [-1]
