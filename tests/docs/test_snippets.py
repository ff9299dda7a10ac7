"""Every ``falkirk`` command in the documentation prints what the documentation says.

Python snippets are doctests and are collected by pytest from the pages themselves.
"""

import json
import os
import subprocess
import sys
from doctest import ELLIPSIS, NORMALIZE_WHITESPACE, OutputChecker
from pathlib import Path
from typing import Any

import pytest
from tests.docs.markdown import FENCE, PAGES, ROOT, Command, commands

COMMANDS = [command for page in PAGES for command in commands(page)]
FALKIRK = [command for command in COMMANDS if "falkirk " in command.line]
ON_SPARK = [command for command in FALKIRK if "falkirk run" in command.line]


def as_json(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        return None


def agree(expected: str, printed: str) -> bool:
    """Equal up to layout; an ellipsis in the documentation stands for anything."""
    if as_json(expected) is not None:
        return bool(as_json(expected) == as_json(printed))
    return OutputChecker().check_output(expected, printed, ELLIPSIS | NORMALIZE_WHITESPACE)


def printed(command: Command, folder: Path, seconds: int) -> str:
    """What a command prints in ``folder``."""
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        command.line,
        shell=True,
        cwd=folder,
        env={**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=seconds,
        check=False,
    )
    assert "Traceback" not in done.stdout
    return done.stdout


@pytest.mark.slow
@pytest.mark.parametrize("command", [c for c in FALKIRK if c not in ON_SPARK], ids=str)
def test_a_command_prints_what_the_page_says(command: Command) -> None:
    text = printed(command, ROOT, 60)
    assert agree(command.expected, text), f"{command} prints:\n{text}"


@pytest.mark.spark
@pytest.mark.parametrize("command", ON_SPARK, ids=str)
def test_a_flow_runs_as_the_page_says(command: Command, tmp_path: Path) -> None:
    """In a folder of its own, for a flow writes where it is run."""
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    text = printed(command, tmp_path, 240)
    last = "".join(text.splitlines(keepends=True)[-command.expected.count("\n") :])
    assert agree(command.expected, last), f"{command} prints:\n{text}"


def test_example_files_are_shown_as_they_are() -> None:
    shown = 0
    for page in PAGES:
        for language, body in FENCE.findall(page.read_text("utf-8")):
            first = body.partition("\n")[0]
            if language == "python" and first.startswith("# examples/"):
                assert body == (ROOT / first.removeprefix("# ")).read_text("utf-8"), page
                shown += 1
    assert shown


def test_the_other_commands_are_targets_of_the_makefile() -> None:
    targets = (ROOT / "Makefile").read_text("utf-8")
    for command in COMMANDS:
        if command not in FALKIRK:
            make, _, target = command.line.partition(" ")
            assert make == "make", f"nothing runs {command}"
            assert f"\n{target}:" in targets


def test_there_are_snippets_to_run() -> None:
    assert len(FALKIRK) >= 5
