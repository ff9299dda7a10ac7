"""The live view fits its terminal, and every line keeps its place."""

from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from falkirk.demo.figure_1.clients import Query
from falkirk.demo.figure_1.curve import curve
from falkirk.demo.figure_1.story import Failure, Story
from falkirk.demo.figure_1.view import ROWS, screen


def lines(story: Story, queries: list[Query], size: tuple[int, int]) -> list[str]:
    console = Console(width=size[0], height=size[1], force_terminal=False, record=True)
    with console.capture() as captured:
        console.print(screen(story, queries, "steady", size))
    return captured.get().splitlines()


def processor(**given: Any) -> dict[str, Any]:
    return {
        "policy": "lazy",
        "completed": "↓{(12, 3, 4), (13, 2, 7), (14, 0, 0)}",
        "watermark": "↓(1)",
        "lag": 1.5,
        "state": 12_345_678,
        "suspected": False,
        **given,
    }


def told(folder: Path) -> Story:
    story = Story(folder / "events")
    story.progress = {"processors": {name: processor() for name, _ in ROWS}}
    story.broke("an executor is killed (SIGKILL)", 5.0)
    story.failures[0].rollback = {"frontiers": {"p": "↓(3)", "q": "⊤"}, "kept": ["q"], "undone": {}}
    return story


@pytest.mark.parametrize("size", [(80, 24), (120, 40), (60, 12)])
def test_it_fits_and_nothing_moves(tmp_path: Path, size: tuple[int, int]) -> None:
    first, then = lines(Story(tmp_path / "events"), [], size), lines(told(tmp_path), [], size)
    for shown in (first, then):
        assert len(shown) <= size[1]
        assert max(map(len, shown)) <= size[0]
    places = [[n for n, line in enumerate(s) if line.startswith("▌once")] for s in (first, then)]
    assert places[0] == places[1]
    assert len(places[0]) == (size[1] >= 24)
    assert "an executor is killed" in then[-1]


def test_the_curve_shows_each_second_and_what_failed() -> None:
    queries = [
        Query("a", 1, 100.2, 100.21, 1, {}),
        Query("b", 1, 101.2, 106.2, 1, {}),
        Query("c", 1, 103.2, None, 1, None),
    ]
    found = curve(queries, [Failure("it fails", 102.5)], 103.3, 5)
    assert found.plain == " ▁▇·▂"
