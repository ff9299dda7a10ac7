"""How far a run has come is said in plain lines where nobody watches, and only if it takes long."""

import io
import sys
from pathlib import Path
from threading import Event
from typing import Any

import pytest
from tests.unit.cli.stories import Make, falkirk

from falkirk.cli import progress
from falkirk.runtime import starting
from falkirk.runtime.report import Report

APP = "from tests.unit.cli.stories import shop\nflow = shop()\n"


class Waiting:
    """A run that takes so many seconds by its own clock."""

    def __init__(self, seconds: float) -> None:
        self.now, self.end = 0.0, seconds

    def ends(self, seconds: float) -> bool:
        self.now = min(self.now + seconds, self.end)
        return self.now == self.end

    def clock(self) -> float:
        return self.now


def told(seconds: float, capsys: pytest.CaptureFixture[str]) -> list[str]:
    """The lines of a run on the store ``state`` that takes so long; there is nothing else."""
    waiting = Waiting(seconds)
    progress._tell("shop", "state", waiting.ends, waiting.clock)
    out, err = capsys.readouterr()
    assert out == ""
    return err.splitlines()


def test_a_long_run_says_now_and_then_what_each_output_has_saved(
    story: Make, capsys: pytest.CaptureFixture[str]
) -> None:
    story().epochs(8)
    reached = progress._reached("state")
    assert reached == "written epoch 7"
    assert told(75.0, capsys) == [f"shop: {at} s, {reached}" for at in (10, 40, 70)]


def test_a_short_run_says_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    assert told(9.0, capsys) == []


def test_a_run_that_has_saved_nothing_says_that_it_is_there(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert told(15.0, capsys) == ["shop: 10 s, nothing saved yet"]


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [((), True), (("--json",), False), (("--verbose",), False), (("--log-json",), False)],
)
def test_lines_are_for_runs_whose_standard_error_has_nothing_else(
    arguments: tuple[str, ...], lines: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    begun = Event()
    told: list[tuple[str, str]] = []

    def tell(name: str, place: str, ends: Any) -> None:
        told.append((name, place))
        begun.set()
        ends(60.0)

    def run(*_: Any, **__: Any) -> Report:
        assert begun.wait(10.0) if lines else not begun.is_set()
        return Report()

    monkeypatch.setattr(progress, "_tell", tell)
    monkeypatch.setattr("falkirk.runtime.run.run", run)
    monkeypatch.setattr(starting, "check_start", lambda *_: None)
    monkeypatch.setattr("falkirk.telemetry.logs.log_as_json", lambda *_: None)
    Path("app.py").write_text(APP)
    result = falkirk("run", "app.py", "--store", "state", *arguments)
    assert result.exception is None, result.output
    assert told == ([("shop", "state")] if lines else [])


def test_a_terminal_has_no_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "_tell", lambda *_: pytest.fail("there is a line already"))
    with progress.progress("shop", "state"):
        pass
