"""Stores for the commands to look at."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.unit.cli.stories import Make, Story, shop

from falkirk.dataflow import Dataflow


@pytest.fixture(autouse=True)
def alone(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """In a folder of its own, without settings in the environment."""
    monkeypatch.chdir(tmp_path)
    for name in ("APP", "FLOW", "STORE", "MASTER", "MONITOR", "CONFIG", "TRACEBACK"):
        monkeypatch.delenv(f"FALKIRK_{name}", raising=False)


@pytest.fixture
def story(tmp_path: Path) -> Iterator[Make]:
    """Begins stories in the store ``state``; all of them end with the test."""
    begun: list[Story] = []

    def begin(flow: Dataflow | None = None, **options: Any) -> Story:
        found = Story(flow or shop(), tmp_path / "state", **options)
        begun.append(found)
        return found

    yield begin
    for each in begun:
        each.stop()
