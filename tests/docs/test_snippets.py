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
from tests.docs.markdown import PAGES, ROOT, Command, commands

COMMANDS = [command for page in PAGES for command in commands(page)]
FALKIRK = [command for command in COMMANDS if "falkirk " in command.line]


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


@pytest.mark.parametrize("command", FALKIRK, ids=str)
def test_a_command_prints_what_the_page_says(command: Command) -> None:
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ.get("PATH", "")])
    done = subprocess.run(
        command.line,
        shell=True,
        cwd=ROOT,
        env={**os.environ, "PATH": path, "COLUMNS": "80", "NO_COLOR": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        encoding="utf-8",
        timeout=60,
        check=False,
    )
    assert agree(command.expected, done.stdout), f"{command} prints:\n{done.stdout}"
    assert "Traceback" not in done.stdout


def test_the_other_commands_are_targets_of_the_makefile() -> None:
    targets = (ROOT / "Makefile").read_text("utf-8")
    for command in COMMANDS:
        if command not in FALKIRK:
            make, _, target = command.line.partition(" ")
            assert make == "make", f"nothing runs {command}"
            assert f"\n{target}:" in targets


def test_there_are_snippets_to_run() -> None:
    assert len(FALKIRK) >= 5
