"""A failure that waits for its moment is told as of that moment."""

import json
from pathlib import Path

from falkirk.demo.figure_1.story import Story


def told(path: Path, what: str, at: float, **more: object) -> None:
    with path.open("a") as file:
        file.write(json.dumps({"what": what, "at": at, **more}) + "\n")


def test_one_that_strikes_at_work_begins_when_it_was_noticed(tmp_path: Path) -> None:
    story = Story(tmp_path / "events")
    story.broke("the region fails", 10.0, awaited=True)
    processors = {"circles": {"completed": "↓(4)"}}
    told(story.path, "progress", 11.0, uptime=1.0, processors=processors)
    told(story.path, "rollback", 12.5, seconds=0.25, number=1, frontiers={}, kept=[])
    told(story.path, "caught up", 13.0, number=1)
    story.read()
    (failure,) = story.failures
    assert (failure.at, failure.over) == (12.25, 13.0)
    assert failure.complete == {"circles": "↓(4)"}


def test_a_kill_began_when_it_was_sent(tmp_path: Path) -> None:
    story = Story(tmp_path / "events")
    story.broke("it is killed", 10.0)
    told(story.path, "rollback", 19.0, seconds=0.0, number=2, frontiers={}, kept=[])
    story.read()
    assert story.failures[0].at == 10.0
