"""``falkirk init``: a project that can be checked at once; nothing is ever overwritten."""

import json
import sys
from pathlib import Path

import pytest
from tests.unit.cli.stories import falkirk

from falkirk.cli.init import PLACES
from falkirk.core.errors import ConfigurationError


def test_all_files_are_there_and_the_flow_is_sound(monkeypatch: pytest.MonkeyPatch) -> None:
    assert falkirk("init", "project").exit_code == 0
    assert all(Path("project", place).is_file() for place in PLACES.values())
    monkeypatch.chdir("project")
    monkeypatch.setattr(sys, "path", list(sys.path))
    result = falkirk("check", "--strict", "--json")
    assert result.exit_code == 0, result.output
    (promise,) = json.loads(result.output)["guarantees"]
    assert promise["promise"] == "exactly once"


def test_what_is_there_stays() -> None:
    Path("app.py").write_text("mine")
    result = falkirk("init")
    assert isinstance(result.exception, ConfigurationError)
    assert "app.py would be overwritten" in str(result.exception)
    assert Path("app.py").read_text() == "mine"
    assert not Path("falkirk.toml").exists()
