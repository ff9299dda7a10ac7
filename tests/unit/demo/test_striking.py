"""A part is made to fail when it has something to lose."""

import os
import signal
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.unit.cli.stories import Story, shop

import falkirk as fk
from falkirk.demo.figure_1 import moments
from falkirk.demo.figure_1.checking import Versions
from falkirk.demo.figure_1.clients import Query

TOTALS = frozenset(["totals"])


def test_who_has_saved_all_that_it_did_is_not_at_work(tmp_path: Path) -> None:
    story = Story(shop(), tmp_path, embedded=False)  # so that nothing is folded
    story.epochs(5)
    assert not moments.at_work(story.machine.state, TOTALS), "totals are saved every fifth epoch"
    assert story.machine.state.ledgers["written"].records, "all of them saved, none folded"
    assert not moments.at_work(story.machine.state, ["written"])
    story.epochs(3)
    assert moments.at_work(story.machine.state, TOTALS)
    story.stop()


@pytest.mark.parametrize(
    ("totals", "stuck", "expected"),
    [
        pytest.param(fk.eager(), (), True, id="logged, durable, not arrived yet"),
        pytest.param(fk.eager(), ("totals",), False, id="not durable, so it is computed again"),
        pytest.param(fk.lazy(), (), False, id="not logged, so it is computed again"),
    ],
)
def test_something_is_owed_between_its_log_and_the_next_checkpoint(
    tmp_path: Path, totals: fk.Policy, stuck: tuple[str, ...], expected: bool
) -> None:
    seen: list[bool] = []

    class Looking(Story):
        """Looks before each event."""

        def worked(self, work: Any) -> Any:
            seen.append(moments.owed(self.machine.state, ["written"]))
            return super().worked(work)

    story = Looking(shop(totals), tmp_path, stuck=stuck)
    story.epochs(3)
    assert any(seen) is expected
    assert not moments.owed(story.machine.state, ["written"]), "all of it has arrived and is saved"
    story.stop()


class Waited:
    """A driver without a flow; time passes when somebody waits."""

    def __init__(self, monkeypatch: Any) -> None:
        self.failed: list[Any] = []
        self.machine = SimpleNamespace(state=None)
        self.failures = SimpleNamespace(lost=lambda chosen, _: self.failed.append(chosen))
        self.now = 0.0
        monkeypatch.setattr(moments.time, "monotonic", lambda: self.now)
        monkeypatch.setattr(moments, "Timer", self.timer)

    def tell(self, function: Any, *arguments: Any) -> None:
        function(*arguments)

    def timer(self, seconds: float, tell: Any, given: Any) -> Any:
        def start() -> None:
            self.now += 1.0
            tell(*given)

        return SimpleNamespace(start=start)


def test_it_waits_for_the_moment(monkeypatch: Any) -> None:
    driver: Any = Waited(monkeypatch)
    looks = iter([False, False, True])
    monkeypatch.setattr(moments, "at_work", lambda *_: next(looks))
    moments.fail(driver, TOTALS)
    assert driver.failed == [TOTALS]
    assert next(looks, None) is None, "it has looked until somebody was at work"


def test_it_does_not_wait_for_ever(monkeypatch: Any) -> None:
    driver: Any = Waited(monkeypatch)
    monkeypatch.setattr(moments, "at_work", lambda *_: False)
    moments.fail(driver, TOTALS, at_once=True)
    assert (driver.failed, driver.now) == ([TOTALS], 0.0)
    moments.fail(driver, TOTALS)
    assert (driver.failed, driver.now) == ([TOTALS, TOTALS], moments.PATIENCE_SECONDS)


def test_it_kills_its_own_group_when_something_is_owed(monkeypatch: Any) -> None:
    driver: Any = Waited(monkeypatch)
    killed: list[Any] = []
    looks = iter([False, True])
    monkeypatch.setattr(moments, "owed", lambda *_: next(looks))
    monkeypatch.setattr(moments.os, "killpg", lambda *given: killed.append(given))
    moments.die(driver, frozenset(["written"]))
    assert killed == [(os.getpgid(0), signal.SIGKILL)]
    assert next(looks, None) is None


def test_an_answer_without_a_version_was_made_from_one_that_lacks_the_user() -> None:
    def told(asked: float, version: int | None) -> Query:
        return Query(str(asked), 1, asked, asked + 1, 1, {"circles_version": version})

    unknown, first, later = told(1.0, None), told(3.0, 0), told(5.0, 2)
    versions = Versions([unknown, first, later], "circles_version")
    assert list(versions.possible(unknown)) == [0]
    assert list(versions.possible(told(1.0, -1))) == [-1]
